/**
 * Turns alerts into mails: which type an alert belongs to, and the text of the mail. Pure, except for the settings
 * passed in.
 */

import type { MailType } from '../../../../schemas/mail.js';
import type { AlertKind } from '../../../runtime/events.js';
import { withRealDomains } from '../../../runtime/real-domains.js';
import { wordpressTime } from '../../../runtime/time-zones.js';
import type { NewMail, WaitingAlert } from '../../../store/mail/mail.js';
import { type MailContent, type MailLook, oneLine, renderHtml, renderText, type Tone, withTokens } from './layout.js';

export interface MailHead {
  subject: string;
  heading: string;
  recipients: readonly string[];
}

/** An alert as mails see it. `id` is 0 for a sample. */
export interface MailedAlert
  extends Pick<WaitingAlert, 'id' | 'key' | 'site_id' | 'at' | 'facts' | 'site_name' | 'site_url'> {
  kind: AlertKind;
}

const TYPES: Readonly<Record<AlertKind, MailType>> = {
  'monitor.down': 'uptime',
  'monitor.up': 'uptime',
  'monitor.flapping': 'uptime',
  'certificate.expiring': 'ssl_certificate',
  'certificate.expired': 'ssl_certificate',
  'certificate.invalid': 'ssl_certificate',
  'domain.expiring': 'domain_expiry',
  'domain.expired': 'domain_expiry',
  'domain.not_found': 'domain_expiry',
  'site.unhealthy': 'site_health',
  'site.http_check_failed': 'http_check',
  'update.broke_site': 'http_check',
  'update.suspect': 'http_check',
  'vulnerability.found': 'vulnerability',
  'vulnerability.summary': 'vulnerability',
  'backup.failed': 'backup',
};

/** The mail type for alerts of a kind. */
export function mailTypeOf(kind: AlertKind): MailType {
  return TYPES[kind];
}

/** False for a kind unknown to this version, for example of an alert that a newer version stored. */
export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(TYPES, kind);
}

type Facts = Record<string, unknown>;

const WARNINGS: ReadonlySet<AlertKind> = new Set([
  'monitor.flapping',
  'certificate.expiring',
  'domain.expiring',
  'site.unhealthy',
  'update.suspect',
]);

export function toneOf(kind: AlertKind): Tone {
  return kind === 'monitor.up' ? 'good' : WARNINGS.has(kind) ? 'warning' : 'bad';
}

/**
 * An alert in words, for channels other than mail. All texts are single lines; names and reasons may come from a third
 * party. `url` is a link.
 */
export function wordsOf(alert: MailedAlert): { subject: string; text: string; url: string; facts: Facts } {
  const facts = factsOf(alert);
  return {
    subject: withRealDomains(subjectOf(alert, facts)),
    text: withRealDomains(sentence(alert, facts)),
    url: urlOf(alert, facts),
    facts,
  };
}

function urlOf(alert: MailedAlert, facts: Facts): string {
  return alert.site_url ?? (typeof facts.url === 'string' ? facts.url : '');
}

/** What happened, in one sentence. */
function sentence(alert: MailedAlert, facts: Facts): string {
  const what = subjectOf(alert, facts);
  const say = (name: string) => oneLine(String(facts[name] ?? ''), 300);
  switch (alert.kind) {
    case 'monitor.down':
      return `${what} is down. ${say('msg')}`.trim();
    case 'monitor.up':
      return `${what} is up again.`;
    case 'monitor.flapping':
      return `${what} keeps changing between up and down. You will be notified again once it is stable.`;
    case 'certificate.expiring':
      return `The certificate of ${what} expires ${inDays(facts.days_left)}, on ${say('valid_to').slice(0, 10)}.`;
    case 'certificate.expired':
      return `The certificate of ${what} expired on ${say('valid_to').slice(0, 10)}.`;
    case 'certificate.invalid':
      return `The certificate of ${what} is not valid. ${say('problem')}`.trim();
    case 'domain.expiring':
      return `The registration of ${what} expires ${inDays(facts.expires)}, on ${say('expiry_date').slice(0, 10)}.`;
    case 'domain.expired':
      return `The registration of ${what} expired on ${say('expiry_date').slice(0, 10)}.`;
    case 'domain.not_found':
      return `${what} is no longer registered: its registry was asked twice and no longer knows it.`;
    case 'site.unhealthy':
      return `The health score of ${what} is ${say('health_score')} of 100.`;
    case 'site.http_check_failed':
      return afterUpdate(what, facts, say('items'));
    case 'update.broke_site':
      return `${what} is broken since ${say('item')} was updated to ${say('new_version')}, and nothing that could be rolled back has helped. ${say('findings')}`.trim();
    case 'update.suspect':
      return `${what} may have a problem since ${say('item')} was updated to ${say('new_version')}, which was kept. ${say('findings')}`.trim();
    case 'vulnerability.found': {
      const more = Number(facts.count) - 1;
      const rest = more < 1 ? '' : more === 1 ? ' One more is known.' : ` ${more} more are known.`;
      const fix = facts.fixed_in === null ? 'No fixed version is known.' : `Version ${say('fixed_in')} fixes it.`;
      const rated = [facts.severity, facts.cve].filter((value) => value !== null && value !== undefined).join(', ');
      return `${say('item')} ${say('version')} on ${what} has a known vulnerability${rated === '' ? '' : ` (${oneLine(rated, 100)})`}. ${fix}${rest}`;
    }
    case 'vulnerability.summary':
      return `${what} became known on ${Number(facts.sites) === 1 ? '1 site' : `${say('sites')} sites`}. Rated critical: ${Number(facts.critical) === 0 ? 'none' : say('critical')}.`;
    case 'backup.failed':
      return `${what} could not be backed up. ${say('reason')} ${facts.last_backup === null ? 'There is no backup.' : `The newest backup is from ${say('last_backup').slice(0, 10)}.`}`;
  }
}

function afterUpdate(what: string, { part, http_status: status }: Facts, items: string): string {
  const since = `an update${items === '' ? '' : ` of ${items}`}`;
  if (part !== 'child_plugin')
    return `${what} ${status === 0 ? 'did not answer' : `answered with HTTP ${oneLine(String(status), 10)}`} after ${since}.`;
  const answer = Number(status) > 0 ? ` (HTTP ${Number(status)})` : '';
  return `The child plugin of ${what} has not answered as expected${answer} since ${since}.`;
}

/** Whole days left: 0 is less than a day. */
function inDays(days: unknown): string {
  const left = Number(days);
  return left < 1 ? 'within a day' : left === 1 ? 'in 1 day' : `in ${left} days`;
}

function subjectOf(alert: MailedAlert, facts: Facts): string {
  if (alert.kind === 'backup.failed') return 'The database';
  if (alert.kind === 'vulnerability.summary')
    return Number(facts.vulnerabilities) === 1
      ? '1 vulnerability'
      : `${Number(facts.vulnerabilities ?? 0)} vulnerabilities`;
  const domain = alert.kind.startsWith('domain.') ? facts.domain_name : undefined;
  return oneLine(String(domain ?? alert.site_name ?? facts.name ?? facts.url ?? 'A site'), 200);
}

function factsOf(alert: MailedAlert): Facts {
  try {
    return JSON.parse(alert.facts) as Facts;
  } catch {
    return {};
  }
}

/** Above this number, alerts of one type that arrive together become one mail. */
const SINGLE = 10;
/** Maximum rows of one mail. */
const ROWS = 200;

/** A mail with the alerts it reports. */
export type AlertMail = NewMail & { alert_ids: number[] };

/** The mails for alerts of one type and the same recipients. */
export function mailsOf(type: MailType, head: MailHead, alerts: readonly MailedAlert[], look: MailLook): AlertMail[] {
  if (alerts.length <= SINGLE)
    return alerts.map((alert) => ({ ...mailOf(type, head, alert, look), alert_ids: [alert.id] }));
  return [{ ...together(type, head, alerts, look), alert_ids: alerts.map(({ id }) => id) }];
}

function mailOf(type: MailType, head: MailHead, alert: MailedAlert, { zone, page }: MailLook): NewMail {
  const facts = factsOf(alert);
  const what = subjectOf(alert, facts);
  const url = urlOf(alert, facts);
  const tokens = { 'site.name': what, 'site.url': url, 'site.id': String(alert.site_id ?? '') };
  const text = sentence(alert, facts);
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [text],
    links: [{ label: 'Open the site', url }, ...pageLinks(page)],
    tone: toneOf(alert.kind),
    tables: [{ title: 'Details', columns: ['', ''], rows: details(alert, facts, url, zone) }],
  };
  // The default subject only names the site, so the event is added to it.
  const subject = `${withTokens(head.subject, tokens)} – ${text}`;
  return composeMail(type, `alert:${alert.key}`, alert.site_id, head, oneLine(subject, 150), content);
}

function details(alert: MailedAlert, facts: Facts, url: string, zone: string): string[][] {
  const rows: [string, unknown][] = [
    ['Site', url],
    ['Time', `${wordpressTime(alert.at, zone)} (${zone})`],
    ['HTTP status', Number(facts.http_code ?? facts.http_status) > 0 ? (facts.http_code ?? facts.http_status) : ''],
    ['Issuer', facts.issuer],
    ['Registrar', facts.registrar],
    ['CVE', facts.cve],
    ['Published at', facts.reference],
    ['Problem', alert.kind === 'certificate.invalid' ? '' : facts.problem],
  ];
  return rows.flatMap(([name, value]) => {
    const text = oneLine(String(value ?? ''), 300);
    return text === '' ? [] : [[name, text]];
  });
}

/** Many at once: when a host fails, one mail replaces two hundred. */
function together(type: MailType, head: MailHead, alerts: readonly MailedAlert[], { zone, page }: MailLook): NewMail {
  // Among them a site may have gone down and recovered.
  const sites = new Set(alerts.map(({ site_id, key }) => site_id ?? key)).size;
  const count = sites === 1 ? '1 site' : `${sites} sites`;
  const tokens = { 'site.name': count, 'site.url': '', 'site.id': '' };
  const rows = alerts.slice(0, ROWS).map((alert) => [wordpressTime(alert.at, zone), sentence(alert, factsOf(alert))]);
  const left = alerts.length - rows.length;
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [`${alerts.length} new alerts.`],
    links: pageLinks(page),
    tone: alerts.every(({ kind }) => kind === 'monitor.up') ? 'good' : 'bad',
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

/** Links to our own page, if there is one. */
export function pageLinks(page: string | null): { label: string; url: string }[] {
  return page === null ? [] : [{ label: 'Open Sitefleet', url: page }];
}

/** Links keep the encoded form, which every program can follow. */
function realNames(content: MailContent): MailContent {
  return {
    ...content,
    heading: withRealDomains(content.heading),
    lines: content.lines.map(withRealDomains),
    tables: content.tables.map((table) => ({ ...table, rows: table.rows.map((row) => row.map(withRealDomains)) })),
  };
}

export function composeMail(
  type: MailType,
  event_key: string,
  site_id: number | null,
  { recipients }: Pick<MailHead, 'recipients'>,
  subject: string,
  content: MailContent,
): NewMail {
  const shown = realNames(content);
  const texts = { subject: withRealDomains(subject), text: renderText(shown), html: renderHtml(shown) };
  return { event_key, type, site_id, recipients, ...texts };
}
