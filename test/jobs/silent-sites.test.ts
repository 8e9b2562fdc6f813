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

/** How many jobs have begun, those that have ended among them. */
async function begun(app: TestApp): Promise<number> {
  const [row] = await app.db.all("SELECT count(*) AS n FROM job WHERE status <> 'queued'");
  return Number(row?.n);
}

/**
 * Lets time pass, 5 s at a time, until so many jobs of a silent site each have begun: with each step, four more. Each waits
 * once its call has arrived. @returns seconds that it took
 */
async function secondsUntilBegun(app: TestApp, jobs: number): Promise<number> {
  for (let seconds = 0; ; seconds += 5) {
    const expected = Math.min(jobs, 4 + (4 * seconds) / 5);
    await expect.poll(() => app.fleet.stats().inFlight).toBe(expected);
    if (expected === jobs) return seconds;
    app.clock.move(5_000);
  }
}

/** A job ends although all others wait. Where they have not come to that yet, a step passes before they do. */
async function endsSoon(app: TestApp, job_id: string): Promise<void> {
  for (let steps = 0; steps < 10 && (await statusOf(app, job_id)).status !== 'completed'; steps++) {
    app.clock.move(5_000);
    for (let turn = 0; turn < 300; turn++) await nextTurn();
  }
  await ends(app, job_id);
}

/** The clock stands still: the job needs no more time to end. */
async function ends(app: TestApp, job_id: string): Promise<void> {
  const status = async () => (await statusOf(app, job_id)).status;
  await expect.poll(status).toBe('completed');
}

it.each([4, 9, 36])(
  'a job of healthy sites is done within a minute behind %i jobs of one silent site',
  async (count) => {
    const { app, healthy, silent } = await fleetOf(count);
    for (const id of silent) await sync(app, [id]);
    app.clock.move(1);
    const { job_id } = await sync(app, healthy);
    expect(await secondsUntilBegun(app, count)).toBeLessThanOrEqual(50);
    app.clock.move(5_000);
    await ends(app, job_id);
    expect(await statusOf(app, job_id)).toMatchObject({ succeeded: HEALTHY });
    // Each silent site is still waited for.
    expect(await app.db.all("SELECT count(*) AS n FROM job WHERE status = 'processing'")).toEqual([{ n: count }]);
  },
);

it('is also done behind jobs of many sites, of which some are silent', async () => {
  const { app, healthy, silent } = await fleetOf(4, { job_chunk: 4, job_delay_ms: 0 });
  for (const id of silent) await sync(app, [id, ...healthy]);
  app.clock.move(1);
  const { job_id } = await sync(app, healthy);
  await endsSoon(app, job_id);
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
  await endsSoon(app, job_id);
});

it('a silent site does not keep the others of its job from their turn, which still begin with pauses', async () => {
  const pause = 30_000;
  const app = await testApp({
    sites: 6,
    config: { batch_threshold: 0, site_timeout_ms: LONG, job_chunk: 2, job_delay_ms: pause },
  });
  const ids: number[] = [];
  for (let i = 0; i < 6; i++) ids.push(await app.connect(i));
  app.fleet.site(0).faults.hang = true;
  const { job_id } = await sync(app, ids);
  const done = async () => (await statusOf(app, job_id)).processed;
  await expect.poll(done).toBe(1);
  // Nothing has ended for 5 s, then there is the pause.
  for (const expected of [1, 3, 5]) {
    await expect.poll(done).toBe(expected);
    app.clock.move(5_000);
    for (let turn = 0; turn < 300; turn++) await nextTurn();
    expect(await done()).toBe(expected);
    app.clock.move(pause - 1);
    for (let turn = 0; turn < 300; turn++) await nextTurn();
    expect(await done()).toBe(expected);
    app.clock.move(1);
  }
  expect(app.fleet.stats().inFlight).toBe(1);
});

it('a process has at most 40 jobs under way', async () => {
  const { app, silent } = await fleetOf(44);
  for (const id of silent) await sync(app, [id]);
  app.clock.move(1);
  await secondsUntilBegun(app, 40);
  app.clock.move(5_000);
  for (let turn = 0; turn < 300; turn++) await nextTurn();
  expect(await begun(app)).toBe(40);
});
