/** Routes of alert recipients and of deliveries to them (REST §7). */

import { ALERT_KIND_NAMES, RECIPIENT_TYPES } from '../../../schemas/alerts.js';
import { z } from '../../../schemas/zod.js';
import { once } from '../../core/once.js';
import { listDeliveries, resendDelivery } from '../../domain/alerts/deliveries.js';
import { addRecipient, editRecipient, listRecipients, removeRecipient } from '../../domain/alerts/recipients.js';
import { testRecipient } from '../../domain/alerts/test-alert.js';
import { cleared, csv, flag, ids, int, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { deliveryShape, recipientShape, testOutcomeShape } from '../schemas/alerts.js';
import { listOf, writtenOf } from '../schemas/records.js';

const recipient_id = once(() => int(1).describe('Id of the recipient.'));
const kind = once(() => z.enum(ALERT_KIND_NAMES));

const time = () =>
  cleared
    .value(
      z
        .string()
        .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day as HH:MM')
        .nullable(),
    )
    .optional();

/** A text of the given form, which may be cleared. */
const secret = (form: RegExp, reason: string) =>
  cleared.value(z.string().max(500).regex(form, reason).nullable()).optional();

const target = once(() => ({
  secret: secret(/^whsec_[A-Za-z0-9+/]{32,100}={0,2}$/, 'must be whsec_ and 24 to 64 bytes as base64').describe(
    'webhook: signs what is sent, as Standard Webhooks says. Made when left out.',
  ),
  token: secret(/^[\w:.-]+$/, 'must be a token').describe(
    'telegram: token of the bot. ntfy: access token, where the topic wants one.',
  ),
  chat_id: secret(/^(-?\d+|@\w+)$/, 'must be a number or a @name').describe('telegram: id of the chat, or @channel.'),
}));

const wants = once(() => ({
  kinds: cleared.list(csv(kind(), 50)).optional().describe('Kinds of alerts it receives; empty for all.'),
  sites: cleared.list(ids()).optional().describe('Ids of the sites whose alerts it receives; empty for all.'),
  quiet_from: time().describe(
    'Beginning of the quiet hours, HH:MM in the time zone of the general settings. What comes meanwhile is sent at their end.',
  ),
  quiet_to: time().describe('End of the quiet hours, which may lie on the next day.'),
  active: flag().optional().describe('false = it receives no alerts.'),
}));

const url = once(() =>
  text(2000, 1).describe(
    'Address to post to: of the webhook, the incoming webhook of Slack, Discord or Teams, or the topic of ntfy. telegram: the Bot API server, when it is not the usual one.',
  ),
);
const name = once(() => text(100, 1).describe('What it is called.'));

const example = {
  id: 1,
  name: 'On call',
  type: 'slack',
  host: 'hooks.slack.com',
  kinds: ['monitor.down', 'monitor.up'],
  sites: [],
  quiet_from: '22:00',
  quiet_to: '07:00',
  active: true,
  created: '2026-11-20T12:00:00Z',
  last_sent: null,
  last_failed: null,
  last_error: '',
};

export const alertRecipients: readonly Route[] = [
  route({
    on: 'GET',
    path: '/alerts/recipients',
    needs: 'read',
    summary: 'Recipients of alerts beside mail',
    params: () => z.object(paging(20, 100)),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [example] },
    returns: () => listOf(recipientShape()),
    async answer({ page, per_page }, ctx) {
      const { items, total } = await listRecipients(ctx, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
  route({
    on: 'POST',
    path: '/alerts/recipients/add',
    needs: 'write',
    body: 'required',
    summary: 'Add a recipient of alerts',
    description:
      'A webhook gets one signed message per alert: `webhooks` of this description has their bodies. The signing secret is shown in this answer only. Private addresses are refused as for sites.',
    params: () =>
      z.object({ type: z.enum(RECIPIENT_TYPES), name: name(), url: url().optional(), ...target(), ...wants() }),
    example: { message: 'The recipient was added.', data: example },
    returns: () =>
      writtenOf(recipientShape()).extend({
        secret: z.string().optional().describe('webhook: the signing secret. Shown here only.'),
      }),
    async answer({ type, ...change }, ctx) {
      const { recipient, secret } = await addRecipient(ctx, type, change);
      return { message: 'The recipient was added.', data: recipient, ...(secret === undefined ? {} : { secret }) };
    },
  }),
  route({
    on: ['PUT', 'PATCH'],
    path: '/alerts/recipients/{recipient_id}/edit',
    needs: 'write',
    body: 'required',
    summary: 'Change a recipient of alerts',
    description: 'Only the fields sent change. Its type cannot be changed.',
    params: () =>
      z.object({
        recipient_id: recipient_id(),
        name: name().optional(),
        url: url().optional(),
        ...target(),
        ...wants(),
      }),
    example: { message: 'The recipient was changed.', data: example },
    returns: () => writtenOf(recipientShape()),
    async answer({ recipient_id: id, ...change }, ctx) {
      return { message: 'The recipient was changed.', data: await editRecipient(ctx, id, change) };
    },
  }),
  route({
    on: 'DELETE',
    path: '/alerts/recipients/{recipient_id}/delete',
    needs: 'write',
    summary: 'Delete a recipient of alerts, with what waits for it',
    params: () => z.object({ recipient_id: recipient_id() }),
    example: { message: 'The recipient was deleted.', data: example },
    returns: () => writtenOf(recipientShape()),
    async answer({ recipient_id: id }, ctx) {
      return { message: 'The recipient was deleted.', data: await removeRecipient(ctx, id) };
    },
  }),
  route({
    on: 'POST',
    path: '/alerts/recipients/{recipient_id}/test',
    needs: 'write',
    summary: 'Send a made-up alert to a recipient now',
    description: 'Also when it is switched off or in its quiet hours. `delivered` says whether it was taken.',
    params: () =>
      z.object({ recipient_id: recipient_id(), kind: kind().default('monitor.down').describe('Kind of the alert.') }),
    returns: () => writtenOf(testOutcomeShape()),
    async answer({ recipient_id: id, kind: wanted }, ctx) {
      const data = await testRecipient(ctx, id, wanted);
      return { message: data.delivered ? 'The test was taken.' : 'The test was not taken.', data };
    },
  }),
  route({
    on: 'GET',
    path: '/alerts/deliveries',
    needs: 'read',
    summary: 'Alerts on their way to recipients, sent, or given up',
    description: 'Newest first. `status=dead` lists those that were given up after three days.',
    params: () =>
      z.object({
        status: z.enum(['queued', 'sending', 'sent', 'dead']).optional(),
        recipient_id: int(1).optional().describe('Only to this recipient.'),
        ...paging(20, 100),
      }),
    returns: () => listOf(deliveryShape()),
    async answer({ page, per_page, ...filter }, ctx) {
      const { items, total } = await listDeliveries(ctx, filter, page, per_page);
      return { total, data: items, page, per_page };
    },
  }),
  route({
    on: 'POST',
    path: '/alerts/deliveries/{delivery_id}/resend',
    needs: 'write',
    summary: 'Send an ended delivery again',
    params: () => z.object({ delivery_id: int(1).describe('Id of the delivery.') }),
    returns: () => z.object({ message: z.string() }),
    async answer({ delivery_id }, ctx) {
      await resendDelivery(ctx, delivery_id);
      return { message: 'It is queued again, and sent within half a minute.' };
    },
  }),
];
