/**
 * Runs uptime checks the way the service does, in a process that trusts the sites' certificate (trust is set at process
 * start).
 */

import { readFileSync } from 'node:fs';
import { createEngine, type InlineEngine } from '../../src/app/engine-services.js';
import type { Db } from '../../src/store/driver/db.js';
import { benchConfig, TASK_CALLER } from './config.js';
import { openWriter } from './database.js';
import { cpuMs, serveCommands } from './process.js';

export interface ChecksSpec {
  db: string;
  /** One in this many monitors is due in a round. */
  apart: number;
}

export interface ChecksCost {
  checked: number;
  /** Milliseconds of CPU used by this process, all threads. */
  cpuMs: number;
  /** Bytes this process wrote to disk, as far as the system had flushed them by then. */
  written: number;
}

let db: Db;
let engine: InlineEngine;

async function start(spec: ChecksSpec): Promise<void> {
  apart = spec.apart;
  db = await openWriter(spec.db);
  await db.run('UPDATE monitor SET next_check_at = 9e12');
  engine = await createEngine({ config: benchConfig({ db: spec.db }) });
}

let apart = 1;
let round = 0;

/** Checks what is due: different monitors each time. */
async function run(): Promise<ChecksCost> {
  await db.run('UPDATE monitor SET next_check_at = 0 WHERE site_id % ? = ?', [apart, round++ % apart]);
  const [cpu, written] = [cpuMs(), bytesWritten()];
  const outcome = await engine.run({ task: 'run_scheduled', payload: { name: 'monitors' } }, TASK_CALLER);
  const checked = Number(/^(\d+) checked/.exec(String(outcome))?.[1] ?? 0);
  return { checked, cpuMs: cpuMs() - cpu, written: bytesWritten() - written };
}

function bytesWritten(): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? Number.NaN);
}

serveCommands({ start, run }, async () => {
  await engine.close();
  await db.close();
});
