/** Test alerts: a made-up alert to each recipient, and whether a real one would reach anyone. */

import { randomUUID } from 'node:crypto';
import type { RecipientType } from '../../../schemas/alerts.js';
import { MAIL_KINDS } from '../../../schemas/mail.js';
import type { AlertKind } from '../../runtime/events.js';
import type { AlertTarget, RecipientRow } from '../../store/monitoring/alert-recipients.js';
import type { Ctx } from '../context.js';
import { postAlerts } from './deliveries.js';
import { listMails, mailLook } from './mail/settings.js';
import { loadRecipient, MOST_RECIPIENTS, type RecipientChange, targetToTry } from './recipients.js';
import { sampleAlert } from './samples.js';

/** Sends a made-up alert now, even to a recipient that is switched off or in its quiet hours. */
export async function testRecipient(ctx: Ctx, id: number, kind: AlertKind = 'monitor.down') {
  const recipient = await loadRecipient(ctx, id);
  const target = await ctx.store.alertRecipients.target(recipient);
  const { name, type } = recipient;
  return { recipient_id: id, recipient: name, type, ...(await sendSample(ctx, recipient, target, kind)) };
}

/** The same for a recipient that is not stored, and is not by this either. Throws as adding it would. */
export async function tryRecipient(
  ctx: Ctx,
  type: RecipientType,
  change: RecipientChange & { name: string },
  kind: AlertKind,
) {
  const target = await targetToTry(ctx, type, change);
  const outcome = await sendSample(ctx, { type, uid: randomUUID() }, target, kind);
  return { recipient_id: null, recipient: change.name, type, ...outcome };
}

async function sendSample(
  ctx: Ctx,
  recipient: Pick<RecipientRow, 'type' | 'uid'>,
  target: AlertTarget,
  kind: AlertKind,
) {
  const look = await mailLook(ctx);
  const sample = sampleAlert(kind, ctx.clock.now());
  await ctx.store.actionLog.begin();
  const failure = await postAlerts(ctx, recipient, target, [sample], { ...look, test: true });
  return { delivered: failure === null, error: failure?.message ?? '' };
}

export type TestOutcome = Awaited<ReturnType<typeof testRecipient>>;

/**
 * Who would receive an alert: the addresses of mails, none if no mail server is configured, and the ids of active
 * recipients; with a warning to show users if there is neither, otherwise ''.
 */
export async function audienceOf(ctx: Pick<Ctx, 'store' | 'config' | 'mailer'>) {
  const [mails, recipients, ofSites] = await Promise.all([
    listMails(ctx),
    ctx.store.alertRecipients.active(MOST_RECIPIENTS),
    ctx.store.alertRecipients.siteAddresses(),
  ]);
  const alerting = mails.filter(({ type, disable }) => type !== 'daily_digest' && type in MAIL_KINDS && disable === 0);
  const named = [...alerting.map((mail) => mail.recipients), ...ofSites].flatMap((list) => list.split(','));
  const addresses = ctx.mailer.configured
    ? [...new Set(named.map((address) => address.trim()).filter((address) => address !== ''))]
    : [];
  const ids = recipients.map(({ id }) => id);
  const silent = addresses.length === 0 && ids.length === 0;
  return { addresses, recipients: ids, warning: silent ? silence(ctx.mailer.configured) : '' };
}

function silence(mail: boolean): string {
  const first = mail
    ? 'add recipients in the e-mail settings'
    : 'set SITEFLEET_SMTP_URL and add recipients in the e-mail settings';
  return `No one would receive an alert: ${first}, or add a webhook or chat with POST /v2/alerts/recipients/add. Then try it with "sitefleet alert test".`;
}
