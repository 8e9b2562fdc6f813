/** Large selections: the seven operations that queue, and the status of what they queued (operations §6, §7). */

import { beforeEach, describe, expect, it } from 'vitest';
import { type CheckedApp, checkedApp, offers } from './checked-app.js';

/** The status of a job with items before it has done anything; one site was unknown. */
const NO_ITEMS = { items: [], items_total: 0, page: 1, per_page: 50 };
const NOTHING_DONE: Record<string, object> = {
  update: { summary: { total_updated: 0, total_errors: 1, sites_updated: 0 }, ...NO_ITEMS },
  check: NO_ITEMS,
};

let app: CheckedApp;
beforeEach(async () => {
  app = await checkedApp({ sites: 3, config: { batch_threshold: 2, job_chunk: 2, base_url: 'https://fleet.example' } });
  await app.connectAll(3);
  for (const site of app.fleet.sites) offers(site, { plugins: 1, core: true });
  await app.call('sync-sites', { site_ids_or_domains: [1, 2] });
  await app.call('sync-sites', { site_ids_or_domains: [3] });
});

const QUEUEABLE: [string, string][] = [
  ['sync-sites', 'sync'],
  ['run-updates', 'update'],
  ['update-all', 'update'],
  ['reconnect-sites', 'reconnect'],
  ['disconnect-sites', 'disconnect'],
  ['check-sites', 'check'],
  ['suspend-sites', 'suspend'],
];
const THREE = [1, 2, 3];

describe.each(QUEUEABLE)('%s', (name, type) => {
  it('queues above the threshold, counting distinct sites, and answers the same form as all', async () => {
    const requests = app.fleet.stats().requests;
    const answer = await app.call(name, { site_ids_or_domains: [...THREE, 'nowhere.example'] });
    expect(answer).toEqual({
      queued: true,
      ...(type === 'update' ? { run_id: expect.stringMatching(/^run_/) } : {}),
      job_id: expect.stringMatching(
        new RegExp(`^${type}_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
      ),
      status_url: `https://fleet.example/v2/jobs/${answer.job_id}`,
      sites_queued: 3,
      errors: [expect.objectContaining({ code: 'svc_site_not_found' })],
      total_errors: 1,
    });
    expect(app.fleet.stats().requests).toBe(requests);
    expect(await app.call('get-batch-job-status', { job_id: answer.job_id })).toEqual({
      job_id: answer.job_id,
      ...(type === 'update' ? { run_id: answer.run_id } : {}),
      type,
      status: 'queued',
      progress: 0,
      processed: 0,
      total: 3,
      succeeded: 0,
      failed: 0,
      started_at: null,
      completed_at: null,
      errors: [{ site_id: 0, code: 'svc_site_not_found', message: expect.any(String) }],
      job_timed_out: false,
      ...NOTHING_DONE[type],
    });
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id: answer.job_id })).toMatchObject({
      status: 'completed',
      progress: 100,
      processed: 3,
      succeeded: 3,
      failed: 0,
      started_at: '2026-11-20T12:00:00Z',
      completed_at: expect.stringMatching(/Z$/),
    });
  });

  it('runs now at the threshold, duplicates and all', async () => {
    const answer = await app.call(name, { site_ids_or_domains: [1, '1', app.site(0).url, 2, 2] });
    expect(answer).toMatchObject({ queued: false, errors: [] });
    expect(answer).not.toHaveProperty('job_id');
    expect(await app.cell('SELECT count(*) FROM job')).toBe(0);
  });
});

it('counts a site as failed if its only update has left it down', async () => {
  const killer = app.site(0).state.plugins.find(({ update }) => update !== null)?.slug ?? '';
  app.site(0).faults.killedBy = [killer];
  const { job_id } = await app.call('run-updates', { site_ids_or_domains: THREE, types: ['plugins'] });
  await app.drain();
  expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({
    succeeded: 2,
    failed: 1,
    summary: { total_updated: 2, total_errors: 1, sites_updated: 2 },
    errors: [{ site_id: 1, code: 'svc_update_broke_site', message: expect.stringContaining('HTTP 500') }],
    items: expect.arrayContaining([
      expect.objectContaining({ site_id: 1, slug: killer, code: 'svc_update_broke_site', new_version: '2.0' }),
    ]),
  });
});

describe('"all sites"', () => {
  it.each([
    ['sync-sites', 3],
    ['run-updates', 3],
    ['update-all', 3],
    ['check-sites', 3],
  ])('%s queues the whole fleet', async (name, sites) => {
    expect(await app.call(name)).toMatchObject({ queued: true, sites_queued: sites, errors: [], total_errors: 0 });
  });

  it('of run-updates are those with updates, of update-all every one', async () => {
    offers(app.site(2), {});
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    expect(await app.call('run-updates')).toMatchObject({ queued: false });
    expect(await app.call('update-all')).toMatchObject({ queued: true, sites_queued: 3 });
  });

  it('leave suspended ones out, before they are counted', async () => {
    await app.call('suspend-site', { site_id_or_domain: 3 });
    expect(await app.call('sync-sites')).toMatchObject({ queued: false, total_synced: 2 });
    expect(await app.call('update-all')).toMatchObject({ queued: false, summary: { sites_updated: 2 } });
    expect(await app.call('check-sites')).toMatchObject({ queued: true, sites_queued: 3 });
  });
});

describe('a job', () => {
  it('does what the direct call does: marks, updates, versions', async () => {
    await app.call('suspend-sites', { site_ids_or_domains: THREE });
    await app.drain();
    expect(await app.call('count-sites', { status: 'suspended' })).toEqual({ total: 3 });
    for (const id of THREE) await app.call('unsuspend-site', { site_id_or_domain: id });
    await app.call('run-updates', { site_ids_or_domains: THREE, types: ['core'], specific_items: ['platform'] });
    await app.drain();
    expect(app.fleet.sites.map(({ state }) => state.wpVersion)).toEqual(['7.1', '7.1', '7.1']);
    expect(await app.call('list-updates')).toMatchObject({ summary: { core: 0, plugins: 3 } });
  });

  it('has a code for each failed site, and none twice', async () => {
    app.site(0).faults.offline = true;
    app.site(1).faults.falseSuccess = true;
    await app.call('suspend-site', { site_id_or_domain: 3 });
    const { job_id } = await app.call('update-all', { site_ids_or_domains: THREE });
    await app.call('delete-site', { site_id_or_domain: 3, confirm: true });
    await app.drain();
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status).toMatchObject({ status: 'failed', processed: 3, succeeded: 0, failed: 3, progress: 100 });
    expect(status.errors.map(({ site_id, code }: { site_id: number; code: string }) => [site_id, code])).toEqual([
      [1, 'svc_site_offline'],
      [2, 'svc_update_failed'],
      [3, 'svc_site_not_found'],
    ]);
    expect(status.errors[0].message).not.toContain('platform');
    expect(status.errors[1].message).toContain('core: platform: ');
  });

  it('is gone a day after its end, and not before', async () => {
    const { job_id } = await app.call('check-sites');
    app.clock.move(48 * 3600_000);
    expect(await app.call('get-batch-job-status', { job_id })).toMatchObject({ status: 'queued' });
    await app.drain();
    expect(await app.call('get-batch-job-status', { job_id: job_id })).toMatchObject({ status: 'completed' });
  });
});
