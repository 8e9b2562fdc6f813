import { beforeEach, describe, expect, test } from 'vitest';
import { NOON, type OfflineApp, offlineApp, pluck } from './offline-app.js';

let app: OfflineApp;
beforeEach(async () => {
  app = await offlineApp();
});

test.each(['get-tag', 'update-tag', 'delete-tag', 'get-tag-sites', 'get-tag-clients'])(
  '%s refuses an unknown tag',
  async (name) => {
    await app.tag('Shops');
    const error = await app.refusal(name, { tag_id: 99, ...(name === 'update-tag' ? { name: 'X' } : {}) });
    expect([error.code, error.status, error.field]).toEqual(['svc_tag_not_found', 404, 'tag_id']);
    for (const tag_id of [0, -1, 'Shops', 1.5, null]) {
      expect(await app.refusal(name, { tag_id })).toMatchObject({ code: 'ability_invalid_input', field: 'tag_id' });
    }
    expect(await app.refusal(name)).toMatchObject({ code: 'ability_invalid_input', field: 'tag_id' });
  },
);

describe('list-tags', () => {
  test('answers none', async () => {
    expect(await app.call('list-tags')).toEqual({ items: [], page: 1, per_page: 20, total: 0 });
  });

  test('orders by name in any case and counts links whatever the status of the site', async () => {
    const shops = await app.tag('shops', { color: '#5EC130' });
    await app.tag('Blogs');
    await app.tag('Zebra');
    await app.site('a.example', { tags: [shops] });
    await app.site('b.example', { tags: [shops], suspended: true });
    const { items, total } = await app.call('list-tags');
    expect(total).toBe(3);
    expect(items).toEqual([
      { id: 2, name: 'Blogs', color: null, sites_count: 0 },
      { id: shops, name: 'shops', color: '#5EC130', sites_count: 2 },
      { id: 3, name: 'Zebra', color: null, sites_count: 0 },
    ]);
    expect(await app.call('list-tags', { page: 2, per_page: 2 })).toMatchObject({
      items: [{ name: 'Zebra' }],
      total: 3,
    });
    expect(await app.call('list-tags', { page: Number.MAX_SAFE_INTEGER, per_page: 100 })).toMatchObject({
      items: [],
      total: 3,
    });
  });

  test('searches names literally, in any case, and digits of the id', async () => {
    for (const name of ['50%', 'a_b', 'ÄRZTE', 'axb']) await app.tag(name);
    const found = async (search: string) => pluck((await app.call('list-tags', { search })).items, 'name');
    expect(await found('%')).toEqual(['50%']);
    expect(await found('_')).toEqual(['a_b']);
    expect(await found(' ärz ')).toEqual(['ÄRZTE']);
    expect(await found('4')).toEqual(['axb']);
    expect(await found('')).toHaveLength(4);
    expect(await app.call('list-tags', { search: 'a', per_page: 1 })).toMatchObject({ total: 2 });
  });

  test('include and exclude combine', async () => {
    const [one, two, three] = [await app.tag('1'), await app.tag('2'), await app.tag('3')];
    const listed = async (input: object) => pluck((await app.call('list-tags', input)).items, 'id');
    expect(await listed({ include: [three, one, 77] })).toEqual([one, three]);
    expect(await listed({ include: [one, two], exclude: [two] })).toEqual([one]);
    expect(await listed({ include: [77] })).toEqual([]);
    expect(await app.call('list-tags', { exclude: [one] })).toMatchObject({ total: 2 });
  });

  test('refuses bad pages and unknown fields, and says so when the store fails', async () => {
    for (const input of [{ page: 0 }, { per_page: 101 }, { status: 'any' }]) {
      expect(await app.refusal('list-tags', input)).toMatchObject({
        code: 'ability_invalid_input',
        field: Object.keys(input)[0],
      });
    }
    await app.db.script('DROP TABLE tag');
    expect(await app.refusal('list-tags')).toMatchObject({ code: 'svc_operation_failed', status: 500 });
    expect(await app.refusal('get-tag', { tag_id: 1 })).toMatchObject({ code: 'svc_operation_failed' });
    expect(await app.refusal('add-tag', { name: 'X' })).toMatchObject({ code: 'svc_operation_failed' });
  });
});

describe('add-tag', () => {
  test('answers five fields; names round-trip', async () => {
    const tag = await app.call('add-tag', { name: ' A & B < C ', color: '#abCDef' });
    expect(tag).toEqual({
      id: 1,
      name: 'A & B < C',
      color: '#abCDef',
      sites_count: 0,
      created_at: '2025-06-15T12:00:00Z',
    });
    expect(await app.call('add-tag', { name: 'Plain' })).toMatchObject({ color: null });
    expect(app.events[0]).toEqual({
      name: 'tag.created',
      at: NOON,
      facts: { tag_id: 1, tag_name: 'A & B < C' },
      changed: { record: [null, { name: 'A & B < C', color: '#abCDef' }] },
    });
    expect((await app.refusal('add-tag', { name: 'a & b < c' })).code).toBe('svc_already_exists');
  });

  test('refuses a name in use in any case', async () => {
    await app.tag('Ärzte');
    for (const name of ['Ärzte', 'ÄRZTE', ' ärzte ', 'A\u0308rzte']) {
      expect(await app.refusal('add-tag', { name })).toMatchObject({
        code: 'svc_already_exists',
        status: 409,
        field: 'name',
      });
    }
    expect(await app.call('list-tags')).toMatchObject({ total: 1 });
    expect(app.events).toHaveLength(1);
  });

  test('refuses blank names and bad colors', async () => {
    for (const name of ['   ', '\u0007'])
      expect(await app.refusal('add-tag', { name })).toMatchObject({ code: 'svc_invalid_input', field: 'name' });
    for (const input of [{ name: '' }, { name: 'x'.repeat(256) }, {}]) {
      expect(await app.refusal('add-tag', input)).toMatchObject({ code: 'ability_invalid_input', field: 'name' });
    }
    for (const color of ['5EC130', '#5EC13', '#5EC1301', '#GGGGGG', 'red', '', ' #5EC130', 7]) {
      expect(await app.refusal('add-tag', { name: 'X', color })).toMatchObject({
        code: 'ability_invalid_input',
        field: 'color',
      });
    }
    expect(await app.call('list-tags')).toMatchObject({ total: 0 });
  });
});

describe('update-tag', () => {
  test('changes only what is given, and the count of sites stays', async () => {
    const tag_id = await app.tag('Shops', { color: '#111111' });
    await app.site('a.example', { tags: [tag_id] });
    app.state.now += 60_000;
    expect(await app.call('update-tag', { tag_id, color: '#222222' })).toEqual({
      id: tag_id,
      name: 'Shops',
      color: '#222222',
      sites_count: 1,
      created_at: '2025-06-15T12:00:00Z',
      updated_at: '2025-06-15T12:01:00Z',
    });
    expect(await app.call('update-tag', { tag_id, name: 'SHOPS' })).toMatchObject({
      name: 'SHOPS',
      color: '#222222',
    });
    expect(app.events.at(-1)).toMatchObject({ name: 'tag.updated', facts: { tag_id, tag_name: 'SHOPS' } });
  });

  test('nothing given answers the tag unchanged', async () => {
    const tag_id = await app.tag('Shops');
    const before = await app.call('get-tag', { tag_id });
    app.state.now += 60_000;
    expect(await app.call('update-tag', { tag_id })).toEqual(before);
    expect((await app.refusal('update-tag', { tag_id: 9 })).code).toBe('svc_tag_not_found');
  });

  test('refuses the name of another and blank names', async () => {
    await app.tag('Shops');
    const tag_id = await app.tag('Blogs', { color: '#111111' });
    expect(await app.refusal('update-tag', { tag_id, name: 'shops', color: '#222222' })).toMatchObject({
      code: 'svc_already_exists',
      status: 409,
    });
    expect((await app.refusal('update-tag', { tag_id, name: ' ' })).code).toBe('svc_invalid_input');
    expect((await app.refusal('update-tag', { tag_id, color: '' })).code).toBe('ability_invalid_input');
    expect(await app.call('get-tag', { tag_id })).toMatchObject({ name: 'Blogs', color: '#111111' });
  });
});

describe('delete-tag', () => {
  test('previews, wants a confirmation, deletes; a repeat is not found', async () => {
    const tag_id = await app.tag('Shops');
    const site = await app.site('a.example', { tags: [tag_id] });
    expect(await app.call('delete-tag', { tag_id, dry_run: true })).toEqual({
      dry_run: true,
      needs_approval: null,
      tag_id,
      tag_name: 'Shops',
      sites_affected: 1,
    });
    expect(await app.refusal('delete-tag', { tag_id })).toMatchObject({
      code: 'svc_confirmation_required',
      status: 400,
      field: 'confirm',
    });
    expect((await app.refusal('delete-tag', { tag_id, confirm: 'false' })).code).toBe('svc_confirmation_required');
    expect((await app.refusal('delete-tag', { tag_id, confirm: true, dry_run: true })).code).toBe('svc_invalid_input');
    expect(await app.cell('SELECT count(*) FROM site_tag')).toBe(1);
    expect(await app.call('delete-tag', { tag_id, confirm: true })).toEqual({
      deleted: true,
      tag_id,
      tag_name: 'Shops',
    });
    expect(await app.cell('SELECT count(*) FROM site_tag')).toBe(0);
    expect(await app.cell('SELECT count(*) FROM site WHERE id = ?', site)).toBe(1);
    expect(app.events.at(-1)).toMatchObject({ name: 'tag.deleted', facts: { tag_id, sites: 1 } });
    for (const input of [{ confirm: true }, { dry_run: true }, {}]) {
      expect((await app.refusal('delete-tag', { tag_id, ...input })).code).toBe('svc_tag_not_found');
    }
  });
});

describe('get-tag-sites, get-tag-clients', () => {
  test('list sites in URL order with their status, paged', async () => {
    const tag_id = await app.tag('Shops');
    await app.site('b.example', { tags: [tag_id], disconnected: true });
    await app.site('a.example', { tags: [tag_id], name: 'First' });
    await app.site('c.example');
    expect(await app.call('get-tag-sites', { tag_id })).toEqual({
      tag_id,
      tag_name: 'Shops',
      sites: [
        { id: 2, url: 'https://a.example/', name: 'First', status: 'connected' },
        { id: 1, url: 'https://b.example/', name: 'b.example', status: 'disconnected' },
      ],
      page: 1,
      per_page: 20,
      total: 2,
    });
    expect(await app.call('get-tag-sites', { tag_id, page: 2, per_page: 1 })).toMatchObject({
      sites: [{ id: 1 }],
      total: 2,
    });
    expect(await app.call('get-tag-sites', { tag_id, page: 5 })).toMatchObject({ sites: [], total: 2 });
  });

  test('list each client once, in name order, with its number of tagged sites', async () => {
    const tag_id = await app.tag('Shops');
    const other = await app.tag('Blogs');
    const [cleo, ada, bea] = [
      await app.client('cleo'),
      await app.client('Ada', { client_email: 'a@example.com' }),
      await app.client('Bea'),
    ];
    await app.site('1.example', { client: cleo, tags: [tag_id] });
    await app.site('2.example', { client: ada, tags: [tag_id, other] });
    await app.site('3.example', { client: ada, tags: [tag_id] });
    await app.site('4.example', { client: bea, tags: [other] });
    await app.site('5.example', { tags: [tag_id] });
    expect(await app.call('get-tag-clients', { tag_id })).toEqual({
      tag_id,
      tag_name: 'Shops',
      clients: [
        { id: ada, name: 'Ada', email: 'a@example.com', sites_with_tag: 2 },
        { id: cleo, name: 'cleo', email: '', sites_with_tag: 1 },
      ],
      page: 1,
      per_page: 20,
      total: 2,
    });
    expect(await app.call('get-tag-clients', { tag_id, page: 2, per_page: 1 })).toMatchObject({
      clients: [{ id: cleo }],
      total: 2,
    });
    expect(await app.call('get-tag-clients', { tag_id, page: 3 })).toMatchObject({ clients: [], total: 2 });
    expect(await app.call('get-tag-clients', { tag_id: await app.tag('New') })).toMatchObject({
      clients: [],
      total: 0,
    });
  });
});

test.each([
  ['update-tag', { name: 'X' }],
  ['delete-tag', { confirm: true }],
])('%s of a tag that is deleted meanwhile finds none', async (name, input) => {
  const tag_id = await app.tag('Shops');
  app.meanwhile(() => app.db.run('DELETE FROM tag'));
  expect(await app.refusal(name, { tag_id, ...input })).toMatchObject({ code: 'svc_tag_not_found' });
  expect(app.events).toHaveLength(1);
});
