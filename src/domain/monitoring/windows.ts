/** Maintenance that returns each week, in the site's own time zone: nothing is checked meanwhile. */

import { WEEKDAYS } from '../../../schemas/rollout.js';
import { isoTime } from '../../runtime/iso-time.js';
import { minutesOf, timeOf } from '../../runtime/time-of-day.js';
import { momentOf, type Wall, wallOf, zoneOfSite } from '../../runtime/time-zones.js';
import type { WeeklyWindow } from '../../store/monitoring/windows.js';
import type { Ctx } from '../context.js';
import { maintainUntil } from './edit.js';
import { monitorRow } from './monitors.js';

/** `sun 02:00-04:00` */
export const WINDOW = /^(sun|mon|tue|wed|thu|fri|sat) ((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/;
export const MOST_WINDOWS = 21;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Occurrence {
  start: number;
  end: number;
}

/** The occurrence that an instant is in, and the start of the next one. */
export function occurrencesOf(
  { weekday, from_min, to_min }: WeeklyWindow,
  zone: string,
  at: number,
): { current: Occurrence | null; next: number } {
  const { year, month, day } = wallOf(at, zone);
  const today = Date.UTC(year, month - 1, day);
  // From yesterday's, which may end today, to the one after today's.
  const dates = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8].map((ahead) => today + ahead * DAY_MS);
  const all = dates
    .filter((date) => new Date(date).getUTCDay() === weekday)
    .map((date) => ({
      start: momentOf(wallAt(date, from_min), zone),
      end: momentOf(wallAt(to_min > from_min ? date : date + DAY_MS, to_min), zone),
    }));
  const next = all.find(({ start }) => start > at)?.start ?? at + 7 * DAY_MS;
  return { current: all.find(({ start, end }) => start <= at && at < end) ?? null, next };
}

function wallAt(date: number, minutes: number): Wall {
  const day = new Date(date);
  return {
    year: day.getUTCFullYear(),
    month: day.getUTCMonth() + 1,
    day: day.getUTCDate(),
    hour: Math.floor(minutes / 60),
    minute: minutes % 60,
    second: 0,
  };
}

/** The windows of a site, its zone, and when the next one begins. */
export async function readWindows(ctx: Ctx, siteId: number) {
  const { windows, ...clock } = await ctx.store.maintenanceWindows.of(siteId);
  const zone = zoneOfSite(clock);
  const now = ctx.clock.now();
  const starts = windows.map((window) => occurrencesOf(window, zone, now).next);
  return {
    zone,
    next: starts.length === 0 ? null : isoTime(Math.min(...starts)),
    windows: windows.map(({ weekday, from_min, to_min }) => ({
      day: WEEKDAYS[weekday] ?? 'sun',
      from: timeOf(from_min) ?? '',
      to: timeOf(to_min) ?? '',
    })),
  };
}

/** Replaces the windows of a site; one that has begun already is kept from the next minute on. */
export async function saveWindows(ctx: Ctx, siteId: number, given: readonly string[]) {
  await monitorRow(ctx, siteId);
  const windows = given.map((text): WeeklyWindow => {
    const [, day = '', from = '', to = ''] = WINDOW.exec(text) ?? [];
    return { weekday: (WEEKDAYS as readonly string[]).indexOf(day), from_min: minutesOf(from), to_min: minutesOf(to) };
  });
  await ctx.store.maintenanceWindows.replace(siteId, windows);
  ctx.events.emit({ name: 'monitor.changed', site_id: siteId, facts: { fields: ['maintenance'] } });
  return readWindows(ctx, siteId);
}

const STEP = 200;

/** Begins the maintenance of windows that begin within the next minute, or have begun; each begins once. */
export async function beginWindows(ctx: Ctx): Promise<string> {
  const at = ctx.clock.now() + MINUTE_MS;
  let begun = 0;
  for (;;) {
    const due = await ctx.store.maintenanceWindows.due(at, STEP);
    for (const { id, site_id, begun_at, maintenance_until, ...window } of due) {
      const { current, next } = occurrencesOf(window, zoneOfSite(window), at);
      const begins = current !== null && current.start !== begun_at;
      if (begins) {
        await maintainUntil(ctx, site_id, Math.max(current.end, maintenance_until ?? 0));
        begun++;
      }
      // At least hourly, for the clock of the site may be set to another zone.
      const next_at = Math.min(next, at + HOUR_MS);
      await ctx.store.maintenanceWindows.settle(id, { next_at, begun_at: begins ? current.start : begun_at });
    }
    if (due.length < STEP || ctx.signal.aborted) return `${begun} begun`;
  }
}
