/** Turns alerts into mails. Pure, except for the settings passed in. */

import type { MailType } from '../../../../schemas/mail.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { SEVERITIES } from '../../../../schemas/vulnerability.js';
import { withRealDomains } from '../../../runtime/real-domains.js';
import { wordpressTime } from '../../../runtime/time-zones.js';
import type { NewMail } from '../../../store/mail/mail.js';
import { siteAddress } from '../../sites/urls.js';
import { type Facts, factsOf, type MailedAlert, sentence, subjectOf, toneOf, urlOf } from '../words.js';
import {
  type MailContent,
  type MailLink,
  type MailLook,
  type MailTable,
  oneLine,
  renderHtml,
  renderText,
  withTokens,
} from './layout.js';

export interface MailHead {
  subject: string;
  heading: string;
  recipients: readonly string[];
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
  if (kind === 'approval.asked') return [{ label: 'View the request', url }];
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
    ['Site', alert.kind === 'approval.asked' ? '' : url],
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
  const names = [...new Set(alerts.map((alert) => itemOf(alert)))];
  const left = names.length - 3;
  return `${names.slice(0, 3).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function whatHappened(alerts: readonly MailedAlert[], { zone }: MailLook): MailTable {
  const rows = alerts
    .slice(0, ROWS)
    .map((alert) => [wordpressTime(alert.at, zone), sentence(alert, factsOf(alert), zone)]);
  return { title: 'Alerts', columns: [`Time (${zone})`, 'What happened'], rows, ...moreRows(alerts, rows) };
}

function itemOf(alert: MailedAlert): string {
  const { item } = factsOf(alert);
  return item === undefined || item === null ? subjectOf(alert, {}) : siteWord(oneLine(String(item), 60));
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
