/**
 * What tests start: services, servers, processes and temporary folders. They are registered here, and `setup.ts` closes,
 * kills and removes them, also when a test failed or timed out.
 */

import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const open: (() => unknown)[] = [];
const running = new Set<ChildProcess>();
const folders = new Set<string>();
// A worker that exits in the middle of a file kills its processes.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Registers what has to be closed: after the test that made it, or after the test file if it was made outside of a test.
 * Closing it before that must do no harm.
 */
export function closing<T extends { close(): unknown }>(made: T): T {
  open.push(() => made.close());
  return made;
}

/** How many things are open. */
export function countOpen(): number {
  return open.length;
}

/** Closes all but the first `kept` things, in the reverse order of their making. */
export async function closeDownTo(kept: number): Promise<void> {
  for (const close of open.splice(kept).reverse()) await close();
}

/** Creates an empty folder, removed after the test file. Its name begins with `name`. */
export function tempFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `sitefleet-${name}-`));
  folders.add(folder);
  return folder;
}

/** Registers a process: it is killed after the test file if it still runs. */
export function tracked<T extends ChildProcess>(child: T): T {
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Sends the signal and waits for the exit. Returns the exit code; null when the signal itself ended the process. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(signal);
  const [code] = (await gone) as [number | null];
  return code;
}

/** Kills a process at once, even if it is paused. */
export async function killProcess(child: ChildProcess): Promise<void> {
  await endProcess(child, 'SIGKILL');
}

/** Ports of each process of a run, so that none gets one that another was given and does not use yet. */
const PORTS = 1_375;
const PROCESSES = 16;
const given = new Set<number>();

/**
 * A free port on loopback, below those that systems give to programs that ask for any: no other can be given it before
 * it is used.
 */
export async function freePort(): Promise<number> {
  const first = 10_000 + PORTS * (Number(process.env.VITEST_POOL_ID ?? 0) % PROCESSES);
  for (;;) {
    const port = randomInt(first, first + PORTS);
    if (given.has(port)) continue;
    const server = createServer().listen(port, '127.0.0.1');
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    server.close();
    await once(server, 'close');
    given.add(port);
    return port;
  }
}

/** Kills every registered process. */
export async function endProcesses(): Promise<void> {
  await Promise.all([...running].map(killProcess));
}

/** Closes, kills and removes all that is registered. */
export async function cleanUp(): Promise<void> {
  await endProcesses();
  await closeDownTo(0);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.clear();
}
