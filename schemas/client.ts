/** Schemas of clients that more than one operation uses. */

import { once } from '../src/runtime/once.js';
import { int, lineText, list, plainText, timestamp } from './common.js';
import { email } from './email.js';
import { z } from './zod.js';

const clientStatus = once(() => z.enum(['active', 'suspended']));

export const clientStatusFilter = once(() =>
  z.enum(['any', 'active', 'suspended']).default('any').describe('Clients in this state.'),
);

const clientId = once(() => z.number().int());
const clientName = once(() => z.string());

/** A complete client (operations §8.2). Text fields are "" if empty. */
export const client = once(() =>
  z.object({
    id: clientId(),
    name: clientName(),
    email: z.string(),
    phone: z.string(),
    address_1: z.string(),
    address_2: z.string(),
    city: z.string(),
    state: z.string(),
    zip: z.string(),
    country: z.string(),
    note: z.string(),
    status: clientStatus(),
    sites_count: z.number().int(),
    created_at: timestamp().nullable(),
    updated_at: timestamp().nullable(),
  }),
);

export const clientListItem = once(() =>
  client().pick({
    id: true,
    name: true,
    email: true,
    phone: true,
    status: true,
    sites_count: true,
    created_at: true,
  }),
);

/** Fields that identify the client in outputs about its parts. */
export const clientHead = once(() => ({ client_id: clientId(), client_name: clientName() }));

const EMAIL_MAX = 191;
const EMAIL_RULE = 'must be an e-mail address such as name@example.com';

export const clientEmail = once(() => email(EMAIL_MAX, EMAIL_RULE));

/** `""` is allowed and clears the address. */
export const clientEmailOrNone = once(() =>
  z
    .string()
    .trim()
    .max(EMAIL_MAX)
    .refine((text) => text === '' || clientEmail().safeParse(text).success, `${EMAIL_RULE}, or "" to clear it`),
);

export const clientNameInput = once(() => lineText(255));

/** Ids as callers send them: 0 and negative numbers are unknown ids, not malformed input. */
export const ids = () => list(int());

/** Optional texts of a client, the same for new and existing ones; limits of operations §5.4. */
export const clientDetails = once(() => ({
  client_phone: plainText(100).optional().describe('Phone.'),
  address_1: plainText(255).optional().describe('Street.'),
  address_2: plainText(255).optional().describe('Second line.'),
  city: plainText(100).optional().describe('City.'),
  state: plainText(200).optional().describe('State or province.'),
  zip: plainText(32).optional().describe('Postal code.'),
  country: plainText(200).optional().describe('Country.'),
  note: plainText(65_535).optional().describe('Free text.'),
}));
