/** The uptime segment: what the service's own monitor measured (REST §6.8.2). */

import { isoTime } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { DAYS_KEPT, dateOfDay, hoursSince, percentUp, STATE_WORDS } from '../monitoring/history.js';
import { monitorRow } from '../monitoring/monitors.js';
import {
  type Findings,
  listValue,
  MAX_ROWS,
  numberValue,
  type ReportRequest,
  type ReportValue,
  type Section,
  textValue,
} from './types.js';

const DAY_MS = 86_400_000;
const WINDOWS = [7, 15, 30, 45, 60] as const;

/**
 * Measurements of the service's own monitor: ratios that end with the range, response times and incidents within it.
 */
export async function uptimeFindings(ctx: Ctx, question: ReportRequest): Promise<Findings> {
  const { site, from, to, now, start_date, end_date } = question;
  const until = Math.min(to, now);
  const since = [0, ...WINDOWS.map((days) => until - days * DAY_MS), Math.min(from, until)];
  const kept = now - DAYS_KEPT * DAY_MS;
  const measured = { from, to: until, hours_since: hoursSince(now) };
  const [monitor, sums, days, incidents, { check }] = await Promise.all([
    monitorRow(ctx, site.id),
    ctx.store.reportData.uptimeSums(site.id, since, measured),
    ctx.store.reportData.uptimeDays(site.id, measured),
    ctx.store.reportData.incidents(site.id, from, to, MAX_ROWS),
    ctx.store.reportData.firstWatched(site.id),
  ]);
  const older = check !== null && check < kept + DAY_MS;
  // What is known of a few days says nothing of the last 60.
  const known = (i: number) => check !== null && check <= (since[i] ?? 0) + DAY_MS;
  const [all, ...windows] = sums.map(({ up, down }, i) => (i === 0 || known(i) ? percentUp(up, down) : null));
  const range = sums.at(-1);
  const pings = days.reduce((total, row) => total + row.pings, 0);
  const average = pings === 0 ? null : Math.round(days.reduce((total, row) => total + row.ping_sum, 0) / pings);
  const bound = (pick: 'ping_min' | 'ping_max', choose: (...values: number[]) => number) => {
    const known = days.flatMap((row) => row[pick] ?? []);
    return known.length === 0 ? null : choose(...known);
  };
  const seconds =
    range === undefined || range.up + range.down === 0
      ? []
      : [
          { state: 'up', seconds: Math.round(range.up) },
          { state: 'down', seconds: Math.round(range.down) },
        ];
  const figure = (kind: 'number' | 'percent' | 'ms', token: string, title: string, value: number | null) =>
    numberValue(kind, token.replace('.', '_'), `uptime.${token}`, title, value);
  const values: ReportValue[] = [
    figure('percent', 'rangeuptimeratio', 'Uptime in the period', range ? percentUp(range.up, range.down) : null),
    figure('percent', 'alltimeuptimeratio', 'Since the first check', all ?? null),
    ...WINDOWS.map((count, i) =>
      figure('percent', `uptime${count}`, `Last ${count} days of the range`, windows[i] ?? null),
    ),
    listValue('stats', 'uptime.stats', 'Within the range', seconds),
    figure('number', 'numberofincidents', 'Incidents', incidents.total),
    figure('ms', 'responsetime.average', 'Response time, average', average),
    figure('ms', 'responsetime.min', 'Response time, shortest', bound('ping_min', Math.min)),
    figure('ms', 'responsetime.max', 'Response time, longest', bound('ping_max', Math.max)),
    textValue('date', 'startdate', 'uptime.startdate', 'From', start_date),
    textValue('date', 'enddate', 'uptime.enddate', 'To', end_date),
    {
      key: 'chart',
      token: 'uptime.chart',
      title: 'Uptime by day',
      kind: 'chart',
      unit: '%',
      max: 100,
      value: days.map((row) => ({ date: dateOfDay(row.day), value: percentUp(row.up_s, row.down_s) })),
    },
    textValue('text', 'status', 'uptime.status', 'Status', STATE_WORDS[monitor.status] ?? null),
  ];
  const section = incidentSection(incidents, until);
  const notes = notesOf(days.length === 0, older ? kept : null, from);
  return { sections: [section], values, notes, truncated: incidents.items.length < incidents.total };
}

/** @param kept instant before which figures have been deleted; null if there were none */
function notesOf(none: boolean, kept: number | null, from: number): string[] {
  const forgotten = `Uptime statistics are kept for ${DAYS_KEPT} days: measurements before ${isoTime(kept)?.slice(0, 10)} are not included.`;
  // It is unknown whether there were checks that have been deleted since.
  const unsure = kept !== null && from < kept;
  return [
    ...(kept === null ? [] : [forgotten]),
    ...(none ? (unsure ? [] : ['The monitor made no checks in the range.']) : ['Days are in UTC.']),
  ];
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
