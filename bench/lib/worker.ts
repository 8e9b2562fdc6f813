/** `sitefleet work` as a user starts it: the built program in its own process. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SECRET_KEY } from './database.js';
import { inherited } from './process.js';

export interface Worker {
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts it and waits until it is working. Its log goes to our stderr. */
export async function startWorker(db: string, logLevel: string): Promise<Worker> {
  const program = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
  const child = spawn(process.execPath, [program, 'work', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...inherited(),
      SITEFLEET_DB: db,
      SITEFLEET_SECRET_KEY: SECRET_KEY,
      SITEFLEET_LOG_LEVEL: logLevel,
      SITEFLEET_ALLOW_PRIVATE_SITES: '1',
      // The other modules call services on the internet.
      SITEFLEET_MODULES: 'logs,cost-tracker,comments,ssl-monitor,pro-reports,time-tracker',
    },
  });
  await ready(child);
  return {
    pid: child.pid ?? 0,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 45_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', () => {
      child.stdout?.resume();
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`A process ended with ${code} before it worked.`)));
    child.once('error', reject);
  });
}
