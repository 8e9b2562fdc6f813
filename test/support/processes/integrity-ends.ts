/** Program that begins checks of a database file and ends each a little later than the one before. Started with `{ db, rounds }` as JSON. */

import { setTimeout as pause } from 'node:timers/promises';
import { startIntegrityCheck } from '../../../src/app/integrity.js';
import { createLog } from '../../../src/runtime/telemetry/log.js';

const { db, rounds } = JSON.parse(process.argv[2] ?? '{}');
process.stdout.write('ready\n');
for (let round = 0; round < rounds; round++) {
  const checks = [0, 1, 2, 3].map(() => startIntegrityCheck(db, createLog('silent')));
  for (const check of checks) check.checkSoon();
  await pause(300 + 17 * round);
  for (const check of checks) await check.close();
}
// The test hears of the start before the end.
process.stdin.once('data', () => process.exit(0));
