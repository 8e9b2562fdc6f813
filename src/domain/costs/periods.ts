/** Calendar periods on plain dates, `YYYY-MM-DD` in UTC (operations §5.9). */

import type { RenewalType } from '../../../schemas/cost.js';
import { dateOf } from '../../runtime/iso-time.js';

const DAY_MS = 86_400_000;

const PERIOD: Record<RenewalType, { days: number } | { months: number }> = {
  weekly: { days: 7 },
  monthly: { months: 1 },
  quarterly: { months: 3 },
  yearly: { months: 12 },
};

/**
 * First renewal after `last` that is on or after `today`. Periods are counted from `last` itself, so that the 31st
 * returns after a shorter month. A `last` in the future is itself the next renewal.
 */
export function nextRenewal(last: string, every: RenewalType, today: string): string {
  if (last > today) return last;
  const period = PERIOD[every];
  if ('days' in period) {
    const length = period.days * DAY_MS;
    const start = Date.parse(last);
    const periods = Math.max(1, Math.ceil((Date.parse(today) - start) / length));
    return dateOf(start + periods * length);
  }
  const gone = Math.floor(monthsBetween(last, today) / period.months);
  for (let periods = Math.max(1, gone); ; periods++) {
    const due = plusMonths(last, periods * period.months);
    if (due >= today) return due;
  }
}

/** The same day `months` later, or the last day of that month when it is shorter. */
export function plusMonths(date: string, months: number): string {
  const { year, month, day } = parts(date);
  // Date.UTC interprets the years 0 to 99 as 1900 to 1999.
  const target = new Date(0);
  target.setUTCFullYear(year, month + months, 1);
  const last = new Date(target);
  last.setUTCMonth(target.getUTCMonth() + 1, 0);
  target.setUTCDate(Math.min(day, last.getUTCDate()));
  return dateOf(target.getTime());
}

function monthsBetween(from: string, to: string): number {
  const [a, b] = [parts(from), parts(to)];
  return (b.year - a.year) * 12 + b.month - a.month;
}

/** Month counts from 0. */
function parts(date: string): { year: number; month: number; day: number } {
  const at = new Date(date);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate() };
}
