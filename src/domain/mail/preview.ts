/** Any mail as it would look, made from a sample. */

import type { MailType } from '../../../schemas/mail.js';
import { ServiceError } from '../../core/errors.js';
import type { AlertKind } from '../../core/events.js';
import type { NewMail } from '../../store/mail/mail.js';
import type { Ctx } from '../context.js';
import { dashboardZone } from '../settings/effects.js';
import { isAlertKind, type MailHead, mailsOf, mailTypeOf } from './alerts.js';
import { digestMail } from './digest.js';
import { listMails } from './settings.js';

const DAY_MS = 24 * 3_600_000;

export interface MailPreview {
  type: string;
  recipients: string[];
  subject: string;
  text: string;
  html: string;
  /** Whether such a mail would go out now, and if not, why. */
  sends: boolean;
  reason: string;
}

const DOMAIN = { domain_name: 'example.com', expiry_date: '2030-01-31T00:00:00Z', registrar: 'Example Registrar' };
const CERTIFICATE = { valid_to: '2030-01-08T00:00:00Z', issuer: 'Example Authority' };

/** Facts of a sample by kind of alert; the first of a mail type stands for it. */
const SAMPLES: Readonly<Record<AlertKind, Record<string, unknown>>> = {
  'monitor.down': { http_code: 503, msg: 'The server answered with HTTP 503.' },
  'monitor.up': { http_code: 200 },
  'monitor.flapping': {},
  'site.unhealthy': { health_score: 64 },
  'site.http_check_failed': { http_status: 500, items: 'Akismet 5.4' },
  'certificate.expiring': { ...CERTIFICATE, days_left: 7 },
  'certificate.expired': CERTIFICATE,
  'certificate.invalid': { ...CERTIFICATE, problem: 'It does not name this host.' },
  'domain.expiring': { ...DOMAIN, expires: 30 },
  'domain.expired': DOMAIN,
  'domain.not_found': { domain_name: DOMAIN.domain_name, problem: 'The registry does not know the domain.' },
};

/**
 * @param name type of a mail, or kind of an alert such as `domain.not_found`. Nothing is sent.
 * Throws `invalid_mail_type` 404.
 */
export async function previewMail(ctx: Ctx, name: string): Promise<MailPreview> {
  const type = isAlertKind(name) ? mailTypeOf(name) : name;
  const setting = (await listMails(ctx)).find((entry) => entry.type === type);
  if (setting === undefined) {
    throw new ServiceError('invalid_mail_type', `There is no mail of the type ${JSON.stringify(name.slice(0, 60))}.`, {
      field: 'mail_type',
      advice: `GET /v2/settings/emails lists the types. Kinds of alerts are ${Object.keys(SAMPLES).join(', ')}.`,
    });
  }
  const recipients = setting.recipients === '' ? [] : setting.recipients.split(',');
  const head = { subject: setting.subject, heading: setting.heading, recipients };
  const mail = await sampleMail(ctx, setting.type as MailType, name, head);
  const reason = !ctx.mailer.configured
    ? 'No mail server is set: SITEFLEET_SMTP_URL.'
    : setting.disable === 1
      ? 'This mail is switched off.'
      : recipients.length === 0
        ? 'It has no recipients.'
        : '';
  const { subject, text, html } = mail;
  return { type: setting.type, recipients, subject, text, html, sends: reason === '', reason };
}

async function sampleMail(ctx: Ctx, type: MailType, name: string, head: MailHead): Promise<NewMail> {
  const now = ctx.clock.now();
  const zone = await dashboardZone(ctx);
  if (type === 'daily_digest') {
    const since = now - DAY_MS;
    return digestMail(await ctx.store.mail.digest(since, 20), head, { since, now, zone });
  }
  const kinds = Object.keys(SAMPLES) as AlertKind[];
  const kind = kinds.find((one) => one === name) ?? kinds.find((one) => mailTypeOf(one) === type) ?? 'monitor.down';
  const sample = {
    id: 0,
    key: 'sample',
    kind,
    site_id: 1,
    at: now,
    facts: JSON.stringify(SAMPLES[kind]),
    site_name: 'Example',
    site_url: 'https://example.com/',
  };
  const [mail] = mailsOf(type, head, [sample], zone);
  return mail as NewMail;
}
