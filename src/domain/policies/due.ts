/** Computes when a policy is due, by the wall clock of a time zone. Pure. */

import { WEEKDAYS } from '../../../schemas/rollout.js';
import { minutesOf } from '../../runtime/time-of-day.js';
import { momentOf, wallOf } from '../../runtime/time-zones.js';

export interface Schedule {
  at: string;
  /** Empty = daily. */
  days: readonly (typeof WEEKDAYS)[number][];
  /** Monthly, on its last day in a month that is shorter. */
  day_of_month?: number | undefined;
}

/**
 * The newest time at or before `now` at which it is due, and the next one after. On the day on which summer time begins
 * or ends it is due once, as on any other.
 */
export function dueTimes(schedule: Schedule, zone: string, now: number): { last: number; next: number } {
  const { at, days, day_of_month } = schedule;
  /** There is one in so many days. */
  const within = day_of_month === undefined ? 8 : 32;
  const wall = wallOf(now, zone);
  const minutes = minutesOf(at);
  const times = Array.from({ length: 2 * within + 1 }, (_, i) => i - within).flatMap((ahead) => {
    const date = new Date(Date.UTC(wall.year, wall.month - 1, wall.day + ahead));
    const weekday = WEEKDAYS[date.getUTCDay()];
    if (days.length > 0 && (weekday === undefined || !days.includes(weekday))) return [];
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
    if (day_of_month !== undefined && day !== Math.min(day_of_month, lastDay)) return [];
    return [momentOf({ year, month, day, hour: Math.floor(minutes / 60), minute: minutes % 60, second: 0 }, zone)];
  });
  const last = times.filter((time) => time <= now).at(-1);
  const next = times.find((time) => time > now);
  if (last === undefined || next === undefined) throw new Error('there is one within so many days');
  return { last, next };
}

/** Whether it is due at this time, rather than then for another reason. */
export function isDueAt(schedule: Schedule, zone: string, time: number): boolean {
  return dueTimes(schedule, zone, time).last === time;
}

/** Whether two instants are on the same day of a zone. */
export function sameDay(a: number, b: number, zone: string): boolean {
  const [one, other] = [wallOf(a, zone), wallOf(b, zone)];
  return one.year === other.year && one.month === other.month && one.day === other.day;
}
