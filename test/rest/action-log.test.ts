/** The action log: who did what through the service, through which interface, on which object, with what result. */

import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN } from '../support/harness.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let site: number;

beforeAll(async () => {
  app = await restApp({ sites: 2, config: { batch_threshold: 1 } });
  site = await app.connect(0);
  await app.connect(1);
});

const log = async (more = '') =>
  (await app.rest(`GET /sites/${site}/non-mainwp-changes?source=dashboard${more}`)).body.data;

describe('source=dashboard', () => {
  it('begins with the site itself, which came in by an operation', async () => {
    const entries = await log('&order=asc');
    expect(entries[0]).toMatchObject({
      type: 'site',
      action: 'added',
      via: 'run',
      operation: 'svc/add-site-v1',
      user: 'admin',
      source: 'dashboard',
      result: 'done',
      created: Math.floor(app.clock.now() / 1000),
    });
  });

  it('tells posts and comments by their titles, with the key that wrote them', async () => {
    const made = await app.rest(`POST /posts/${site}/create`, {
      body: { post_title: 'Opening hours', post_content: 'x', post_status: 'publish', post_name: 'hours' },
    });
    const { post_id } = made.body.data;
    await app.rest(`PUT /posts/${site}/${post_id}/edit`, { body: { post_title: 'New hours' } });
    await app.rest(`DELETE /posts/${site}/${post_id}/delete`);
    const { state } = app.fleet.site(0);
    const comment = { ...(state.comments[0] as (typeof state.comments)[0]), id: 77, author: 'Mr. Nice' };
    comment.status = 'unapproved';
    state.comments.push(comment);
    const about = state.posts.find((post) => post.id === comment.postId)?.title;
    await app.rest(`PUT /comments/${site}/77/action`, { body: { action: 'approve' } });
    const entries = (await log()).slice(0, 4);
    expect(entries.map((entry: { description: string }) => entry.description)).toEqual([
      `Approved comment: ${about} (comment 77 by Mr. Nice)`,
      'Trashed post: New hours',
      'Updated post: New hours (post_title)',
      'Created post: Opening hours (publish)',
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ via: 'rest', result: 'done', error_code: '' });
    expect(entries[3]).toMatchObject({ operation: 'POST /posts/{id_or_domain}/create', user_login: 'read_write' });
  });

  it('tells what failed on the site with its code, and nothing that was refused before', async () => {
    const [plugin] = (await app.call('get-site-plugins', { site_id_or_domain: site })).plugins.filter(
      (one: { active: boolean }) => one.active,
    );
    const before = (await log('&total_count=1')).total;
    await app.call('deactivate-site-plugins', { site_id_or_domain: site, slugs: ['no/such.php'] });
    expect((await log('&total_count=1')).total).toBe(before);
    app.fleet.site(0).faults.falseSuccess = true;
    await app.call('deactivate-site-plugins', { site_id_or_domain: site, slugs: [plugin.slug] });
    app.fleet.site(0).faults.falseSuccess = false;
    expect((await log())[0]).toMatchObject({
      description: expect.stringMatching(/^Failed: deactivated plugin: .+ \([a-z ]+\)$/),
      result: 'failed',
      error_code: expect.stringMatching(/^svc_/),
      operation: 'svc/deactivate-site-plugins-v1',
    });
  });

  it('filters by action and context, pages, and joins both sources in order of time', async () => {
    const posts = await log('&contexts=posts&actions=created');
    expect(posts).toHaveLength(1);
    expect(posts[0]).toMatchObject({ item: 'Opening hours' });
    const total = async (source: string) =>
      (await app.rest(`GET /sites/${site}/non-mainwp-changes?source=${source}&total_count=1`)).body.total;
    const all = await app.rest(`GET /sites/${site}/non-mainwp-changes?source=all&per_page=200`);
    expect(all.body.total).toBe((await total('wpadmin')) + (await total('dashboard')));
    const times = all.body.data.map((entry: { created: number }) => entry.created);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const second = await app.rest(`GET /sites/${site}/non-mainwp-changes?source=all&per_page=3&page=2`);
    expect(second.body.data).toEqual(all.body.data.slice(3, 6));
  });

  it('attributes what a job did to the caller who queued it', async () => {
    const actor = { ...ADMIN, name: 'grace', via: 'mcp' as const };
    const queued = await app.call('disconnect-sites', { site_ids_or_domains: [1, 2] }, { actor });
    expect(queued.queued).toBe(true);
    const newest = async () =>
      (await app.call('get-site-changes', { site_id_or_domain: site, source: 'dashboard' })).changes[0];
    await expect.poll(newest).toMatchObject({
      type: 'site',
      description: expect.stringMatching(/^Disconnected site/),
      user: 'grace',
    });
    expect((await log())[0]).toMatchObject({ via: 'mcp', operation: 'svc/disconnect-sites-v1' });
    await app.call('reconnect-site', { site_id_or_domain: site });
    await app.rest('POST /settings/tools/renew-connections');
    const renewed = async () => (await log())[0];
    await expect.poll(renewed).toMatchObject({ action: 'connection-renewed', via: 'rest', user: 'read_write' });
  });
});

describe('reports', () => {
  it('name the posts that were written through the service, once', async () => {
    const day = new Date(app.clock.now()).toISOString().slice(0, 10);
    const report = async (segment: string) =>
      (await app.rest(`GET /pro-reports/${site}/${segment}?start_date=${day}&end_date=${day}&format=normal`)).body.data
        .rows;
    expect(await report('posts')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'created', title: 'Opening hours', author: 'Sitefleet' }),
      ]),
    );
    expect(await report('comments')).toEqual(
      expect.arrayContaining([expect.objectContaining({ action: 'approved', author: 'Sitefleet' })]),
    );
  });
});

it('keeps the end of a site, and its entries', async () => {
  const { url } = (await app.call('get-site', { site_id_or_domain: 2 })) as { url: string };
  await app.call('delete-site', { site_id_or_domain: 2, confirm: true });
  const rows = await app.db.all(
    "SELECT site_id, context, action, name, operation FROM action_log WHERE context <> 'call' ORDER BY id DESC LIMIT 1",
  );
  expect(rows).toEqual([
    { site_id: null, context: 'site', action: 'deleted', name: url, operation: 'svc/delete-site-v1' },
  ]);
  expect(await app.db.all("SELECT action FROM action_log WHERE site_id = 2 AND context = 'site'")).toContainEqual({
    action: 'added',
  });
});
