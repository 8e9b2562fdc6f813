/**
 * Compares the clock of this machine with that of the storage server: the processes that share one take work by leases, which
 * each of them sees lapse by its own clock.
 */

import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { serverTime } from '../store/cluster/storage-server.js';
import { StorageError } from '../store/driver/db.js';
import { openDb } from '../store/driver/open.js';

/** Of two processes, one may be as much ahead as the other is behind; the shortest leases are 15 s. */
const MOST_MS = 2_000;

/**
 * Throws `svc_storage_unavailable` when the clocks differ by more than 2 s. A server that does not answer is left to those who
 * need an answer.
 */
export async function assertSameClock(config: Pick<Config, 'db' | 'db_token'>): Promise<void> {
  if (config.db === ':memory:' || databaseFile(config.db) !== null) return;
  const ahead = await aheadOf(config);
  if (ahead === null || Math.abs(ahead) <= MOST_MS) return;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  throw new ServiceError(
    'svc_storage_unavailable',
    `The clock of this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the storage server. Processes that share it would work on one site at the same time.`,
    { advice: 'Set the clocks of both machines, as by NTP, and start again.' },
  );
}

/** By how many milliseconds the clock of this machine is ahead at least; null where the server does not tell. */
async function aheadOf({ db: url, db_token }: Pick<Config, 'db' | 'db_token'>): Promise<number | null> {
  const db = await openDb(url, { mode: 'reader', ...(db_token === null ? {} : { token: db_token }) });
  try {
    const before = systemClock.elapsed();
    const server = await serverTime(db);
    if (server === null || !Number.isFinite(server)) return null;
    // The server read its clock at some moment of the call: a slow answer says less.
    const half = (systemClock.elapsed() - before) / 2;
    const ahead = systemClock.now() - half - server;
    return Math.sign(ahead) * Math.max(0, Math.abs(ahead) - half);
  } catch (error) {
    if (error instanceof StorageError) return null;
    throw error;
  } finally {
    await db.close();
  }
}
