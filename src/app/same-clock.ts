/**
 * Compares the clock of this machine with that of the storage server: the processes that share one take work by leases, which
 * each of them sees lapse by its own clock.
 */

import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import { ServiceError } from '../runtime/errors.js';
import { serverTime } from '../store/cluster/storage-server.js';
import { type Db, StorageError } from '../store/driver/db.js';
import { openDb } from '../store/driver/open.js';

/** Of two processes, one may be as much ahead as the other is behind; the shortest leases are 15 s. */
const MOST_MS = 2_000;

/**
 * Throws `svc_storage_unavailable` when the clocks differ by more than 2 s. A server that does not answer is left to those who
 * need an answer.
 */
export async function assertSameClock(config: Pick<Config, 'db' | 'db_token'>): Promise<void> {
  if (config.db === ':memory:' || databaseFile(config.db) !== null) return;
  const { db: url, db_token } = config;
  const db = await openDb(url, { mode: 'reader', ...(db_token === null ? {} : { token: db_token }) });
  try {
    const difference = await clockDifference(db);
    if (difference === null) return;
    throw new ServiceError(
      'svc_storage_unavailable',
      `${difference} Processes that share it would work on one site at the same time.`,
      { advice: 'Set the clocks of both machines, as by NTP, and start again.' },
    );
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  } finally {
    await db.close();
  }
}

/** Says so where the clock of this machine differs from the storage server's by more than is allowed; null where it does not, or the server does not tell. */
export async function clockDifference(db: Db): Promise<string | null> {
  const before = systemClock.elapsed();
  const server = await serverTime(db);
  if (server === null || !Number.isFinite(server)) return null;
  // The server read its clock at some moment of the call: a slow answer says less.
  const half = (systemClock.elapsed() - before) / 2;
  const ahead = systemClock.now() - half - server;
  const least = Math.max(0, Math.abs(ahead) - half);
  if (least <= MOST_MS) return null;
  const seconds = Math.round(least / 1000);
  return `The clock of this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the storage server.`;
}
