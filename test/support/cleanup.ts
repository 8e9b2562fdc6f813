/**
 * Processes and temporary folders of tests. They are registered here, and `setup.ts` kills and removes them after each
 * test file, also when a test failed or timed out.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set<ChildProcess>();
const folders = new Set<string>();
// A worker that exits in the middle of a file kills its processes.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

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

/** A free port on loopback. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Kills every registered process. */
export async function endProcesses(): Promise<void> {
  await Promise.all([...running].map(killProcess));
}

/** Kills every registered process and removes every registered folder. */
export async function cleanUp(): Promise<void> {
  await endProcesses();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.clear();
}
