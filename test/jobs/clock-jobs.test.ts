/** The jobs of the system clock, which drive the timetable: on time again after a step of the clock, and one at a time. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CronJob } from '../../src/runtime/clock.js';
import { systemClock } from '../../src/runtime/clock.js';
import { START } from '../support/dates.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const jobs: CronJob[] = [];
const failures: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: START - (START % HOUR) });
});
afterEach(() => {
  for (const job of jobs.splice(0)) job.stop();
  failures.splice(0);
  vi.useRealTimers();
});

const start = (pattern: string, run: () => Promise<void>) => {
  jobs.push(systemClock.cron(pattern, run, (error) => failures.push(error)));
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it.each([
  ['an hour back', -HOUR],
  ['an hour forward', HOUR],
  ['a day back', -DAY],
  ['a day forward', DAY],
])('runs at its time after a step of %s', async (_name, by) => {
  const times: number[] = [];
  start('0 0 * * * *', async () => void times.push(Date.now()));
  await pass(3 * HOUR);
  expect(times).toHaveLength(3);
  await pass(20 * MINUTE);
  const before = Date.now();
  times.splice(0);
  vi.setSystemTime(before + by);
  await pass(3 * HOUR);
  // The time that a step forward skips is made up for at once.
  const late = by > 0 ? times.shift() : undefined;
  expect((late ?? before) - before - Math.max(0, by)).toBeLessThanOrEqual(30 * SECOND);
  expect(times.map((time) => time % HOUR)).toEqual([0, 0, 0]);
});

it('does not run twice at once, and goes on after a failure', async () => {
  let inside = 0;
  let most = 0;
  let runs = 0;
  start('*/10 * * * * *', async () => {
    runs++;
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 25 * SECOND));
    inside--;
    if (runs === 1) throw new Error('refused');
  });
  await pass(2 * MINUTE);
  expect(most).toBe(1);
  expect(runs).toBe(4);
  expect(failures).toEqual([new Error('refused')]);
});

it('stopped, it runs no more', async () => {
  let runs = 0;
  start('* * * * * *', async () => void runs++);
  await pass(3 * SECOND);
  for (const job of jobs.splice(0)) job.stop();
  await pass(MINUTE);
  expect(runs).toBe(3);
});
