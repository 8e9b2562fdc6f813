/** Schemas of alert recipients and deliveries, for the interface description. */

import { ALERT_KIND_NAMES, RECIPIENT_TYPES } from '../../../schemas/alerts.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../core/once.js';

const int = () => z.number().int();
const textOrNull = () => z.string().nullable();

export const recipientShape = once(() =>
  z.object({
    id: int(),
    name: z.string(),
    type: z.enum(RECIPIENT_TYPES),
    host: z.string().describe('Host of the address. The rest of it is a secret, and never shown.'),
    kinds: z.array(z.enum(ALERT_KIND_NAMES)).describe('Kinds of alerts it receives; empty for all.'),
    sites: z.array(int()).describe('Ids of the sites whose alerts it receives; empty for all.'),
    quiet_from: textOrNull().describe('HH:MM in the time zone of the general settings; null for no quiet hours.'),
    quiet_to: textOrNull(),
    active: z.boolean(),
    created: z.string(),
    last_sent: textOrNull(),
    last_failed: textOrNull(),
    last_error: z.string().describe('Of the last try; empty when it was taken.'),
  }),
);

export const deliveryShape = once(() =>
  z.object({
    id: int(),
    alert_id: int(),
    kind: z.enum(ALERT_KIND_NAMES),
    site_id: int().nullable(),
    recipient_id: int(),
    recipient: z.string().describe('Name of the recipient.'),
    status: z.enum(['queued', 'sending', 'sent', 'dead']).describe('dead = given up after three days.'),
    attempts: int(),
    next_try: textOrNull(),
    last_error: z.string(),
    queued: z.string(),
    ended: textOrNull(),
  }),
);

export const testOutcomeShape = once(() =>
  z.object({
    recipient_id: int(),
    recipient: z.string(),
    type: z.enum(RECIPIENT_TYPES),
    delivered: z.boolean(),
    error: z.string().describe('Why it was not taken; empty when it was.'),
  }),
);
