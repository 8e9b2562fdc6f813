/** Reports, content, costs and time for assistants: the same records as over REST, in fewer words. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type RestApp, restApp } from '../rest/client.js';

const HOUR = 3_600_000;

let app: RestApp;
let client: number;
beforeAll(async () => {
  app = await restApp({ sites: 3 });
  for (const place of [0, 1, 2]) await app.connect(place);
  client = Number((await app.call('add-client', { name: 'Ada', selected_sites: [1, 2, 3] })).id);
  await app.call('suspend-site', { site_id_or_domain: 3 });
  const at = Date.UTC(2026, 9, 10, 8);
  await app.db.run('UPDATE site SET created_at = ?', [Date.UTC(2026, 8, 1)]);
  const update = { context: 'plugin', action: 'updated', slug: 'shop/shop.php', name: 'Shop' };
  await app.service.store.actionLog.add([{ ...update, site_id: 1, old_version: '1.0', new_version: '1.1', at }]);
});

describe('reports', () => {
  it('of one site tell what happened in the last whole month, and link to the page of the same', async () => {
    const answer = await app.call('build-report', { site_id_or_domain: 1, segments: ['plugins', 'website'] });
    expect(answer).toMatchObject({
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      time_zone: 'UTC+0',
      total: 1,
      errors: [],
    });
    const [{ text, link, site_id }] = answer.reports;
    expect(site_id).toBe(1);
    expect(text).toContain('Plugins updated: 1');
    expect(text).toMatch(/^- 2026-10-10 08:00 · .*Shop.*1\.1/m);
    expect(text).toContain(app.fleet.site(0).state.phpVersion);
    const { pathname, search } = new URL(link);
    const page = await app.rest(`GET ${pathname.replace(/^\/v2/, '')}${search}`);
    expect([page.status, String(page.headers.get('content-type'))]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    expect(search).toContain('segments=plugins%2Cwebsite');
  });

  it('of a client have figures of each site; one that cannot be reported on stands in errors', async () => {
    const answer = await app.call('build-report', {
      client_id_or_email: client,
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      segments: ['plugins'],
    });
    expect(answer.reports.map(({ site_id }: { site_id: number }) => site_id).sort()).toEqual([1, 2]);
    expect(answer.errors).toMatchObject([{ site_id: 3, code: 'svc_site_suspended' }]);
    expect(answer.total).toBe(3);
    const first = answer.reports.find(({ site_id }: { site_id: number }) => site_id === 1);
    expect(first.text).toContain('Plugins updated: 1');
    expect(first.text).not.toContain('Shop');
    const { total } = await app.call('list-updates', { site_ids_or_domains: [1, 2], types: ['plugins'] });
    expect(answer.totals).toBe(
      `2 of 3 sites: Plugins updated: 1. As of the last syncs, not of this period: Plugins with an update now: ${total}.`,
    );
    const two = await app.call('build-report', { client_id_or_email: client, per_page: 2, page: 2 });
    expect(two.reports.length + two.errors.length).toBe(1);
  });

  it('say in words how long a site was up, and each figure once', async () => {
    const hour = Date.UTC(2026, 9, 12, 8) / HOUR;
    for (const at of [0, 1])
      await app.db.run(
        'INSERT INTO monitor_hour (site_id, hour, up_s, down_s, pending_s, pings, ping_sum) VALUES (2, ?, 2400, 1200, 0, 0, 0)',
        [hour + at],
      );
    for (const at of [8, 9])
      await app.db.run(
        "INSERT INTO incident (site_id, started_at, ended_at, http_code, msg, down_count) VALUES (2, ?, ?, 503, 'HTTP 503', 3)",
        [Date.UTC(2026, 9, 12, at), Date.UTC(2026, 9, 12, at, 20)],
      );
    const [{ text }] = (await app.call('build-report', { site_id_or_domain: 2, segments: ['uptime'] })).reports;
    expect(text.match(/Incidents: /g)).toHaveLength(1);
    expect(text).toContain('Incidents: 2');
    expect(text).toContain('Within the range: up 1 hour 20 minutes, down 40 minutes');
  });

  it.each([
    [{}, 'site_id_or_domain'],
    [{ site_id_or_domain: 1, client_id_or_email: 1 }, 'client_id_or_email'],
    [{ site_id_or_domain: 1, start_date: '2026-10-01' }, 'end_date'],
    [{ site_id_or_domain: 1, end_date: '2026-10-01' }, 'start_date'],
  ])('refuse %j', async (input, field) => {
    expect(await app.fail('build-report', input)).toMatchObject({ code: 'svc_invalid_input', field });
  });

  it('refuse a suspended site, days that are none and the wrong way round', async () => {
    expect((await app.fail('build-report', { site_id_or_domain: 3 })).code).toBe('svc_site_suspended');
    const days = { start_date: '2026-10-31', end_date: '2026-10-01' };
    expect((await app.fail('build-report', { site_id_or_domain: 1, ...days })).field).toBe('end_date');
    const none = { start_date: '2026-02-30', end_date: '2026-03-01' };
    expect((await app.fail('build-report', { site_id_or_domain: 1, ...none })).field).toBe('start_date');
  });

  it('can be made of the parts that are listed', async () => {
    const { segments } = await app.call('list-report-segments');
    expect(segments.filter((part: { default: boolean }) => part.default).length).toBeGreaterThan(5);
    expect(segments).toContainEqual({ name: 'uptime', about: expect.any(String), default: true });
  });
});

describe('content', () => {
  const site = { site_id_or_domain: 1 };

  it('a post is made as a draft, changed, published, found and thrown away', async () => {
    const made = await app.call('create-post', { ...site, post_title: 'New hours', post_content: '<p>Nine.</p>' });
    expect(made.status).toBe('draft');
    const { post_id } = made;
    const post = () => app.fleet.site(0).state.posts.find(({ id }) => id === post_id);
    expect(post()).toMatchObject({ title: 'New hours', status: 'draft', name: 'new-hours', type: 'post' });
    await app.call('edit-post', { ...site, post_id, post_excerpt: 'From nine.' });
    expect(post()).toMatchObject({ title: 'New hours', excerpt: 'From nine.', status: 'draft' });
    expect(await app.call('set-post-status', { ...site, post_id, step: 'publish' })).toMatchObject({
      post_status: 'publish',
      changed: true,
    });
    const { sites, total } = await app.call('list-posts', { site_ids_or_domains: [1], search: 'New hours' });
    expect(total).toBe(1);
    expect(sites).toMatchObject([{ site_id: 1, posts: [{ id: post_id, title: 'New hours', status: 'publish' }] }]);
    expect(await app.call('get-post', { ...site, post_id })).toMatchObject({
      id: post_id,
      post_content: '<p>Nine.</p>',
    });
    await app.call('set-post-status', { ...site, post_id, step: 'trash' });
    expect(post()?.status).toBe('trash');
    const refused = await app.fail('set-post-status', { ...site, post_id, step: 'publish' });
    expect(refused.code).toBe('svc_rest_conflict');
    expect((await app.fail('edit-post', { ...site, post_id: 999_999, post_title: 'x' })).code).toBe('post_not_exist');
    // Permanent deletion only over REST, where a user does it.
    expect((await app.fail('set-post-status', { ...site, post_id, step: 'delete' })).field).toBe('step');
  });

  it('comments of several sites stand by site, and each that is moderated has its own outcome', async () => {
    const [held] = app.fleet.site(0).state.comments;
    if (held === undefined) throw new Error('the site has no comment');
    held.status = 'unapproved';
    const { sites, errors } = await app.call('list-comments', {
      client_ids: [client],
      status: 'pending',
      per_site: 50,
    });
    const mine = sites.find(({ site_id }: { site_id: number }) => site_id === 1);
    expect(mine.comments.map(({ id }: { id: number }) => id)).toContain(held.id);
    expect(errors).toMatchObject([{ site_id: 3 }]);
    const answer = await app.call('moderate-comments', { ...site, comment_ids: [held.id, 999_999], action: 'approve' });
    expect(answer).toMatchObject({ done: [held.id], errors: [{ id: 999_999, code: 'svc_rest_comment_not_found' }] });
    expect(held.status).toBe('approved');
    expect(await app.fail('moderate-comments', { ...site, comment_ids: [], action: 'trash' })).toMatchObject({
      code: 'svc_invalid_input',
      field: 'comment_ids',
    });
  });

  it('takes a range of days whole or not at all', async () => {
    for (const name of ['list-posts', 'list-comments'])
      expect((await app.fail(name, { site_ids_or_domains: [1], start_date: '2026-01-01' })).code).toBe(
        'incomplete_date_range',
      );
  });
});

describe('costs', () => {
  it('are kept, changed and deleted as over REST', async () => {
    const cost = { name: 'Licence', price: '59.90', renewal_type: 'yearly', clients: [client] };
    const { id } = await app.call('add-cost', cost);
    expect((await app.rest(`GET /costs/${id}`)).body.data).toMatchObject(cost);
    await app.call('update-cost', { cost_id: id, price: 60 });
    const { costs } = await app.call('list-costs');
    expect(costs).toMatchObject([{ id, name: 'Licence', price: '60', renewal_type: 'yearly', clients: [client] }]);
    expect(await app.call('delete-cost', { cost_id: id, dry_run: true })).toMatchObject({
      deleted: false,
      name: 'Licence',
    });
    expect((await app.rest(`GET /costs/${id}`)).status).toBe(200);
    expect(await app.call('delete-cost', { cost_id: id, confirm: true })).toMatchObject({ deleted: true, id });
    expect((await app.rest(`GET /costs/${id}`)).status).toBe(404);
    for (const [name, more] of [
      ['update-cost', { price: 1 }],
      ['delete-cost', { confirm: true }],
    ] as const)
      expect((await app.fail(name, { cost_id: id, ...more })).code).toBe('svc_cost_not_found');
    expect(await app.fail('add-cost', { name: 'Licence', price: 1 })).toMatchObject({ field: 'renewal_type' });
  });
});

describe('time', () => {
  it('is booked, timed and summed as over REST', async () => {
    const { id } = await app.call('add-time-task', { title: 'Backups', site_ids: [1], start: true });
    expect((await app.rest(`GET /time-tracker/tasks/${id}`)).body.data).toMatchObject({
      status: 'running',
      client_id: client,
    });
    app.clock.move(HOUR);
    expect(await app.call('set-timer', { task_id: id, step: 'pause' })).toMatchObject({ duration_seconds: 3600 });
    await app.call('update-time-task', { task_id: id, hourly_price: '80' });
    const listed = await app.call('list-time-tasks', { client_id: client });
    expect(listed).toMatchObject({ total: 1, summary: { duration_seconds: 3600, total_price: 80 } });
    expect(listed.tasks[0]).not.toHaveProperty('description');
    const none = { client_id: client, start_date: '2026-11-01', end_date: '2026-11-02' };
    expect(await app.call('list-time-tasks', none)).toMatchObject({ total: 0, tasks: [] });
    const { clients } = await app.call('list-time-clients', { search: 'Ada' });
    expect(clients).toMatchObject([{ id: client, tasks_count: 1, unbilled_total: 80 }]);
    await app.rest('POST /time-tracker/buckets/add', { body: { title: 'Care', hours: 10, client_ids: [client] } });
    const { buckets } = await app.call('list-time-buckets', { client_id: client });
    expect(buckets).toMatchObject([{ title: 'Care', hours: 10, remaining_seconds: 36_000 }]);
    const wrong = await app.fail('set-timer', { task_id: id, step: 'pause' });
    expect(wrong.code).toBe('svc_time_tracker_invalid_transition');
    expect(await app.call('delete-time-task', { task_id: id, confirm: true })).toMatchObject({
      duration_seconds: 3600,
    });
    expect((await app.fail('update-time-task', { task_id: id, title: 'x' })).code).toBe(
      'svc_time_tracker_task_not_found',
    );
    expect((await app.fail('add-time-task', { title: ' \u0007 ' })).field).toBe('title');
  });
});
