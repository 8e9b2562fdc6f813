/** Several processes on one libSQL server, killed and paused at random: no site is lost, none is done twice, no limit is broken. */

import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp, testKey } from '../harness.js';
import { kill, type Program, pause, program, random } from '../processes/program.js';
import { type Sqld, sqldBinary, sqldMissing, startSqld } from '../sqld.js';
import { shortOrLong, SOAK } from './soak.js';

const SITES = shortOrLong(240, 2000);
const PROCESSES = 4;
const JOBS = 4;
const PER_HOST = 2;
const skip = !sqldBinary();

let server: Sqld;
let app: TestApp;
let workers: Program;

describe.skipIf(skip)(skip ? `four processes — skipped, ${sqldMissing}` : 'four processes on one server', () => {
  beforeAll(async () => {
    server = await startSqld();
    workers = await program('worker.ts');
    app = await testApp({
      sites: SITES,
      jobs: false,
      realClock: true,
      fleet: { verify: false, plugins: 3, cache: true, keepCalls: false },
      config: { db: `http://${server.host}`, batch_threshold: 1, job_chunk: 10, job_delay_ms: 0, concurrency: 40 },
    });
    for (let i = 0; i < SITES; i += 40)
      await Promise.all(Array.from({ length: Math.min(40, SITES - i) }, (_, k) => app.connect(i + k)));
  }, 300_000);
  afterAll(async () => {
    await workers?.close();
    await app?.close();
    await server?.stop();
  });

  it(`syncs ${SITES} sites exactly once, whatever happens to the processes`, async () => {
    const next = random(20_26);
    const offline = new Set<number>();
    while (offline.size < SITES / 20) offline.add(Math.floor(next() * SITES));
    // Sites connected at once have their ids in the order in which they were done.
    const basic = (await app.call('get-sites-basic', {})).sites as { id: number; url: string }[];
    const idOf = new Map(basic.map((site) => [site.url, site.id]));
    const down = new Set<number>();
    for (const i of offline) {
      app.fleet.site(i).faults.offline = true;
      down.add(Number(idOf.get(app.fleet.site(i).url)));
    }
    const ids = Array.from({ length: SITES }, (_, i) => i + 1);
    const jobs: string[] = [];
    for (let j = 0; j < JOBS; j++) {
      const part = ids.filter((id) => id % JOBS === j);
      jobs.push(String((await app.call('sync-sites', { site_ids_or_domains: part })).job_id));
    }
    app.fleet.resetStats();
    const parts = {
      config: { ...app.service.config, per_host: PER_HOST },
      sharedKey: await testKey,
      jobLeaseMs: 1500,
      beatMs: 300,
    };
    const crew = await Promise.all(Array.from({ length: PROCESSES }, () => workers.start(parts)));
    const faults = { killed: 0, paused: 0 };
    let statuses = await Promise.all(jobs.map((id) => app.call('get-batch-job-status', { job_id: id })));
    const end = Date.now() + shortOrLong(60_000, 600_000);
    while (statuses.some((status) => status.completed_at === null) && Date.now() < end) {
      const at = Math.floor(next() * PROCESSES);
      const worker = crew[at] as ChildProcess;
      if (next() < Number(process.env.KILLS ?? 0.4)) {
        await kill(worker);
        faults.killed++;
        crew[at] = await workers.start(parts);
      } else {
        // Longer than a lease now and then: it comes back to find its work in other hands.
        worker.kill('SIGSTOP');
        faults.paused++;
        await pause(200 + next() * 2200);
        worker.kill('SIGCONT');
      }
      await pause(100 + next() * 300);
      statuses = await Promise.all(jobs.map((id) => app.call('get-batch-job-status', { job_id: id })));
    }
    const stats = app.fleet.stats();
    console.error(JSON.stringify(statuses.map((s) => (s.errors as any[]).filter((e) => !down.has(e.site_id)))));

    console.error(faults, stats.maxInFlight, stats.requests, stats.calls, statuses.map((s) => [s.status, s.total, s.processed, (s.errors as any[]).filter((e) => !down.has(e.site_id))]));
    for (const [j, status] of statuses.entries()) {
      const mine = ids.filter((id) => id % JOBS === j);
      const broken = mine.filter((id) => down.has(id));
      expect(status).toMatchObject({
        status: 'completed',
        total: mine.length,
        processed: mine.length,
        succeeded: mine.length - broken.length,
        failed: broken.length,
      });
      const told = (status.errors as { site_id: number }[]).map((error) => error.site_id);
      expect(told.sort((a, b) => a - b)).toEqual(broken);
    }
    expect(faults.killed + faults.paused).toBeGreaterThan(SOAK ? 20 : 3);
    // All sites are on one address: it never saw more than its limit, plus one.
    expect(stats.maxInFlight).toBeLessThanOrEqual(PER_HOST + 1);
  }, 700_000);
});
