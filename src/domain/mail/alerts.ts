/** Mails from alerts: the type of mail for each kind of alert, and its text. Pure. */

import type { AlertFacts, AlertKind } from '../../../schemas/alert.js';
import type { MailType } from '../../../schemas/mail.js';
import type { NewMail, WaitingAlert } from '../../store/mail/mail.js';
import { wordpressTime } from '../common/time-zones.js';
import { type MailContent, oneLine, renderHtml, renderText, withTokens } from './layout.js';

export interface MailHead {
  subject: string;
  heading: string;
  recipients: readonly string[];
}

/** An alert as a mail shows it, from storage or made up as a sample. */
export type MailAlert = Pick<WaitingAlert, 'key' | 'site_id' | 'at' | 'facts' | 'site_name' | 'site_url'> & {
  kind: AlertKind;
};

interface KindOfAlert<K extends AlertKind> {
  mail: MailType;
  /** What happened, in one sentence. `what` names the site or domain; stored facts may lack members. */
  sentence(what: string, facts: Partial<AlertFacts[K]>): string;
}

const KINDS: { readonly [K in AlertKind]: KindOfAlert<K> } = {
  'monitor.down': { mail: 'uptime', sentence: (what, { msg }) => `${what} is down. ${line(msg)}` },
  'monitor.up': { mail: 'uptime', sentence: (what) => `${what} is up again.` },
  'monitor.flapping': {
    mail: 'uptime',
    sentence: (what) => `${what} keeps changing between up and down. You hear of it again when it is steady.`,
  },
  'certificate.expiring': {
    mail: 'ssl_certificate',
    sentence: (what, { days_left, valid_to }) =>
      `The certificate of ${what} expires ${inDays(days_left)}, on ${day(valid_to)}.`,
  },
  'certificate.expired': {
    mail: 'ssl_certificate',
    sentence: (what, { valid_to }) => `The certificate of ${what} has expired on ${day(valid_to)}.`,
  },
  'certificate.invalid': {
    mail: 'ssl_certificate',
    sentence: (what, { problem }) => `The certificate of ${what} is not valid. ${line(problem)}`,
  },
  'domain.expiring': {
    mail: 'domain_expiry',
    sentence: (what, { expires, expiry_date }) =>
      `The registration of ${what} ends ${inDays(expires)}, on ${day(expiry_date)}.`,
  },
  'domain.expired': {
    mail: 'domain_expiry',
    sentence: (what, { expiry_date }) => `The registration of ${what} ended on ${day(expiry_date)}.`,
  },
  'domain.not_found': {
    mail: 'domain_expiry',
    sentence: (what) => `${what} is no longer registered: its registry was asked twice and does not know it any more.`,
  },
  'site.unhealthy': {
    mail: 'site_health',
    sentence: (what, { health_score }) => `The health score of ${what} is ${line(health_score)} of 100.`,
  },
  'site.http_check_failed': {
    mail: 'http_check',
    sentence: (what, { http_status }) => `${what} answered with HTTP ${line(http_status)} after an update.`,
  },
};

/** False for kinds of another version of the service: they become no mail. */
export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(KINDS, kind);
}

export function mailTypeOf(kind: AlertKind): MailType {
  return KINDS[kind].mail;
}

type Facts = Record<string, unknown>;

function sentence(alert: MailAlert, facts: Facts): string {
  const kind = KINDS[alert.kind] as KindOfAlert<AlertKind>;
  return kind.sentence(subjectOf(alert, facts), facts).trim();
}

function line(value: unknown): string {
  return oneLine(String(value ?? ''), 300);
}

/** The day of an ISO time. */
function day(value: unknown): string {
  return line(value).slice(0, 10);
}

/** Whole days left: 0 is less than a day. */
function inDays(days: unknown): string {
  const left = Number(days);
  return left < 1 ? 'within a day' : left === 1 ? 'in 1 day' : `in ${left} days`;
}

function subjectOf(alert: MailAlert, facts: Facts): string {
  const domain = alert.kind.startsWith('domain.') ? facts.domain_name : undefined;
  return oneLine(String(domain ?? alert.site_name ?? facts.name ?? facts.url ?? 'A site'), 200);
}

function factsOf(alert: MailAlert): Facts {
  try {
    return JSON.parse(alert.facts) as Facts;
  } catch {
    return {};
  }
}

/** More alerts of one type at once than this become one mail. */
const SINGLE = 10;
/** Rows of one mail. */
const ROWS = 200;

/** The mails that alerts of one type and the same recipients become. */
export function mailsOf(type: MailType, head: MailHead, alerts: readonly MailAlert[], zone: string): NewMail[] {
  if (alerts.length <= SINGLE) return alerts.map((alert) => mailOf(type, head, alert, zone));
  return [together(type, head, alerts, zone)];
}

function mailOf(type: MailType, head: MailHead, alert: MailAlert, zone: string): NewMail {
  const facts = factsOf(alert);
  const what = subjectOf(alert, facts);
  const url = alert.site_url ?? (typeof facts.url === 'string' ? facts.url : '');
  const tokens = { 'site.name': what, 'site.url': url, 'site.id': String(alert.site_id ?? '') };
  const happened = sentence(alert, facts);
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [happened],
    tables: [{ title: 'Details', columns: ['', ''], rows: details(alert, facts, url, zone) }],
  };
  // The standard subject names only the site: what happened belongs into it.
  const subject = `${withTokens(head.subject, tokens)} – ${happened}`;
  return composeMail(type, `alert:${alert.key}`, alert.site_id, head, oneLine(subject, 150), content);
}

function details(alert: MailAlert, facts: Facts, url: string, zone: string): string[][] {
  const rows: [string, unknown][] = [
    ['Site', url],
    ['Time', `${wordpressTime(alert.at, zone)} (${zone})`],
    ['HTTP status', Number(facts.http_code ?? facts.http_status) > 0 ? (facts.http_code ?? facts.http_status) : ''],
    ['Issuer', facts.issuer],
    ['Registrar', facts.registrar],
    ['Problem', alert.kind === 'certificate.invalid' ? '' : facts.problem],
  ];
  return rows.flatMap(([name, value]) => {
    const text = oneLine(String(value ?? ''), 300);
    return text === '' ? [] : [[name, text]];
  });
}

/** One mail for many alerts: a host that fails must not send two hundred. */
function together(type: MailType, head: MailHead, alerts: readonly MailAlert[], zone: string): NewMail {
  // A site may have gone down and come back among them.
  const sites = new Set(alerts.map(({ site_id, key }) => site_id ?? key)).size;
  const count = sites === 1 ? '1 site' : `${sites} sites`;
  const tokens = { 'site.name': count, 'site.url': '', 'site.id': '' };
  const rows = alerts.slice(0, ROWS).map((alert) => [wordpressTime(alert.at, zone), sentence(alert, factsOf(alert))]);
  const left = alerts.length - rows.length;
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [`${alerts.length} alerts came together.`],
    tables: [
      {
        title: 'Alerts',
        columns: [`Time (${zone})`, 'What happened'],
        rows,
        ...(left > 0 ? { more: `And ${left} more.` } : {}),
      },
    ],
  };
  const subject = oneLine(`${withTokens(head.subject, tokens)} – ${alerts.length} alerts`, 150);
  return composeMail(type, `alerts:${alerts[0]?.key}:${alerts.length}`, null, head, subject, content);
}

export function composeMail(
  type: MailType,
  event_key: string,
  site_id: number | null,
  { recipients }: Pick<MailHead, 'recipients'>,
  subject: string,
  content: MailContent,
): NewMail {
  return { event_key, type, site_id, recipients, subject, text: renderText(content), html: renderHtml(content) };
}
