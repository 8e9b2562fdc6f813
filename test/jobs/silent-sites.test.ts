/** Jobs whose sites accept connections and never answer do not keep other jobs from their turn. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Config } from '../../src/runtime/config/types.js';
import { type TestApp, testApp } from '../support/harness.js';

const HEALTHY = 3;
/** Longer than any test waits: a silent site holds its job until the end. */
const LONG = 3_600_000;

/** The first sites are healthy, and the others never answer. Each call on sites becomes a job. */
async function fleetOf(silent: number, config: Partial<Config> = {}) {
  const app = await testApp({
    sites: HEALTHY + silent,
    config: {
      batch_threshold: 0,
      site_timeout_ms: LONG,
      update_wait_ms: 60_000,
      concurrency: 100,
      per_host: 100,
      ...config,
    },
  });
  const ids: number[] = [];
  for (let i = 0; i < HEALTHY + silent; i++) ids.push(await app.connect(i));
  for (let i = HEALTHY; i < HEALTHY + silent; i++) app.fleet.site(i).faults.hang = true;
  return { app, healthy: ids.slice(0, HEALTHY), silent: ids.slice(HEALTHY) };
}

const sync = (app: TestApp, ids: number[]) => app.call('sync-sites', { site_ids_or_domains: ids });
const statusOf = (app: TestApp, job_id: string) => app.call('get-batch-job-status', { job_id });
async function begun(app: TestApp): Promise<number> {
  const [row] = await app.db.all('SELECT count(*) AS n FROM job WHERE owner IS NOT NULL');
  return Number(row?.n);
}

/** A second passes, and all that can go on before the next one does. */
async function second(app: TestApp): Promise<void> {
  app.clock.move(1_000);
  for (let turn = 0; turn < 200; turn++) await nextTurn();
}

/** How many seconds pass until the job has ended. */
async function secondsUntilEnded(app: TestApp, job_id: string, most: number): Promise<number> {
  for (let seconds = 0; seconds <= most; seconds++) {
    const { status } = await statusOf(app, job_id);
    if (status !== 'queued' && status !== 'processing') return seconds;
    await second(app);
  }
  return Number.POSITIVE_INFINITY;
}

it.each([4, 9, 40, 95])(
  'a job of healthy sites is done within a minute behind %i jobs of one silent site',
  async (count) => {
    const { app, healthy, silent } = await fleetOf(count);
    for (const id of silent) await sync(app, [id]);
    app.clock.move(1);
    const { job_id } = await sync(app, healthy);
    expect(await secondsUntilEnded(app, job_id, 60)).toBeLessThanOrEqual(count / 2 + 10);
    expect(await statusOf(app, job_id)).toMatchObject({ status: 'completed', succeeded: HEALTHY });
    // Each silent site is still waited for.
    expect(await begun(app)).toBe(count);
  },
);

it('is also done behind jobs of many sites, of which some are silent', async () => {
  const { app, healthy, silent } = await fleetOf(4, { job_chunk: 4, job_delay_ms: 0 });
  for (const id of silent) await sync(app, [id, ...healthy]);
  app.clock.move(1);
  const { job_id } = await sync(app, healthy);
  expect(await secondsUntilEnded(app, job_id, 60)).toBeLessThanOrEqual(10);
});

it('is also done behind jobs that continue direct calls on silent sites', async () => {
  const { app, healthy, silent } = await fleetOf(5, { batch_threshold: 2, site_timeout_ms: 2_000 });
  const arrived = app.fleet.stats().requests + silent.length;
  const calls = silent.map((id) => {
    const { state } = app.fleet.site(id - 1);
    const theme = state.themes.find(({ slug }) => slug !== state.activeTheme);
    return app.fail('activate-site-theme', { site_id_or_domain: id, slug: theme?.slug });
  });
  await expect.poll(() => app.fleet.stats().requests).toBe(arrived);
  app.clock.move(app.service.config.direct_call_ms);
  for (const { code } of await Promise.all(calls)) expect(code).toBe('svc_still_running');
  app.clock.move(1);
  const { job_id } = await app.call('check-sites', { site_ids_or_domains: healthy });
  expect(await secondsUntilEnded(app, job_id, 60)).toBeLessThanOrEqual(10);
  expect(await begun(app)).toBe(silent.length);
});

it.each([
  ['that are allowed at all', { concurrency: 8 }],
  ['that are allowed to one address', { per_host: 8 }],
])('sites known to be silent take half of the calls %s', async (_which, limits) => {
  const { app, healthy, silent } = await fleetOf(12, { site_timeout_ms: 20_000, ...limits });
  const jobs: { job_id: string }[] = [];
  for (const id of silent) jobs.push(await sync(app, [id]));
  for (const { job_id } of jobs) expect(await secondsUntilEnded(app, job_id, 60)).toBeLessThanOrEqual(60);
  for (const id of silent) await sync(app, [id]);
  app.clock.move(1);
  const { job_id } = await sync(app, healthy);
  expect(await secondsUntilEnded(app, job_id, 60)).toBeLessThanOrEqual(10);
});

it('a process has at most 100 jobs under way', async () => {
  const { app, silent } = await fleetOf(1);
  for (let job = 0; job < 104; job++) await sync(app, silent);
  // Not longer than a lease lasts, because leases are renewed by the real clock.
  for (let seconds = 0; seconds < 55; seconds++) await second(app);
  expect(await begun(app)).toBe(100);
});
