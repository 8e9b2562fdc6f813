/** Reading the monitors (REST §6.11): lists with their figures, beats, incidents. */

import type { Ctx } from '../context.js';
import { ServiceError } from '../errors.js';
import type { BeatRow, IncidentRow, MonitorSums } from '../store/monitor-results.js';
import type { MonitorFilter, MonitorRow } from '../store/monitors.js';
import { effectiveSettings } from './monitor-settings.js';
import { NEVER } from './monitor-state.js';
import { type MonitoringDefaults, monitoringDefaults } from './settings-effect.js';
import { isoTime } from './sites.js';

const HOUR_MS = 3_600_000;

export type MonitorQuery = Pick<MonitorFilter, 'status' | 'search' | 'include' | 'exclude'>;

export interface MonitorBasic {
  id: number;
  url: string;
  last_status: string;
}

const WORDS: Readonly<Record<number, string>> = { 0: 'down', 1: 'up', 2: 'pending' };

/** `first` = switched on and not checked yet; `unknown` = switched off and without a check. */
function wordOf(row: MonitorRow, global: MonitoringDefaults): string {
  if (row.status !== NEVER) return WORDS[row.status] ?? 'unknown';
  return effectiveSettings(row, global).active && row.suspended === 0 ? 'first' : 'unknown';
}

function basic(row: MonitorRow, global: MonitoringDefaults): MonitorBasic {
  return { id: row.site_id, url: row.url, last_status: wordOf(row, global) };
}

async function filterOf(ctx: Ctx, query: MonitorQuery, global: MonitoringDefaults): Promise<MonitorFilter> {
  return { ...query, denied: ctx.actor.denied_sites, active: global.active ? 1 : 0 };
}

export async function listMonitorsBasic(ctx: Ctx, query: MonitorQuery, page: number, perPage: number) {
  const global = await monitoringDefaults(ctx);
  const { items, total } = await ctx.store.monitors.list(await filterOf(ctx, query, global), page, perPage);
  return { items: items.map((row) => basic(row, global)), total };
}

export async function listMonitors(ctx: Ctx, query: MonitorQuery, page: number, perPage: number) {
  const global = await monitoringDefaults(ctx);
  const { items, total } = await ctx.store.monitors.list(await filterOf(ctx, query, global), page, perPage);
  return { items: await withFigures(ctx, items, global), total };
}

export async function countMonitors(ctx: Ctx, query: MonitorQuery): Promise<number> {
  return ctx.store.monitors.count(await filterOf(ctx, query, await monitoringDefaults(ctx)));
}

export async function monitorRow(ctx: Ctx, siteId: number): Promise<MonitorRow> {
  const row = await ctx.store.monitors.one(siteId);
  if (row !== undefined) return row;
  throw new ServiceError('svc_rest_monitor_not_found', `There is no monitor of site ${siteId}.`, {
    data: { site_id: siteId },
  });
}

export async function getMonitorBasic(ctx: Ctx, siteId: number): Promise<MonitorBasic> {
  return basic(await monitorRow(ctx, siteId), await monitoringDefaults(ctx));
}

/** One monitor with its settings, figures and the beats of the last 24 hours. */
export async function getMonitor(ctx: Ctx, siteId: number) {
  const [row, global] = await Promise.all([monitorRow(ctx, siteId), monitoringDefaults(ctx)]);
  const now = ctx.clock.now();
  const [[figures], beats] = await Promise.all([
    withFigures(ctx, [row], global),
    ctx.store.monitorResults.beats(siteId, { from: now - 24 * HOUR_MS, to: now, status: [] }, 1, 500),
  ]);
  const { active, timeout, maxretries, method, expected_status, keyword } = effectiveSettings(row, global);
  return {
    ...figures,
    active: active ? 1 : 0,
    interval: effectiveSettings(row, global).interval,
    timeout,
    maxretries,
    method,
    expected_status,
    keyword,
    last_message: row.last_msg,
    flapping: row.flapping_until !== null,
    next_check_at: isoTime(row.next_check_at === 0 ? now : row.next_check_at),
    heartbeats: beats.items.map(beatView),
  };
}

async function withFigures(ctx: Ctx, rows: readonly MonitorRow[], global: MonitoringDefaults) {
  const now = ctx.clock.now();
  const { sums, hours, incidents } = await ctx.store.monitorResults.metrics(
    rows.map(({ site_id }) => site_id),
    now,
  );
  const byHour = new Map(hours.map((row) => [`${row.site_id}:${row.hour}`, row]));
  return rows.map((row) => {
    const sum = sums.get(row.site_id);
    const count = incidents.get(row.site_id);
    const { type, interval } = effectiveSettings(row, global);
    return {
      id: row.site_id,
      monitor_id: row.site_id,
      url: row.url,
      name: row.name,
      type,
      last_status: wordOf(row, global),
      check_frequency: `${interval}m`,
      last_check_at: isoTime(row.last_check_at),
      last_status_code: row.last_http_code,
      uptime_24h: lastDay(row.site_id, byHour, now),
      uptime_ratio_24h: ratio(sum?.up_24h, sum?.down_24h),
      uptime_ratio_7d: ratio(sum?.up_7d, sum?.down_7d),
      uptime_ratio_30d: ratio(sum?.up_30d, sum?.down_30d),
      incidents_count_7d: count?.n_7d ?? 0,
      incidents_count_30d: count?.n_30d ?? 0,
      ...responseTimes(sum),
    };
  });
}

/** Percent up of the time that was certainly up or down; null without any. */
function ratio(up = 0, down = 0): number | null {
  const total = up + down;
  return total === 0 ? null : Number(((up / total) * 100).toFixed(6));
}

function responseTimes(sum: MonitorSums | undefined) {
  return {
    response_time_avg_ms: sum === undefined || sum.pings === 0 ? null : Math.round(sum.ping_sum / sum.pings),
    response_time_min_ms: sum?.ping_min ?? null,
    response_time_max_ms: sum?.ping_max ?? null,
  };
}

type Hour = { up_s: number; down_s: number; pending_s: number };

/** 24 hours, oldest first. An hour that was down in part is down. */
function lastDay(siteId: number, byHour: ReadonlyMap<string, Hour>, now: number) {
  const current = Math.floor(now / HOUR_MS);
  return Array.from({ length: 24 }, (_, index) => {
    const hour = current - 23 + index;
    const row = byHour.get(`${siteId}:${hour}`);
    const status =
      row === undefined
        ? 'unknown'
        : row.down_s > 0
          ? 'down'
          : row.up_s > 0
            ? 'up'
            : row.pending_s > 0
              ? 'pending'
              : 'unknown';
    return { timestamp: isoTime(hour * HOUR_MS), status };
  });
}

export function beatView(row: BeatRow) {
  return {
    heartbeat_id: row.id,
    monitor_id: row.site_id,
    status: row.status,
    status_label: WORDS[row.status] ?? 'unknown',
    importance: row.important,
    msg: row.msg,
    time: isoTime(row.at),
    ping_ms: row.ping_ms,
    http_code: row.http_code,
    duration: row.duration,
    down_count: row.down_count,
  };
}

/** Beats a page may have at most. */
export const MOST_BEATS = 1_000;

export interface BeatQuery {
  period?: string | undefined;
  since?: string | undefined;
  status: readonly number[];
  page: number;
  /** 0 = as many as a page may have. */
  limit: number;
}

export async function listBeats(ctx: Ctx, siteId: number, query: BeatQuery) {
  await monitorRow(ctx, siteId);
  const range = periodOf(query.period, query.since, ctx.clock.now());
  const limit = query.limit === 0 ? MOST_BEATS : Math.min(query.limit, MOST_BEATS);
  const { items, total } = await ctx.store.monitorResults.beats(
    siteId,
    { ...range, status: query.status },
    query.page,
    limit,
  );
  return {
    items: items.map(beatView),
    meta: { page: query.page, per_page: limit, total, total_pages: Math.ceil(total / limit) },
  };
}

export async function listIncidents(ctx: Ctx, siteId: number, page: number, perPage: number) {
  await monitorRow(ctx, siteId);
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.monitorResults.incidents(siteId, page, perPage);
  return { items: items.map((row) => incidentView(row, now)), total };
}

export async function countIncidents(ctx: Ctx, siteId: number, period: string | undefined): Promise<number> {
  await monitorRow(ctx, siteId);
  const now = ctx.clock.now();
  const { from, to } = period === undefined ? { from: 0, to: now } : periodOf(period, undefined, now);
  return ctx.store.monitorResults.countIncidents(siteId, from, to);
}

/** Times in the text form of the user's document, and as ISO 8601 beside it. */
function incidentView(row: IncidentRow, now: number) {
  return {
    id: row.id,
    status: 'down',
    started_at: plainTime(row.started_at),
    ended_at: row.ended_at === null ? null : plainTime(row.ended_at),
    started_at_iso: isoTime(row.started_at),
    ended_at_iso: isoTime(row.ended_at),
    duration_sec: Math.max(0, Math.round(((row.ended_at ?? now) - row.started_at) / 1000)),
    resolved: row.ended_at !== null,
    down_count: row.down_count,
    http_code: row.http_code,
    msg: row.msg,
  };
}

function plainTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

const PERIODS: Readonly<Record<string, number>> = { '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS };

/** `24h`, `7d`, `30d` (the default) or `<start>/<end>` in ISO form; `since` replaces the start. Throws `invalid_period`. */
export function periodOf(period = '30d', since: string | undefined, now: number): { from: number; to: number } {
  const fixed = Object.hasOwn(PERIODS, period) ? PERIODS[period] : undefined;
  const [start, end, ...more] = period.split('/');
  const to = fixed === undefined ? instant(end, 'period') : now;
  const begin = fixed === undefined ? instant(start, 'period') : now - fixed;
  const from = since === undefined ? begin : instant(since, 'since');
  if (more.length > 0) throw wrongPeriod('period', 'has more than one slash');
  if (from > to) throw wrongPeriod(since === undefined ? 'period' : 'since', 'starts after it ends');
  return { from, to };
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Without a zone, UTC is meant. A `+` that a query turned into a blank is read as one. */
function instant(text: string | undefined, field: string): number {
  const given = (text ?? '')
    .trim()
    .replace(/ (\d{2}:?\d{2})$/, (whole, zone: string, at: number, all: string) =>
      all.slice(0, at).includes(':') ? `+${zone}` : whole,
    );
  const zoned = /T|\s/.test(given) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(given) ? `${given}Z` : given;
  const at = ISO.test(given) ? Date.parse(zoned.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(at)) throw wrongPeriod(field, 'is not 24h, 7d, 30d or <start>/<end> with ISO 8601 times');
  return at;
}

function wrongPeriod(field: string, what: string): ServiceError {
  return new ServiceError('invalid_period', `${field} ${what}.`, {
    field,
    advice: 'Send for example period=7d, or period=2026-01-01T00:00:00Z/2026-01-31T00:00:00Z.',
  });
}
