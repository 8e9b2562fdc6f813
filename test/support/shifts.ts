/** The days, zones and locales under which `npm run test:shifted` runs. */

import { dayEnd, momentOf, wordpressTime } from '../../src/runtime/time-zones.js';

export interface Shift {
  name: string;
  zone: string;
  locale: string;
  /** The moment to start at, ms since the epoch. */
  at(now: number, zone: string): number;
}

const DAY = 86_400_000;
/** Shortly before the moment, so that the tests run across it. */
const LEAD = 30_000;

/** Locales whose months, digits, calendar or letters differ from English ones; Node needs none of them installed. */
export const SHIFTS: readonly Shift[] = [
  { name: 'three-days', zone: 'Pacific/Auckland', locale: 'de_DE.UTF-8', at: (now) => now + 3 * DAY },
  { name: 'next-year', zone: 'America/St_Johns', locale: 'tr_TR.UTF-8', at: (now) => now + 400 * DAY },
  { name: 'leap-day', zone: 'Asia/Kolkata', locale: 'ar_EG.UTF-8', at: leapDay },
  { name: 'new-year', zone: 'Pacific/Auckland', locale: 'fr_FR.UTF-8', at: newYear },
  { name: 'summer-begins', zone: 'America/St_Johns', locale: 'fa_IR.UTF-8', at: (...when) => change(1, ...when) },
  { name: 'summer-ends', zone: 'Europe/Berlin', locale: 'th_TH.UTF-8', at: (...when) => change(-1, ...when) },
];

/** The shift of a day: the same for every run on that day. */
export function shiftOf(now: number): Shift {
  return SHIFTS[Math.floor(now / DAY) % SHIFTS.length] as Shift;
}

/** Noon of the next 29 February. */
function leapDay(now: number, zone: string): number {
  for (let year = new Date(now).getUTCFullYear(); ; year += 1) {
    const at = momentOf({ year, month: 2, day: 29, hour: 12, minute: 0, second: 0 }, zone);
    if (at > now && wordpressTime(at, zone).slice(5, 10) === '02-29') return at;
  }
}

function newYear(now: number, zone: string): number {
  const day = (at: number) => wordpressTime(at, zone).slice(0, 10);
  const year = day(now + LEAD).slice(0, 4);
  return dayEnd(`${year}-12-31`, zone) - LEAD;
}

/** Before the next moment at which the clocks go forward (1) or back (-1). */
function change(direction: 1 | -1, now: number, zone: string): number {
  const offset = (at: number) => Date.parse(`${wordpressTime(at, zone).replace(' ', 'T')}Z`) - at;
  let [from, to] = [Math.floor(now / DAY) * DAY + DAY, 0];
  for (let days = 0; Math.sign(offset(from + DAY) - offset(from)) !== direction; days += 1) {
    if (days > 400) throw new RangeError(`${zone} has no summer time.`);
    from += DAY;
  }
  to = from + DAY;
  while (to - from > 1000) {
    const middle = Math.floor((from + to) / 2000) * 1000;
    if (offset(middle) === offset(from)) from = middle;
    else to = middle;
  }
  return to - LEAD;
}
