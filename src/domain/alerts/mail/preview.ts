/** Previews of mails, made from samples. */

import type { MailType } from '../../../../schemas/mail.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { NewMail } from '../../../store/mail/mail.js';
import type { Ctx } from '../../context.js';
import { SAMPLE_KINDS, sampleAlert } from '../samples.js';
import { isAlertKind, mailTypeOf } from '../words.js';
import { type MailHead, mailsOf } from './alerts.js';
import { digestMail, digestOf } from './digest.js';
import { listMails, mailLook } from './settings.js';

const DAY_MS = 24 * 3_600_000;

/**
 * @param name type of a mail, or kind of an alert such as `domain.not_found`. Nothing is sent.
 * @returns with `sends`, whether such a mail would be sent now, and if not, the `reason`
 * Throws `invalid_mail_type` 404.
 */
export async function previewMail(ctx: Ctx, name: string) {
  const type = isAlertKind(name) ? mailTypeOf(name) : name;
  const setting = (await listMails(ctx)).find((entry) => entry.type === type);
  if (setting === undefined) {
    throw new ServiceError('invalid_mail_type', `There is no mail of the type ${JSON.stringify(name.slice(0, 60))}.`, {
      field: 'mail_type',
      advice: `GET /v2/settings/emails lists the types. Alert kinds are ${SAMPLE_KINDS.join(', ')}.`,
    });
  }
  const recipients = setting.recipients === '' ? [] : setting.recipients.split(',');
  const head = { subject: setting.subject, heading: setting.heading, recipients };
  const mail = await sampleMail(ctx, setting.type as MailType, name, head);
  const reason = !ctx.mailer.configured
    ? 'No mail server is configured: set SITEFLEET_SMTP_URL.'
    : setting.disable === 1
      ? 'This mail is disabled.'
      : recipients.length === 0
        ? 'It has no recipients.'
        : '';
  const { subject, text, html } = mail;
  return { type: setting.type, recipients, subject, text, html, sends: reason === '', reason };
}

async function sampleMail(ctx: Ctx, type: MailType, name: string, head: MailHead): Promise<NewMail> {
  const now = ctx.clock.now();
  const look = await mailLook(ctx);
  if (type === 'daily_digest') {
    return digestMail(await digestOf(ctx, now - DAY_MS, look), head, look);
  }
  const kind =
    SAMPLE_KINDS.find((one) => one === name) ?? SAMPLE_KINDS.find((one) => mailTypeOf(one) === type) ?? 'monitor.down';
  const [mail] = mailsOf(type, head, [sampleAlert(kind, now)], look);
  return mail as NewMail;
}
