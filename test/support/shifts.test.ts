/** The start moments of the shifted test runs, compared with the calendar. */

import { expect, it } from 'vitest';
import { SHIFTS, shiftOf } from './shifts.js';

const NOW = Date.UTC(2026, 10, 22, 6, 0, 0);

it.each([
  ['three-days', NOW, '2026-11-25T06:00:00Z'],
  ['next-year', NOW, '2027-12-27T06:00:00Z'],
  ['leap-day', NOW, '2028-02-29T06:30:00Z'],
  ['leap-day', Date.UTC(2028, 1, 29, 6, 30), '2032-02-29T06:30:00Z'],
  ['new-year', NOW, '2026-12-31T10:59:30Z'],
  // It is already 2027 in Auckland.
  ['new-year', Date.UTC(2026, 11, 31, 12), '2027-12-31T10:59:30Z'],
  ['summer-begins', NOW, '2027-03-14T05:29:30Z'],
  ['summer-ends', NOW, '2027-10-31T00:59:30Z'],
  ['summer-ends', Date.UTC(2027, 9, 31, 12), '2028-10-29T00:59:30Z'],
])('%s', (name, now, expected) => {
  const shift = SHIFTS.find((each) => each.name === name);
  expect(shift?.at(now, shift.zone)).toBe(Date.parse(expected));
});

it('every day has one, the next day another, and all have their turn', () => {
  const days = Array.from({ length: 12 }, (_, day) => shiftOf(Date.UTC(2026, 10, 20 + day, 23, 59)).name);
  expect(days.slice(6)).toEqual(days.slice(0, 6));
  expect(new Set(days)).toEqual(new Set(SHIFTS.map(({ name }) => name)));
  expect(shiftOf(Date.UTC(2026, 10, 20)).name).toBe(days[0]);
});
