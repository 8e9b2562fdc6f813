import { configDefaults, defineConfig } from 'vitest/config';
import { FAKETIME } from './test/support/faketime.js';
import { LongestFirst } from './test/support/longest-first.js';
import { shiftOf } from './test/support/shifts.js';
import { LEFT_OUT, WITHOUT_DATES } from './test/support/which-files.js';

const TESTS = ['test/**/*.test.ts'];

/** The files of a run. With CI=true what depends on dates runs under another one, which changes daily: the bare machine has today's. */
function files() {
  if (process.env.CI !== 'true' || process.argv.length > 3 || FAKETIME === undefined) return { include: TESTS };
  const now = Date.now();
  const { zone, locale, at } = shiftOf(now);
  // A moment to cross comes in the middle of the run.
  const seconds = Math.round((at(now, zone) - now) / 1000) - 240;
  const env = {
    LD_PRELOAD: FAKETIME,
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    TZ: zone,
    LANG: locale,
    LC_ALL: locale,
  };
  return {
    projects: [
      { extends: true as const, test: { name: 'today', include: [...WITHOUT_DATES] } },
      { extends: true as const, test: { name: 'another day', include: TESTS, exclude: [...WITHOUT_DATES], env } },
    ],
  };
}

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...LEFT_OUT],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    // These catch a hang, and nothing else: no limit of a test is a measurement, and a busy machine takes its time.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 300_000 } },
    // For two cores: half of the time of the longest files goes by waiting. Each further worker costs its imports, 1.5 s of CPU.
    maxWorkers: 6,
    // The files of a worker share its modules: importing the product for each file anew takes half of the CPU time of a run.
    isolate: false,
    // What was translated stays for the next run, by its content: half of the time of a run of a few files.
    experimental: { fsModuleCache: true },
    retry: 0,
    sequence: { sequencer: LongestFirst },
    ...files(),
  },
});
