/** Jobs survive `kill -9` at any moment: no site is lost, none is counted twice, nothing is applied twice. */

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { type Program, pause, program, random } from '../support/processes/program.js';

const SITES = 24;
/** For a normal run; SITEFLEET_CRASH_RUNS sets a higher number. */
const RUNS = Number(process.env.SITEFLEET_CRASH_RUNS ?? 5);

let app: TestApp;
let folder: string;
let workers: Program;

beforeAll(async () => {
  folder = tempFolder('crash');
  workers = await program('job-runner');
  app = await testApp({
    sites: SITES,
    jobs: false,
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, batch_threshold: 1, job_chunk: 5, job_delay_ms: 0 },
  });
  for (let i = 0; i < SITES; i++) {
    await app.connect(i);
    app.fleet.site(i).faults.latencyMs = 15;
  }
});

async function startWorker() {
  return workers.start({ config: app.service.config, sharedKey: await testKey });
}

async function finished(jobId: string) {
  for (let i = 0; i < 400; i++) {
    const status = await app.call('get-batch-job-status', { job_id: jobId });
    if (status.status === 'completed' || status.status === 'failed') return status;
    await pause(25);
  }
  throw new Error('the job did not end');
}

describe('a killed worker', () => {
  it(`loses and doubles nothing in ${RUNS} runs`, async () => {
    let kills = 0;
    let worker = await startWorker();
    for (let run = 1; run <= RUNS; run++) {
      const next = random(run);
      const offline = new Set([Math.floor(next() * SITES), Math.floor(next() * SITES)]);
      for (let i = 0; i < SITES; i++) app.fleet.site(i).faults.offline = offline.has(i);
      const queued = await app.call('sync-sites', {});
      await pause(next() * 120);
      await killProcess(worker);
      kills++;
      worker = await startWorker();
      const status = await finished(String(queued.job_id));
      expect(status, `run ${run}`).toMatchObject({
        status: 'completed',
        total: SITES,
        processed: SITES,
        succeeded: SITES - offline.size,
        failed: offline.size,
      });
      const failed = (status.errors as unknown as { site_id: number; code: string }[]).map((error) => error.site_id);
      expect(new Set(failed), `run ${run}`).toEqual(new Set([...offline].map((i) => i + 1)));
      expect(failed).toHaveLength(offline.size);
    }
    await killProcess(worker);
    expect(kills).toBe(RUNS);
  });

  it('applies no update twice and loses none when killed again and again', async () => {
    for (let i = 0; i < SITES; i++) app.fleet.site(i).faults.offline = false;
    await app.call('sync-sites', {});
    const offered = await allUpdates();
    expect(offered.length).toBeGreaterThan(SITES);
    const queued = await app.call('run-updates', { types: ['plugins', 'themes', 'core'] });
    expect(queued.queued).toBe(true);
    const next = random(4711);
    for (let kills = 0; kills < 6; kills++) {
      const worker = await startWorker();
      await pause(next() * 250);
      await killProcess(worker);
    }
    const worker = await startWorker();
    const status = await finished(queued.job_id);
    await killProcess(worker);
    expect(status.processed).toBe(status.total);
    // The real state of the sites decides: each offer was applied, or its refusal was reported.
    const left = new Map((await allUpdates()).map((update) => [`${update.site_id} ${update.slug}`, update]));
    const refused = new Set((status.errors as { site_id: number }[]).map((error) => error.site_id));
    for (const update of offered) {
      if (left.has(`${update.site_id} ${update.slug}`)) expect([...refused]).toContain(update.site_id);
    }
    // The record of the run tells the same.
    await finishInterruptedRuns(app.ctx());
    const told = await runItems(queued.run_id);
    for (const { site_id, slug } of offered) {
      const key = `${site_id} ${slug}`;
      const states = told.filter((item) => item.site_id === site_id && item.slug === slug).map(({ state }) => state);
      expect([key, states]).toEqual([key, [left.has(key) ? expect.not.stringMatching(/^kept$|ing$|queued/) : 'kept']]);
    }
  });
});

async function runItems(run_id: string): Promise<{ site_id: number; slug: string; state: string }[]> {
  const found = [];
  for (let page = 1; ; page++) {
    const { items, total, state } = await app.call('get-run', { run_id, page, per_page: 20 });
    expect(state).toBe('ended');
    found.push(...items);
    if (page * 20 >= total) return found;
  }
}

async function allUpdates(): Promise<{ site_id: number; slug: string }[]> {
  const found = [];
  for (let page = 1; ; page++) {
    const { updates } = await app.call('list-updates', { types: ['plugins', 'themes', 'core'], page, per_page: 200 });
    found.push(...updates);
    if (updates.length < 200) return found;
  }
}
