/** How long a newcomer waits: from a clone, or from the package, until the demo has answered a first call. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inherited } from './process.js';
import { firstLine } from './served.js';

export interface FirstCall {
  /** Seconds of `npm ci`, of `npm run prepare` within it, and from then until the demo answers. */
  install: number;
  prepare: number;
  demo: number;
  /** Seconds from `npx --package=…` until the demo answers. */
  npx: number;
}

/** The packages come from the cache of npm where it has them, so a first run may take longer. */
export async function firstCall(root: string, dir: string): Promise<FirstCall> {
  mkdirSync(dir, { recursive: true });
  const clone = join(dir, 'clone');
  run(dir, 'git', ['clone', '--quiet', root, clone]);
  const install = seconds(() => run(clone, 'npm', ['ci', ...QUIET]));
  const prepare = seconds(() => run(clone, 'npm', ['run', 'prepare', '--silent']));
  const demo = await untilAnswered(clone, ['run', '--silent', 'demo', '--', ...DEMO]);
  const tarball = published(root, dir);
  const elsewhere = join(dir, 'elsewhere');
  mkdirSync(elsewhere);
  const npx = await untilAnswered(elsewhere, [
    ...['exec', '--yes', '--silent', ...QUIET, `--package=${join(dir, tarball)}`, '--', 'sitefleet', 'demo'],
    ...DEMO,
  ]);
  return { install, prepare, demo, npx };
}

/** The package as it is published, which only the native driver is left to be installed for: the name of its tarball in `dir`. */
function published(root: string, dir: string): string {
  const clone = join(dir, 'published');
  run(dir, 'git', ['clone', '--quiet', root, clone]);
  // It takes more than running: what is installed for the benchmarks.
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'), 'junction');
  run(clone, process.execPath, [join('scripts', 'release.mjs'), '--package-only']);
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir];
  return run(join(clone, 'release', 'package'), 'npm', pack);
}

const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
const DEMO = ['--json', '--port', '0'];

function run(cwd: string, program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env: inherited(), encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr.slice(-500)}`);
  return stdout.trim();
}

function seconds(work: () => unknown): number {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1_000;
}

/** Seconds until the demo that npm starts has answered a call with the key that it announces. */
async function untilAnswered(cwd: string, args: readonly string[]): Promise<number> {
  const began = performance.now();
  // A group of its own, so that what npm starts ends with it.
  const child = spawn('npm', args, { cwd, env: inherited(), stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  try {
    const { v2, api_key } = await firstLine<{ v2: string; api_key: string }>(child);
    const answer = await fetch(`${v2}/sites`, { headers: { authorization: `Bearer ${api_key}` } });
    if (!answer.ok) throw new Error(`The demo answered HTTP ${answer.status}.`);
    await answer.text();
    return (performance.now() - began) / 1_000;
  } finally {
    await ended(child);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  process.kill(-child.pid, 'SIGINT');
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 20_000);
  await exited;
  clearTimeout(timer);
}
