/** Formats dates with PHP's format letters, as used by the general settings (REST §6.10.1). Pure. */

import type { Wall } from '../../runtime/time-zones.js';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `F j, Y` → `November 20, 2026`. A backslash escapes the next letter; letters without a meaning stay. */
export function phpDate(format: string, wall: Wall): string {
  let text = '';
  for (let i = 0; i < format.length; i++) {
    const letter = format.charAt(i);
    if (letter === '\\') text += format.charAt(++i);
    else text += LETTERS[letter]?.(wall) ?? letter;
  }
  return text;
}

const two = (n: number) => String(n).padStart(2, '0');
const twelve = (hour: number) => hour % 12 || 12;
const weekday = ({ year, month, day }: Wall) => new Date(Date.UTC(year, month - 1, day)).getUTCDay();
const monthOf = ({ month }: Wall) => MONTHS[month - 1] ?? '';

const LETTERS: Readonly<Record<string, (wall: Wall) => string>> = {
  d: ({ day }) => two(day),
  j: ({ day }) => String(day),
  D: (wall) => (DAYS[weekday(wall)] ?? '').slice(0, 3),
  l: (wall) => DAYS[weekday(wall)] ?? '',
  N: (wall) => String(weekday(wall) || 7),
  w: (wall) => String(weekday(wall)),
  S: ({ day }) => suffix(day),
  m: ({ month }) => two(month),
  n: ({ month }) => String(month),
  M: (wall) => monthOf(wall).slice(0, 3),
  F: monthOf,
  t: ({ year, month }) => String(new Date(Date.UTC(year, month, 0)).getUTCDate()),
  Y: ({ year }) => String(year),
  y: ({ year }) => two(year % 100),
  a: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
  A: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  g: ({ hour }) => String(twelve(hour)),
  h: ({ hour }) => two(twelve(hour)),
  G: ({ hour }) => String(hour),
  H: ({ hour }) => two(hour),
  i: ({ minute }) => two(minute),
  s: ({ second }) => two(second),
};

function suffix(day: number): string {
  if (day >= 11 && day <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th';
}
