/** What a libSQL server tells of its own settings. */

import type { Db } from '../driver/db.js';

/** What the clock of the server's machine says, in ms since the epoch. Null for a file, which has the clock of this machine. */
export async function serverTime(db: Db): Promise<number | null> {
  if (db.kind !== 'remote') return null;
  const row = await db.one("SELECT (julianday('now') - 2440587.5) * 86400000 AS now");
  return Number(row?.now);
}

/**
 * Whether writes trigger checkpoints, as they do in `sqld` without `--checkpoint-interval-s`. Null for a file, and when
 * the server does not tell.
 */
export async function checkpointsAfterWrites(db: Db): Promise<boolean | null> {
  if (db.kind !== 'remote') return null;
  const row = await db.one('PRAGMA wal_autocheckpoint').catch(() => undefined);
  const pages = row?.wal_autocheckpoint;
  return typeof pages === 'number' ? pages > 0 : null;
}
