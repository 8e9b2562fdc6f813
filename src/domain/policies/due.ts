/** When a policy is due, by the wall clock of a zone. Pure. */

import { minutesOf } from '../../runtime/time-of-day.js';
import { momentOf, wallOf } from '../../runtime/time-zones.js';
import { WEEKDAYS } from '../monitoring/windows.js';

export interface Schedule {
  at: string;
  /** Empty = daily. */
  days: readonly (typeof WEEKDAYS)[number][];
}

/**
 * The newest time at or before `now` at which it is due, and the next one after. On the day on which summer time begins
 * or ends it is due once, as on any other.
 */
export function dueTimes({ at, days }: Schedule, zone: string, now: number): { last: number; next: number } {
  const wall = wallOf(now, zone);
  const minutes = minutesOf(at);
  const times = Array.from({ length: 17 }, (_, i) => i - 8).flatMap((ahead) => {
    const date = new Date(Date.UTC(wall.year, wall.month - 1, wall.day + ahead));
    const weekday = WEEKDAYS[date.getUTCDay()];
    if (days.length > 0 && (weekday === undefined || !days.includes(weekday))) return [];
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    return [momentOf({ year, month, day, hour: Math.floor(minutes / 60), minute: minutes % 60, second: 0 }, zone)];
  });
  const last = times.filter((time) => time <= now).at(-1);
  const next = times.find((time) => time > now);
  if (last === undefined || next === undefined) throw new Error('every weekday is within eight days');
  return { last, next };
}

/** Whether two instants are on the same day of a zone. */
export function sameDay(a: number, b: number, zone: string): boolean {
  const [one, other] = [wallOf(a, zone), wallOf(b, zone)];
  return one.year === other.year && one.month === other.month && one.day === other.day;
}
