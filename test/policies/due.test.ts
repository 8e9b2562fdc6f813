/** When policies are due: by the wall clock of a zone, once a day also when its clocks change. */

import { expect, it } from 'vitest';
import { dueTimes } from '../../src/domain/policies/due.js';

const BERLIN = 'Europe/Berlin';
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);

it.each([
  // The day before it is due, the minute itself, the minute after.
  ['daily', { at: '02:30', days: [] }, '2026-01-15T01:29:59Z', '2026-01-14T01:30', '2026-01-15T01:30'],
  ['daily', { at: '02:30', days: [] }, '2026-01-15T01:30:00Z', '2026-01-15T01:30', '2026-01-16T01:30'],
  // 02:30 does not exist on 29 March: it is 03:30 of summer time.
  ['summer begins', { at: '02:30', days: [] }, '2026-03-29T12:00:00Z', '2026-03-29T01:30', '2026-03-30T00:30'],
  // 02:30 comes twice on 25 October: the first counts.
  ['summer ends', { at: '02:30', days: [] }, '2026-10-25T00:30:00Z', '2026-10-25T00:30', '2026-10-26T01:30'],
  ['summer ends', { at: '02:30', days: [] }, '2026-10-25T01:30:00Z', '2026-10-25T00:30', '2026-10-26T01:30'],
  // 20 November 2026 is a Friday.
  ['weekly', { at: '08:00', days: ['thu'] }, '2026-11-20T12:00:00Z', '2026-11-19T07:00', '2026-11-26T07:00'],
  ['weekly', { at: '08:00', days: ['fri'] }, '2026-11-20T06:59:59Z', '2026-11-13T07:00', '2026-11-20T07:00'],
  // Short months have it on their last day; 30 June 2026 is in summer time.
  [
    'monthly',
    { at: '08:00', days: [], day_of_month: 31 },
    '2026-06-30T05:59:59Z',
    '2026-05-31T06:00',
    '2026-06-30T06:00',
  ],
  [
    'leap day',
    { at: '08:00', days: [], day_of_month: 30 },
    '2028-02-29T07:00Z',
    '2028-02-29T07:00',
    '2028-03-30T06:00',
  ],
  ['monthly', { at: '00:00', days: [], day_of_month: 1 }, '2026-12-31T22:59Z', '2026-11-30T23:00', '2026-12-31T23:00'],
  ['two days', { at: '00:00', days: ['mon', 'sat'] }, '2026-11-20T12:00:00Z', '2026-11-15T23:00', '2026-11-20T23:00'],
] as const)('%s %j at %s', (_name, schedule, now, last, next) => {
  const times = dueTimes(schedule, BERLIN, Date.parse(now));
  expect([iso(times.last), iso(times.next)]).toEqual([last, next]);
});
