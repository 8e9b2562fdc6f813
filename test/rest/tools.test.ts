import { beforeEach, describe, expect, it } from 'vitest';
import { runToolJobs } from '../../src/domain/connection/tool-jobs.js';
import { type RestApp, restApp } from './client.js';

const TOOLS = [
  ['destroy-sessions', 'destroy_id', 'destroy_session_job_not_found'],
  ['renew-connections', 'renew_id', 'renew_connection_job_not_found'],
  ['disconnect-all-sites', 'disconnect_id', 'disconnect_job_not_found'],
] as const;

let app: RestApp;
let ids: number[];

beforeEach(async () => {
  app = await restApp({ sites: 7 });
  ids = [];
  for (let index = 0; index < 7; index++) ids.push(await app.connect(index));
});

async function start(tool: string, idName: string): Promise<string> {
  const { status, body } = await app.rest(`POST /settings/tools/${tool}`);
  expect([status, body.success]).toEqual([200, 1]);
  expect(new URL(body.status_url).pathname).toBe(`/v2/settings/tools/${tool}-status/${body[idName]}`);
  return body[idName];
}

const status = async (tool: string, id: string) => (await app.rest(`GET /settings/tools/${tool}-status/${id}`)).body;

/** Moves the clock past the pause as soon as the first step is done. */
async function finished(tool: string, id: string) {
  await expect.poll(async () => (await status(tool, id)).processed).toBe(5);
  await expect
    .poll(async () => {
      app.clock.move(3000);
      return (await status(tool, id)).completed_at;
    })
    .not.toBeNull();
  return status(tool, id);
}

describe('tools jobs', () => {
  it('end the sessions of all administrators, five sites at a time, and report what failed', async () => {
    for (const { state } of app.fleet.sites) {
      const [first] = state.users;
      if (first === undefined) throw new Error('the site has no users');
      state.users.push({ ...first, id: 90, login: 'second', role: 'administrator' });
      state.users.push({ ...first, id: 91, login: 'writer', role: 'editor' });
      for (const user of state.users) user.sessions = 2;
    }
    const site = app.fleet.site(1);
    site.faults.offline = true;
    await app.service.store.sites.mark([ids[2] ?? 0], { suspended: true });
    const id = await start('destroy-sessions', 'destroy_id');
    await expect.poll(async () => (await status('destroy-sessions', id)).processed).toBe(5);
    expect(await status('destroy-sessions', id)).toMatchObject({
      success: 1,
      status: 'processing',
      total: 6,
      progress: 83.3,
      started_at: '2026-11-20T12:00:00Z',
      completed_at: null,
    });
    const again = await app.rest('POST /settings/tools/destroy-sessions');
    expect(again.body).toMatchObject({ destroy_id: id, already_running: true });
    expect(await finished('destroy-sessions', id)).toMatchObject({
      status: 'completed',
      processed: 6,
      failed: 1,
      progress: 100,
      errors: [{ site_id: ids[1], error: expect.stringContaining('127.0.0.1') }],
    });
    for (const index of [0, 3, 4, 5, 6])
      expect(
        app.fleet.site(index).state.users.filter((user) => (user.role === 'administrator') !== (user.sessions === 0)),
      ).toEqual([]);
    expect(app.fleet.site(2).calls.some((call) => call.function === 'settings_tools')).toBe(false);
  });

  it('renew every key over the old one, and bring lost sites back', async () => {
    for (const site of app.fleet.sites) site.calls.length = 0;
    await app.service.store.sites.mark([ids[0] ?? 0], { disconnected: true });
    const id = await start('renew-connections', 'renew_id');
    expect(await finished('renew-connections', id)).toMatchObject({ status: 'completed', total: 7, failed: 0 });
    // Registered directly over the old key, without disconnecting first.
    for (const site of app.fleet.sites) {
      const functions = site.calls.map((call) => call.function);
      expect(functions.filter((name) => name === 'register')).toHaveLength(1);
      expect(functions).not.toContain('disconnect');
    }
    expect((await app.call('count-sites', { status: 'connected' })).total).toBe(7);
    const { total_errors, total_synced } = await app.call('sync-sites', { site_ids_or_domains: ids });
    expect([total_synced, total_errors]).toEqual([7, 0]);
  });

  it('disconnect every site, also one that cannot be reached', async () => {
    app.fleet.site(3).faults.http500 = true;
    const id = await start('disconnect-all-sites', 'disconnect_id');
    const done = await finished('disconnect-all-sites', id);
    expect(done).toMatchObject({ status: 'completed', total: 7, failed: 1 });
    expect(done.errors).toEqual([{ site_id: ids[3], error: expect.stringContaining('the site did not confirm it') }]);
    const sites = await app.call('count-sites', { status: 'disconnected' });
    expect(sites.total).toBe(7);
    expect(app.fleet.site(0).state.connection).toBeNull();
    expect(app.fleet.site(3).state.connection).not.toBeNull();
  });

  it.each([
    ['destroy-sessions', 'destroy'],
    ['renew-connections', 'renew'],
    ['disconnect-all-sites', 'disconnect'],
  ] as const)('do not go on a day later: %s', async (tool, kind) => {
    await app.service.store.toolJobs.add({ id: 'left', kind, sites: ids.slice(0, 5) }, app.clock.now());
    // An outage, or the database of a backup.
    app.clock.move(24 * 3_600_000);
    const before = app.fleet.stats().requests;
    await runToolJobs(app.ctx());
    expect(await status(tool, 'left')).toMatchObject({ status: 'failed', total: 5, processed: 0 });
    expect(app.fleet.stats().requests).toBe(before);
    expect((await app.call('count-sites', { status: 'connected' })).total).toBe(7);
  });

  it('go on where a stopped process left them', async () => {
    const now = app.clock.now();
    const { toolJobs } = app.service.store;
    await toolJobs.add({ id: 'destroy_left', kind: 'destroy', sites: ids }, now);
    await toolJobs.claim('a process that died', now, now + 120_000);
    await toolJobs.note('destroy_left', 'a process that died', [{ position: 0, message: '' }], now + 120_000);
    const ctx = app.ctx();
    expect(await runToolJobs(ctx)).toBe('nothing to do');
    app.clock.move(120_000);
    const run = runToolJobs(ctx);
    await expect.poll(async () => (await status('destroy-sessions', 'destroy_left')).processed).toBe(6);
    app.clock.move(3000);
    expect(await run).toBe('1 worked on');
    expect(await status('destroy-sessions', 'destroy_left')).toMatchObject({ status: 'completed', processed: 7 });
    expect(app.fleet.site(0).calls.some((call) => call.function === 'settings_tools')).toBe(false);
  });

  it('fail as a whole when no site did it, and are forgotten after a day', async () => {
    for (const site of app.fleet.sites) site.faults.refused = true;
    const id = await start('destroy-sessions', 'destroy_id');
    expect(await finished('destroy-sessions', id)).toMatchObject({ status: 'failed', failed: 7 });
    app.clock.move(24 * 3600_000 + 1000);
    const ctx = app.ctx();
    await runToolJobs(ctx);
    expect((await status('destroy-sessions', id)).code).toBe('destroy_session_job_not_found');
  });

  it('are unknown under the address of another tool', async () => {
    for (const [tool, , code] of TOOLS) {
      const answer = await app.rest(`GET /settings/tools/${tool}-status/other_1`);
      expect([answer.status, answer.body.code]).toEqual([404, code]);
    }
    expect((await app.rest('POST /settings/tools/destroy-sessions', { token: app.tokens.read })).status).toBe(403);
  });
});

it('say so when there is no site, or nothing to do', async () => {
  const empty = await restApp({ sites: 1 });
  for (const [tool] of TOOLS) {
    const { status: code, body } = await empty.rest(`POST /settings/tools/${tool}`);
    expect([tool, code, body.code]).toEqual([tool, 404, 'no_website_found']);
  }
  for (const tool of ['clear-activation-data', 'restore-info-messages']) {
    const { status: code, body } = await empty.rest(`POST /settings/tools/${tool}`);
    expect([code, body.success]).toEqual([200, 1]);
  }
});
