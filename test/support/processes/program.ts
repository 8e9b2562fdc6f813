/** Processes of a test, started from the programs of this folder, paused and killed by the test that owns them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { killProcess, tracked } from '../cleanup.js';
import { bundledPrograms } from './bundle.js';

export interface Program {
  /**
   * Starts a process, optionally under another program, with `parts` as its JSON argument; resolves once it wrote to
   * stdout.
   */
  start(parts: object, under?: readonly string[]): Promise<ChildProcess>;
  /** Ends all running processes. */
  close(): Promise<void>;
}

/** @param name of a program in this folder, such as `job-runner` */
export async function program(name: string): Promise<Program> {
  const file = join(await bundledPrograms(), `${name}.js`);
  const started: ChildProcess[] = [];
  return {
    async start(parts, under = []) {
      const [command = process.execPath, ...args] = [...under, process.execPath, file, JSON.stringify(parts)];
      const child = tracked(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
      started.push(child);
      const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process ended with ${code}`)));
      failed.catch(() => undefined);
      await Promise.race([once(child.stdout, 'data'), failed]);
      return child;
    },
    async close() {
      await Promise.all(started.splice(0).map(killProcess));
    },
  };
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
