import { beforeEach, describe, expect, it } from 'vitest';
import { loadSites } from '../../src/domain/sites/load.js';
import { runNextChunk } from '../support/chunks.js';
import { type TestApp, testApp } from '../support/harness.js';

let app: TestApp;
beforeEach(async () => {
  app = await testApp({ sites: 8, config: { batch_threshold: 2, job_chunk: 3 }, jobs: false });
  for (let i = 0; i < 8; i++) await app.connect(i);
});

async function drain(owner = 'a'): Promise<number> {
  let chunks = 0;
  while (await runNextChunk(app.ctx(), owner)) {
    chunks++;
    app.clock.move(30_000);
  }
  return chunks;
}

describe('queued jobs', () => {
  it('count each failed site among the errors of their summary, however it failed', async () => {
    await app.call('suspend-site', { site_id_or_domain: 1 });
    const kinds = { offline: true, failUpdates: true, http500: true, outdated: true, malformedJson: true };
    for (const [at, [fault, value]] of Object.entries(kinds).entries())
      app.fleet.site(at + 1).faults = { [fault]: value };
    const first = await app.call('update-all', { site_ids_or_domains: [1, 2, 3, 4, 5, 6, 7, 8, 99] });
    await drain();
    const second = await app.call('update-all', { site_ids_or_domains: [2, 3, 4] });
    await app.call('cancel-job', { job_id: second.job_id, confirm: true });
    for (const [{ job_id }, least] of [
      [first, 4],
      [second, 3],
    ] as const) {
      const job = await app.call('get-batch-job-status', { job_id, per_page: 200 });
      const failed = new Set(job.errors.map(({ site_id }: { site_id: number }) => site_id));
      expect(job.failed).toBeGreaterThanOrEqual(least);
      expect(failed.size).toBeGreaterThanOrEqual(job.failed);
      expect(job.summary.total_errors).toBeGreaterThanOrEqual(job.failed);
      expect(job.succeeded + job.failed).toBe(job.processed);
    }
  });

  it('works a sync off in chunks with the pause between them', async () => {
    const queued = await app.call('sync-sites', {});
    expect(queued).toMatchObject({ queued: true, sites_queued: 8, errors: [], total_errors: 0 });
    expect(queued.status_url).toBe(`http://127.0.0.1:8787/v2/jobs/${queued.job_id}`);
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'queued',
      progress: 0,
      total: 8,
      started_at: null,
    });

    expect(await runNextChunk(app.ctx(), 'a')).toBe(true);
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'processing',
      processed: 3,
      progress: 38,
    });
    expect(await runNextChunk(app.ctx(), 'a')).toBe(false);
    app.clock.move(30_000);

    expect(await drain()).toBe(2);
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'completed',
      progress: 100,
      processed: 8,
      succeeded: 8,
      failed: 0,
      errors: [],
      job_timed_out: false,
    });
  });

  it('gives every site exactly one outcome, with the reason', async () => {
    app.fleet.site(1).faults.offline = true;
    app.fleet.site(2).faults.http500 = true;
    await app.call('suspend-site', { site_id_or_domain: app.fleet.site(3).url });
    const queued = await app.call('sync-sites', { site_ids_or_domains: [1, 2, 3, 4, 5, 'nowhere.example'] });
    expect(queued.errors).toMatchObject([{ identifier: 'nowhere.example', code: 'svc_site_not_found' }]);
    await drain();
    const status = await app.call('get-batch-job-status', { job_id: queued.job_id });
    expect(status).toMatchObject({ status: 'completed', total: 5, processed: 5, succeeded: 2, failed: 3 });
    expect((status.errors as unknown as { site_id: number; code: string }[]).map((e) => [e.site_id, e.code])).toEqual([
      [2, 'svc_site_offline'],
      [3, 'svc_sync_failed'],
      [4, 'svc_site_suspended'],
      [0, 'svc_site_not_found'],
    ]);
  });

  it('fails a job of which no site succeeded', async () => {
    for (let i = 0; i < 8; i++) app.fleet.site(i).faults.offline = true;
    const queued = await app.call('sync-sites', {});
    await drain();
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'failed',
      failed: 8,
      succeeded: 0,
    });
  });

  it('lets another worker go on when one vanished, and keeps the old one from writing', async () => {
    const queued = await app.call('sync-sites', {});
    const { jobs } = app.service.store;
    const lost = await jobs.claim('gone', app.clock.now(), 60_000);
    if (lost === undefined) throw new Error('nothing to claim');
    const started = await jobs.startChunk(lost);
    expect(await runNextChunk(app.ctx(), 'b')).toBe(false);
    app.clock.move(60_001);
    await drain('b');
    expect(
      await jobs.finishSite(
        lost,
        { position: started[0]?.position ?? 0, code: 'svc_sync_failed', message: 'late' },
        app.clock.now(),
      ),
    ).toBe(false);
    expect(await jobs.heartbeat(lost, app.clock.now() + 1)).toBe(false);
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'completed',
      succeeded: 8,
      failed: 0,
    });
  });

  it('never gives one job to two workers', async () => {
    await app.call('sync-sites', {});
    const claims = await Promise.all(
      ['a', 'b', 'c'].map((owner) => app.service.store.jobs.claim(owner, app.clock.now(), 60_000)),
    );
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });

  it('contacts no site for a job whose time is up, though nobody has ended it yet', async () => {
    const queued = await app.call('sync-sites', {});
    await runNextChunk(app.ctx(), 'a');
    const before = app.fleet.stats().requests;
    // As after an outage, or with the database of a backup.
    app.clock.move(4 * 3600_000);
    expect(await runNextChunk(app.ctx(), 'b')).toBe(false);
    expect(app.fleet.stats().requests).toBe(before);
    const status = { status: 'processing', processed: 3 };
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject(status);
  });

  it('ends a job that ran too long and forgets it a day later', async () => {
    const queued = await app.call('sync-sites', {});
    await runNextChunk(app.ctx(), 'a');
    app.clock.move(4 * 3600_000);
    const { reapJobs } = await import('../../src/domain/actions/chunk.js');
    expect(await reapJobs(app.ctx())).toEqual({ timed_out: 1, expired: 0 });
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      status: 'failed',
      job_timed_out: true,
      job_error_code: 'timeout',
      processed: 3,
      progress: 38,
      errors: [{ site_id: 0, code: 'svc_job_timeout' }],
    });
    expect(await runNextChunk(app.ctx(), 'a')).toBe(false);
    app.clock.move(24 * 3600_000 + 1);
    expect(await reapJobs(app.ctx())).toEqual({ timed_out: 0, expired: 1 });
    expect(await app.fail('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      code: 'svc_job_not_found',
      status: 404,
    });
  });

  it('looks before it repeats an update that may have run', async () => {
    const site = app.fleet.site(0);
    const queued = await app.call('update-all', { site_ids_or_domains: [1, 2, 3] });
    expect(queued.queued).toBe(true);
    const { jobs } = app.service.store;
    const lost = await jobs.claim('gone', app.clock.now(), 60_000);
    if (lost === undefined) throw new Error('nothing to claim');
    await jobs.startChunk(lost);
    // The worker died after the site was updated and before anything was stored here.
    const target = (await loadSites(app.ctx(), [1])).get(1);
    if (target?.connection == null) throw new Error('no connection');
    const offers = (await app.call('get-site-updates', { site_id_or_domain: 1, types: ['plugins'] })).updates as {
      slug: string;
    }[];
    expect(offers.length).toBeGreaterThan(0);
    await app.ctx().child.upgradeExtensions(
      target.connection,
      'plugin',
      offers.map((offer) => offer.slug),
    );
    const before = site.calls.length;
    app.clock.move(60_001);
    await drain('b');
    const after = site.calls.slice(before);
    expect(after[0]?.function).toBe('stats');
    expect(after.some((call) => call.function === 'upgradeplugintheme' && call.params.type === 'plugin')).toBe(false);
    expect(await app.call('get-batch-job-status', { job_id: queued.job_id })).toMatchObject({
      succeeded: 3,
      failed: 0,
    });
  });
});

describe('queued jobs without a pause', () => {
  let quick: TestApp;
  beforeEach(async () => {
    quick = await testApp({
      sites: 8,
      config: { batch_threshold: 2, job_chunk: 3, job_delay_ms: 0, concurrency: 4, per_host: 8 },
      jobs: false,
    });
    for (let i = 0; i < 8; i++) await quick.connect(i);
  });

  const status = (job_id: string) => quick.call('get-batch-job-status', { job_id });

  it('begin the next chunk while the last sites of one are under way, and resume those that were cut off', async () => {
    quick.fleet.site(0).faults.hang = true;
    const { job_id } = (await quick.call('sync-sites', {})) as { job_id: string };
    const stop = new AbortController();
    const turn = runNextChunk(quick.ctx({ signal: stop.signal }), 'a');
    await expect.poll(() => status(job_id)).toMatchObject({ processed: 7, status: 'processing' });
    stop.abort();
    await turn;
    quick.fleet.site(0).faults.hang = false;
    const before = quick.fleet.site(1).calls.length;
    expect(await runNextChunk(quick.ctx(), 'a')).toBe(true);
    expect(await status(job_id)).toMatchObject({ status: 'completed', succeeded: 8, failed: 0 });
    expect(quick.fleet.site(1).calls.length).toBe(before);
  });

  it('begin no chunk after the lease was lost', async () => {
    const { job_id } = (await quick.call('sync-sites', {})) as { job_id: string };
    const { jobs } = quick.service.store;
    const lost = await jobs.claim('gone', quick.clock.now(), 60_000);
    if (lost === undefined) throw new Error('nothing to claim');
    expect(await jobs.startChunk(lost)).toHaveLength(3);
    await jobs.dropLeases(['gone']);
    expect(await jobs.startChunk(lost, 2)).toEqual([]);
    while (await runNextChunk(quick.ctx(), 'b'));
    expect(await status(job_id)).toMatchObject({ status: 'completed', succeeded: 8 });
  });
});
