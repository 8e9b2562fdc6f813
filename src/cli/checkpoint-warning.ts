/**
 * Warns of a storage server that may stop accepting writes. In `sqld` 0.24.32 that happens when a checkpoint, which writes
 * trigger, meets several waiting writers; see `docs/scale.md`. A process sends one write at a time, so three are needed.
 */

import { systemClock } from '../runtime/clock.js';
import { databaseFile } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import type { Log } from '../runtime/log.js';
import { createMembers } from '../store/cluster/members.js';
import { checkpointsAfterWrites } from '../store/cluster/storage-server.js';
import type { Db } from '../store/driver/db.js';
import { withReader } from './open-database.js';

/** Processes that may write to a server with default settings. */
const SAFE_WRITERS = 2;
const ADVICE =
  'The server makes checkpoints after writes: with three or more processes, sqld may stop accepting writes for good. Start it with "--checkpoint-interval-s 10" (SQLD_CHECKPOINT_INTERVAL_S=10).';

export interface CheckpointReport {
  detail: string;
  /** More processes write than the server bears. */
  danger: boolean;
}

/**
 * Null for a file, and for a server that does not tell.
 * @param more processes that have not reported themselves yet
 */
export async function checkpointReport(db: Db, more = 0): Promise<CheckpointReport | null> {
  const after = await checkpointsAfterWrites(db);
  if (after === null) return null;
  if (!after) return { detail: 'The server makes checkpoints at intervals.', danger: false };
  const { length } = await createMembers(db).alive(systemClock.now(), 'monitor');
  const processes = length + more;
  return { detail: `${ADVICE} Processes now: ${processes}.`, danger: processes > SAFE_WRITERS };
}

/** Logs a line if this process, which is starting, is one too many for such a server. */
export async function warnOfCheckpoints(config: Config, log: Log): Promise<void> {
  if (databaseFile(config.db) !== null || config.db === ':memory:') return;
  const report = await withReader(config, (db) => checkpointReport(db, 1));
  if (report?.danger === true) log.warn({}, report.detail);
}
