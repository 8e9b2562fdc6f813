/** Calls of a queued job yield to calls that a user waits for: an update during a queued sync of many sites. */

import { beforeEach, expect, it } from 'vitest';
import type { PacedChildSites } from '../../src/outbound/child/create.js';
import { type CheckedApp, checkedApp, offers } from './checked-app.js';

const SITES = 40;
/** All but the last, which is the user's. */
const QUEUED = Array.from({ length: SITES - 1 }, (_, index) => index + 1);
/** The pacer gives every eighth start to the oldest call, and one call of the job starts between two of the user's. */
const OVERTAKEN_BY = 10;

let app: CheckedApp;
beforeEach(async () => {
  app = await checkedApp({ sites: SITES, jobs: true, config: { batch_threshold: 2, job_chunk: SITES } });
  await app.connectAll(SITES);
});

it.each([
  ['of other sites', QUEUED],
  // The queued sync of the site has begun, and holds it, before the user's call.
  ['that has begun with the same site', [...QUEUED, SITES]],
])('an update goes ahead of the calls of a queued sync %s', async (_name, queued) => {
  const site = app.fleet.site(SITES - 1);
  offers(site, { plugins: 1 });
  await app.call('sync-sites', { site_ids_or_domains: [SITES] });
  // The slowest site is called first, so that the user's would come last.
  for (const each of app.fleet.sites) if (each !== site) each.faults.latencyMs = () => 30;
  await Promise.all(QUEUED.map((id) => app.call('sync-sites', { site_ids_or_domains: [id] })));
  const slug = site.state.plugins.find((plugin) => plugin.update !== null)?.slug;

  const child = app.ctx().child as PacedChildSites;
  const order: string[] = [];
  for (const each of app.fleet.sites)
    each.faults.latencyMs = (name, index) => {
      order.push(`${name} ${index}`);
      return 0;
    };

  // One call starts; all others wait until the pause is lifted.
  child.configure({ minDelayMs: 3_600_000 });
  const job = await app.call('sync-sites', { site_ids_or_domains: queued });
  expect(job).toMatchObject({ queued: true, sites_queued: queued.length });
  await expect.poll(() => child.load()).toEqual({ running: 0, queued: queued.length - 1 });
  const update = app.call('update-site-plugins', { site_id_or_domain: SITES, slugs: [slug] });
  await expect.poll(() => child.load().queued).toBe(SITES - 1);
  order.length = 0;
  child.configure({ minDelayMs: 0, concurrency: 1 });

  expect(await update).toMatchObject({ updated: [{ slug }] });
  const applied = order.findIndex((call) => call === `upgradeplugintheme ${SITES - 1}`);
  expect(applied).toBeGreaterThanOrEqual(0);
  expect(applied).toBeLessThan(OVERTAKEN_BY);
  // Its verification did not wait for the job either.
  const status = await app.call('get-batch-job-status', { job_id: job.job_id });
  expect(status.processed).toBeLessThan(OVERTAKEN_BY);
  child.configure({ concurrency: 20 });
  await expect
    .poll(async () => (await app.call('get-batch-job-status', { job_id: job.job_id })).status)
    .toBe('completed');
});
