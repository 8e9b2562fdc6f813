import { type Params, text } from '../params.js';

/** `YYYY-MM-DD HH:MM:SS` of unix seconds, moved by the site's offset in hours. */
export function wpDate(seconds: number, offsetHours: number): string {
  return new Date((seconds + offsetHours * 3600) * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** Unix seconds of a WordPress date in the site's time; undefined when it is none. */
export function fromWpDate(value: unknown, offsetHours: number): number | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const millis = Date.parse(`${value.replace(' ', 'T')}Z`);
  return Number.isNaN(millis) ? undefined : millis / 1000 - offsetHours * 3600;
}

export function newestFirst<T extends { date: number; id: number }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => b.date - a.date || b.id - a.id);
}

/** `dtsstart` and `dtsstop`: strictly after and strictly before, in the site's time (child protocol §6.4). */
export function dateFilter(params: Params, offsetHours: number): (seconds: number) => boolean {
  const from = fromWpDate(text(params, 'dtsstart'), offsetHours) ?? Number.NEGATIVE_INFINITY;
  const to = fromWpDate(text(params, 'dtsstop'), offsetHours) ?? Number.POSITIVE_INFINITY;
  return (seconds) => seconds > from && seconds < to;
}
