/** Schemas of alert recipients and deliveries, for the interface description. */

import { ALERT_KIND_NAMES, RECIPIENT_TYPES } from '../../../../schemas/alerts.js';
import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';

const int = () => z.number().int();
const textOrNull = () => z.string().nullable();

export const recipientShape = once(() =>
  z.object({
    id: int(),
    name: z.string(),
    type: z.enum(RECIPIENT_TYPES),
    host: z.string().describe('Host of the URL. The rest is secret and never shown.'),
    kinds: z.array(z.enum(ALERT_KIND_NAMES)).describe('Kinds of alerts it receives; empty = all.'),
    sites: z.array(int()).describe('Ids of the sites whose alerts it receives; empty = all.'),
    quiet_from: textOrNull().describe('HH:MM in the time zone of the general settings; null = no quiet hours.'),
    quiet_to: textOrNull(),
    active: z.boolean(),
    created: z.string(),
    last_sent: textOrNull(),
    last_failed: textOrNull(),
    last_error: z.string().describe('Error of the last attempt; empty = it was delivered.'),
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
    recipient_id: int().nullable().describe('null = it is not added yet.'),
    recipient: z.string(),
    type: z.enum(RECIPIENT_TYPES),
    delivered: z.boolean(),
    error: z.string().describe('Why it was not delivered; empty = it was.'),
  }),
);
