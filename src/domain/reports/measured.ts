/** Segments that other parts of the service measure: certificate, domain, page speed, uptime (REST §6.8.2). */

import type { Ctx } from '../../context.js';
import { getCertificate } from '../certificates.js';
import { getDomain } from '../domains.js';
import { requireModule } from '../modules.js';
import { monitorRow } from '../monitors.js';
import { isoTime } from '../sites.js';
import { wordpressTime } from '../zones.js';
import { type ChartPoint, type Findings, MAX_ROWS, type Question, type ReportValue, type Section } from './types.js';

const DAY_MS = 86_400_000;

function text(key: string, token: string, title: string, value: string | null): ReportValue {
  return { key, token, title, kind: 'text', value };
}

function day(key: string, token: string, title: string, at: string | null): ReportValue {
  return { key, token, title, kind: 'date', value: at === null ? null : at.slice(0, 10) };
}

export async function certificateFindings(ctx: Ctx, { site }: Question): Promise<Findings> {
  requireModule(ctx, 'ssl-monitor');
  const seen = await getCertificate(ctx, site.id);
  const values: ReportValue[] = [
    text('name', 'ssl.name', 'Certificate', seen.subject_cn),
    text('issuer', 'ssl.issuer', 'Issuer', seen.issuer_o ?? seen.issuer_cn),
    day('valid_from', 'ssl.valid.from', 'Valid from', seen.valid_from),
    day('valid_to', 'ssl.valid.to', 'Valid to', seen.valid_to),
    { key: 'expires', token: 'ssl.expires', title: 'Days left', kind: 'days', value: seen.days_left },
    text('status', 'ssl.status', 'Status', seen.status),
    { key: 'last_check', token: 'ssl.last.check', title: 'Last check', kind: 'moment', value: seen.last_check },
  ];
  const notes =
    seen.last_check === null
      ? ['The certificate was not looked at yet.']
      : ['As of the last check, whatever the range.'];
  return { sections: [], values, notes: seen.error === null ? notes : [...notes, seen.error], truncated: false };
}

export async function domainFindings(ctx: Ctx, { site }: Question): Promise<Findings> {
  requireModule(ctx, 'domain-monitor');
  const seen = await getDomain(ctx, site.id);
  const values: ReportValue[] = [
    text('name', 'domain.name', 'Domain', seen.domain_name),
    text('registrar', 'domain.registrar', 'Registrar', seen.registrar),
    day('creation', 'domain.creation', 'Registered on', seen.creation_date),
    day('updated', 'domain.updated', 'Updated on', seen.updated_date),
    day('expiry', 'domain.expiry', 'Registered until', seen.expiry_date),
    { key: 'expires', token: 'domain.expires', title: 'Days left', kind: 'days', value: seen.expires },
    text('status', 'domain.status', 'Status', seen.status_label),
    { key: 'last_check', token: 'domain.last.check', title: 'Last check', kind: 'moment', value: seen.last_check },
  ];
  const notes =
    seen.last_check === null ? ['The domain was not looked up yet.'] : ['As of the last check, whatever the range.'];
  return { sections: [], values, notes: seen.error === null ? notes : [...notes, seen.error], truncated: false };
}

const SCREENS = ['desktop', 'mobile'] as const;
/** Audits of one range that a chart is drawn from. */
const MAX_SCORES = 2000;

/** The last audit of each screen within the range, and the scores over it. */
export async function auditFindings(ctx: Ctx, { site, from, to, zone }: Question): Promise<Findings> {
  requireModule(ctx, 'perf-audit');
  const [scores, newest] = await Promise.all([
    ctx.store.audits.scores(site.id, from, to, MAX_SCORES),
    ctx.store.audits.newest([site.id]),
  ]);
  const values = SCREENS.flatMap((screen): ReportValue[] => {
    const ofScreen = scores.filter((point) => point.strategy === screen);
    const [last] = ofScreen;
    const number = (key: string, word: string, value: number | null | undefined): ReportValue => ({
      key: `${key}_${screen}`,
      token: `perf.${word}.${screen}`,
      title: `${word === 'seo' ? 'SEO' : word.charAt(0).toUpperCase() + word.slice(1)}, ${screen}`,
      kind: 'number',
      value: value ?? null,
    });
    const row = (newest.get(site.id) ?? []).find(
      (audit) => audit.strategy === screen && audit.finished_at === last?.at,
    );
    return [
      number('performance', 'performance', last?.performance),
      number('accessibility', 'accessibility', last?.accessibility),
      number('bestpractices', 'bestpractices', last?.best_practices),
      number('seo', 'seo', last?.seo),
      {
        key: `audits_${screen}`,
        token: `perf.audits.${screen}`,
        title: `To improve, ${screen}`,
        kind: 'list',
        value: findingsOf(row?.others_data),
      },
      {
        key: `lastcheck_${screen}`,
        token: `perf.lastcheck.${screen}`,
        title: `Last audit, ${screen}`,
        kind: 'moment',
        value: last === undefined ? null : isoTime(last.at),
      },
      {
        key: `chart_${screen}`,
        token: `perf.chart.${screen}`,
        title: `Performance over time, ${screen}`,
        kind: 'chart',
        unit: '',
        max: 100,
        value: daily(
          ofScreen.map((point) => ({ at: point.at, value: point.performance })),
          zone,
        ),
      },
    ];
  });
  return {
    sections: [],
    values,
    notes: scores.length === 0 ? ['No audit was made in the range.'] : [],
    truncated: false,
  };
}

function findingsOf(json: string | undefined): { title: string; display_value: string }[] {
  const items = JSON.parse(json ?? '[]') as { title: string; display_value: string }[];
  return items.map(({ title, display_value }) => ({ title, display_value }));
}

/** One point a day, oldest first; of several the last of the day. `points` are newest first. */
function daily(points: readonly { at: number; value: number | null }[], zone: string): ChartPoint[] {
  const byDay = new Map<string, number | null>();
  for (const { at, value } of points) {
    const date = wordpressTime(at, zone).slice(0, 10);
    if (!byDay.has(date)) byDay.set(date, value);
  }
  return [...byDay].map(([date, value]) => ({ date, value })).reverse();
}

const WINDOWS = [7, 15, 30, 45, 60] as const;

/** The service's own monitor: ratios that end with the range, answer times and incidents within it. */
export async function uptimeFindings(ctx: Ctx, question: Question): Promise<Findings> {
  const { site, from, to, now, start_date, end_date } = question;
  const until = Math.min(to, now);
  const since = [0, ...WINDOWS.map((days) => until - days * DAY_MS), Math.min(from, until)];
  const [monitor, sums, days, incidents] = await Promise.all([
    monitorRow(ctx, site.id),
    ctx.store.reportData.uptimeSums(site.id, since, until),
    ctx.store.reportData.uptimeDays(site.id, from, until),
    ctx.store.reportData.incidents(site.id, from, to, MAX_ROWS),
  ]);
  const [all, ...windows] = sums.map(({ up, down }) => ratio(up, down));
  const range = sums.at(-1);
  const pings = days.reduce((total, row) => total + row.pings, 0);
  const average = pings === 0 ? null : Math.round(days.reduce((total, row) => total + row.ping_sum, 0) / pings);
  const bound = (pick: 'ping_min' | 'ping_max', choose: (...values: number[]) => number) => {
    const known = days.flatMap((row) => row[pick] ?? []);
    return known.length === 0 ? null : choose(...known);
  };
  const values: ReportValue[] = [
    {
      key: 'alltimeuptimeratio',
      token: 'uptime.alltimeuptimeratio',
      title: 'Since the first check',
      kind: 'percent',
      value: all ?? null,
    },
    ...WINDOWS.map(
      (count, i): ReportValue => ({
        key: `uptime${count}`,
        token: `uptime.uptime${count}`,
        title: `Last ${count} days of the range`,
        kind: 'percent',
        value: windows[i] ?? null,
      }),
    ),
    {
      key: 'stats',
      token: 'uptime.stats',
      title: 'Within the range',
      kind: 'list',
      value:
        range === undefined || range.up + range.down === 0
          ? []
          : [
              { state: 'up', seconds: Math.round(range.up) },
              { state: 'down', seconds: Math.round(range.down) },
            ],
    },
    {
      key: 'numberofincidents',
      token: 'uptime.numberofincidents',
      title: 'Incidents',
      kind: 'number',
      value: incidents.total,
    },
    {
      key: 'responsetime_average',
      token: 'uptime.responsetime.average',
      title: 'Answer time, average',
      kind: 'ms',
      value: average,
    },
    {
      key: 'responsetime_min',
      token: 'uptime.responsetime.min',
      title: 'Answer time, shortest',
      kind: 'ms',
      value: bound('ping_min', Math.min),
    },
    {
      key: 'responsetime_max',
      token: 'uptime.responsetime.max',
      title: 'Answer time, longest',
      kind: 'ms',
      value: bound('ping_max', Math.max),
    },
    { key: 'startdate', token: 'uptime.startdate', title: 'From', kind: 'date', value: start_date },
    { key: 'enddate', token: 'uptime.enddate', title: 'To', kind: 'date', value: end_date },
    {
      key: 'chart',
      token: 'uptime.chart',
      title: 'Uptime by day',
      kind: 'chart',
      unit: '%',
      max: 100,
      value: days.map((row) => ({ date: dateOfDay(row.day), value: ratio(row.up_s, row.down_s) })),
    },
    { key: 'status', token: 'uptime.status', title: 'Status', kind: 'text', value: STATUS[monitor.status] ?? null },
  ];
  const section = incidentSection(incidents, until);
  const notes = days.length === 0 ? ['The monitor made no check in the range.'] : ['Days are those of UTC.'];
  return { sections: [section], values, notes, truncated: incidents.items.length < incidents.total };
}

const STATUS: Readonly<Record<number, string>> = { 0: 'down', 1: 'up', 2: 'pending' };

/** Per cent with 6 decimals; null when nothing was measured. Time in neither state counts for neither. */
function ratio(up: number, down: number): number | null {
  return up + down <= 0 ? null : Math.round((up / (up + down)) * 1e8) / 1e6;
}

function dateOfDay(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}

function incidentSection({ items, total }: { items: readonly Incident[]; total: number }, until: number): Section {
  return {
    name: 'incidents',
    title: 'Incidents',
    count: total,
    countToken: 'uptime.incidents.count',
    tokens: {
      ended_at: 'uptime.incident.ended',
      duration_sec: 'uptime.incident.duration',
      reason: 'uptime.incident.reason',
      date: 'uptime.incident.date',
      time: 'uptime.incident.time',
      utime: 'uptime.incident.utime',
    },
    rows: items.map((item) => ({
      at: item.started_at,
      fields: {
        ended_at: isoTime(item.ended_at),
        duration_sec: Math.max(0, Math.round(((item.ended_at ?? until) - item.started_at) / 1000)),
        reason: item.msg,
      },
    })),
  };
}

type Incident = Awaited<ReturnType<Ctx['store']['reportData']['incidents']>>['items'][number];
