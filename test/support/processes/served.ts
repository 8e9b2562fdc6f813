/** The commands as a user runs them, each in a process of its own with its engine thread, made from the sources. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED } from './bundle.js';

/** What a serving command says once it is ready. */
export interface Served {
  url: string;
  mcp: string;
  abilities: string;
  v2: string;
  user: string | null;
  password: string | null;
  api_key: string | null;
}

export interface FleetSaid {
  port: number;
  sites: { url: string; admin: string; password: string; unique_id: string }[];
}

export interface Started<T> {
  child: ChildProcess;
  said: T;
  /** What it wrote to stderr so far. */
  errors(): string;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Commands {
  /** Where the bundled programs lie. */
  folder: string;
  /** `serve --json`, by default on a free port. */
  serve(env: Readonly<Record<string, string>>, before?: readonly string[], port?: number): Promise<Started<Served>>;
  /** Simulated sites; they end when their stdin is closed. */
  fleet(options: object): Promise<Started<FleetSaid>>;
  /** Any command, to its end. */
  run(env: Readonly<Record<string, string>>, args: readonly string[], stdin?: string): Promise<Ended>;
  /** Ends what still runs, by its id, and removes the bundle. */
  close(): Promise<void>;
}

export async function commands(): Promise<Commands> {
  // Inside node_modules, so that the bundle finds the native driver; in pieces, because the engine is a file of its own.
  const folder = fileURLToPath(
    new URL(`../../../node_modules/.sitefleet-test/served-${process.pid}-${Date.now()}`, import.meta.url),
  );
  const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await build({
    entryPoints: {
      cli: source('cli.ts'),
      'engine-worker': source('app/engine-worker.ts'),
      'integrity-thread': source('app/integrity-thread.ts'),
      'replica-process': source('app/replica-process.ts'),
      fleet: source('demo/process.ts'),
    },
    outdir: folder,
    ...BUNDLED,
    splitting: true,
  });
  const running = new Set<ChildProcess>();

  const spawned = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    // Nothing of the tester's own settings.
    const clean = { PATH: process.env.PATH ?? '', HOME: folder, ...env };
    const child = spawn(process.execPath, [...args], { env: clean, stdio: ['pipe', 'pipe', 'pipe'] });
    running.add(child);
    child.once('exit', () => running.delete(child));
    return child;
  };
  const collected = (child: ChildProcess) => {
    const texts = { out: '', err: '' };
    child.stdout?.on('data', (chunk) => (texts.out += String(chunk)));
    child.stderr?.on('data', (chunk) => (texts.err += String(chunk)));
    return texts;
  };
  const start = async <T>(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Started<T>> => {
    const child = spawned(args, env);
    const texts = collected(child);
    await new Promise<void>((ready, fail) => {
      child.stdout?.on('data', () => texts.out.includes('\n') && ready());
      child.once('exit', (code) => fail(new Error(`${args.at(-1)} ended with ${code}: ${texts.err}`)));
    });
    return { child, said: JSON.parse(texts.out.slice(0, texts.out.indexOf('\n'))) as T, errors: () => texts.err };
  };

  return {
    folder,
    serve: (env, before = [], port = 0) =>
      start<Served>([...before, join(folder, 'cli.js'), 'serve', '--port', String(port), '--json'], env),
    fleet: (options) => start<FleetSaid>([join(folder, 'fleet.js'), JSON.stringify(options)], {}),
    async run(env, args, stdin = '') {
      const child = spawned([join(folder, 'cli.js'), ...args], env);
      const texts = collected(child);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(stdin);
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      return { code, signal, ...texts };
    },
    async close() {
      await Promise.all([...running].map((child) => ended(child, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends the signal and waits for the end; answers the exit code, null when the signal itself ended it. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(signal);
  const [code] = (await gone) as [number | null];
  return code;
}

/** Resident memory of a process in MB, now and at its highest; undefined where the system does not tell. */
export function memoryOf(pid: number): { now: number; peak: number } | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return undefined;
  }
  const mb = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
  return { now: mb('VmRSS'), peak: mb('VmHWM') };
}
