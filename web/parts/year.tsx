/** A year of days in weeks, coloured by uptime: days of which nothing is known are left blank. */

import { t } from '../texts/texts.js';
import { format, number, span } from './time.js';

export interface UptimeDay {
  date: string;
  /** Percent; null = neither up nor down was measured. */
  uptime: number | null;
  up_seconds: number;
  down_seconds: number;
}

const DAY_MS = 86_400_000;
const WEEKS = 53;
/** Size of a day with its gap. */
const STEP = 12;
const TOP = 16;
const LEVELS = ['full', 'most', 'less', 'unknown'] as const;
type Level = (typeof LEVELS)[number];

function levelOf(uptime: number | null | undefined): Level {
  if (uptime === null || uptime === undefined) return 'unknown';
  return uptime >= 99.99 ? 'full' : uptime >= 99 ? 'most' : 'less';
}

const dayNumber = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const dateOf = (day: number) => new Date(day * DAY_MS);
/** Of days in UTC, wherever the reader is. */
const written = (day: number) =>
  new Intl.DateTimeFormat(t.locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(dateOf(day));

/** @param until the last day */
export function Year({ days, until, since }: { days: readonly UptimeDay[]; until: string; since: string | null }) {
  const known = days.filter(({ uptime }) => uptime !== null);
  const down = known.filter(({ down_seconds }) => down_seconds > 0).reverse();
  const sum = (of: 'up_seconds' | 'down_seconds') => known.reduce((total, day) => total + day[of], 0);
  const up = sum('up_seconds');
  const share = known.length === 0 ? null : (100 * up) / (up + sum('down_seconds'));
  const begun = since === null ? null : format().day.format(new Date(since));
  const text = t.monitors.yearSum(t.percent(share), number(known.length), begun);
  return (
    <div class="year">
      <Weeks days={days} until={dayNumber(until)} label={text} />
      <p class="small muted">{text}</p>
      <ul class="legend small muted">
        {LEVELS.map((level) => (
          <li key={level}>
            <span class={`dot ${level}`} /> {t.monitors.yearLevel[level]}
          </li>
        ))}
      </ul>
      {down.length > 0 && (
        <details>
          <summary>{t.monitors.downDays(number(down.length))}</summary>
          <ul class="log">
            {down.map(({ date, uptime, down_seconds }) => (
              <li key={date}>
                <span>{written(dayNumber(date))}</span>
                <span class="muted">
                  {t.percent(uptime)}, {t.monitors.downFor(span(1000 * down_seconds))}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Weeks({ days, until, label }: { days: readonly UptimeDay[]; until: number; label: string }) {
  const byDay = new Map(days.map((day) => [dayNumber(day.date), day.uptime]));
  // Weeks begin on Monday; day 4 of the epoch was one.
  const weekday = (day: number) => (day + 3) % 7;
  const first = until - weekday(until) - 7 * (WEEKS - 1);
  const all = Array.from({ length: until - first + 1 }, (_, index) => first + index);
  const place = (day: number) => ({ x: Math.floor((day - first) / 7) * STEP, y: TOP + weekday(day) * STEP });
  const month = new Intl.DateTimeFormat(t.locale, { month: 'short', timeZone: 'UTC' });
  return (
    <svg viewBox={`0 0 ${WEEKS * STEP} ${TOP + 7 * STEP}`} role="img" aria-label={label}>
      {all
        // Those of the last weeks would have no room.
        .filter((day) => dateOf(day).getUTCDate() === 1 && day < until - 14)
        .map((day) => (
          <text key={day} x={place(day).x} y={10}>
            {month.format(dateOf(day))}
          </text>
        ))}
      {all.map((day) => (
        <rect key={day} {...place(day)} width={STEP - 2} height={STEP - 2} rx={2} class={levelOf(byDay.get(day))}>
          <title>{`${written(day)}: ${t.percent(byDay.get(day) ?? null)}`}</title>
        </rect>
      ))}
    </svg>
  );
}
