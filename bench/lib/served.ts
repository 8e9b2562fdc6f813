/** `sitefleet serve` as a user starts it: the built program in a fresh process, called over HTTP with its own login. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SECRET_KEY } from './database.js';
import { inherited } from './process.js';

export interface Served {
  readonly pid: number;
  readonly url: string;
  readonly api_key: string;
  readonly user: string;
  readonly password: string;
  /** A REST call with the API key; throws unless the answer is 2xx. */
  rest(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Runs an operation through the run endpoint with the login; throws unless the answer is 2xx. */
  run(name: string, input: object): Promise<Record<string, unknown>>;
  /** Has the login verified now, so that the next call does not pay the quarter second it takes. */
  login(): Promise<void>;
  close(): Promise<void>;
}

interface Login {
  api_key: string;
  user: string;
  password: string;
}

/**
 * Starts the server over `db` and waits until it announces itself. `known` is its login, if the database already has
 * users, and `program` that of another checkout.
 */
export async function startServed(
  db: string,
  change: Readonly<Record<string, string>> = {},
  known?: Login,
  program = fileURLToPath(new URL('../../../src/cli.js', import.meta.url)),
): Promise<Served> {
  const child = spawn(process.execPath, [program, 'serve', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...inherited(),
      SITEFLEET_DB: db,
      SITEFLEET_SECRET_KEY: SECRET_KEY,
      SITEFLEET_HOST: '127.0.0.1',
      SITEFLEET_PORT: '0',
      SITEFLEET_LOG_LEVEL: 'error',
      SITEFLEET_ALLOW_PRIVATE_SITES: '1',
      SITEFLEET_RATE_LIMIT: '0',
      ...change,
    },
  });
  // A scenario that fails leaves no server behind.
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  child.once('exit', () => process.off('exit', stop));
  const announced = await firstLine<Login & { url: string }>(child);
  const { url, api_key, user, password } = { ...announced, ...known };
  const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const call = async (target: string, method: string, authorization: string, body?: unknown) => {
    const answer = await fetch(`${url}${target}`, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${target}: HTTP ${answer.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return {
    pid: child.pid ?? 0,
    url,
    api_key,
    user,
    password,
    rest: (method, path, body) => call(path, method, `Bearer ${api_key}`, body),
    run: (name, input) => call(`/abilities/svc/${name}-v1/run`, 'POST', basic, { input }),
    async login() {
      await call('/abilities/svc/count-sites-v1/run', 'GET', basic);
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The first line that a program prints, as JSON. */
export function firstLine<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(JSON.parse(text) as T);
    });
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}.`)));
    child.once('error', reject);
  });
}

/** Milliseconds of CPU used by a process with all its threads, from /proc; in steps of 10. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Memory of a process in MB, counting its share of memory shared with others (PSS); from /proc. */
export function shareOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? Number.NaN) / 1_024;
}
