/** Undo by the ways in, of many sites at once, as a job, and across a restart. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/domain/action-log/verify.js';
import { restApp } from '../rest/client.js';
import { ordinary, safetyApp } from '../safety/safety-app.js';
import { runNextChunk } from '../support/chunks.js';
import { tempFolder } from '../support/cleanup.js';
import { type Answer, testApp } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { connect, mcpApp, textOf } from '../support/mcp-clients.js';

describe('over REST', () => {
  it('settings and tags are previewed, confirmed and restored; a key that reads is refused', async () => {
    const app = await restApp({ sites: 1, jobs: false });
    const settings = async () => (await app.rest('GET /settings/general')).body.data;
    const before = await settings();
    const edit = { frequency_daily_update: 3, timezone_string: 'Europe/Berlin' };
    expect((await app.rest('PUT /settings/general/edit', { body: edit })).status).toBe(200);
    const changed = await settings();
    expect(changed).not.toEqual(before);
    const [{ id, can_undo }] = (await app.rest('GET /actions?contexts=settings')).body.data;
    expect(can_undo).toBe(true);
    const ask = (body: object, token = app.tokens.read_write) => app.rest('POST /actions/undo', { body, token });
    expect((await ask({ change_id: id, confirm: true }, app.tokens.read)).status).toBe(403);
    expect((await ask({ change_id: id })).body.code).toBe('svc_confirmation_required');
    expect((await ask({ change_id: id, confirm: true, dry_run: true })).status).toBe(400);
    expect((await ask({ change_id: id, all: true, confirm: true })).status).toBe(400);
    const plan = await ask({ change_id: id, dry_run: true });
    expect(plan.body.data).toMatchObject({ total_undo: 2, total_errors: 0 });
    const next = await ask({ change_id: id, dry_run: true, page: 2 });
    expect(next.body.data).toMatchObject({ total_undo: 2, undo: [], digest: plan.body.data.digest });
    expect((await ask({ change_id: id, confirm: true, page: 2 })).body.code).toBe('svc_invalid_input');
    expect(await settings()).toEqual(changed);
    const done = await ask({ change_id: id, digest: plan.body.data.digest, confirm: true });
    expect(done.body).toMatchObject({ success: 1, data: { total_undone: 2, total_errors: 0 } });
    expect(await settings()).toEqual(before);
    const changes = await app.rest('GET /fleet/changes?kinds=setting,settings');
    expect(changes.body.data.map(({ action_id }: Answer) => action_id)).toContain(id);
    const log = (await app.rest('GET /actions?contexts=settings')).body.data;
    expect(log).toMatchObject([{ operation: 'POST /actions/undo', undoes: [id] }, { id }]);
    expect((await app.rest('GET /actions/verify')).body.data).toMatchObject({ valid: true });
  });
});

describe('a name that a caller gives to its requests', () => {
  it('makes no change one of another call: who did each is said, and each is undone', async () => {
    const app = await restApp({ sites: 3, jobs: false });
    for (const i of [0, 1, 2]) await app.connect(i);
    const { id: client_id } = await app.call('add-client', { name: 'First' });

    expect((await app.rest('PUT /sites/1/edit', { body: { client_id } })).status).toBe(200);
    const { keys: stored } = app.service.store;
    const other = (await newKey(stored, { scope: 'read_write', description: 'other', now: app.clock.now() })).token;
    app.clock.move(1_000);
    const since = new Date(app.clock.now()).toISOString();
    const headers = { 'x-request-id': 'trace-7' };
    expect((await app.rest(`POST /clients/${client_id}/suspend`, { headers })).status).toBe(200);
    await app.rest('POST /sites/2/suspend', { headers });
    await app.rest('POST /sites/3/suspend', { headers, token: other });
    const keys = await app.db.all<{ actor: string; actor_id: number; operation: string }>(
      "SELECT actor, actor_id, operation FROM action_log WHERE request_id = 'trace-7' ORDER BY id DESC",
    );
    expect(new Set(keys.map(({ actor_id }) => actor_id)).size).toBe(2);
    const { actions } = await app.call('list-actions', { since });
    let caller = {};
    const told = (actions as { actor?: string; operation?: string }[]).map(({ actor, operation }) => {
      if (actor !== undefined) caller = { actor, operation };
      return caller;
    });
    expect(told).toEqual(keys.map(({ actor, operation }) => ({ actor, operation })));
    const suspended = () => app.db.all('SELECT id FROM site WHERE suspended = 1');
    expect(await suspended()).toHaveLength(3);
    const undone = await app.rest('POST /actions/undo', { body: { since, confirm: true } });
    expect(undone.body).toMatchObject({ success: 1, data: { total_errors: 0 } });
    expect(await suspended()).toEqual([]);
  });
});

describe('a post', () => {
  it('that was deleted for good is gone, which is said before anything is done; from the trash it comes back', async () => {
    const app = await restApp({ sites: 1, jobs: false });
    await app.connect(0);
    const { posts } = app.fleet.site(0).state;
    const [trashed, deleted] = posts.filter(({ status, type }) => status === 'publish' && type === 'post');
    app.clock.move(1_000);
    const since = new Date(app.clock.now()).toISOString();
    await app.rest(`DELETE /posts/1/${trashed?.id}/delete`);
    const gone = await app.rest(`DELETE /posts/1/${deleted?.id}/delete`, { body: { force: true } });
    expect(gone.status).toBe(200);
    expect(app.fleet.site(0).state.posts.some(({ id }) => id === deleted?.id)).toBe(false);
    const asked = { since, site: 1 };
    const told = { site_id: 1, kind: 'post', slug: String(deleted?.id), code: 'svc_not_undoable' };
    const message = 'What was deleted is gone.';
    const plan = (await app.rest('POST /actions/undo', { body: { ...asked, dry_run: true } })).body.data;
    expect(plan).toMatchObject({
      undo: [{ kind: 'post', slug: String(trashed?.id), now: 'trash', back_to: 'publish' }],
      errors: [{ ...told, message }],
    });
    const done = (await app.rest('POST /actions/undo', { body: { ...asked, digest: plan.digest, confirm: true } }))
      .body;
    expect(done.data).toMatchObject({ total_undone: 1, errors: [{ ...told, message }] });
    expect(app.fleet.site(0).state.posts.find(({ id }) => id === trashed?.id)?.status).toBe('publish');
  });
});

describe('over MCP', () => {
  it('is a tool of its own toolset, which restores what another call did', async () => {
    const mcp = await mcpApp({ sites: 2, connected: 2, config: { toolsets: ['sites', 'support', 'undo'] } });
    const client = await connect(['2025-11-25', 'http'], mcp.target);
    await client.call('svc-suspend-sites-v1', { site_ids_or_domains: [1, 2] });
    const listed = await client.call('svc-list-actions-v1', { contexts: ['call'] });
    const [{ id }] = (listed.structuredContent as Answer).actions;
    expect(textOf(await client.call('svc-undo-change-v1', { change_id: id }))).toMatch(/^svc_confirmation_required/);
    const plan = (await client.call('svc-undo-change-v1', { change_id: id, dry_run: true }))
      .structuredContent as Answer;
    expect(plan).toMatchObject({ total_undo: 2, sites: 2, errors: [] });
    const input = { change_id: id, digest: plan.digest, confirm: true };
    const done = (await client.call('svc-undo-change-v1', input)).structuredContent;
    expect(done).toMatchObject({ total_undone: 2, errors: [] });
    expect(await mcp.app.db.all('SELECT id FROM site WHERE suspended = 1')).toEqual([]);
  });
});

describe('a run of updates', () => {
  it('on 20 sites is undone on all, but where a person changed the plugin since', async () => {
    const app = await safetyApp({ sites: 20, fleet: { plugins: 2 } });
    const versions = () => app.fleet.sites.map((site) => ordinary(site).map(({ slug, version }) => [slug, version]));
    const updated = app.fleet.sites.map((site) => app.offer(site, 0, '99.0'));
    await app.safely('sync-sites', {});
    const before = versions();
    const { run_id } = await app.safely('run-updates', {});
    expect(updated.map(({ version }) => version)).toEqual(updated.map(() => '99.0'));
    const theirs = updated[6];
    if (theirs !== undefined) theirs.version = '99.1';
    await app.safely('sync-sites', { site_ids_or_domains: [7] });
    const left = [{ site_id: 7, slug: theirs?.slug, code: 'svc_changed_since' }];
    const plan = await app.safely('undo-change', { run_id, dry_run: true });
    expect(plan).toMatchObject({ total_undo: 19, sites: 19, errors: left, total_errors: 1 });
    const done = await app.safely('undo-change', { run_id, digest: plan.digest, confirm: true });
    expect(done).toMatchObject({ total_undone: 19, errors: left, total_errors: 1 });
    const expected = before.map((items, at) =>
      at === 6 ? items.map(([slug, version]) => [slug, slug === theirs?.slug ? '99.1' : version]) : items,
    );
    expect(versions()).toEqual(expected);
    expect(await app.safely('undo-change', { run_id, confirm: true })).toMatchObject({
      total_undone: 0,
      total_errors: 20,
    });
    expect(versions()).toEqual(expected);
  }, 60_000);
});

describe('across a restart', () => {
  it('a job of an undo goes on where the last process ended, and each site is told once', async () => {
    const db = `file:${join(tempFolder('undo'), 'fleet.db')}`;
    const config = {
      db,
      batch_threshold: 2,
      job_chunk: 1,
      job_delay_ms: 0,
      secret_key: Buffer.alloc(32, 7).toString('base64'),
    };
    const app = await testApp({ sites: 4, jobs: false, config });
    for (let at = 0; at < 4; at++) await app.connect(at);
    await app.call('tag-sites', { site_ids_or_domains: [1, 2, 3, 4], add: ['Wrong'], create: true });
    const { actions } = await app.call('list-actions', { contexts: 'call', per_page: 1 });
    const queued = await app.call('undo-change', { change_id: actions[0].id, confirm: true });
    expect(queued).toMatchObject({ queued: true, sites_queued: 4 });
    await runNextChunk({ ...app.ctx(), clock: { ...app.clock, elapsed: () => Number.MAX_SAFE_INTEGER } }, 'one');
    const half = (await app.db.all('SELECT site_id FROM site_tag')).length;
    await app.close();
    const again = await testApp({ sites: 1, jobs: false, config });
    expect(half).toBeLessThan(4);
    again.clock.move(600_000);
    await again.drain();
    expect(await again.db.all('SELECT site_id FROM site_tag')).toEqual([]);
    const status = await again.call('get-batch-job-status', { job_id: queued.job_id });
    expect(status).toMatchObject({ status: 'completed', total: 4, succeeded: 4, failed: 0 });
    const undone = await again.db.all("SELECT site_id FROM action_log WHERE undoes <> '' ORDER BY site_id");
    expect(undone.map(({ site_id }) => site_id)).toEqual([1, 2, 3, 4]);
    expect(await verifyLog(again.ctx())).toMatchObject({ valid: true });
    // The tag itself is used no more, so the rest of the call can be undone now.
    const rest = await again.call('undo-change', { change_id: actions[0].id, dry_run: true });
    expect(rest.undo).toMatchObject([{ kind: 'tag', field: 'record', back_to: 'none' }]);
  });
});
