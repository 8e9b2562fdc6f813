/** An alert in words: its kind, its tone, and what happened in one sentence. Pure. */

import type { MailType } from '../../../schemas/mail.js';
import { siteWord } from '../../../schemas/site-text.js';
import type { AlertKind } from '../../runtime/events.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import { wordpressTime } from '../../runtime/time-zones.js';
import type { WaitingAlert } from '../../store/mail/mail.js';
import { siteAddress } from '../sites/urls.js';
import { oneLine, type Tone } from './mail/layout.js';

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
  'site.backup_failed': 'backup',
  'site.drill_failed': 'backup',
  'approval.asked': 'approval',
};

/** The mail type for alerts of a kind. */
export function mailTypeOf(kind: AlertKind): MailType {
  return TYPES[kind];
}

/** False for a kind unknown to this version, for example of an alert that a newer version stored. */
export function isAlertKind(kind: string): kind is AlertKind {
  return Object.hasOwn(TYPES, kind);
}

export type Facts = Record<string, unknown>;

const WARNINGS: ReadonlySet<AlertKind> = new Set([
  'monitor.flapping',
  'certificate.expiring',
  'domain.expiring',
  'site.unhealthy',
  'update.suspect',
  'approval.asked',
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

/** The address of the site; '' = it belongs to none. */
export function urlOf(alert: MailedAlert, facts: Facts): string {
  return alert.site_url ?? (typeof facts.url === 'string' ? facts.url : '');
}

/** What happened, in one sentence. */
export function sentence(alert: MailedAlert, facts: Facts, zone: string): string {
  const what = namedSite(alert, facts);
  const say = (name: string) => oneLine(String(facts[name] ?? ''), 300);
  /** Long enough for the end of a quotation in it, which our own words follow. */
  const reason = () => oneLine(String(facts.reason ?? ''), 600);
  /** What the site says it has: in a subject, its words could pass for ours. */
  const quoted = (name: string) => (say(name) === '' ? '' : siteWord(say(name)));
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
      return `${what} has been broken since ${say('item')} was updated to ${say('new_version')}, and nothing that could be rolled back has helped. ${say('findings')}`.trim();
    case 'update.suspect':
      return `${what} may have had a problem since ${say('item')} was updated to ${say('new_version')}, which was kept. ${say('findings')}`.trim();
    case 'vulnerability.found': {
      const more = Number(facts.count) - 1;
      const rest = more < 1 ? '' : more === 1 ? ' One more is known.' : ` ${more} more are known.`;
      const fix = facts.fixed_in === null ? 'No fixed version is known.' : `Version ${quoted('fixed_in')} fixes it.`;
      const rated = [facts.severity, facts.cve].filter((value) => value !== null && value !== undefined).join(', ');
      return `${quoted('item')} ${quoted('version')} on ${what} has a known vulnerability${rated === '' ? '' : ` (${oneLine(rated, 100)})`}. ${fix}${rest}`;
    }
    case 'vulnerability.summary':
      return `${what} became known on ${Number(facts.sites) === 1 ? '1 site' : `${say('sites')} sites`}. Rated critical: ${Number(facts.critical) === 0 ? 'none' : say('critical')}.`;
    case 'approval.asked': {
      const many = Number(facts.sites) === 1 ? '1 site' : `${say('sites')} sites`;
      const where = typeof facts.sites !== 'number' || facts.sites === 0 ? '' : ` on ${many}`;
      return `${what} waits for approval: ${say('title')}${where}, asked for by ${quoted('by')}.`;
    }
    case 'site.drill_failed':
      return `The backup of ${what} from ${say('made_at').slice(0, 10)} failed its trial restore: ${reason()}`;
    case 'backup.failed':
    case 'site.backup_failed':
      return `${what} could not be backed up. ${reason()} ${facts.last_backup === null ? 'There is no backup.' : `The newest backup is from ${say('last_backup').slice(0, 10)}.`}`;
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

/** What it is about: mostly a site, by its name. */
export function subjectOf(alert: MailedAlert, facts: Facts): string {
  if (alert.kind === 'backup.failed') return 'The database';
  if (alert.kind === 'approval.asked') return 'A change';
  if (alert.kind === 'vulnerability.summary')
    return Number(facts.vulnerabilities) === 1
      ? '1 vulnerability'
      : `${Number(facts.vulnerabilities ?? 0)} vulnerabilities`;
  const domain = alert.kind.startsWith('domain.') ? facts.domain_name : undefined;
  const name = domain ?? alert.site_name ?? facts.name;
  // A site may call itself by a sentence that could pass for ours.
  return name === undefined || name === null
    ? oneLine(String(facts.url ?? 'A site'), 200)
    : siteWord(oneLine(String(name), 200));
}

/** With the address, where the name does not tell it: names repeat, and some say little. */
function namedSite(alert: MailedAlert, facts: Facts): string {
  const name = subjectOf(alert, facts);
  // Some are about something else than the site.
  if (alert.site_name === null || name !== siteWord(oneLine(alert.site_name, 200))) return name;
  const address = siteAddress(urlOf(alert, facts));
  const bare = name.replace(/^"|"$/g, '');
  const told = [bare, siteAddress(bare)].some((text) => text.toLowerCase().includes(address.toLowerCase()));
  return told ? name : `${name} (${oneLine(address)})`;
}

/** None if they cannot be read. */
export function factsOf(alert: MailedAlert): Facts {
  try {
    return JSON.parse(alert.facts) as Facts;
  } catch {
    return {};
  }
}
