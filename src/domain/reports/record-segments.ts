/** Segments about tools that this service does not run: the members allowed in a record of each (REST §6.8.2). */

import type { Segment } from '../../../schemas/report.js';

export type FigureKind = 'text' | 'number' | 'percent' | 'date' | 'list' | 'chart';

export interface Member {
  key: string;
  token: string;
  title: string;
  kind: FigureKind;
}

export interface RecordSegment {
  title: string;
  /** Members of a record with an action, which becomes a row. */
  row: readonly Member[];
  /** Figures, from the latest record of the range. */
  figures: readonly Member[];
  /** Figures that are the sum of a member over the range: figure → member. */
  sums: Readonly<Record<string, string>>;
  /** First part of the tokens of its rows. */
  token: string;
  /**
   * If no record was ever stored, the tool is not present: `svc_module_not_available`. Otherwise the answer is empty.
   */
  thirdParty: boolean;
}

function member(token: string, title: string, kind: FigureKind = 'text'): Member {
  return { key: token.replaceAll('.', '_').replaceAll('-', '_'), token, title, kind };
}

/** Tokens of figures start with the name of their segment; their keys do not. */
function figures(prefix: string, list: readonly (readonly [string, string, FigureKind])[]): Member[] {
  return list.map(([token, title, kind]) => ({ ...member(token, title, kind), token: `${prefix}.${token}` }));
}

function segment(title: string, token: string, more: Partial<RecordSegment>): RecordSegment {
  return { title, token, row: [], figures: [], sums: {}, thirdParty: true, ...more };
}

const FINDINGS = [
  ['plugins.count', 'Vulnerable plugins', 'number'],
  ['themes.count', 'Vulnerable themes', 'number'],
  ['plugins', 'Plugins', 'list'],
  ['themes', 'Themes', 'list'],
  ['core', 'WordPress', 'list'],
] as const;

const VISITS = [
  ['visits', 'Visits', 'number'],
  ['pageviews', 'Page views', 'number'],
  ['pages.visit', 'Pages per visit', 'number'],
  ['bounce.rate', 'Bounce rate', 'percent'],
  ['avg.time', 'Average time', 'text'],
  ['new.visits', 'New visits', 'percent'],
] as const;

export const RECORD_SEGMENTS: Partial<Record<Segment, RecordSegment>> = {
  backups: segment('Backups', 'backup', { row: [member('type', 'Type')], thirdParty: false }),
  maintenance: segment('Maintenance', 'maintenance', {
    row: [member('result', 'Result'), member('details', 'Details')],
    thirdParty: false,
  }),
  scanner_a: segment('Malware checks', 'scanner-a', {
    row: [member('status', 'Status'), member('webtrust', 'Reputation')],
  }),
  scanner_b: segment('Security scans', 'scanner-b', {
    row: [member('result', 'Result'), member('details', 'Details')],
  }),
  scanner_c: segment('Virus scans', 'scanner-c', { row: [member('status', 'Status'), member('details', 'Details')] }),
  scan_a: segment('Vulnerability scan', 'scan-a', { figures: figures('scan-a', FINDINGS) }),
  protect_a: segment('Vulnerability protection', 'protect-a', { figures: figures('protect-a', FINDINGS) }),
  security_plugin: segment('Security plugin', 'security', {
    row: [member('result', 'Result'), member('blocked', 'Blocked', 'number'), member('lockouts', 'Lockouts', 'number')],
    figures: figures('security', [
      ['blocked.count', 'Blocked', 'number'],
      ['lockout.count', 'Lockouts', 'number'],
    ]),
    sums: { blocked_count: 'blocked', lockout_count: 'lockouts' },
  }),
  shop_status: segment('Shop', 'shop', {
    figures: figures('shop', [
      ['sales', 'Sales', 'number'],
      ['topseller', 'Best seller', 'text'],
      ['awaitingprocessing', 'Awaiting processing', 'number'],
      ['onhold', 'On hold', 'number'],
      ['lowonstock', 'Low on stock', 'number'],
      ['outofstock', 'Out of stock', 'number'],
    ]),
  }),
  vulnerable: segment('Vulnerabilities', 'vulnerable', {
    figures: figures('vulnerable', [
      ['plugins', 'Plugins', 'list'],
      ['themes', 'Themes', 'list'],
      ['checkdate', 'Checked on', 'date'],
      ['count', 'Vulnerabilities', 'number'],
    ]),
    thirdParty: false,
  }),
  analytics_a: segment('Visitors', 'ga', {
    figures: figures('ga', [
      ...VISITS,
      ['visits.chart', 'Visits by day', 'chart'],
      ['visits.maximum', 'Most visits in a day', 'number'],
      ['startdate', 'From', 'date'],
      ['enddate', 'To', 'date'],
    ]),
  }),
  analytics_b: segment('Visitors', 'analytics-b', { figures: figures('analytics-b', VISITS) }),
  uptime_monitor_ext: segment('Uptime from another service', 'aum', {
    figures: figures('aum', [
      ['alltimeuptimeratio', 'Since the first check', 'percent'],
      ...([7, 15, 30, 45, 60] as const).map((days) => [`uptime${days}`, `Last ${days} days`, 'percent'] as const),
    ]),
  }),
  feedback_tool: segment('Feedback tasks', 'feedback', {
    figures: figures('feedback', [
      ['all.tasks', 'Tasks', 'number'],
      ['billable.tasks', 'Billable tasks', 'number'],
    ]),
  }),
};
