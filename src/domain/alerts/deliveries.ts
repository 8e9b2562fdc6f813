/**
 * Delivers alerts to webhooks and chats: chooses recipients, retries for three days, and records what could not be
 * delivered.
 */

import type { RecipientType } from '../../../schemas/alerts.js';
import type { PostFailure } from '../../outbound/webhook/sender.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { pooled } from '../../runtime/pool.js';
import type { DeliveryStatus, DueDelivery, UnroutedAlert } from '../../store/monitoring/alert-deliveries.js';
import type { AlertTarget, RecipientRow } from '../../store/monitoring/alert-recipients.js';
import type { Ctx } from '../context.js';
import { mailLook } from './mail/settings.js';
import { chatPost, type MessageOptions, webhookPost } from './messages.js';
import { isQuiet } from './quiet-hours.js';
import { MOST_RECIPIENTS } from './recipients.js';
import { isAlertKind, type MailedAlert } from './words.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits after each failed attempt, as Standard Webhooks recommends: a little over three days in total. */
const BACKOFF_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
const LEASE_MS = 5 * MINUTE_MS;
const ALERTS_AT_ONCE = 1000;
const PER_RUN = 100;
const RECIPIENTS_AT_ONCE = 8;
/** Above this number, alerts that arrive together become one chat message. */
const SINGLE = 5;
/** An alert older than this is not delivered to anyone. */
const STALE_MS = 24 * HOUR_MS;

/** Assigns recipients to new alerts, and sends what is due. */
export async function deliverAlerts(ctx: Ctx): Promise<string> {
  const recipients = await ctx.store.alertRecipients.active(MOST_RECIPIENTS);
  await route(ctx, recipients);
  if (recipients.length === 0) return 'there are no recipients';
  const look = await mailLook(ctx);
  const awake = recipients.filter((recipient) => !isQuiet(recipient, ctx.clock.now(), look.zone));
  let sent = 0;
  let failed = 0;
  await pooled(awake, RECIPIENTS_AT_ONCE, async (recipient) => {
    const outcome = await deliverTo(ctx, recipient, { ...look, test: false });
    sent += outcome.sent;
    failed += outcome.failed;
  });
  return sent + failed === 0 ? 'nothing due' : `${sent} sent, ${failed} not`;
}

async function route(ctx: Ctx, recipients: readonly RecipientRow[]): Promise<void> {
  const alerts = await ctx.store.alertDeliveries.unrouted(ALERTS_AT_ONCE);
  if (alerts.length === 0) return;
  const now = ctx.clock.now();
  const fresh = alerts.filter((alert) => now - alert.at <= STALE_MS && isAlertKind(alert.kind));
  const deliveries = recipients.flatMap((recipient) => {
    const isFor = filterOf(recipient);
    return fresh.filter(isFor).map(({ id }) => ({ alert_id: id, recipient_id: recipient.id }));
  });
  const ids = alerts.map(({ id }) => id);
  await ctx.store.alertDeliveries.route(ids, deliveries, now);
}

/**
 * A recipient limited to certain sites does not get alerts that belong to no site, such as a domain used by several.
 */
function filterOf({ kinds, site_ids }: RecipientRow): (alert: UnroutedAlert) => boolean {
  const wanted = new Set(JSON.parse(kinds) as string[]);
  const sites = new Set(JSON.parse(site_ids) as number[]);
  return ({ kind, site_id }) =>
    (wanted.size === 0 || wanted.has(kind)) && (sites.size === 0 || (site_id !== null && sites.has(site_id)));
}

async function deliverTo(ctx: Ctx, recipient: RecipientRow, options: MessageOptions) {
  const now = ctx.clock.now();
  const { alertDeliveries, alertRecipients } = ctx.store;
  const lapsed = now - ctx.clock.steps(LEASE_MS).forward;
  const due = await alertDeliveries.claim(recipient.id, PER_RUN, now, now + LEASE_MS, lapsed);
  if (due.length === 0) return { sent: 0, failed: 0 };
  const target = await alertRecipients.target(recipient);
  let sent = 0;
  const batches = batchesOf(recipient, due);
  for (const [index, batch] of batches.entries()) {
    // Half of the lease has passed: the rest is left to the next run.
    const late = ctx.clock.now() - now > LEASE_MS / 2 || ctx.signal.aborted;
    const alerts = batch.map((one) => ({ ...one, id: one.alert_id }) as MailedAlert);
    const failure = late ? null : await postAlerts(ctx, recipient, target, alerts, options);
    if (!late && failure === null) {
      await alertDeliveries.sent(batch, recipient.id, ctx.clock.now());
      sent += batch.length;
      continue;
    }
    // A receiver that fails once is skipped for the rest of this run.
    const rest = batches.slice(late ? index : index + 1).flat();
    await alertDeliveries.release(rest.map(({ id }) => id));
    if (failure !== null) await noteFailure(ctx, recipient, batch, failure);
    return { sent, failed: late ? 0 : batch.length };
  }
  return { sent, failed: 0 };
}

function batchesOf({ type }: RecipientRow, due: readonly DueDelivery[]): DueDelivery[][] {
  return type === 'webhook' || due.length <= SINGLE ? due.map((one) => [one]) : [[...due]];
}

/** Sends alerts as one message. Null if it was accepted. */
export async function postAlerts(
  ctx: Ctx,
  recipient: Pick<RecipientRow, 'type' | 'uid'>,
  target: AlertTarget,
  alerts: readonly MailedAlert[],
  options: MessageOptions,
): Promise<PostFailure | null> {
  const type = recipient.type as RecipientType;
  const [first] = alerts;
  if (first === undefined) return null;
  const post = type === 'webhook' ? webhookPost(target, first, options) : chatPost(type, target, alerts, options);
  const at = ctx.clock.now();
  const id = options.test ? `test_${recipient.uid}_${at}` : `alert_${recipient.uid}_${first.id}`;
  const sign = target.secret === undefined ? undefined : { id, at, secret: target.secret };
  try {
    const { url, headers = {}, body } = post;
    await ctx.webhooks.post({ url, headers, body: JSON.stringify(body), sign, signal: ctx.signal });
    return null;
  } catch (error) {
    if (isPostFailure(error)) return error;
    throw error;
  }
}

/** Recognized by name: the class belongs to the port, which no verb imports. */
function isPostFailure(error: unknown): error is PostFailure {
  return error instanceof Error && error.name === 'PostFailure';
}

async function noteFailure(
  ctx: Ctx,
  recipient: RecipientRow,
  batch: readonly DueDelivery[],
  failure: PostFailure,
): Promise<void> {
  const now = ctx.clock.now();
  const { message, gone, retryAfterMs } = failure;
  const facts = { recipient_id: recipient.id, type: recipient.type, host: recipient.host, reason: message };
  if (gone) {
    await ctx.store.alertDeliveries.giveUp(recipient.id, message, now);
    ctx.log.error(facts, 'an alert recipient no longer exists and was disabled');
    return;
  }
  const tried = batch.map(({ id, attempts }) => {
    const wait = BACKOFF_MS[attempts - 1];
    return { id, nextTryAt: wait === undefined ? null : now + Math.max(wait, retryAfterMs ?? 0) };
  });
  await ctx.store.alertDeliveries.notSent(tried, recipient.id, message, now);
  const dead = tried.filter(({ nextTryAt }) => nextTryAt === null).length;
  if (dead > 0) ctx.log.error({ ...facts, alerts: dead }, 'alerts could not be delivered and will not be tried again');
  else ctx.log.warn({ ...facts, alerts: tried.length }, 'alerts could not be delivered and will be tried again');
}

/** Deliveries, newest first. */
export async function listDeliveries(
  ctx: Ctx,
  filter: { status?: DeliveryStatus | undefined; recipient_id?: number | undefined },
  page: number,
  perPage: number,
) {
  const { items, total } = await ctx.store.alertDeliveries.list(
    { status: filter.status, recipient_id: filter.recipient_id },
    page,
    perPage,
  );
  const shown = items.map((row) => ({
    id: row.id,
    alert_id: row.alert_id,
    kind: row.kind,
    site_id: row.site_id,
    recipient_id: row.recipient_id,
    recipient: row.recipient,
    status: row.status,
    attempts: row.attempts,
    next_try: row.status === 'queued' ? isoTime(row.next_try_at) : null,
    last_error: row.last_error,
    queued: isoTime(row.created_at),
    ended: isoTime(row.ended_at),
  }));
  return { items: shown, total };
}

/** Queues a finished delivery again. */
export async function resendDelivery(ctx: Ctx, id: number): Promise<void> {
  const done = await ctx.store.alertDeliveries.resend(id, ctx.clock.now());
  if (done === undefined)
    throw new ServiceError('svc_alert_delivery_not_found', `There is no delivery ${id}.`, {
      field: 'delivery_id',
      advice: 'GET /v2/alerts/deliveries?status=dead lists the ones no longer tried.',
    });
  if (!done)
    throw new ServiceError('svc_rest_conflict', `Delivery ${id} is in progress.`, {
      field: 'delivery_id',
      advice: 'It is retried automatically; next_try says when.',
    });
}
