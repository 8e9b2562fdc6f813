/**
 * Several processes on one libSQL server, killed and paused at random: no site is lost, none is processed twice, no
 * limit is exceeded.
 */

import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killProcess } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';
import { shortOrLong } from './soak.js';

const SITES = shortOrLong(160, 2000);
const FAULTS = shortOrLong(8, 80);
const PROCESSES = 4;
const JOBS = 4;
const PER_HOST = 2;

let server: Sqld;
let app: TestApp;
let workers: Program;

interface Status {
  status: string;
  total: number;
  processed: number;
  succeeded: number;
  failed: number;
  completed_at: string | null;
  errors: { site_id: number }[];
}

const statusOf = (id: string): Promise<Status> => app.call('get-batch-job-status', { job_id: id });

/** Kills a process and starts another, or pauses one for a while, sometimes for longer than a lease. */
async function disturb(members: ChildProcess[], parts: object, next: () => number): Promise<'killed' | 'paused'> {
  const at = Math.floor(next() * members.length);
  const worker = members[at] as ChildProcess;
  if (next() < 0.5) {
    await killProcess(worker);
    members[at] = await workers.start(parts);
    return 'killed';
  }
  worker.kill('SIGSTOP');
  await pause(200 + next() * 2200);
  worker.kill('SIGCONT');
  return 'paused';
}

describe('four processes on one server', needs('sqld'), () => {
  beforeAll(async () => {
    server = await startSqld();
    workers = await program('job-runner');
    app = await testApp({
      sites: SITES,
      jobs: false,
      realClock: true,
      fleet: { verify: false, plugins: 3, cache: true, keepCalls: false },
      config: {
        db: `http://${server.host}`,
        batch_threshold: 1,
        job_chunk: 10,
        job_delay_ms: 0,
        site_timeout_ms: 30_000,
      },
    });
    for (let i = 0; i < SITES; i += 20)
      await Promise.all(Array.from({ length: Math.min(20, SITES - i) }, (_, k) => app.connect(i + k)));
  });
  afterAll(async () => {
    await workers?.close();
    await app?.close();
    await server?.stop();
  });

  it(`syncs ${SITES} sites exactly once, through ${FAULTS} kills and pauses`, async () => {
    const next = random(20_26);
    // Sites connected concurrently have their ids in the order in which they finished.
    const basic = (await app.call('get-sites-basic', {})).sites as { id: number; url: string }[];
    const ids = basic.map(({ id }) => id).sort((a, b) => a - b);
    const down = new Set<number>();
    for (const site of app.fleet.sites) {
      site.faults.latencyMs = 40;
      if (next() >= 0.05) continue;
      site.faults.offline = true;
      down.add(basic.find(({ url }) => url === site.url)?.id ?? 0);
    }
    const parts = {
      config: { ...app.service.config, per_host: PER_HOST },
      sharedKey: await testKey,
      jobLeaseMs: 1500,
      beatMs: 300,
    };
    const jobs: string[] = [];
    for (let j = 0; j < JOBS; j++) {
      const part = ids.filter((id) => id % JOBS === j);
      jobs.push(String((await app.call('sync-sites', { site_ids_or_domains: part })).job_id));
    }
    app.fleet.resetStats();
    const members = await Promise.all(Array.from({ length: PROCESSES }, () => workers.start(parts)));

    const done = { killed: 0, paused: 0 };
    let statuses = await Promise.all(jobs.map(statusOf));
    while (done.killed + done.paused < FAULTS && statuses.some(({ completed_at }) => completed_at === null)) {
      done[await disturb(members, parts, next)]++;
      await pause(100 + next() * 300);
      statuses = await Promise.all(jobs.map(statusOf));
    }
    while (statuses.some(({ completed_at }) => completed_at === null)) {
      await pause(200);
      statuses = await Promise.all(jobs.map(statusOf));
    }

    for (const [j, status] of statuses.entries()) {
      const mine = ids.filter((id) => id % JOBS === j);
      const broken = mine.filter((id) => down.has(id));
      const reported = status.errors.map(({ site_id }) => site_id).sort((a, b) => a - b);
      expect({ ...status, errors: reported }).toMatchObject({
        status: 'completed',
        total: mine.length,
        processed: mine.length,
        succeeded: mine.length - broken.length,
        failed: broken.length,
        errors: broken,
      });
    }
    expect(done.killed + done.paused).toBeGreaterThan(2);
    // All sites are on one address, which never saw more than its limit, plus one.
    const { maxInFlight, requests } = app.fleet.stats();
    expect(maxInFlight).toBeLessThanOrEqual(PER_HOST + 1);
    // How many really overlap depends on the machine: a slow one may send them one after the other.
    expect(maxInFlight).toBeGreaterThan(0);
    process.stderr.write(`${JSON.stringify({ sites: SITES, ...done, requests, maxInFlight })}\n`);
  });
});
