/** Processes of a test: bundled once, started, paused and killed by the test that owns them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED } from './bundle.js';

export interface Program {
  /** Starts a process, perhaps under another program, with `parts` as its JSON argument; resolves once it said something on stdout. */
  start(parts: object, under?: readonly string[]): Promise<ChildProcess>;
  /** Ends what still runs and removes the bundle. */
  close(): Promise<void>;
}

/** @param entry file beside this one, such as `worker.ts` */
export async function program(entry: string): Promise<Program> {
  // Inside node_modules, so that the bundle finds the native driver.
  const name = `${entry.replace(/\.ts$/, '')}-${process.pid}-${Date.now()}.mjs`;
  const outfile = fileURLToPath(new URL(`../../../node_modules/.sitefleet-test/${name}`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL(`./${entry}`, import.meta.url))],
    outfile,
    ...BUNDLED,
  });
  const running = new Set<ChildProcess>();
  return {
    async start(parts, under = []) {
      const [command = process.execPath, ...args] = [...under, process.execPath, outfile, JSON.stringify(parts)];
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      running.add(child);
      child.once('exit', () => running.delete(child));
      const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended with ${code}`)));
      failed.catch(() => undefined);
      await Promise.race([once(child.stdout, 'data'), failed]);
      return child;
    },
    async close() {
      await Promise.all([...running].map(kill));
      rmSync(outfile, { force: true });
    },
  };
}

/** Ends a process without a word of warning, paused or not. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Deterministic numbers from 0 to 1. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
