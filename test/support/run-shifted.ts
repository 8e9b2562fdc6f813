/**
 * `npm run test:shifted`: runs the tests under a date, zone and locale other than this machine's, with libfaketime.
 * Which one depends on the day; `-- --shift new-year` or `-- --at 2028-02-29T23:59:30Z --zone Asia/Kolkata --locale
 * de_DE.UTF-8` choose, file names select tests, and `--whole` runs all of them.
 */

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { SHIFTS, shiftOf } from './shifts.js';
import { WITHOUT_DATES } from './which-files.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shift: { type: 'string' },
    at: { type: 'string' },
    zone: { type: 'string' },
    locale: { type: 'string' },
    whole: { type: 'boolean', default: false },
  },
});

function chosen(now: number): { at: number; zone: string; locale: string } {
  const shift = values.shift === undefined ? shiftOf(now) : SHIFTS.find(({ name }) => name === values.shift);
  if (shift === undefined) throw new RangeError(`--shift: one of ${SHIFTS.map(({ name }) => name).join(', ')}`);
  const zone = values.zone ?? shift.zone;
  const at = values.at === undefined ? shift.at(now, zone) : Date.parse(values.at);
  if (Number.isNaN(at)) throw new RangeError('--at: a moment such as 2028-02-29T23:59:30Z');
  return { at, zone, locale: values.locale ?? shift.locale };
}

const now = Date.now();
const { at, zone, locale } = chosen(now);
// An offset, not a date: a date would start again in every process. Timers use the monotonic clock, which is not
// changed.
const seconds = Math.round((at - now) / 1000);
const node = (...args: string[]) => ['-f', `${seconds < 0 ? '' : '+'}${seconds}`, process.execPath, ...args];
const env = { ...process.env, TZ: zone, LANG: locale, LC_ALL: locale, FAKETIME_DONT_FAKE_MONOTONIC: '1' };

const check = spawnSync('faketime', node('-p', 'Date.now() + " " + new Date()'), { env, encoding: 'utf8' });
if (Math.abs(Number.parseInt(check.stdout ?? '', 10) - at) < 60_000) {
  const moment = check.stdout.trim().replace(/^\d+ /, '');
  process.stderr.write(`Shifted by ${seconds} s to ${moment}, in ${zone}, with the locale ${locale}.\n`);
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const without = values.whole || positionals.length > 0 ? [] : WITHOUT_DATES.flatMap((path) => ['--exclude', path]);
  const { status } = spawnSync('faketime', node(vitest, 'run', ...without, ...positionals), { env, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  const reason = check.error?.message ?? (check.stderr.trim() || 'it changes nothing here');
  process.stderr.write(`The tests do not run under another date: faketime cannot be used (${reason}).\n`);
  process.exitCode = process.env.CI === 'true' ? 1 : 0;
}
