/**
 * Entry point of the thread that checks the database file, see integrity.ts. It ends when the check is done, or after the
 * table at which it is told to.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../runtime/engine/thread-priority.js';
import { type Db, StorageError } from '../store/driver/db.js';
import { openDb } from '../store/driver/open.js';
import type { IntegrityMessage } from './integrity.js';

/** Pause after each table, as a multiple of the time it took: uses at most a fifth of a processor. */
const REST = 4;
/** A service's caches are sized for many queries; a check reads everything once. */
const CACHE_KB = 2048;

/** A value that violates a rule of its column can still be read; `sitefleet check` reports it. */
const VALUE = /^(CHECK constraint failed|[\w-]+ value) in /;

lowerPriority();
const send = (message: IntegrityMessage) => parentPort?.postMessage(message);
const stop = new AbortController();
parentPort?.once('message', () => stop.abort());
parentPort?.unref();
let db: Db | undefined;
try {
  db = await openDb(String(workerData), { mode: 'reader' });
  await db.all(`PRAGMA cache_size=-${CACHE_KB}`);
  const tables = await db.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  for (const { name } of tables) {
    const began = performance.now();
    await check(db, String(name));
    await pause(REST * (performance.now() - began), undefined, { signal: stop.signal });
  }
  send({ done: true });
} catch (error) {
  if (!(error instanceof StorageError) && !stop.signal.aborted) throw error;
  // A missing or locked file is reported elsewhere.
  if (error instanceof StorageError && error.kind === 'corrupt') {
    send({ table: null, problem: error.message });
    send({ done: true });
  }
} finally {
  await db?.close();
}

async function check(db: Db, table: string): Promise<void> {
  const problem = await db.all(`PRAGMA quick_check("${table.replaceAll('"', '""')}")`).then(
    (rows) => rows.map((row) => String(Object.values(row)[0])).find((line) => line !== 'ok' && !VALUE.test(line)),
    (error: unknown) => {
      if (error instanceof StorageError && error.kind === 'corrupt') return error.message;
      throw error;
    },
  );
  if (problem !== undefined) send({ table, problem });
}
