/**
 * Turns alerts into mails: which type an alert belongs to, and the text of the mail. Pure, except for the settings
 * passed in.
 */

import type { MailType } from '../../../../schemas/mail.js';
import { SEVERITIES } from '../../../../schemas/vulnerability.js';
import type { AlertKind } from '../../../runtime/events.js';
import { withRealDomains } from '../../../runtime/real-domains.js';
import { wordpressTime } from '../../../runtime/time-zones.js';
import type { NewMail, WaitingAlert } from '../../../store/mail/mail.js';
import { siteAddress } from '../../sites/urls.js';
import {
  type MailContent,
  type MailLink,
  type MailLook,
  type MailTable,
  oneLine,
  renderHtml,
  renderText,
  type Tone,
  withTokens,
} from './layout.js';

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
export function wordsOf(
  alert: MailedAlert,
  zone: string,
): { subject: string; text: string; url: string; facts: Facts } {
  const facts = factsOf(alert);
  return {
    subject: withRealDomains(subjectOf(alert, facts)),
    text: withRealDomains(sentence(alert, facts, zone)),
    url: urlOf(alert, facts),
    facts,
  };
}

function urlOf(alert: MailedAlert, facts: Facts): string {
  return alert.site_url ?? (typeof facts.url === 'string' ? facts.url : '');
}

/** What happened, in one sentence. */
function sentence(alert: MailedAlert, facts: Facts, zone: string): string {
  const what = namedSite(alert, facts);
  const say = (name: string) => oneLine(String(facts[name] ?? ''), 300);
  switch (alert.kind) {
    case 'monitor.down':
      return `${what} ${typeof facts.since === 'string' ? `has been down since ${timeOfDay(Date.parse(facts.since), alert.at, zone)}` : 'is down'}. ${say('msg')}`.trim();
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

/** `15:27`, with the day if it is another one than that of `at`, and with the offset where no place is set. */
export function timeOfDay(time: number, at: number, zone: string): string {
  const [day, clock = ''] = wordpressTime(time, zone).slice(0, 16).split(' ');
  const today = wordpressTime(at, zone).startsWith(String(day));
  const offset = zone.startsWith('UTC') ? ` ${zone.replace(/\+0$/, '')}` : '';
  return `${today ? clock : `${day} ${clock}`}${offset}`;
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

/** With the address, where the name does not tell it: names repeat, and some say little. */
function namedSite(alert: MailedAlert, facts: Facts): string {
  const name = subjectOf(alert, facts);
  // Some are about something else than the site.
  if (alert.site_name === null || name !== oneLine(alert.site_name, 200)) return name;
  const address = siteAddress(urlOf(alert, facts));
  const told = [name, siteAddress(name)].some((text) => text.toLowerCase().includes(address.toLowerCase()));
  return told ? name : `${name} (${oneLine(address)})`;
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
  const single = type === 'vulnerability' ? 1 : SINGLE;
  if (alerts.length <= single)
    return alerts.map((alert) => ({ ...mailOf(type, head, alert, look), alert_ids: [alert.id] }));
  return [{ ...together(type, head, alerts, look), alert_ids: alerts.map(({ id }) => id) }];
}

function mailOf(type: MailType, head: MailHead, alert: MailedAlert, look: MailLook): NewMail {
  const facts = factsOf(alert);
  const url = urlOf(alert, facts);
  const event = sentence(alert, facts, look.zone);
  const tokens = {
    event,
    'site.name': subjectOf(alert, facts),
    'site.url': url,
    'site.id': String(alert.site_id ?? ''),
  };
  const worst = alert.kind === 'vulnerability.summary' ? worstOf(facts, look) : [];
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [event],
    links: linksOf(alert, url, look),
    tone: toneOf(alert.kind),
    tables: [...worst, { title: 'Details', columns: ['', ''], rows: details(alert, facts, url, look.zone) }],
  };
  return composeMail(type, `alert:${alert.key}`, alert.site_id, head, subjectWith(head, tokens), content);
}

/** A subject that names the event says it where it wants to. */
function subjectWith({ subject }: MailHead, tokens: Readonly<Record<string, string>> & { event: string }): string {
  const text = withTokens(subject, tokens);
  return oneLine(subject.includes('[event]') ? text : `${text} – ${tokens.event}`, 150);
}

/** Where the site is shown, where one says that one is on it, and the site itself. */
function linksOf({ kind, site_id }: MailedAlert, url: string, { page }: MailLook): MailLink[] {
  const site = page === null || site_id === null ? null : sitePage(page, site_id);
  return [
    ...(site === null ? pageLinks(page) : [{ label: 'Open', url: site }]),
    ...(site !== null && kind === 'monitor.down' ? [{ label: 'Acknowledge', url: `${site}?acknowledge` }] : []),
    { label: 'Visit the site', url },
  ];
}

/** The view of a site on our own page. */
export function sitePage(page: string, site_id: number): string {
  return `${page}sites/${site_id}`;
}

function worstOf(facts: Facts, { page }: MailLook): MailTable[] {
  const worst = Array.isArray(facts.worst) ? (facts.worst as Facts[]) : [];
  if (worst.length === 0) return [];
  const rows = worst.map(({ site, item, severity }) => [
    oneLine(String(severity ?? 'not rated')),
    oneLine(String(item), 200),
    siteAddress(oneLine(String(site), 200)),
  ]);
  const left = Number(facts.items) - rows.length;
  const more = left > 0 ? { more: `And ${left} more${page === null ? '' : ', on the page'}.` } : {};
  return [{ title: 'Most severe first', columns: ['Severity', 'Plugin or theme', 'Site'], rows, ...more }];
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
function together(type: MailType, head: MailHead, alerts: readonly MailedAlert[], look: MailLook): NewMail {
  // Among them a site may have gone down and recovered.
  const sites = new Set(alerts.map(({ site_id, key }) => site_id ?? key)).size;
  const count = sites === 1 ? '1 site' : `${sites} sites`;
  const vulnerable = type === 'vulnerability';
  const what = vulnerable ? 'Known vulnerabilities' : `${alerts.length} alerts`;
  const event = `${what} on ${count}${vulnerable ? `: ${itemsOf(alerts)}` : ''}`;
  const tokens = { event, 'site.name': count, 'site.url': '', 'site.id': '' };
  const content: MailContent = {
    heading: oneLine(withTokens(head.heading, tokens)),
    lines: [`${event}.`],
    links: pageLinks(look.page),
    tone: alerts.every(({ kind }) => kind === 'monitor.up') ? 'good' : 'bad',
    tables: [vulnerable ? vulnerabilities(alerts) : whatHappened(alerts, look)],
  };
  return composeMail(type, `alerts:${alerts[0]?.key}:${alerts.length}`, null, head, subjectWith(head, tokens), content);
}

function itemsOf(alerts: readonly MailedAlert[]): string {
  const names = [...new Set(alerts.map((alert) => oneLine(String(factsOf(alert).item ?? subjectOf(alert, {})), 60)))];
  const left = names.length - 3;
  return `${names.slice(0, 3).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function whatHappened(alerts: readonly MailedAlert[], { zone }: MailLook): MailTable {
  const rows = alerts
    .slice(0, ROWS)
    .map((alert) => [wordpressTime(alert.at, zone), sentence(alert, factsOf(alert), zone)]);
  return { title: 'Alerts', columns: [`Time (${zone})`, 'What happened'], rows, ...moreRows(alerts, rows) };
}

/** Most severe first. */
function vulnerabilities(alerts: readonly MailedAlert[]): MailTable {
  const rank = ({ severity }: Facts) => (SEVERITIES as readonly unknown[]).indexOf(severity);
  const found = alerts.map((alert) => ({ alert, facts: factsOf(alert) }));
  const rows = found
    .sort((a, b) => rank(b.facts) - rank(a.facts))
    .slice(0, ROWS)
    .map(({ alert, facts }) => [
      oneLine(String(facts.severity ?? 'not rated')),
      oneLine(`${facts.item ?? subjectOf(alert, facts)} ${facts.version ?? ''}`, 200),
      siteAddress(urlOf(alert, facts)),
      facts.fixed_in === null ? 'no fixed version is known' : oneLine(String(facts.fixed_in ?? ''), 50),
    ]);
  const columns = ['Severity', 'Plugin or theme', 'Site', 'Fixed in'];
  return { title: 'Most severe first', columns, rows, ...moreRows(alerts, rows) };
}

function moreRows(all: readonly unknown[], shown: readonly unknown[]) {
  return all.length > shown.length ? { more: `And ${all.length - shown.length} more.` } : {};
}

/** Links to our own page, if there is one. */
export function pageLinks(page: string | null): { label: string; url: string }[] {
  return page === null ? [] : [{ label: 'Open Sitefleet', url: page }];
}

const realCell = (cell: string | MailLink) =>
  typeof cell === 'string' ? withRealDomains(cell) : { ...cell, label: withRealDomains(cell.label) };

/** Links keep the encoded form, which every program can follow. */
function realNames(content: MailContent): MailContent {
  return {
    ...content,
    heading: withRealDomains(content.heading),
    lines: content.lines.map(withRealDomains),
    tables: content.tables.map((table) => ({ ...table, rows: table.rows.map((row) => row.map(realCell)) })),
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
