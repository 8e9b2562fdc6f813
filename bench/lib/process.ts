/** Child processes of the measuring process: each runs commands over IPC and ends when its parent disconnects. */

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Timeout of a command; beyond it something hangs. */
const PATIENCE_MS = 120_000;

interface Answer {
  id: number;
  value?: unknown;
  error?: string;
}

export interface Helper<Ready> {
  readonly pid: number;
  /** The message it sent when it was ready. */
  readonly ready: Ready;
  ask<T>(command: string, payload?: unknown): Promise<T>;
  close(): Promise<void>;
}

/** Starts `file` with `options` and waits until it is ready. */
export async function startHelper<Ready>(
  file: URL,
  options: unknown,
  env: Readonly<Record<string, string>> = {},
): Promise<Helper<Ready>> {
  const child = fork(file, [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: { ...inherited(), ...env },
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let next = 0;
  child.on('message', (message) => {
    const { id, value, error } = message as Answer;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  });
  child.once('exit', (code, signal) => {
    for (const call of waiting.values()) call.reject(new Error(`${file.pathname} ended with ${signal ?? code}.`));
    waiting.clear();
  });
  const ask = <T>(command: string, payload?: unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      const timer = setTimeout(() => reject(new Error(`${file.pathname} did not answer ${command}.`)), PATIENCE_MS);
      timer.unref();
      child.send({ id, command, payload });
    });
  const ready = await ask<Ready>('start', options);
  return { pid: child.pid ?? 0, ready, ask, close: () => ended(child) };
}

/**
 * The environment without our variables, as measured services take their configuration as an argument, and without those in
 * which `npm run` hands this folder's `.npmrc` on, as another checkout has its own: `NODE_ENV` says of it that tools are left out.
 */
export function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SITEFLEET_|npm_|NODE_ENV$)/.test(name)));
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.disconnect();
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(timer);
}

export type Commands = Readonly<Record<string, (payload: never) => unknown>>;

/**
 * The child's side: runs commands one after the other. `start` comes first; `stop` runs when the parent disconnects.
 */
export function serveCommands(commands: Commands, stop: () => Promise<void>): void {
  if (process.send === undefined) throw new Error('This file is started by the benchmarks only.');
  process.on('message', (message) => {
    const { id, command, payload } = message as { id: number; command: string; payload: never };
    const run = commands[command];
    const answer = async () => (run === undefined ? Promise.reject(new Error(`no command ${command}`)) : run(payload));
    answer().then(
      (value) => process.send?.({ id, value }),
      (error: unknown) =>
        process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.once('disconnect', () => {
    void stop().finally(() => process.exit(0));
  });
}

/** Milliseconds of CPU used by this process. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Resident memory of a process in MB: current and peak; from /proc. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  return { now: kb('VmRSS') / 1_024, peak: kb('VmHWM') / 1_024 };
}
