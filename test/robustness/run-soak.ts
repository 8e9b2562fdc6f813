/** `npm run soak`: the long form of the tests in this folder and some others, one file at a time. */

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--no-file-parallelism',
    'test/robustness',
    'test/jobs/crash.test.ts',
    'test/backups/kills.test.ts',
    'test/backups/thousand-sites.test.ts',
    'test/monitoring/week.test.ts',
    'test/store/driver-fuzz.test.ts',
    'test/safety/kills.test.ts',
    'test/safety/fleet.test.ts',
    'test/rollouts/halted.test.ts',
    'test/rollouts/crash.test.ts',
    'test/rollouts/kills.test.ts',
    'test/undo/rollout.test.ts',
    'test/guard/gallery.test.ts',
    'test/guard/pictures.test.ts',
    'test/rest/hostile.test.ts',
    'test/audits/browser.test.ts',
    'test/safety/guarded-updates.test.ts',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...process.env, SITEFLEET_TEST_SOAK: '1', SITEFLEET_CRASH_RUNS: '500' } },
);
process.exitCode = status ?? 1;
