/** Reads the monitors (REST §6.11): lists with their figures. Beats and incidents are in history.ts. */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { MonitorFilter, MonitorOrder, MonitorRow } from '../../store/monitoring/monitors.js';
import type { MonitorSums } from '../../store/monitoring/results.js';
import type { Ctx } from '../context.js';
import { type MonitoringDefaults, monitoringDefaults } from '../settings/effects.js';
import { inMaintenance } from './apply.js';
import { beatView, STATE_WORDS } from './history.js';
import { effectiveSettings, followedSettings, settingsView } from './settings.js';
import { NEVER } from './state.js';

export const MONITOR_ORDERS = [
  'url',
  'name',
  'state',
  'uptime_30d',
  'downtime_24h',
  'response_time',
  'last_check',
] as const satisfies readonly MonitorOrder['by'][];

const HOUR_MS = 3_600_000;

export type MonitorQuery = Pick<MonitorFilter, 'status' | 'search' | 'include' | 'exclude'>;

/** `first` = switched on and not checked yet; `unknown` = switched off and without a check. */
function wordOf(row: MonitorRow, global: MonitoringDefaults): string {
  if (row.status !== NEVER) return STATE_WORDS[row.status] ?? 'unknown';
  return effectiveSettings(row, global).active && row.suspended === 0 ? 'first' : 'unknown';
}

function basic(row: MonitorRow, global: MonitoringDefaults) {
  return { id: row.site_id, url: row.url, last_status: wordOf(row, global) };
}

function filterOf(query: MonitorQuery, global: MonitoringDefaults): MonitorFilter {
  return { ...query, active: global.active ? 1 : 0 };
}

export async function listMonitorsBasic(ctx: Ctx, query: MonitorQuery, page: number, perPage: number) {
  const global = await monitoringDefaults(ctx);
  const { items, total } = await ctx.store.monitors.list(filterOf(query, global), page, perPage, ctx.clock.now());
  return { items: items.map((row) => basic(row, global)), total };
}

export async function listMonitors(ctx: Ctx, query: MonitorQuery, page: number, perPage: number, order?: MonitorOrder) {
  const global = await monitoringDefaults(ctx);
  const { items, total } = await ctx.store.monitors.list(
    filterOf(query, global),
    page,
    perPage,
    ctx.clock.now(),
    order,
  );
  return { items: await withFigures(ctx, items, global), total };
}

export async function countMonitors(ctx: Ctx, query: MonitorQuery): Promise<number> {
  return ctx.store.monitors.count(filterOf(query, await monitoringDefaults(ctx)));
}

export async function monitorRow(ctx: Ctx, siteId: number): Promise<MonitorRow> {
  const row = await ctx.store.monitors.one(siteId);
  if (row !== undefined) return row;
  throw new ServiceError('svc_rest_monitor_not_found', `There is no monitor for site ${siteId}.`, {
    data: { site_id: siteId },
  });
}

export async function getMonitorBasic(ctx: Ctx, siteId: number) {
  return basic(await monitorRow(ctx, siteId), await monitoringDefaults(ctx));
}

/** How a site is monitored, and which settings follow the global ones. */
export async function monitorSettings(ctx: Ctx, siteId: number) {
  const [row, global] = await Promise.all([monitorRow(ctx, siteId), monitoringDefaults(ctx)]);
  const { active, interval, timeout, maxretries, type, keyword } = effectiveSettings(row, global);
  return { active, interval, timeout, maxretries, type, keyword, global: followedSettings(row) };
}

/** One monitor with its settings, figures and the beats of the last 24 hours. */
export async function getMonitor(ctx: Ctx, siteId: number) {
  const [row, global] = await Promise.all([monitorRow(ctx, siteId), monitoringDefaults(ctx)]);
  const now = ctx.clock.now();
  const [[figures], beats] = await Promise.all([
    withFigures(ctx, [row], global),
    ctx.store.monitorResults.beats(siteId, { from: now - 24 * HOUR_MS, to: now, status: [] }, 1, 500),
  ]);
  return {
    ...figures,
    ...settingsView(effectiveSettings(row, global)),
    useglobal: followedSettings(row),
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
    const { type, interval, active } = effectiveSettings(row, global);
    return {
      id: row.site_id,
      paused: !active || row.suspended === 1,
      monitor_id: row.site_id,
      url: row.url,
      name: row.name,
      type,
      last_status: wordOf(row, global),
      // Minutes, as the routes document has them, also where settings say hours.
      check_frequency: `${interval}m`,
      maintenance_until: inMaintenance(row, now) ? isoTime(row.maintenance_until) : null,
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

export type MonitorView = Awaited<ReturnType<typeof withFigures>>[number];

/** Percentage of the time up, of the time that was confirmed as up or down; null without any. */
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

/** 24 hours, oldest first. An hour that was partly down counts as down. */
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
