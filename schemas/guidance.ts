/** Guidance: what to watch out for on the whole fleet, on the sites of a client, or on a site, before it is changed. */

import { once } from '../src/runtime/once.js';
import { timestamp } from './common.js';
import { z } from './zod.js';

export const guidanceEntry = once(() =>
  z.object({
    id: z.number().int(),
    site_id: z.number().int().nullable(),
    client_id: z.number().int().nullable().describe('Both null = the whole fleet.'),
    text: z.string(),
    by: z.string(),
    at: timestamp(),
    until: timestamp().nullable().describe('null = no end.'),
    verified: z.boolean().describe('A person wrote or confirmed it.'),
  }),
);

/** Lines of guidance in answers about what it concerns; absent = there is none. */
export const guidanceLines = once(() => z.array(z.string()).optional());
