/**
 * Integrity check of the database file: reads every table from time to time (`PRAGMA quick_check`, one table at a
 * time). Otherwise a damaged page would show only when it is needed, and readiness would report ok until then. Each
 * check runs in a temporary thread with its own connection: the caches of the others hide what the disk has lost.
 */

import { Worker } from 'node:worker_threads';
import type { Log } from '../runtime/log.js';

export interface IntegrityCheck {
  /** Which tables cannot be read; null if no damage is known. */
  reason(): string | null;
  /** Something failed that suggests damage: checks now, unless a check has just run. */
  checkSoon(): void;
  /** Resolves once a check under way has read its table to the end. */
  close(): Promise<void>;
}

/** Messages of the thread: a damaged table (null: the whole file), then that it is done. */
export type IntegrityMessage = { table: string | null; problem: string } | { done: true };

const FIRST_MS = 5_000;
const EACH_MS = 3600_000;
/** Between checks while there is damage, or while calls suggest some. */
const SOON_MS = 60_000;

/** Starts checking `db`, a `file:` URL. */
export function startIntegrityCheck(db: string, log: Log): IntegrityCheck {
  let damaged: readonly string[] = [];
  let worker: Worker | null = null;
  let ended = Number.NEGATIVE_INFINITY;
  let closed = false;
  let timer = later(FIRST_MS);

  function later(ms: number): NodeJS.Timeout {
    return setTimeout(round, ms).unref();
  }

  function round(): void {
    clearTimeout(timer);
    if (closed || worker !== null) return;
    const found: string[] = [];
    let whole = false;
    worker = new Worker(new URL('./integrity-thread.js', import.meta.url), { workerData: db });
    worker.unref();
    worker.on('message', (message: IntegrityMessage) => {
      if ('done' in message) {
        whole = true;
        return;
      }
      const { table, problem } = message;
      found.push(table === null ? 'the whole file' : `table ${table}`);
      if (!damaged.includes(found.at(-1) ?? '')) log.error({ table, problem }, 'the database file is damaged');
      // Recorded at once, however the check ends.
      damaged = [...new Set([...damaged, ...found])];
    });
    // Out of memory or too many open files: says nothing about the file.
    worker.on('error', (error) => log.warn({ err: error }, 'the database file could not be checked'));
    worker.on('exit', () => {
      worker = null;
      ended = performance.now();
      if (whole) damaged = found;
      if (!closed) timer = later(damaged.length > 0 ? SOON_MS : EACH_MS);
    });
  }

  return {
    reason: () =>
      damaged.length === 0
        ? null
        : `The database file is damaged and cannot be read: ${damaged.slice(0, 10).join(', ')}. ` +
          'Run "sitefleet check"; then stop the service and restore a backup with "sitefleet restore".',
    checkSoon() {
      if (performance.now() - ended > SOON_MS) round();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      const running = worker;
      if (running === null) return;
      // It is not terminated: native code that returns into a terminated thread aborts the whole process.
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.ref();
      running.postMessage('stop');
      await ended;
    },
  };
}
