/** Runs of updates: what each call did on each site and item, by whichever way in, for 180 days. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { reapJobs } from '../../src/domain/actions/chunk.js';
import { deleteExpired } from '../../src/domain/retention/delete-expired.js';
import { getRun } from '../../src/domain/updates/runs/runs.js';
import { finishInterruptedRuns } from '../../src/domain/updates/safe/unfinished.js';
import { processId, processLocation } from '../../src/runtime/cluster/process-id.js';
import { type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { runNextChunk } from '../support/chunks.js';
import { ADMIN, type Answer } from '../support/harness.js';
import { appWithUpdates, type CheckedApp, offeredPlugins } from './checked-app.js';

const DAY_MS = 24 * 3_600_000;
const bySlug = (items: { slug: string }[]) => new Map(items.map((item) => [item.slug, item as Answer]));
const run = (app: { call: SafetyApp['call'] }, run_id: string, more: object = {}) =>
  app.call('get-run', { run_id, per_page: 20, ...more });

/** Two sites: of three plugins of the first one stays, one breaks the site, one fails; the second is suspended. */
async function mixed(): Promise<{ app: SafetyApp; slugs: { good: string; bad: string; failing: string } }> {
  const app = await safetyApp({ sites: 2 });
  const site = app.site(0);
  const [good, bad, failing] = [app.offer(site), app.offer(site, 1), app.offer(site, 2)];
  for (const plugin of [good, bad, failing]) plugin.version = '1.0';
  app.offer(app.site(1));
  site.faults.breaks = { [`${bad.slug}@99.0`]: 'fatal' };
  site.faults.failUpdates = [failing.slug];
  await app.call('sync-sites');
  await app.call('suspend-site', { site_id_or_domain: 2 });
  return { app, slugs: { good: good.slug, bad: bad.slug, failing: failing.slug } };
}

describe('a call', () => {
  it('is a run: what stayed, what was rolled back, what failed and what was left', async () => {
    const { app, slugs } = await mixed();
    const answer = await app.safely('run-updates', { site_ids_or_domains: [1, 2], types: ['plugins'] });
    expect(answer.run_id).toMatch(/^run_/);
    const told = await run(app, answer.run_id);
    expect(told).toMatchObject({
      run_id: answer.run_id,
      state: 'ended',
      by: ADMIN.name,
      via: ADMIN.via,
      operation: 'svc/run-updates-v1',
      job_id: null,
      types: ['plugin'],
      specific_items: [],
      sites: 2,
      counts: { kept: 1, rolled_back: 1, failed: 1, skipped: 1 },
      total: 4,
    });
    const items = bySlug(told.items);
    const versions = { site_id: 1, type: 'plugin', old_version: '1.0', new_version: '99.0', protection: 'guard' };
    expect(items.get(slugs.good)).toMatchObject({ ...versions, state: 'kept', can_roll_back: true });
    expect(items.get(slugs.bad)).toMatchObject({
      ...versions,
      state: 'rolled_back',
      code: 'svc_update_rolled_back',
      message: expect.stringContaining('broke the site'),
      evidence: expect.arrayContaining([expect.stringMatching(/HTTP 500|^PHP recorded in/)]),
      rolled_back_by: expect.stringMatching(/guard|sitefleet/),
      can_roll_back: false,
    });
    expect(items.get(slugs.failing)).toMatchObject({
      ...versions,
      state: 'failed',
      code: 'svc_update_failed',
      can_roll_back: false,
      cannot_roll_back_because: 'It was not installed.',
    });
    expect(items.get('')).toMatchObject({ site_id: 2, type: 'site', state: 'skipped', code: 'svc_site_suspended' });
    // The list says why not all was kept: the worst of it, and how much else there is.
    const [listed] = (await app.call('list-runs', {})).runs;
    const { name, message } = items.get(slugs.failing);
    expect(listed.reason).toContain(
      `${name.includes(' ') ? `"${name}"` : name} on ${app.site(0).url.replace(/^https?:\/\/|\/$/g, '')}: `,
    );
    expect(listed.reason).toContain(message.slice(0, 60));
    expect(listed.reason).toMatch(/ And 2 more\.$/);
    expect(told.reason).toBe(listed.reason);
    // The answer and the record tell the same, and name the changes alike.
    expect(answer.updated).toMatchObject([
      { slug: slugs.good, change_id: items.get(slugs.good).change_id, can_roll_back: true },
    ]);
    for (const { slug, change_id } of answer.errors)
      if (change_id !== undefined) expect([slug, items.get(slug).change_id]).toEqual([slug, change_id]);
    expect((await run(app, answer.run_id, { state: 'failed' })).items).toMatchObject([{ slug: slugs.failing }]);
    // A preview changes nothing, and is none.
    expect(await app.call('run-updates', { dry_run: true })).not.toHaveProperty('run_id');
    expect((await app.call('list-runs', {})).total).toBe(1);
  });

  it('of each operation is one, on sites without a guard too', async () => {
    const app = await appWithUpdates();
    const [slug = ''] = offeredPlugins(app.site(0));
    const ids: string[] = [];
    const calls = [
      ['update-site-plugins', { site_id_or_domain: 1, slugs: [slug] }, { kept: 1 }],
      ['update-site-themes', { site_id_or_domain: 1 }, { kept: 1 }],
      ['update-site-core', { site_id_or_domain: 1 }, { kept: 1 }],
      ['update-site-translations', { site_id_or_domain: 1 }, { kept: 1 }],
      ['safe-update-site', { site_id_or_domain: 2, types: ['themes'], least_protection: 'none' }, { kept: 1 }],
      ['run-updates', { types: ['plugins'], specific_items: [slug] }, { kept: 2 }],
      ['update-all', {}, { kept: 8 }],
    ] as const;
    for (const [name, input, counts] of calls) {
      const stop = app.clock.flow();
      const { run_id } = await app.call(name, input).finally(stop);
      ids.push(run_id);
      expect([name, await run(app, run_id)]).toMatchObject([
        name,
        { state: 'ended', operation: `svc/${name}-v1`, counts },
      ]);
    }
    expect(new Set(ids).size).toBe(calls.length);
    const listed = await app.call('list-runs', {});
    for (const one of listed.runs) expect(one).not.toHaveProperty('reason');
    expect(listed.runs.map((one: Answer) => one.operation)).toEqual(
      expect.arrayContaining(calls.map(([name]) => `svc/${name}-v1`)),
    );
    const [item] = (await run(app, ids[0] as string)).items;
    expect(item).toMatchObject({
      protection: 'none',
      can_roll_back: false,
      cannot_roll_back_because: 'No guard kept a copy of 1.0.',
    });
  });

  it.each([true, false])('shows how far it is while it runs, with a guard: %s', async (guards) => {
    const app = await safetyApp({ sites: 1, guards });
    const plugin = app.offer(app.site(0));
    app.offer(app.site(0), 1);
    await app.call('sync-sites');
    const seen: string[] = [];
    const { batch, run: write } = app.db;
    // Not as a call: one would wait for the writes that wait for it.
    const look = async () => {
      const id = await app.cell('SELECT id FROM update_run');
      if (id === undefined) return;
      const { state, items } = await getRun(app.ctx(), String(id), [], 1, 20);
      seen.push(...items.map((item) => `${state} ${item.slug} ${item.state}`));
    };
    Object.assign(app.db, {
      batch: async (...args: Parameters<typeof batch>) => {
        const results = await batch(...args);
        await look();
        return results;
      },
      run: async (...args: Parameters<typeof write>) => {
        const result = await write(...args);
        await look();
        return result;
      },
    });
    await app.safely('update-site-plugins', { site_id_or_domain: 1 });
    Object.assign(app.db, { batch, run: write });
    // Without a guard all plugins are sent at once.
    for (const state of [...(guards ? ['queued'] : []), 'updating', 'checking', 'kept'])
      expect(seen).toContain(`running ${plugin.slug} ${state}`);
    expect(seen.at(-1)).toMatch(/^ended .* kept$/);
  });

  it('that is known no more is not found', async () => {
    const { app } = await mixed();
    expect(await app.fail('get-run', { run_id: 'run_0' })).toMatchObject({
      code: 'svc_run_not_found',
      field: 'run_id',
    });
  });
});

describe('the list', () => {
  it('is narrowed by time, site, person and state', async () => {
    const { app } = await mixed();
    const first = (await app.safely('run-updates', { site_ids_or_domains: [1] })).run_id;
    app.clock.move(DAY_MS);
    const actor = { ...ADMIN, name: 'Ada' };
    const second = (await app.call('update-all', { site_ids_or_domains: [2] }, { actor })).run_id;
    const ids = async (input: object) => (await app.call('list-runs', input)).runs.map((one: Answer) => one.run_id);
    expect(await ids({})).toEqual([second, first]);
    expect(await ids({ since: new Date(app.clock.now() - 1000).toISOString() })).toEqual([second]);
    expect(await ids({ site_id_or_domain: 1 })).toEqual([first]);
    expect(await ids({ actor: 'Ada' })).toEqual([second]);
    expect(await ids({ state: 'rolled_back' })).toEqual([first]);
    expect(await ids({ state: 'running' })).toEqual([]);
    expect(await ids({ state: 'ended', per_page: 1, page: 2 })).toEqual([first]);
    expect(await app.fail('list-runs', { since: 'yesterday' })).toMatchObject({
      code: 'svc_invalid_input',
      field: 'since',
    });
  });

  it('forgets a run after 180 days, with what its items showed', async () => {
    const { app } = await mixed();
    const { run_id } = await app.safely('run-updates', { site_ids_or_domains: [1] });
    app.clock.move(180 * DAY_MS - 60_000);
    await deleteExpired(app.ctx());
    expect((await run(app, run_id)).items).toContainEqual(
      expect.objectContaining({ state: 'rolled_back', evidence: expect.any(Array) }),
    );
    app.clock.move(3_600_000);
    await deleteExpired(app.ctx());
    expect(await app.fail('get-run', { run_id })).toMatchObject({ code: 'svc_run_not_found' });
    expect(await app.cell('SELECT count(*) FROM update_run_item')).toBe(0);
  });
});

describe('a job', () => {
  it('is a run over all of its chunks, and outlived by it', async () => {
    const app = await appWithUpdates();
    app.service.config.batch_threshold = 1;
    app.service.config.job_chunk = 1;
    const queued = await app.call('run-updates', { types: ['plugins', 'core'] });
    expect(queued).toMatchObject({ queued: true, sites_queued: 3, run_id: expect.stringMatching(/^run_/) });
    const { run_id, job_id } = queued;
    expect(await run(app, run_id)).toMatchObject({ state: 'running', job_id, waiting_sites: 3, counts: {}, total: 0 });
    await app.drain();
    const told = await run(app, run_id);
    expect(told).toMatchObject({ state: 'ended', job_id, sites: 3, counts: { kept: 9 }, ended_at: expect.any(String) });
    const status = await app.call('get-batch-job-status', { job_id });
    expect(status.run_id).toBe(run_id);
    const changes = (items: Answer[]) => items.map(({ change_id }) => change_id).sort();
    expect(changes(status.items)).toEqual(changes(told.items));
    app.clock.move(2 * DAY_MS);
    await app.db.run('DELETE FROM job');
    expect(await run(app, run_id)).toEqual(told);
  });

  it('that is cancelled leaves a run that has ended', async () => {
    const app = await appWithUpdates();
    app.service.config.batch_threshold = 1;
    const { run_id, job_id } = await app.call('run-updates', {});
    await app.service.store.jobs.cancel(job_id, 'cancelled', app.clock.now());
    const told = await run(app, run_id);
    expect(told).toMatchObject({ state: 'ended', counts: { skipped: 3 } });
    expect(told).not.toHaveProperty('waiting_sites');
    for (const item of told.items) expect(item).toMatchObject({ type: 'site', code: 'svc_cancelled' });
  });

  it('that ran out of time says which sites it did not reach', async () => {
    const app = await appWithUpdates();
    app.service.config.batch_threshold = 1;
    app.service.config.job_chunk = 1;
    const { run_id } = await app.call('run-updates', { types: ['core'] });
    await runNextChunk(app.ctx(), 'test');
    app.clock.move(app.service.config.job_timeout_ms + 1);
    await reapJobs(app.ctx());
    const told = await run(app, run_id);
    expect(told).toMatchObject({ state: 'ended', counts: { kept: 1, skipped: 2 } });
    const codes = new Map(told.items.map(({ site_id, code }: Answer) => [site_id, code]));
    expect(codes.get(1)).toBeUndefined();
    expect([codes.get(2), codes.get(3)]).toEqual(['svc_job_timeout', 'svc_job_timeout']);
  });
});

describe('a retry', () => {
  it('applies what failed, and on which sites nothing was tried, as a run of its own', async () => {
    const { app, slugs } = await mixed();
    const { run_id } = await app.safely('run-updates', { site_ids_or_domains: [1, 2], types: ['plugins'] });
    const again = app.offer(app.site(0), 3);
    Object.assign(again, { version: '1.0' });
    await app.call('lift-quarantine', { type: 'plugin', slug: slugs.bad, version: '99.0' });
    await app.call('unsuspend-site', { site_id_or_domain: 2 });
    app.site(0).faults.failUpdates = [];
    await app.call('sync-sites');
    const other = app.site(1).state.plugins.find(({ update }) => update !== null)?.slug;
    const preview = await app.call('retry-run', { run_id, dry_run: true });
    expect(preview).toMatchObject({ dry_run: true, total: 2, errors: [] });
    const named = (items: Answer[]) => items.map(({ site_id, slug }) => `${site_id} ${slug}`).sort();
    const wanted = [`1 ${slugs.failing}`, `2 ${other}`].sort();
    expect(named(preview.would_update)).toEqual(wanted);
    const done = await app.safely('retry-run', { run_id });
    expect(named(done.updated)).toEqual(wanted);
    expect(done.errors).toEqual([]);
    expect(done.run_id).not.toBe(run_id);
    expect(await run(app, done.run_id)).toMatchObject({ operation: 'svc/retry-run-v1', counts: { kept: 2 }, total: 2 });
    expect((await run(app, run_id)).counts).toEqual({ kept: 1, rolled_back: 1, failed: 1, skipped: 1 });
    // Nothing is left of the retry; of what it retried, nothing is on offer any more.
    for (const id of [done.run_id, run_id])
      expect(await app.call('retry-run', { run_id: id, dry_run: true })).toMatchObject({ total: 0 });
    expect(again.version).toBe('1.0');
  });

  it('applies all that failed of a run that named more items than are kept', async () => {
    const app = await safetyApp({ sites: 1, fleet: { plugins: 30 } });
    const site = app.site(0);
    const slugs = Array.from({ length: 22 }, (_, index) => app.offer(site, index).slug);
    app.offer(site, 22);
    site.faults.failUpdates = true;
    await app.call('sync-sites');
    const { run_id } = await app.safely('run-updates', { types: ['plugins'], specific_items: slugs });
    const { would_update } = await app.call('retry-run', { run_id, dry_run: true });
    expect(would_update.map(({ slug }: Answer) => slug).sort()).toEqual(slugs.sort());
  });

  it('of a call that named more items than are kept is of those that failed', async () => {
    const { app, slugs } = await mixed();
    const specific_items = [...Array.from({ length: 30 }, (_, i) => `0-${i}/0.php`), slugs.failing];
    const { run_id } = await app.safely('run-updates', { site_ids_or_domains: [1, 2], specific_items });
    expect(await run(app, run_id)).toMatchObject({ counts: { failed: 1, skipped: 1 } });
    app.site(0).faults.failUpdates = [];
    await app.call('unsuspend-site', { site_id_or_domain: 2 });
    // What was meant on the site that was suspended is not known any more.
    expect(await app.call('retry-run', { run_id, dry_run: true })).toMatchObject({
      total: 1,
      would_update: [{ site_id: 1, slug: slugs.failing }],
    });
    expect((await app.safely('retry-run', { run_id })).updated).toMatchObject([{ slug: slugs.failing }]);
  });

  it('waits until the run has ended', async () => {
    const app = await appWithUpdates();
    const run_id = await begun(app, 'nobody');
    expect(await app.fail('retry-run', { run_id })).toMatchObject({ code: 'svc_rest_conflict', field: 'run_id' });
    expect(await app.fail('retry-run', { run_id: 'run_0' })).toMatchObject({ code: 'svc_run_not_found' });
  });
});

/** As a process leaves it that was killed after it had begun a call. */
async function begun(app: CheckedApp, owner: string): Promise<string> {
  await app.service.store.updateRuns.begin({
    id: 'dead',
    started_at: app.clock.now(),
    owner,
    actor: 'Ada',
    origin: JSON.stringify({ ...ADMIN, operation: 'svc/run-updates-v1', request_id: 'x' }),
    asked: '{"types":[],"specific_items":[]}',
    sites: 1,
  });
  return 'dead';
}

describe('a call that fails', () => {
  it('names its run', async () => {
    const app = await appWithUpdates();
    app.site(0).faults.failUpdates = true;
    for (const name of ['update-site-core', 'update-site-translations']) {
      const { data } = await app.fail(name, { site_id_or_domain: 1 });
      expect(await run(app, String(data.run_id))).toMatchObject({ counts: { failed: 1 }, operation: `svc/${name}-v1` });
    }
  });
});

describe('work that was interrupted', () => {
  it('of a process that is gone ends without waiting', async () => {
    const app = await appWithUpdates();
    const gone = spawn(process.execPath, ['-e', '']);
    await once(gone, 'exit');
    const run_id = await begun(app, processId({ ...processLocation(), pid: Number(gone.pid) }));
    expect(await run(app, run_id)).toMatchObject({ state: 'running' });
    await finishInterruptedRuns(app.ctx());
    expect(await run(app, run_id)).toMatchObject({ state: 'ended', counts: {} });
  });

  it('is told as skipped or unknown, and corrected by the sync that shows it', async () => {
    const app = await appWithUpdates();
    const [a = '', b = ''] = offeredPlugins(app.site(0));
    const run_id = await begun(app, 'nobody');
    const item = {
      name: 'It',
      old_version: '1.0',
      new_version: '2.0',
      protection: 'none',
      code: '',
      message: '',
    } as const;
    const planned = [
      { ...item, type: 1, slug: a, state: 'updating', change_id: 'change_a' },
      { ...item, type: 1, slug: b, state: 'updating', change_id: 'change_b' },
      { ...item, type: 2, slug: 'theme', state: 'queued', change_id: 'change_c' },
      { ...item, type: 0, slug: 'platform', state: 'updating', change_id: 'change_d' },
    ] as const;
    await app.service.store.updateRuns.plan(run_id, 1, planned, app.clock.now());
    await app.service.store.updates.applied(1, 0, [{ slug: 'platform', version: '2.0' }], { id: run_id });
    await finishInterruptedRuns(app.ctx());
    expect(await run(app, run_id)).toMatchObject({
      state: 'running',
      counts: { updating: 2, queued: 1, checking: 1 },
    });
    app.clock.move(app.service.config.direct_call_ms + 61_000);
    await finishInterruptedRuns(app.ctx());
    expect(await run(app, run_id)).toMatchObject({ state: 'ended', counts: { unknown: 2, skipped: 1, kept: 1 } });
    const plugin = app.site(0).state.plugins.find(({ slug }) => slug === a);
    Object.assign(plugin as object, { version: '2.0', update: null });
    app.clock.move(11 * 60_000);
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const items = bySlug((await run(app, run_id)).items);
    expect(items.get(a)).toMatchObject({ state: 'kept' });
    expect(items.get(b)).toMatchObject({ state: 'failed', code: 'svc_update_failed' });
    expect(items.get('theme')).toMatchObject({ state: 'skipped' });
  });
});
