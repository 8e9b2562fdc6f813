/** Outgoing mail: turns alerts into mails, sends them, and retries. */

import type { MailType } from '../../../../schemas/mail.js';
import type { MailFailure, OutgoingMail } from '../../../outbound/mail/mailer.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { MailRow, WaitingAlert } from '../../../store/mail/mail.js';
import type { Ctx } from '../../context.js';
import { isAlertKind, type MailedAlert, mailTypeOf } from '../words.js';
import { type AlertMail, mailsOf } from './alerts.js';
import { mailLook, mailToSend } from './settings.js';

export { previewMail } from './preview.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits after each failed attempt; after the last one the mail is given up. A day and a half in total. */
const BACKOFF_MS = [1, 5, 15, 60, 180, 360, 720, 720].map((minutes) => minutes * MINUTE_MS);
const LEASE_MS = 5 * MINUTE_MS;
/** A server may keep each answer waiting, but not so long that others take the mail over. */
const SEND_MS = 2 * MINUTE_MS;
const MAILS_AT_ONCE = 200;
const ALERTS_AT_ONCE = 1000;
/** An older alert becomes no mail: Saturday's outage is not news on Monday. */
const STALE_MS = 24 * HOUR_MS;
/** After this many consecutive failures the server is considered away, and the rest waits. */
const ENOUGH = 3;

/** Turns waiting alerts into mails and sends what is due. */
export async function sendMail(ctx: Ctx): Promise<string> {
  if (!ctx.mailer.configured) return 'no mail server is configured';
  await queueAlerts(ctx);
  let sent = 0;
  let failed = 0;
  for (let inRow = 0; sent + failed < MAILS_AT_ONCE && inRow < ENOUGH && !ctx.signal.aborted; ) {
    const now = ctx.clock.now();
    const mail = await ctx.store.mail.claim(now, now + LEASE_MS, now - ctx.clock.steps(LEASE_MS).forward);
    if (mail === undefined) break;
    if (await sendOne(ctx, mail)) {
      sent++;
      inRow = 0;
    } else {
      failed++;
      inRow++;
    }
  }
  return sent + failed === 0 ? 'nothing due' : `${sent} sent, ${failed} not`;
}

/** Rejects with MailFailure, also when the server has not taken the mail within two minutes. */
export async function deliver(ctx: Ctx, mail: OutgoingMail): Promise<void> {
  const limit = ctx.clock.deadline(SEND_MS);
  try {
    await ctx.mailer.send(mail, limit.signal);
  } finally {
    limit.clear();
  }
}

async function sendOne(ctx: Ctx, mail: MailRow): Promise<boolean> {
  try {
    await deliver(ctx, {
      messageId: `<${mail.id}.${mail.created_at}@sitefleet.invalid>`,
      to: JSON.parse(mail.recipients) as string[],
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
    });
    await ctx.store.mail.sent(mail.id, ctx.clock.now());
    return true;
  } catch (error) {
    if (!isMailFailure(error)) throw error;
    const { permanent, remaining } = error;
    const wait = permanent && remaining.length === 0 ? undefined : BACKOFF_MS[mail.attempts - 1];
    const next = wait === undefined ? null : ctx.clock.now() + wait;
    if (next !== null && remaining.length > 0)
      await ctx.store.mail.divide(mail, remaining, {
        error: permanent ? error.message : '',
        next,
        now: ctx.clock.now(),
      });
    else await ctx.store.mail.notSent(mail.id, error.message, next);
    const facts = { mail_id: mail.id, type: mail.type, attempts: mail.attempts, reason: error.message };
    if (next === null) ctx.log.error(facts, 'a mail could not be sent and will not be tried again');
    else ctx.log.warn(facts, 'a mail could not be sent and will be tried again');
    return false;
  }
}

/** Recognized by name: the class belongs to the port, which no verb imports. */
function isMailFailure(error: unknown): error is MailFailure {
  return error instanceof Error && error.name === 'MailFailure';
}

async function queueAlerts(ctx: Ctx): Promise<void> {
  const alerts = await ctx.store.mail.waitingAlerts(ALERTS_AT_ONCE);
  if (alerts.length === 0) return;
  const look = await mailLook(ctx);
  const now = ctx.clock.now();
  const fresh = alerts.filter((alert) => now - alert.at <= STALE_MS);
  const mails: AlertMail[] = [];
  for (const { type, recipients, alerts: group } of grouped(fresh)) {
    const head = await mailToSend(ctx, type, recipients);
    if (head !== null) mails.push(...mailsOf(type, head, group, look));
  }
  await ctx.store.mail.queueAlerts(
    mails,
    alerts.map(({ id }) => id),
    now,
  );
}

interface Group {
  type: MailType;
  /** '' = the recipients of the mail type. */
  recipients: string;
  alerts: MailedAlert[];
}

/** By type and recipients. A site may have its own recipients for uptime alerts (REST §6.3.1). */
function grouped(alerts: readonly WaitingAlert[]): Group[] {
  const groups = new Map<string, Group>();
  for (const alert of alerts) {
    const { kind } = alert;
    if (!isAlertKind(kind)) continue;
    const type = mailTypeOf(kind);
    const recipients = type === 'uptime' ? alert.monitoring_emails : '';
    const key = `${type} ${recipients}`;
    const group = groups.get(key) ?? { type, recipients, alerts: [] };
    group.alerts.push({ ...alert, kind });
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Sent and failed mails, newest first. */
export async function listOutbox(ctx: Ctx, limit: number) {
  const rows = await ctx.store.mail.list(limit);
  return rows.map(({ id, type, site_id, recipients, subject, status, attempts, last_error, created_at, sent_at }) => ({
    id,
    type,
    site_id,
    recipients: JSON.parse(recipients) as string[],
    subject,
    status,
    attempts,
    last_error,
    created_at: isoTime(created_at),
    sent_at: isoTime(sent_at),
  }));
}
