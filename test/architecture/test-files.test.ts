/** Which test files a run leaves out: each is there, and each has its turn in CI. */

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SHIFTS, shiftOf } from '../support/shifts.js';
import { IN_TURNS, LONG, LONGEST, leftOut, TURNS, turnOf } from '../support/which-files.js';

const daysFrom = (count: number) => Array.from({ length: count }, (_none, day) => Date.UTC(2026, 11, 28 + day, 23, 59));
const isWorkday = (day: number) => ![0, 6].includes(new Date(day).getUTCDay());
const takenOn = (day: number) => {
  const left = new Set(leftOut(true, String(turnOf(day))));
  return IN_TURNS.filter((name) => !left.has(name));
};

it('long files are there, and named once', () => {
  const named = [...new Set([...LONG, ...LONGEST])];
  expect(named.filter((name) => !existsSync(`test/${name}.test.ts`))).toEqual([]);
  expect(new Set(LONG).size).toBe(LONG.length);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});

it('each of the longest files runs on one day of eleven in a row', () => {
  expect(daysFrom(TURNS).flatMap(takenOn).sort()).toEqual([...IN_TURNS].sort());
});

it('each of them runs under each date, also where CI rests at weekends', () => {
  const days = daysFrom(TURNS * SHIFTS.length * 7).filter(isWorkday);
  const dates = new Map<number, Set<string>>();
  for (const day of days) {
    const met = dates.get(turnOf(day)) ?? new Set();
    dates.set(turnOf(day), met.add(shiftOf(day).name));
  }
  expect(dates.size).toBe(TURNS);
  for (const met of dates.values()) expect([...met].sort()).toEqual(SHIFTS.map(({ name }) => name).sort());
});

it('a turn that there is none of is refused', () => {
  for (const told of ['', '-1', String(TURNS), 'all', '1.5'])
    expect(() => leftOut(true, told)).toThrow(/SITEFLEET_TEST_TURN/);
});
