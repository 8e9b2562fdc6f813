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
