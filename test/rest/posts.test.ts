import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PostState } from '../../src/demo/state.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let ids: number[];

beforeAll(async () => {
  app = await restApp({ sites: 3 });
  ids = [await app.connect(0), await app.connect(1), await app.connect(2)];
});

/** Unix seconds. */
const NOON = Date.UTC(2026, 10, 20, 12) / 1000;

function putPost(site: number, id: number, more: Partial<PostState> = {}): PostState {
  const { state } = app.fleet.site(site);
  const post: PostState = {
    id,
    type: 'post',
    status: 'publish',
    statusBefore: 'publish',
    title: `Post ${id}`,
    content: `<p>Text ${id}</p>`,
    excerpt: '',
    name: `post-${id}`,
    author: state.users[0]?.login ?? '',
    categories: ['News'],
    tags: ['one', 'two'],
    date: NOON - id,
    modified: NOON - id,
    commentStatus: 'open',
    pingStatus: 'open',
    password: '',
    sticky: false,
    featuredImage: '',
    meta: {},
    lockedBy: '',
    ...more,
  };
  state.posts = [...state.posts.filter((each) => each.id !== id), post];
  return post;
}

const postOn = (site: number, id: number) => app.fleet.site(site).state.posts.find((each) => each.id === id);

beforeEach(async () => {
  for (const index of [0, 1, 2]) {
    const site = app.fleet.site(index);
    for (const name of Object.keys(site.faults)) Reflect.deleteProperty(site.faults, name);
    site.state.posts = [];
    site.calls.length = 0;
  }
  for (const id of ids) await app.service.store.sites.mark([id], { suspended: false, disconnected: false });
});

describe('GET /posts', () => {
  it('lists all states but the trash by site URL, with both names of the state', async () => {
    putPost(0, 1);
    putPost(0, 2, { status: 'draft', title: 'Evil\u202e <b>draft</b>\u0000' });
    putPost(0, 3, { status: 'trash' });
    putPost(0, 4, { type: 'page' });
    const { status, body } = await app.rest(`GET /posts?websites=${ids[0]}`);
    expect(status).toBe(200);
    const url = app.fleet.site(0).url;
    expect(body).toMatchObject({ success: 1, total: 2, errors: [] });
    expect(body.data[url][0]).toEqual({
      id: 1,
      title: 'Post 1',
      post_status: 'publish',
      status: 'publish',
      post_type: 'post',
      comment_count: 0,
      author: app.fleet.site(0).state.users[0]?.login,
      dts: NOON - 1,
      post_date: '2026-11-20T11:59:59Z',
      post_category: ['News'],
      post_tags: ['one', 'two'],
      website_id: ids[0],
      website_url: url,
      website_name: expect.any(String),
    });
    expect(body.data[url][1]).toMatchObject({ id: 2, title: 'Evil draft', post_status: 'draft' });
    const trash = await app.rest(`GET /posts?websites=${ids[0]}&status=trash,draft`);
    expect(trash.body.data[url].map((each: { id: number }) => each.id)).toEqual([2, 3]);
    const pages = await app.rest(`GET /posts?websites=${ids[0]}&post_type=page`);
    expect(pages.body.data[url].map((each: { id: number }) => each.id)).toEqual([4]);
  });

  it("shows WordPress' zero date as no date", async () => {
    putPost(0, 1, { status: 'draft', date: -62169984000, modified: -62169984000 });
    const { body } = await app.rest(`GET /posts?websites=${ids[0]}`);
    expect(body.data[app.fleet.site(0).url][0]).toMatchObject({ dts: null, post_date: null });
  });

  it('searches where it was asked to, and caps each site', async () => {
    putPost(0, 1, { title: 'Summer', content: 'winter' });
    putPost(0, 2, { title: 'Winter', content: 'summer' });
    const found = async (query: string) => {
      const { body } = await app.rest(`GET /posts?websites=${ids[0]}&${query}`);
      return body.data[app.fleet.site(0).url].map((each: { id: number }) => each.id);
    };
    expect(await found('search=summer&search_on=title')).toEqual([1]);
    expect(await found('search=summer&search_on=body')).toEqual([2]);
    expect(await found('search=summer&search_on=Title%20and%20Body')).toEqual([1, 2]);
    expect(await found('search=summer')).toEqual([1, 2]);
    expect(await found('maximum=1')).toEqual([1]);
    expect((await app.rest('GET /posts?maximum=201')).body.data.params).toEqual({ maximum: expect.any(String) });
    expect((await app.rest('GET /posts?status=any')).status).toBe(400);
  });

  it('names sites that fail, and answers the others', async () => {
    putPost(0, 1);
    app.fleet.site(1).faults.malformedJson = true;
    await app.service.store.sites.mark([ids[2] ?? 0], { disconnected: true });
    const { status, body } = await app.rest('GET /posts');
    expect([status, body.total]).toEqual([200, 1]);
    expect(body.errors).toEqual([
      { site_id: ids[1], code: 'svc_child_error', message: expect.any(String) },
      { site_id: ids[2], code: 'svc_site_disconnected', message: expect.any(String) },
    ]);
  });

  it('works through the sites in steps when the settings say so', async () => {
    await app.rest('PUT /settings/advanced/edit', { body: { svc_chunksitesnumber: 1, svc_chunksleepinterval: 1 } });
    const answer = app.rest('GET /posts');
    const asked = () =>
      [0, 1, 2].filter((index) => app.fleet.site(index).calls.some((call) => call.function === 'get_all_posts')).length;
    for (let step = 1; step <= 3; step++) {
      await expect.poll(asked).toBe(step);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(asked()).toBe(step);
      app.clock.move(1000);
    }
    expect((await answer).status).toBe(200);
    await app.rest('PUT /settings/advanced/edit', {
      body: { svc_chunksitesnumber: null, svc_chunksleepinterval: null },
    });
  });
});

describe('GET /posts/{site}/{id}', () => {
  it('shows the whole post, without base64, and locks no one out of the editor', async () => {
    const { modified } = putPost(0, 5, {
      content: 'Grüße \\ "q" \'s\' <img src="x.png">',
      meta: { color: ['blue'], _edit_lock: ['1000:9'] },
      featuredImage: 'https://img.example/a.png',
      sticky: true,
    });
    const { status, body } = await app.rest(`GET /posts/${ids[0]}/5`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: 5,
      link: `${app.fleet.site(0).url}?p=5`,
      author: app.fleet.site(0).state.users[0]?.login,
      modified: '2026-11-20T11:59:55Z',
      post_title: 'Post 5',
      post_content: 'Grüße \\ "q" \'s\' <img src="x.png">',
      post_status: 'publish',
      is_sticky: 1,
      post_category: ['News'],
      post_tags: ['one', 'two'],
      post_custom: { color: ['blue'] },
      post_featured_image: 'https://img.example/a.png',
    });
    expect(body.data.post_custom).not.toHaveProperty('_edit_lock');
    expect(postOn(0, 5)).toMatchObject({ meta: { _edit_lock: ['1000:9'] }, modified });
  });

  it('locks no one out either when it is read several times at once', async () => {
    putPost(0, 5, { meta: { _edit_lock: ['1000:9'] } });
    const read = () => app.rest(`GET /posts/${ids[0]}/5`, { token: app.tokens.read });
    // Time for another read to come in before the first is answered.
    app.fleet.site(0).faults.latencyMs = async () => {
      for (let turns = 0; turns < 100; turns++) await nextTurn();
    };
    const answers = await Promise.all([read(), read(), read()]);
    delete app.fleet.site(0).faults.latencyMs;
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(postOn(0, 5)).toMatchObject({ meta: { _edit_lock: ['1000:9'] } });
  });

  it('is 404 for a post that is not there', async () => {
    const { status, body } = await app.rest(`GET /posts/${ids[0]}/77`);
    expect([status, body.code]).toEqual([404, 'post_not_exist']);
    expect((await app.rest(`GET /posts/${ids[0]}/seven`)).body.code).toBe('rest_no_route');
    expect((await app.rest('GET /posts/nowhere.example/5')).body.code).toBe('svc_rest_invalid_site_data');
  });
});

describe('PUT /posts/{site}/{id}/edit', () => {
  const edit = (id: number, body: unknown, method = 'PUT') =>
    app.rest(`${method} /posts/${ids[0]}/${id}/edit`, { body });

  it('changes what was sent and nothing else', async () => {
    const before = { ...putPost(0, 6, { content: 'old', meta: { color: ['blue'] }, password: 'pw', sticky: true }) };
    const content = 'C:\\new "quoted" \'single\' ünï \\\\';
    const { status, body } = await edit(6, { post_content: content, post_custom: { size: 3 } }, 'PATCH');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, data: { post_id: 6, link: expect.stringContaining('?p=6') } });
    expect(postOn(0, 6)).toEqual({
      ...before,
      content,
      modified: expect.any(Number),
      lockedBy: expect.any(String),
      meta: { color: ['blue'], size: ['3'], _edit_lock: [''] },
    });
  });

  it('writes tags, categories, slugs and dates in the form the site takes', async () => {
    app.fleet.site(0).state.gmtOffset = 2;
    app.fleet.site(0).state.timezone = '';
    await app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    putPost(0, 6, { author: app.fleet.site(0).state.users[0]?.login ?? '' });
    const { status } = await edit(6, {
      post_tags: 'drei, vier',
      post_category: ['News', 'Größe & Maß'],
      post_name: 'Eine Übung!',
      post_date: '2026-11-01 10:00:00',
    });
    expect(status).toBe(200);
    expect(postOn(0, 6)).toMatchObject({
      tags: ['drei', 'vier'],
      categories: ['News', 'Größe & Maß'],
      name: 'eine-ubung',
      date: Date.UTC(2026, 10, 1, 8) / 1000,
      author: app.fleet.site(0).state.users[0]?.login,
    });
  });

  it.each([
    ['the sticky mark', { is_sticky: 1 }],
    ['a featured image', { post_featured_image: 'https://img.example/b.png' }],
  ])('keeps the categories when only %s is sent', async (_what, body) => {
    putPost(0, 6, { categories: ['News', 'New Cat'] });
    expect((await edit(6, body)).status).toBe(200);
    const { body: read } = await app.rest(`GET /posts/${ids[0]}/6`);
    expect(read.data).toMatchObject({ ...body, post_category: ['News', 'New Cat'] });
  });

  it('sends the child no categories that were not asked for', async () => {
    putPost(0, 6);
    await edit(6, { is_sticky: 1 });
    const saves = app.fleet.site(0).calls.filter((call) => call.function === 'newpost');
    expect(saves.map(({ params }) => params.post_category)).toEqual([undefined]);
  });

  it('files a post under the default category when the list of categories is empty', async () => {
    putPost(0, 6, { categories: ['News', 'New Cat'] });
    expect((await edit(6, { post_category: [] })).status).toBe(200);
    expect(postOn(0, 6)?.categories).toEqual(['Uncategorized']);
    expect((await edit(6, { post_category: '', is_sticky: 1 })).status).toBe(200);
    expect(postOn(0, 6)).toMatchObject({ categories: ['Uncategorized'], sticky: true });
  });

  it('schedules a draft at the time that was asked for', async () => {
    putPost(0, 6, { status: 'draft' });
    const { status } = await edit(6, { post_status: 'future', post_date_gmt: '2027-01-02 03:04:05' });
    expect([status, postOn(0, 6)?.status]).toEqual([200, 'future']);
    expect(postOn(0, 6)?.date).toBe(Date.UTC(2027, 0, 2, 3, 4, 5) / 1000);
    const [sent] = app.fleet.site(0).calls.filter((call) => call.params.action === 'update');
    // Without it WordPress would publish the draft at once.
    expect(sent?.params.post_data).toMatchObject({ edit_date: '1' });
    expect((await app.rest(`GET /posts/${ids[0]}/6`)).body.data.modified).toBeNull();
  });

  it('clears texts with null or ""', async () => {
    putPost(0, 6, { excerpt: 'short', password: 'pw' });
    expect((await edit(6, { post_excerpt: null, post_password: '', post_tags: null })).status).toBe(200);
    expect(postOn(0, 6)).toMatchObject({ excerpt: '', password: '', tags: [] });
    expect((await edit(6, { post_title: null, post_content: null })).status).toBe(200);
    expect(postOn(0, 6)).toMatchObject({ title: '', content: '', categories: ['News'] });
  });

  it('does not believe a success that changed nothing, and names the fields', async () => {
    putPost(0, 6);
    app.fleet.site(0).faults.falseSuccess = true;
    const { status, body } = await edit(6, { post_title: 'Changed', post_excerpt: 'x' });
    expect([status, body.code, body.data.fields]).toEqual([502, 'edit_post_failed', ['post_title', 'post_excerpt']]);
  });

  it('stays away while a person edits it, and from what the child cannot do', async () => {
    putPost(0, 6, { meta: { _edit_lock: [`${NOON - 60}:9`] } });
    const busy = await edit(6, { post_title: 'Changed' });
    expect([busy.status, busy.body.code]).toEqual([409, 'svc_rest_conflict']);
    expect(postOn(0, 6)).toMatchObject({ title: 'Post 6', meta: { _edit_lock: [`${NOON - 60}:9`] } });
    putPost(0, 6, { sticky: true });
    expect((await edit(6, { is_sticky: 0 })).body).toMatchObject({
      code: 'svc_rest_conflict',
      data: { field: 'is_sticky' },
    });
    putPost(0, 6, { status: 'draft' });
    const past = await edit(6, { post_status: 'future', post_date: '2020-01-01 00:00:00' });
    expect([past.status, Object.keys(past.body.data.params)]).toEqual([400, ['post_date']]);
  });

  it('refuses an empty body, wrong values and unknown posts', async () => {
    expect((await edit(6, {})).body.code).toBe('empty_body');
    const { body } = await edit(6, { post_status: 'gone', post_date: '2026-02-30 10:00:00', comment_status: 'maybe' });
    expect(Object.keys(body.data.params).sort()).toEqual(['comment_status', 'post_date', 'post_status']);
    expect((await edit(77, { post_title: 'x' })).body.code).toBe('post_not_exist');
  });
});

describe('POST /posts/{site}/create', () => {
  const create = (body: unknown) => app.rest(`POST /posts/${ids[0]}/create`, { body });
  const post = {
    post_title: 'New \\ "one"',
    post_content: '<p>é</p>',
    post_status: 'publish',
    post_name: 'My New Post',
  };

  it('takes names of tags and categories with half a surrogate', async () => {
    const { status, body } = await create({ ...post, post_tags: ['a\ud800b'], post_category: '\ud800' });
    expect(status).toBe(200);
    expect(postOn(0, body.data.post_id)).toMatchObject({ tags: ['a\ufffdb'], categories: ['\ufffd'] });
  });

  it('creates a post and answers its id and address', async () => {
    const { status, body } = await create({
      ...post,
      post_tags: 'a,b',
      post_category: 'Größe, Neu',
      post_custom: { color: 'red' },
      comment_status: 'closed',
    });
    expect(status).toBe(200);
    const made = postOn(0, body.data.post_id);
    expect(made).toMatchObject({
      title: 'New \\ "one"',
      content: '<p>é</p>',
      status: 'publish',
      name: 'my-new-post',
      categories: ['Größe', 'Neu'],
      commentStatus: 'closed',
      pingStatus: 'closed',
      meta: { color: ['red'] },
    });
    expect(made?.tags).toEqual(['a', 'b']);
    expect(body).toMatchObject({ success: 1, message: 'The post was created.' });
    expect(body.data.link).toBe(`${app.fleet.site(0).url}my-new-post/`);
  });

  it('sends it once where a firewall replaces the answer by its page, and says that it may have been created', async () => {
    const { faults, state } = app.fleet.site(0);
    faults.firewallFilters = ['newpost'];
    const { status, body } = await create({ ...post, post_title: 'Only once', post_name: 'only-once' });
    faults.firewallFilters = undefined;
    expect([status, body.code]).toEqual([502, 'create_post_error']);
    expect(body.message).toMatch(/may/);
    expect(state.posts.filter(({ title }) => title === 'Only once')).toHaveLength(1);
  });

  it('overwrites no other post, and pushes nobody out of the editor, through a custom field', async () => {
    const before = { ...putPost(0, 6, { content: 'theirs' }) };
    for (const name of ['_mainwp_edit_post_id', '_mainwp_edit_post_site_id', '_edit_lock', '_sticky']) {
      const { status, body } = await create({ ...post, post_custom: { [name]: 6 } });
      expect([name, status, body.code]).toEqual([name, 400, 'rest_invalid_param']);
    }
    const edited = await app.rest(`PUT /posts/${ids[0]}/6/edit`, { body: { post_custom: { _edit_lock: '1:1' } } });
    expect([edited.status, edited.body.code]).toEqual([400, 'rest_invalid_param']);
    expect(postOn(0, 6)).toEqual(before);
  });

  it('makes the last part of the address from the title where none is given', async () => {
    for (const post_name of [{}, { post_name: '' }]) {
      const { status, body } = await create({
        post_title: 'Neue Öffnungszeiten',
        post_content: 'x',
        post_status: 'publish',
        ...post_name,
      });
      expect([status, body.success]).toEqual([200, 1]);
      expect(postOn(0, body.data.post_id)?.name).toMatch(/^neue-.ffnungszeiten|^neue-oeffnungszeiten/);
    }
  });

  it('takes every spelling of yes and no for the sticky mark', async () => {
    for (const [is_sticky, sticky] of [
      [1, true],
      ['1', true],
      [true, true],
      ['true', true],
      ['yes', true],
      ['no', false],
      [0, false],
      ['false', false],
    ] as const) {
      const { body } = await create({ ...post, is_sticky });
      expect([is_sticky, postOn(0, body.data?.post_id)?.sticky]).toEqual([is_sticky, sticky]);
    }
    expect(Object.keys((await create({ ...post, is_sticky: 2 })).body.data.params)).toEqual(['is_sticky']);
  });

  it('names what is missing or wrong', async () => {
    const missing = await create({ post_title: 'x' });
    expect([missing.status, missing.body.code]).toEqual([400, 'rest_missing_callback_param']);
    expect(missing.body.data.params).toEqual(['post_content', 'post_status']);
    const past = await create({ ...post, post_status: 'future', post_date_gmt: '2026-11-20 11:00:00' });
    expect(Object.keys(past.body.data.params)).toEqual(['post_date']);
    const image = await create({ ...post, post_featured_image: 'file:///etc/passwd' });
    expect(Object.keys(image.body.data.params)).toEqual(['post_featured_image']);
  });

  it('fails when the post it made is not there', async () => {
    app.fleet.site(0).faults.falseSuccess = true;
    const { status, body } = await create(post);
    expect([status, body.code]).toEqual([502, 'create_post_error']);
  });
});

describe('states and the end of a post', () => {
  const update = (id: number, status: string) =>
    app.rest(`PUT /posts/${ids[0]}/${id}/update-status`, { body: { status } });

  it('takes every step', async () => {
    const steps: [Partial<PostState>, string, string | undefined][] = [
      [{ status: 'publish' }, 'unpublish', 'draft'],
      [{ status: 'draft' }, 'publish', 'publish'],
      [{ status: 'pending' }, 'approve', 'publish'],
      [{ status: 'publish' }, 'trash', 'trash'],
      [{ status: 'trash', meta: { _wp_trash_meta_status: ['pending'] } }, 'restore', 'pending'],
      [{ status: 'trash' }, 'restore', 'draft'],
      [{ status: 'publish' }, 'delete', undefined],
    ];
    for (const [from, step, to] of steps) {
      putPost(0, 8, from);
      const { status, body } = await update(8, step);
      expect([step, status, body.data?.post_status]).toEqual([step, 200, to ?? 'deleted']);
      expect(postOn(0, 8)?.status).toBe(to);
    }
  });

  it('has codes for the wrong state, the unknown post and the false success', async () => {
    putPost(0, 8, { status: 'trash' });
    expect((await update(8, 'publish')).body.code).toBe('svc_rest_conflict');
    putPost(0, 8);
    expect((await update(8, 'restore')).body.code).toBe('svc_rest_conflict');
    expect((await update(8, 'publish')).body.data).toEqual({ post_id: 8, post_status: 'publish' });
    expect((await update(77, 'publish')).body.code).toBe('post_not_exist');
    app.fleet.site(0).faults.falseSuccess = true;
    const { status, body } = await update(8, 'trash');
    expect([status, body.code, body.data.post_status]).toEqual([502, 'update_post_status_error', 'publish']);
  });

  it('deletes into the trash first, and for good with force', async () => {
    putPost(0, 8);
    const remove = (query = '') => app.rest(`DELETE /posts/${ids[0]}/8/delete${query}`);
    expect((await remove()).body).toMatchObject({ success: 1, data: { post_status: 'trash' } });
    expect((await remove()).body).toMatchObject({ success: 1, message: 'The post was in the trash already.' });
    expect(postOn(0, 8)?.status).toBe('trash');
    expect((await remove('?force=true')).body).toMatchObject({ success: 1, data: { post_status: 'deleted' } });
    expect(postOn(0, 8)).toBeUndefined();
    expect((await remove('?force=true')).body.code).toBe('post_not_exist');
    const reader = await app.rest(`DELETE /posts/${ids[0]}/8/delete`, { token: app.tokens.read });
    expect(reader.status).toBe(403);
  });
});

describe('dates that are none', () => {
  it.each([
    ['GET /posts?dtsstart=11-2026&dtsstop=2026-11-20', 'dtsstart', 'invalid_date_format'],
    ['GET /posts?dtsstart=2026-11-01&dtsstop=2026-11-31', 'dtsstop', 'invalid_date_value'],
    ['GET /comments?dtsstart=2026-02-30&dtsstop=2026-11-20', 'dtsstart', 'invalid_date_value'],
    ['GET /comments/1?dtsstart=yesterday&dtsstop=2026-11-20', 'dtsstart', 'invalid_date_format'],
  ])('%s', async (call, name, code) => {
    const { status, body } = await app.rest(call);
    expect([status, body.code, body.data.details[name]?.code]).toEqual([400, 'rest_invalid_param', code]);
  });

  it.each([
    ['2026', 'invalid_datetime_format'],
    ['2026-11-31 10:00:00', 'invalid_datetime_date'],
    ['2026-11-30 24:00:00', 'invalid_datetime_time'],
  ])('post_date %s', async (post_date, code) => {
    const fresh = { post_title: 'T', post_content: 'C', post_status: 'draft', post_date };
    for (const [call, body] of [
      ['POST /posts/1/create', fresh],
      ['PUT /posts/1/1/edit', { post_date_gmt: post_date }],
    ] as const) {
      const reply = await app.rest(call, { body });
      const details = Object.values<{ code: string }>(reply.body.data.details);
      expect([call, reply.status, details.map((detail) => detail.code)]).toEqual([call, 400, [code]]);
    }
  });
});
