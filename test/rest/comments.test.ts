import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommentStatus } from '../../src/demo/state.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let ids: number[];

beforeAll(async () => {
  app = await restApp({ sites: 4 });
  ids = [await app.connect(0), await app.connect(1), await app.connect(2)];
});

/** Unix seconds. */
const NOON = Date.UTC(2026, 10, 20, 12) / 1000;

function putComment(
  site: number,
  id: number,
  status: CommentStatus,
  more: { content?: string; date?: number } = {},
): void {
  const { state } = app.fleet.site(site);
  state.comments = state.comments.filter((each) => each.id !== id);
  state.comments.push({
    id,
    status,
    statusBefore: status === 'spam' || status === 'trash' ? 'unapproved' : status,
    author: 'Ada <b>L.</b>\u202e',
    authorUrl: 'https://ada.example/',
    authorIp: '198.51.100.9',
    authorEmail: 'ada@mail.example',
    postId: state.posts[0]?.id ?? 1,
    content: more.content ?? `remark ${id}`,
    date: more.date ?? NOON - id,
  });
}

const statusOn = (site: number, id: number) =>
  app.fleet.site(site).state.comments.find((each) => each.id === id)?.status;

beforeEach(async () => {
  for (const index of [0, 1, 2]) {
    const site = app.fleet.site(index);
    for (const name of Object.keys(site.faults)) Reflect.deleteProperty(site.faults, name);
    site.state.comments = [];
    site.calls.length = 0;
  }
  for (const id of ids) {
    await app.service.store.sites.mark([id], { suspended: false, disconnected: false });
    await app.service.store.sites.markConnected(id);
  }
});

describe('GET /comments', () => {
  it('lists every state of every connected site by its URL, newest first, with clean texts', async () => {
    putComment(0, 1, 'approved');
    putComment(0, 2, 'unapproved', { content: 'line one\nline <i>two</i>\u0007\u202e' });
    putComment(0, 3, 'spam');
    putComment(0, 4, 'trash');
    const { status, body } = await app.rest('GET /comments');
    expect(status).toBe(200);
    const url = app.fleet.site(0).url;
    expect(Object.keys(body.data).sort()).toEqual([0, 1, 2].map((index) => app.fleet.site(index).url).sort());
    expect(body.data[url].map((each: { comment_id: number }) => each.comment_id)).toEqual([1, 2, 3, 4]);
    expect(body.data[url][1]).toEqual({
      comment_id: 2,
      comment_author: 'Ada L.',
      comment_author_email: 'ada@mail.example',
      comment_author_url: 'https://ada.example/',
      comment_author_ip: '198.51.100.9',
      comment_content: 'line one\nline <i>two</i>',
      comment_status: 'pending',
      comment_date: '2026-11-20T11:59:58Z',
      post_id: app.fleet.site(0).state.posts[0]?.id,
      post_title: app.fleet.site(0).state.posts[0]?.title,
      website_id: ids[0],
      website_url: url,
      website_name: expect.any(String),
    });
    expect(body).toMatchObject({ success: 1, message: '4 comments.', total: 4, errors: [] });
  });

  it('caps each site, not the whole, and asks for one state only', async () => {
    for (let id = 1; id <= 5; id++) putComment(0, id, 'approved');
    for (let id = 1; id <= 5; id++) putComment(1, id, id === 5 ? 'unapproved' : 'approved');
    const { body } = await app.rest(`GET /comments?websites=${ids[0]},${ids[1]}&maximum=3`);
    expect(body.total).toBe(6);
    const pending = await app.rest(`GET /comments?websites=${ids[0]},${ids[1]}&status=pending`);
    expect(pending.body.total).toBe(1);
    for (const bad of ['maximum=0', 'maximum=501', 'status=hidden', 'dtsstart=2026-02-30&dtsstop=2026-03-01']) {
      const answer = await app.rest(`GET /comments?${bad}`);
      expect([bad, answer.status, answer.body.code]).toEqual([bad, 400, 'rest_invalid_param']);
      expect(Object.keys(answer.body.data.params)).toEqual([bad.split('=')[0]]);
    }
  });

  it('means the union of websites, groups and clients, and names what it does not know', async () => {
    const tag = await app.call('add-tag', { name: 'Shops' });
    await app.call('update-site', { site_id_or_domain: ids[1], tags: [tag.id] });
    const choose = async (filter: string) => {
      const { body } = await app.rest(`GET /comments?${filter}`);
      return { sites: Object.keys(body.data), errors: body.errors };
    };
    const urls = [0, 1, 2].map((index) => app.fleet.site(index).url);
    expect((await choose('groups=shops')).sites).toEqual([urls[1]]);
    expect((await choose(`groups=${tag.id}&websites=${ids[0]}`)).sites.sort()).toEqual([urls[0], urls[1]].sort());
    const bare = encodeURIComponent((urls[2] ?? '').replace('http://', ''));
    expect((await choose(`websites=${bare}`)).sites).toEqual([urls[2]]);
    expect((await choose(`websites=${ids[0]},9999&groups=nobody&clients=77`)).errors).toEqual([
      { code: 'svc_site_not_found', message: expect.stringContaining('9999') },
      { code: 'svc_tag_not_found', message: expect.stringContaining('nobody') },
      { code: 'svc_client_not_found', message: expect.stringContaining('77') },
    ]);
    const none = await app.rest('GET /comments?groups=nobody');
    expect([none.status, none.body.code]).toEqual([404, 'website_not_found']);
  });

  it('goes on without the sites that fail, are suspended or disconnected, and tells which', async () => {
    putComment(0, 1, 'approved');
    app.fleet.site(1).faults.http500 = true;
    await app.service.store.sites.mark([ids[2] ?? 0], { suspended: true });
    const { status, body } = await app.rest('GET /comments');
    expect(status).toBe(200);
    expect(Object.keys(body.data)).toEqual([app.fleet.site(0).url]);
    const codes = Object.fromEntries(
      body.errors.map((each: { site_id: number; code: string }) => [each.site_id, each.code]),
    );
    expect(codes).toEqual({ [ids[1] ?? 0]: 'svc_child_error', [ids[2] ?? 0]: 'svc_site_suspended' });
    expect(app.fleet.site(2).calls).toEqual([]);
  });

  it('takes days of the dashboard, whatever the time zone of the site', async () => {
    app.fleet.site(0).state.gmtOffset = -5;
    await app.service.store.sites.markConnected(ids[0] ?? 0);
    app.fleet.site(0).state.timezone = '';
    await app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    await app.rest('PUT /settings/general/edit', { body: { timezone_string: 'Europe/Berlin' } });
    // Berlin is an hour ahead in November: its 19th runs from 23:00 UTC of the 18th to 23:00 UTC of the 19th.
    const at = (text: string) => Date.parse(text) / 1000;
    putComment(0, 1, 'approved', { date: at('2026-11-18T22:59:59Z') });
    putComment(0, 2, 'approved', { date: at('2026-11-18T23:00:00Z') });
    putComment(0, 3, 'approved', { date: at('2026-11-19T22:59:59Z') });
    putComment(0, 4, 'approved', { date: at('2026-11-19T23:00:00Z') });
    const { body } = await app.rest(`GET /comments/${ids[0]}?dtsstart=2026-11-19&dtsstop=2026-11-19`);
    await app.rest('PUT /settings/general/edit', { body: { timezone_string: null } });
    expect(body.data[app.fleet.site(0).url].map((each: { comment_id: number }) => each.comment_id)).toEqual([3, 2]);
    const half = await app.rest(`GET /comments/${ids[0]}?dtsstart=2026-11-19`);
    expect([half.status, half.body.code, half.body.data.field]).toEqual([400, 'incomplete_date_range', 'dtsstop']);
    const turned = await app.rest(`GET /comments/${ids[0]}?dtsstart=2026-11-19&dtsstop=2026-11-18`);
    expect([turned.status, turned.body.code]).toEqual([400, 'invalid_date_range']);
  });

  it('of one site fails as a whole, and needs its module and a key that reads', async () => {
    const gone = await app.rest('GET /comments/4711');
    expect([gone.status, gone.body.code]).toEqual([404, 'svc_rest_invalid_site_id']);
    await app.service.store.sites.mark([ids[0] ?? 0], { disconnected: true });
    const off = await app.rest(`GET /comments/${ids[0]}`);
    expect([off.status, off.body.code]).toEqual([409, 'svc_site_disconnected']);
    app.fleet.site(1).faults.offline = true;
    const dead = await app.rest(`GET /comments/${ids[1]}`);
    expect([dead.status, dead.body.code]).toEqual([503, 'svc_site_offline']);
    const deaf = await app.rest(`GET /comments/${ids[2]}`, { token: app.tokens.write });
    expect([deaf.status, deaf.body.code]).toEqual([403, 'svc_rest_insufficient_permission']);
  });
});

describe('PUT /comments/{site}/{id}/action', () => {
  const act = (id: number, action: string, method = 'PUT') =>
    app.rest(`${method} /comments/${ids[0]}/${id}/action`, { body: { action } });

  it('takes every step of the table and reads back what came of it', async () => {
    const steps: [CommentStatus, string, string | undefined, string][] = [
      ['unapproved', 'approve', 'approved', 'approved'],
      ['approved', 'unapprove', 'unapproved', 'pending'],
      ['approved', 'spam', 'spam', 'spam'],
      ['spam', 'unspam', 'unapproved', 'pending'],
      ['spam', 'trash', 'trash', 'trash'],
      ['trash', 'restore', 'unapproved', 'pending'],
      ['spam', 'delete', undefined, 'deleted'],
      ['trash', 'delete', undefined, 'deleted'],
    ];
    for (const [from, action, there, said] of steps) {
      putComment(0, 7, from);
      const { status, body } = await act(7, action, 'PATCH');
      expect([action, status]).toEqual([action, 200]);
      expect(body.data).toEqual({ comment_id: 7, action, comment_status: said });
      expect(statusOn(0, 7)).toBe(there);
    }
  });

  it('does nothing where the aim is reached, and refuses steps from the wrong state', async () => {
    putComment(0, 7, 'approved');
    const idle = await act(7, 'approve');
    expect(idle.body).toMatchObject({ success: 1, data: { comment_status: 'approved' } });
    expect(app.fleet.site(0).calls.map((call) => call.function)).not.toContain('comment_action');
    for (const [from, action] of [
      ['approved', 'delete'],
      ['trash', 'spam'],
      ['spam', 'approve'],
      ['trash', 'unapprove'],
    ] as const) {
      putComment(0, 7, from);
      const { status, body } = await act(7, action);
      expect([action, status, body.code]).toEqual([action, 409, 'svc_rest_conflict']);
      expect(statusOn(0, 7)).toBe(from);
    }
    const odd = await act(7, 'explode');
    expect([odd.status, odd.body.data.params]).toEqual([400, { action: expect.stringContaining('approve') }]);
  });

  it('never sends an unknown comment, which would kill the child', async () => {
    const { status, body } = await act(4711, 'approve');
    expect([status, body.code]).toEqual([404, 'svc_rest_comment_not_found']);
    expect(app.fleet.site(0).calls.map((call) => call.function)).toEqual(['get_all_comments']);
  });

  it('finds a comment behind thousands of newer ones', async () => {
    for (let id = 1; id <= 2100; id++) putComment(0, id, 'approved', { date: NOON - 10 * id });
    const { body } = await act(2100, 'trash');
    expect(body.data).toEqual({ comment_id: 2100, action: 'trash', comment_status: 'trash' });
  });

  it('does not believe a success that changed nothing', async () => {
    putComment(0, 7, 'unapproved');
    app.fleet.site(0).faults.falseSuccess = true;
    const { status, body } = await act(7, 'approve');
    expect([status, body.code]).toEqual([502, 'svc_child_error']);
    expect(body.data.comment_status).toBe('pending');
  });
});

describe('PUT /comments/{site}/bulk-action', () => {
  const bulk = (comment_ids: unknown, action = 'trash') =>
    app.rest(`PUT /comments/${ids[0]}/bulk-action`, { body: { action, comment_ids } });

  it('answers per comment and lets one failure not stop the others', async () => {
    putComment(0, 1, 'approved');
    putComment(0, 2, 'trash');
    putComment(0, 3, 'spam');
    const { status, body } = await bulk('1, 2,3,4711');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: 1,
      data: { processed: 3, comment_ids: [1, 2, 3] },
      errors: [{ id: 4711, code: 'svc_rest_comment_not_found' }],
    });
    expect([1, 2, 3].map((id) => statusOn(0, id))).toEqual(['trash', 'trash', 'trash']);
    const sent = app.fleet.site(0).calls.filter((call) => call.function === 'comment_bulk_action');
    expect(sent.map((call) => call.params.ids)).toEqual(['1,3']);
  });

  it('fails with the first failure when nothing worked', async () => {
    putComment(0, 1, 'approved');
    const { status, body } = await bulk([1, 4711], 'delete');
    expect([status, body.code]).toEqual([409, 'svc_rest_conflict']);
    expect(body.data.errors).toHaveLength(2);
    const empty = await bulk('');
    expect([empty.status, empty.body.code]).toEqual([400, 'rest_missing_callback_param']);
  });
});

it('is refused while the module is disabled', async () => {
  const off = await restApp({ sites: 1, config: { modules: [] } });
  const { status, body } = await off.rest('GET /comments');
  expect([status, body.code, body.data.module]).toEqual([501, 'svc_module_not_available', 'comments']);
});
