/** Times in the reader's own time zone and language: relative, with the exact time on hover. */

import { useEffect, useState } from 'preact/hooks';
import { t } from '../texts/texts.js';

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

export const formats = () => ({
  relative: new Intl.RelativeTimeFormat(t.locale, { numeric: 'auto', style: 'long' }),
  full: new Intl.DateTimeFormat(t.locale, { dateStyle: 'full', timeStyle: 'medium' }),
  short: new Intl.DateTimeFormat(t.locale, { dateStyle: 'medium', timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(t.locale, { dateStyle: 'medium' }),
  date: new Intl.DateTimeFormat(t.locale, { day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(t.locale, { month: 'long', year: 'numeric' }),
  clock: new Intl.DateTimeFormat(t.locale, { timeStyle: 'short' }),
  number: new Intl.NumberFormat(t.locale),
});

let made: ReturnType<typeof formats> | undefined;
/** Created once: creating a formatter takes longer than using it a hundred times. */
export function format(): ReturnType<typeof formats> {
  made ??= formats();
  return made;
}

export const number = (value: number) => format().number.format(value);

/** `28 Nov 2026, 13:05` */
export const moment = (iso: string) => format().short.format(new Date(iso));

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `1.5 MB`, in powers of 1,000. */
export function bytes(value: number): string {
  const power = Math.min(UNITS.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  const shown = value / 1000 ** power;
  return `${number(power === 0 || shown >= 100 ? Math.round(shown) : Math.round(shown * 10) / 10)} ${UNITS[power]}`;
}

/** `5 minutes ago`, `in 3 days`. */
function relative(iso: string, now = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? [undefined, 1];
  return unit === undefined ? t.time.now : format().relative.format(Math.round(seconds / size), unit);
}

/** A duration: `1.4 s`, `3 min`, `2 h 5 min`, `4 days`. */
export function span(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60)
    return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return t.time.days(Math.round(minutes / 1440));
}

interface Props {
  iso: string | null | undefined;
  /** Shown while the time is not known. */
  otherwise?: string;
  /** Shows the day instead of the relative time. */
  day?: boolean;
}

export function Time({ iso, otherwise = t.unknown, day = false }: Props) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (iso === null || iso === undefined || Number.isNaN(Date.parse(iso))) return <span class="muted">{otherwise}</span>;
  return (
    <time dateTime={iso} title={format().full.format(new Date(iso))}>
      {day ? format().day.format(new Date(iso)) : relative(iso)}
    </time>
  );
}
