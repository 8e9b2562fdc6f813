/** Beats and incidents of one monitor (REST §6.11.4). */

import { isCalendarDate } from '../../../schemas/days.js';
import { ServiceError } from '../../runtime/errors.js';
import { dateOf, isoTime } from '../../runtime/iso-time.js';
import { ownMember } from '../../runtime/own-member.js';
import type { BeatRow } from '../../store/monitoring/results.js';
import type { Ctx } from '../context.js';
import { incidentView } from './incidents.js';

const HOUR_MS = 3_600_000;

const DAY_MS = 24 * HOUR_MS;

/** Hourly sums, from which the uptime figures of the last month are computed, are kept this long. */
const HOURS_KEPT_MS = 31 * DAY_MS;
/** Daily sums, from which all earlier ones are computed, are kept this long. */
export const DAYS_KEPT = 400;

/** Since when hours are kept, from the start of a day; what is older is known by day. */
export const hoursSince = (now: number) => (Math.floor((now - HOURS_KEPT_MS) / DAY_MS) + 1) * DAY_MS;

/** The date of a day since the epoch. */
export const dateOfDay = (day: number) => dateOf(day * DAY_MS);

/** Uptime by day, for the days that anything is known of, oldest first; days are in UTC. */
export async function listDays(ctx: Ctx, siteId: number, days: number) {
  const now = ctx.clock.now();
  const from = (Math.floor(now / DAY_MS) - days + 1) * DAY_MS;
  const [rows, { first }] = await Promise.all([
    ctx.store.reportData.uptimeDays(siteId, { from, to: now, hours_since: hoursSince(now) }),
    ctx.store.reportData.firstWatched(siteId),
  ]);
  return {
    since: isoTime(first),
    until: dateOf(now),
    data: rows.map(({ day, up_s, down_s }) => ({
      date: dateOfDay(day),
      uptime: percentUp(up_s, down_s),
      up_seconds: Math.round(up_s),
      down_seconds: Math.round(down_s),
    })),
  };
}

/** Percentage with 6 decimals; null if nothing was measured. Time in neither state is not counted. */
export function percentUp(up: number, down: number): number | null {
  return up + down <= 0 ? null : Math.round((up / (up + down)) * 1e8) / 1e6;
}

/** Names of the stored states. */
export const STATE_WORDS: Readonly<Record<number, string>> = { 0: 'down', 1: 'up', 2: 'pending' };

export function beatView(row: BeatRow) {
  return {
    heartbeat_id: row.id,
    monitor_id: row.site_id,
    status: row.status,
    status_label: STATE_WORDS[row.status] ?? 'unknown',
    importance: row.important,
    msg: row.msg,
    time: isoTime(row.at),
    ping_ms: row.ping_ms,
    http_code: row.http_code,
    duration: row.duration,
    down_count: row.down_count,
  };
}

/** Maximum number of beats per page. */
export const MOST_BEATS = 1_000;

export interface BeatQuery {
  period?: string | undefined;
  since?: string | undefined;
  status: readonly number[];
  page: number;
  /** 0 = the maximum of a page. */
  limit: number;
}

export async function listBeats(ctx: Ctx, siteId: number, query: BeatQuery) {
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
  const now = ctx.clock.now();
  const { items, total } = await ctx.store.monitorResults.incidents(siteId, page, perPage);
  return { items: items.map((row) => incidentView(row, now)), total };
}

export async function countIncidents(ctx: Ctx, siteId: number, period: string | undefined): Promise<number> {
  const now = ctx.clock.now();
  const { from, to } = period === undefined ? { from: 0, to: now } : periodOf(period, undefined, now);
  return ctx.store.monitorResults.countIncidents(siteId, from, to);
}

const PERIODS: Readonly<Record<string, number>> = { '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS };

/** `24h`, `7d`, `30d` (the default) or `<start>/<end>` in ISO form; `since` replaces the start. Throws `invalid_period`. */
function periodOf(period = '30d', since: string | undefined, now: number): { from: number; to: number } {
  const fixed = ownMember(PERIODS, period);
  const [start, end, ...more] = period.split('/');
  const to = fixed === undefined ? instant(end, 'period') : now;
  const begin = fixed === undefined ? instant(start, 'period') : now - fixed;
  const from = since === undefined ? begin : instant(since, 'since');
  if (more.length > 0) throw wrongPeriod('period', 'has more than one slash');
  if (from > to) throw wrongPeriod(since === undefined ? 'period' : 'since', 'starts after it ends');
  return { from, to };
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Without a zone, UTC is assumed. A `+` that a query decoded to a blank is accepted. */
function instant(text: string | undefined, field: string): number {
  const given = (text ?? '')
    .trim()
    .replace(/ (\d{2}:?\d{2})$/, (whole, zone: string, at: number, all: string) =>
      all.slice(0, at).includes(':') ? `+${zone}` : whole,
    );
  const zoned = /T|\s/.test(given) && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(given) ? `${given}Z` : given;
  const at = ISO.test(given) && isCalendarDate(given.slice(0, 10)) ? Date.parse(zoned.replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(at)) throw wrongPeriod(field, 'is not 24h, 7d, 30d or <start>/<end> with ISO 8601 times');
  return at;
}

function wrongPeriod(field: string, what: string): ServiceError {
  return new ServiceError('invalid_period', `${field} ${what}.`, {
    field,
    advice: 'Send for example period=7d, or period=2026-01-01T00:00:00Z/2026-01-31T00:00:00Z.',
  });
}
