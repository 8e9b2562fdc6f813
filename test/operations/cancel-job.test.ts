/** Cancelling a job: over MCP and HTTP, with sites that are done, at work and waiting. */

import { beforeAll, describe, expect, it } from 'vitest';
import { offer } from '../../src/demo/inventory.js';
import { runNextChunk } from '../support/chunks.js';
import { holdBack } from '../support/hold-back.js';
import { type SupportApp, supportApp } from './support-app.js';

const SITES = 6;
/** Sites per step of a job. */
const CHUNK = 2;

let support: SupportApp;
const queue = async (): Promise<string> => (await support.app.call('sync-sites')).job_id;
const calls = () => support.app.fleet.sites.map((site) => site.calls.length);
const changed = (before: readonly number[]) =>
  calls().flatMap((count, place) => (count > (before[place] ?? 0) ? [place + 1] : []));

/** Runs work while calls on up to so many sites are no jobs. */
async function withThreshold(sites: number, work: () => Promise<void>): Promise<void> {
  const { config } = support.app.service;
  const before = config.batch_threshold;
  Object.assign(config, { batch_threshold: sites });
  await work().finally(() => Object.assign(config, { batch_threshold: before }));
}

beforeAll(async () => {
  support = await supportApp({
    connected: SITES,
    // The sites of a step run at once; a pause is between two steps.
    config: { batch_threshold: 2, job_chunk: CHUNK, job_delay_ms: 60_000 },
    jobs: false,
  });
});

describe('cancel-job', () => {
  it('tells beforehand, and again when it is done, what is left undone; then nothing of it is done', async () => {
    const before = calls();
    const job_id = await queue();
    await runNextChunk(support.app.ctx(), 'test');
    expect(changed(before)).toHaveLength(CHUNK);
    const rest = { succeeded: CHUNK, failed: 0, in_progress: { count: 0, first: [] } };
    const left = { count: SITES - CHUNK, first: [3, 4, 5, 6] };
    const preview = await support.ask('cancel-job', { job_id, dry_run: true });
    expect(preview).toMatchObject({ cancelled: false, dry_run: true, job_id, total: SITES, ...rest, not_begun: left });
    expect(await support.tool('get-batch-job-status', { job_id })).toMatchObject({ status: 'processing' });
    const { status, body } = await support.post('cancel-job', { job_id });
    expect([status, body.code]).toEqual([400, 'svc_confirmation_required']);
    const answer = await support.tool('cancel-job', { job_id, confirm: true });
    expect(answer).toMatchObject({ cancelled: true, type: 'sync', ...rest, not_begun: left });
    await support.app.drain();
    expect(changed(before)).toHaveLength(CHUNK);
    const after = await support.tool('get-batch-job-status', { job_id });
    expect(after).toMatchObject({ status: 'failed', succeeded: CHUNK, failed: SITES - CHUNK });
    const again = await support.post('cancel-job', { job_id, confirm: true });
    expect([again.status, again.body.code]).toEqual([409, 'svc_rest_conflict']);
  });

  it('tells the sites at work from the others, and the call that shows what became of them', async () => {
    const { app } = support;
    const job_id = await queue();
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const arrived = [0, 1].map(
      (place) =>
        new Promise<void>((resolve) => {
          app.fleet.site(place).faults.latencyMs = () => {
            resolve();
            return gate;
          };
        }),
    );
    const turn = runNextChunk(app.ctx(), 'test');
    await Promise.all(arrived);
    const left = {
      succeeded: 0,
      failed: 0,
      in_progress: { count: 2, first: [1, 2] },
      not_begun: { count: 4, first: [3, 4, 5, 6] },
    };
    expect(await support.ask('cancel-job', { job_id, dry_run: true })).toMatchObject(left);
    const { status, body } = await support.post('cancel-job', { job_id, confirm: true });
    expect([status, body]).toEqual([200, expect.objectContaining({ ...left, cancelled: true })]);
    expect(body.next).toBe('svc-sync-sites-v1 {"site_ids_or_domains":[1,2]}');
    open();
    await turn;
    for (const place of [0, 1]) app.fleet.site(place).faults.latencyMs = undefined;
    // What they did after the end of the job does not count for it.
    expect(await support.tool('get-batch-job-status', { job_id })).toMatchObject({ succeeded: 0, failed: SITES });
    expect(await support.follow(body.next)).toMatchObject({ total_synced: 2 });
  });

  it('ends a run of updates that a call does', async () => {
    const { app } = support;
    for (const place of [0, 1]) for (const plugin of app.fleet.site(place).state.plugins) plugin.update = offer('99.0');
    await support.tool('sync-sites', { site_ids_or_domains: [1, 2] });
    const held = [0, 1].map((place) => holdBack(app.fleet.site(place), /^upgradeplugintheme$/));
    const call = support.post('run-updates', { types: ['plugins'], site_ids_or_domains: [1, 2] });
    await Promise.all(held.map(({ waiting }) => waiting));
    const { runs } = await support.tool('list-runs', { state: 'running' });
    expect(runs).toMatchObject([{ state: 'running', job_id: null }]);
    const { run_id } = runs[0];
    const left = { run_id, job_id: null, type: 'update', total: 2, in_progress: { count: 2, first: [1, 2] } };
    expect(await support.ask('cancel-job', { run_id, dry_run: true })).toMatchObject({ ...left, cancelled: false });
    const answer = await support.tool('cancel-job', { run_id, confirm: true });
    expect(answer).toMatchObject({ ...left, cancelled: true, succeeded: 0, not_begun: { count: 0 } });
    expect((await call).body).toMatchObject({ code: 'svc_cancelled' });
    for (const { letGo } of held) letGo();
    expect(await support.tool('get-run', { run_id })).toMatchObject({ state: 'ended' });
    const again = await support.post('cancel-job', { run_id, confirm: true });
    expect([again.status, again.body.code, again.body.data.field]).toEqual([409, 'svc_rest_conflict', 'run_id']);
  });

  it('tells of a stopped run the same in the answer of its call, of cancel-job and of get-run', async () => {
    const { app } = support;
    const places = [0, 1, 2, 3];
    const ids = places.map((place) => place + 1);
    for (const place of places) for (const plugin of app.fleet.site(place).state.plugins) plugin.update = offer('98.0');
    await support.tool('sync-sites', { site_ids_or_domains: ids.slice(0, 2) });
    await support.tool('sync-sites', { site_ids_or_domains: ids.slice(2) });
    await withThreshold(10, async () => {
      // Two sites are at work, one fails, and one is done.
      app.fleet.site(2).faults.failUpdates = app.fleet.site(2).state.plugins.map(({ slug }) => slug);
      const held = [0, 1].map((place) => holdBack(app.fleet.site(place), /^upgradeplugintheme$/));
      const call = support.post('run-updates', { types: ['plugins'], site_ids_or_domains: ids });
      await Promise.all(held.map(({ waiting }) => waiting));
      const { run_id } = (await support.tool('list-runs', { state: 'running' })).runs[0];
      const bySite = async () => (await support.tool('get-run', { run_id })).by_site;
      const wanted = { succeeded: 1, failed: 1, still_working: 2, not_begun: 0 };
      let before = await bySite();
      for (let turns = 0; turns < 1000 && before.still_working > 2; turns++) before = await bySite();
      expect(before).toEqual(wanted);
      const answer = await support.tool('cancel-job', { run_id, confirm: true });
      const said = { succeeded: 1, failed: 1, in_progress: { count: 2, first: [1, 2] }, not_begun: { count: 0 } };
      expect(answer).toMatchObject({ ...said, total: 4, cancelled: true });
      const { body } = await call;
      expect(body).toMatchObject({
        code: 'svc_cancelled',
        message: 'The call was cancelled: of 4 sites 1 done, 1 failed, 2 still working, 0 not begun.',
        data: { run_id, sites: { done: [4], failed: [3], still_working: [1, 2], not_done: [1, 2] } },
      });
      expect(await support.tool('get-run', { run_id })).toMatchObject({ state: 'ended', by_site: wanted });
      // What was still working is known after the sync that cancel-job names.
      for (const { letGo } of held) letGo();
      await support.follow(answer.next);
      const after = await bySite();
      expect(after).toMatchObject({ still_working: 0, not_begun: 0 });
      expect(after.succeeded + after.failed).toBe(4);
    });
  });

  it('tells of a run that a job does the same as get-run, and what finishes later as still working until then', async () => {
    const { app } = support;
    for (const { state } of app.fleet.sites) for (const plugin of state.plugins) plugin.update = offer('97.0');
    for (const pair of [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
      await support.tool('sync-sites', { site_ids_or_domains: pair });
    for (const { faults } of app.fleet.sites) faults.failUpdates = [];
    const { job_id, run_id } = await support.tool('run-updates', { types: ['plugins'] });
    const held = [0, 1].map((place) => holdBack(app.fleet.site(place), /^upgradeplugintheme$/));
    const turn = runNextChunk(app.ctx(), 'test');
    await Promise.all(held.map(({ waiting }) => waiting));
    const left = { in_progress: { count: 2, first: [1, 2] }, not_begun: { count: 4, first: [3, 4, 5, 6] } };
    expect(await support.ask('cancel-job', { run_id, dry_run: true })).toMatchObject({ job_id, run_id, ...left });
    const answer = await support.tool('cancel-job', { job_id, confirm: true });
    expect(answer).toMatchObject({ job_id, run_id, total: 6, succeeded: 0, failed: 0, ...left });
    const run = async () => support.tool('get-run', { run_id });
    const stopped = { succeeded: 0, failed: 0, still_working: 2, not_begun: 4 };
    expect(await run()).toMatchObject({ state: 'running', by_site: stopped });
    for (const { letGo } of held) letGo();
    await turn;
    expect(await run()).toMatchObject({ state: 'ended', by_site: { ...stopped, succeeded: 2, still_working: 0 } });
  });

  it('takes a job or a run, and not both', async () => {
    for (const input of [{}, { job_id: 'sync_00000000-0000-4000-8000-000000000000', run_id: 'run_1' }])
      expect((await support.post('cancel-job', { ...input, confirm: true })).body.code).toBe('svc_invalid_input');
    expect((await support.post('cancel-job', { run_id: 'run_1', confirm: true })).body.code).toBe('svc_run_not_found');
  });

  it('refuses what is no job, and one that does not exist', async () => {
    const none = 'sync_00000000-0000-4000-8000-000000000000';
    for (const [input, code] of [
      [{ job_id: 'x' }, 'ability_invalid_input'],
      [{ job_id: none, confirm: true, force: true }, 'ability_invalid_input'],
      [{ job_id: none, confirm: true }, 'svc_job_not_found'],
      [{ job_id: none, dry_run: true }, 'svc_job_not_found'],
    ] as const)
      expect((await support.post('cancel-job', input)).body.code).toBe(code);
  });

  it('names at most 50 sites of each state, with the counts of all', async () => {
    const { app } = support;
    const sites = Array.from({ length: 5000 }, (_, index) => index + 1);
    const job_id = 'sync_large';
    const pace = { chunk: 20, delay_ms: 0, timeout_ms: 3_600_000, next_run_at: app.clock.now() + 86_400_000 };
    const job = { id: job_id, type: 'sync', params: {}, sites, begun: false, refused: [], ...pace } as const;
    await app.service.store.jobs.add(job, app.clock.now());
    const { not_begun } = await support.tool('cancel-job', { job_id, confirm: true });
    expect(not_begun).toEqual({ count: 5000, first: sites.slice(0, 50) });
  });
});
