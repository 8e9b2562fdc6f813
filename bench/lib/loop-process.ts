/** Measures how late timers of a serving thread are while another thread stores sites. */

import { Worker } from 'node:worker_threads';
import { serveCommands } from './process.js';
import { type BenchService, openService } from './service.js';

const READS_PER_SECOND = 50;

let service: BenchService;
let writer: Worker;
let stored = 0;

async function start({ db, perSecond }: { db: string; perSecond: number }): Promise<void> {
  service = await openService(db);
  writer = new Worker(new URL('./writer-thread.js', import.meta.url), { workerData: { db, perSecond } });
  writer.on('message', (count: number) => {
    stored += count;
  });
  await new Promise((resolve) => writer.once('online', resolve));
}

/** The 99.9th percentile of the lateness of 1 ms timers over `ms`, in milliseconds; and the sites stored meanwhile. */
async function watch({ ms, busy }: { ms: number; busy: boolean }): Promise<{ late: number; stored: number }> {
  writer.postMessage(busy);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const before = stored;
  const reads = setInterval(() => void service.call('list-sites', {}), 1_000 / READS_PER_SECOND);
  const lateness: number[] = [];
  const end = performance.now() + ms;
  await new Promise<void>((resolve) => {
    const tick = (due: number) => {
      const now = performance.now();
      lateness.push(now - due);
      if (now >= end) resolve();
      else setTimeout(tick, 1, performance.now() + 1);
    };
    setTimeout(tick, 1, performance.now() + 1);
  });
  clearInterval(reads);
  writer.postMessage(false);
  lateness.sort((a, b) => a - b);
  return { late: lateness[Math.floor(lateness.length * 0.999)] ?? Number.NaN, stored: stored - before };
}

serveCommands({ start, watch }, async () => {
  await writer.terminate();
  await service.stop();
});
