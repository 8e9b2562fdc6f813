/** The commands as a user runs them: processes with their engine thread, bundled from the sources. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { killProcess, tempFolder, tracked } from '../cleanup.js';
import { bundledPrograms } from './bundle.js';

/** The line of JSON that a serving command writes once it is ready. */
export interface Served {
  url: string;
  mcp: string;
  abilities: string;
  v2: string;
  user: string | null;
  password: string | null;
  api_key: string | null;
  login_link: string | null;
}

export interface DemoSaid extends Served {
  broken_update: { site_id: number; slug: string } | null;
}

export interface FleetSaid {
  port: number;
  sites: { url: string; admin: string; password: string; unique_id: string }[];
}

export interface Started<T> {
  child: ChildProcess;
  said: T;
  /** Its stderr so far. */
  errors(): string;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Commands {
  /** Folder of the bundled programs. */
  folder: string;
  /** `serve --json`, by default on a free port. */
  serve(env: Readonly<Record<string, string>>, before?: readonly string[], port?: number): Promise<Started<Served>>;
  /** `demo --json`, on a free port. */
  demo(sites: number, env?: Readonly<Record<string, string>>): Promise<Started<DemoSaid>>;
  /** Simulated sites; they end when their stdin is closed. */
  fleet(options: object): Promise<Started<FleetSaid>>;
  /** Any command, until it exits. */
  run(env: Readonly<Record<string, string>>, args: readonly string[], stdin?: string): Promise<Ended>;
  /** The same, but returns at once, so that the test can signal it. */
  begin(env: Readonly<Record<string, string>>, args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> };
  /** Ends all running processes. */
  close(): Promise<void>;
}

/** @param programs their folder; by default the one shared by all files of the run, which must not be changed */
export async function commands(programs: string | Promise<string> = bundledPrograms()): Promise<Commands> {
  const folder = await programs;
  const home = tempFolder('home');
  const started: ChildProcess[] = [];

  const spawned = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    // Without the tester's own settings.
    const clean = { PATH: process.env.PATH ?? '', HOME: home, ...env };
    const child = tracked(spawn(process.execPath, [...args], { env: clean, stdio: ['pipe', 'pipe', 'pipe'] }));
    started.push(child);
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

  const begin: Commands['begin'] = (env, args) => {
    const child = spawned([join(folder, 'cli.js'), ...args], env);
    const texts = collected(child);
    const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...texts }) as Ended);
    return { child, ended };
  };

  return {
    folder,
    serve: (env, before = [], port = 0) =>
      start<Served>([...before, join(folder, 'cli.js'), 'serve', '--port', String(port), '--json'], env),
    demo: (sites, env = {}) =>
      start<DemoSaid>([join(folder, 'cli.js'), 'demo', '--sites', String(sites), '--port', '0', '--json'], {
        SITEFLEET_LOG_LEVEL: 'warn',
        ...env,
      }),
    fleet: (options) => start<FleetSaid>([join(folder, 'fleet.js'), JSON.stringify(options)], {}),
    async run(env, args, stdin = '') {
      const { child, ended } = begin(env, args);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(stdin);
      return ended;
    },
    begin,
    async close() {
      await Promise.all(started.splice(0).map(killProcess));
    },
  };
}

/** Resident memory of a process in MB, current and peak; undefined where the system does not report it. */
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
