/** Lists of sites: order, pages, filters, search (operations §8.0a, §5.1). */

import { beforeAll, describe, expect, it } from 'vitest';
import { fold } from '../../schemas/fold.js';
import { type CheckedApp, checkedApp } from './checked-app.js';
import { generateRandomString } from './random-strings.js';

const pluck = (items: Record<string, unknown>[], name: string) => items.map((item) => item[name]);

describe('lists', () => {
  let app: CheckedApp;
  beforeAll(async () => {
    app = await checkedApp({ sites: 1 });
    await app.call('add-client', { name: 'Ada' });
    await app.call('add-tag', { name: 'blue' });
    for (const [url, name] of [
      ['https://www.beta.example/', '100% Wool'],
      ['http://alpha.example/', 'ÉCOLE Nord'],
      ['https://gamma.example/shop/', 'under_score'],
      ['https://gamma.example/', 'Ποσειδώνας ΟΔΟΣ'],
      ['https://delta.example/', 'back\\slash "quoted" \'s'],
      ['https://epsilon.example/', 'a 東京 店'],
    ] as const)
      await app.row(url, { name });
    await app.call('update-site', { site_id_or_domain: 1, name: '100% Wool', client_id: 1, tags: [1] });
    await app.call('update-site', { site_id_or_domain: 2, name: 'ÉCOLE Nord', client_id: 1 });
    await app.call('update-site', { site_id_or_domain: 4, name: 'Ποσειδώνας ΟΔΟΣ', tags: [1] });
    for (const id of [3, 5, 6]) {
      const { name } = await app.call('get-site', { site_id_or_domain: id });
      await app.call('update-site', { site_id_or_domain: id, name });
    }
    await app.call('suspend-site', { site_id_or_domain: 2 });
    await app.call('disconnect-site', { site_id_or_domain: 3 });
  });
  const ids = async (input: object) => pluck((await app.call('list-sites', input)).items, 'id');

  it('are in the order of URLs without scheme and www, page by page', async () => {
    expect(await ids({})).toEqual([2, 1, 5, 6, 4, 3]);
    expect(await app.call('list-sites', { page: 2, per_page: 4 })).toMatchObject({
      items: [{ id: 4 }, { id: 3 }],
      page: 2,
      per_page: 4,
      total: 6,
    });
    expect(pluck((await app.call('get-sites-basic')).sites, 'id')).toEqual([2, 1, 5, 6, 4, 3]);
    expect(await app.call('get-sites-basic')).toMatchObject({
      total: 6,
      sites: [{ id: 2, url: 'http://alpha.example/', name: 'ÉCOLE Nord' }, {}, {}, {}, {}, {}],
    });
  });

  it('go on by a cursor that a caller begins: each site once, also when some are added and removed on the way', async () => {
    const begin = { cursor: '', per_page: 2, include: ['tags'] };
    const first = await app.call('list-sites', begin);
    expect(first).toMatchObject({ items: [{ id: 2 }, { id: 1, tags: [{ name: 'blue' }] }], page: 1, total: 6 });
    const added = await app.row('https://aaa.example/', {});
    await app.call('delete-site', { site_id_or_domain: added, confirm: true });
    const second = await app.call('list-sites', { ...begin, cursor: first.next_cursor });
    expect(second).toMatchObject({ items: [{ id: 5 }, { id: 6 }], page: 2, per_page: 2, total: 6 });
    // Pages may change their size between calls.
    const rest = await app.call('list-sites', { per_page: 50, cursor: second.next_cursor });
    expect(rest).toMatchObject({ items: [{ id: 4 }, { id: 3 }], page: 3 });
    expect(rest).not.toHaveProperty('next_cursor');
    expect(await app.call('list-sites', { cursor: '', client_id: 1 })).toMatchObject({ items: [{ id: 2 }, { id: 1 }] });
    expect(await app.call('list-sites', { per_page: 2 })).not.toHaveProperty('next_cursor');
  });

  it('refuse a cursor of another list, one that is none, and a cursor with a page', async () => {
    const { next_cursor: cursor } = await app.call('list-sites', { cursor: '', per_page: 2 });
    const refused = { code: 'svc_invalid_input', status: 400, field: 'cursor' };
    for (const other of [{ status: 'connected' }, { search: 'a' }, { client_id: 1 }, { tag_id: 1 }])
      expect(await app.fail('list-sites', { cursor, ...other })).toMatchObject({
        ...refused,
        message: 'cursor belongs to other filters or another order.',
      });
    const [digest] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const forged = [[digest], [digest, 0, 'a', 1], [digest, 2, null, {}], [digest, 'two', 'a', 1], { digest }, 7];
    for (const none of [
      'x',
      'null',
      ...forged.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
    ])
      expect(await app.fail('list-sites', { cursor: none })).toMatchObject({
        ...refused,
        message: 'cursor does not come from a list answer.',
      });
    expect(await app.fail('list-sites', { cursor, page: 2 })).toMatchObject({
      code: 'svc_invalid_input',
      field: 'page',
    });
    const short = Buffer.from(JSON.stringify([digest, 2, 'a'])).toString('base64url');
    expect(await app.call('list-sites', { cursor: short })).toMatchObject({ page: 2, total: 6 });
  });

  it('add tags, reason, last sync and PHP where they are asked for, and nothing else', async () => {
    const include = ['tags', 'status_reason', 'last_sync', 'php_version'];
    const { items } = await app.call('list-sites', { include, per_page: 100 });
    const one = items.find(({ id }: { id: number }) => id === 1);
    const cut = { last_sync: null, php_version: null };
    expect(one).toMatchObject({ id: 1, tags: [{ id: 1, name: 'blue' }], status_reason: null, ...cut });
    expect(items.find(({ id }: { id: number }) => id === 3)).toMatchObject({
      status_reason: expect.stringContaining('Disconnected manually'),
      tags: [],
    });
    const { sites } = await app.call('get-client-sites', { client_id_or_email: 1, include: ['status_reason'] });
    expect(sites.map((site: object) => Object.keys(site))).toEqual([
      ['id', 'url', 'name', 'status', 'status_reason'],
      ['id', 'url', 'name', 'status', 'status_reason'],
    ]);
    expect(pluck(sites, 'status_reason')).toEqual([expect.stringContaining('Suspended'), null]);
    const tagged = await app.call('get-tag-sites', { tag_id: 1, include: ['tags'] });
    for (const site of tagged.sites) expect(site.tags).toEqual([{ id: 1, name: 'blue' }]);
    expect(Object.keys((await app.call('list-sites')).items[1])).toEqual(['id', 'url', 'name', 'status', 'client_id']);
  });

  it.each([2, 100, 1e9, Number.MAX_SAFE_INTEGER])('are empty on page %i, with the same total', async (page) => {
    const input = { page, per_page: 100 };
    expect(await app.call('list-sites', input)).toMatchObject({ items: [], total: 6 });
    expect(await app.call('list-sites', { ...input, search: 'example' })).toMatchObject({ items: [], total: 6 });
    expect(await app.call('list-updates', input)).toMatchObject({ updates: [], total: 0 });
    expect(await app.call('list-ignored-updates', input)).toMatchObject({ ignored: [], total: 0 });
    expect(await app.call('get-abandoned-plugins', input)).toMatchObject({ items: [], total: 0 });
    expect(await app.call('get-abandoned-themes', input)).toMatchObject({ items: [], total: 0 });
    expect(await app.call('get-site-changes', { ...input, site_id_or_domain: 1 })).toMatchObject({
      changes: [],
      total: 0,
    });
    expect(await app.call('get-tag-sites', { ...input, tag_id: 1 })).toMatchObject({ sites: [], total: 2 });
    expect(await app.call('get-tag-clients', { ...input, tag_id: 1 })).toMatchObject({ clients: [], total: 1 });
    expect(await app.call('get-client-sites', { ...input, client_id_or_email: 1 })).toMatchObject({
      sites: [],
      total: 2,
    });
    expect(await app.call('list-tags', input)).toMatchObject({ items: [], total: 1 });
  });

  it('know each site in exactly one state', async () => {
    const seen: unknown[] = [];
    for (const status of ['connected', 'disconnected', 'suspended'] as const) {
      const { items, total } = await app.call('list-sites', { status });
      expect(pluck(items, 'status')).toEqual(items.map(() => status));
      expect(await app.call('count-sites', { status })).toEqual({ total });
      seen.push(...pluck(items, 'id'));
    }
    expect(seen.sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await app.call('count-sites')).toEqual({ total: 6 });
  });

  it('filter by all that is asked', async () => {
    expect(await ids({ client_id: 1 })).toEqual([2, 1]);
    expect(await ids({ tag_id: 1 })).toEqual([1, 4]);
    expect(await ids({ client_id: 1, tag_id: 1 })).toEqual([1]);
    expect(await ids({ client_id: 1, status: 'suspended', search: 'école' })).toEqual([2]);
    expect(await app.call('list-sites', { client_id: 99 })).toMatchObject({ items: [], total: 0 });
    expect(await app.call('list-sites', { tag_id: 99, search: 'wool' })).toMatchObject({ items: [], total: 0 });
  });

  it.each([
    ['%', [1]],
    ['0%', [1]],
    ['100%', [1]],
    ['_', [3]],
    ['r_s', [3]],
    ['\\', [5]],
    ['"q', [5]],
    ['"quoted"', [5]],
    ["' OR 1=1 --", []],
    ['* OR alpha', []],
    ['éc', [2]],
    ['école', [2]],
    ['E\u0301COLE', [2]],
    ['ος', [4]],
    ['ΟΔΟΣ', [4]],
    ['οδος', [4]],
    ['ποσειδώνα', [4]],
    ['京', [6]],
    ['東京', [6]],
    ['東京 店', [6]],
    ['ALPHA', [2]],
    ['gamma.example/', [4, 3]],
    ['  wool ', [1]],
    ['zzz', []],
    ['\0wool', [1]],
  ])('find %j literally, in any case', async (search, found) => {
    expect(await ids({ search })).toEqual(found);
    expect(await app.call('list-sites', { search })).toMatchObject({ total: found.length });
    expect(await ids({ search, status: 'any', tag_id: undefined })).toEqual(found);
  });

  it('take a blank search for none', async () => {
    expect(await app.call('list-sites', { search: '   ' })).toMatchObject({ total: 6 });
  });
});

describe('search, whatever the letters', () => {
  it('finds by three letters and more what it finds by one or two', async () => {
    const app = await checkedApp({ sites: 1 });
    const random = generateRandomString(20261120);
    const names: string[] = [];
    for (let i = 0; i < 60; i++) {
      const name = random(12);
      const id = await app.row(`https://s${i}.test/`, {});
      names.push((await app.call('update-site', { site_id_or_domain: id, name: `x${name}` })).name);
    }
    for (let i = 0; i < 150; i++) {
      const name = [...(names[i % names.length] ?? '')];
      const from = (i * 7) % name.length;
      const search = name.slice(from, from + 1 + (i % 5)).join('');
      const needle = fold(search.trim());
      const wanted = names.flatMap((each, index) =>
        fold(`${each}\u001fhttps://s${index}.test/`).includes(needle) ? [index + 1] : [],
      );
      const { items, total } = await app.call('list-sites', { search, per_page: 100 });
      expect([
        search,
        pluck(items, 'id')
          .map(Number)
          .sort((a, b) => a - b),
        total,
      ]).toEqual([search, wanted, wanted.length]);
      expect(await app.call('list-sites', { search, status: 'connected', per_page: 100 })).toMatchObject({
        total: wanted.length,
      });
    }
  });
});

describe('letters with two lower forms', () => {
  it.each([
    ['asbc', 'aſbc'],
    ['xμyz', 'xµyz'],
    ['βabc', 'ϐabc'],
    ['θabc', 'ϑabc'],
    ['οδοσ', 'οδος'],
    ['ǆabc', 'ǅabc'],
  ])('%s and %s are found together, by two letters as by four', async (...names) => {
    const app = await checkedApp({ sites: 1 });
    for (const [i, name] of names.entries())
      await app.call('update-site', { site_id_or_domain: await app.row(`https://${i}.test/`), name: `-${name}-` });
    for (const name of names)
      for (const search of [name, name.slice(0, 2), name.slice(1), name.slice(-2)])
        expect([search, (await app.call('list-sites', { search })).total]).toEqual([search, 2]);
  });
});

describe('internationalised domains', () => {
  it('are found by their real name and by the one of the wire, and their e-mail addresses are accepted', async () => {
    // As in a server that has run for a while: frequently called functions are optimised.
    for (let i = 0; i < 100_000; i++) URL.canParse(`https://example.com/${i}`);
    const app = await checkedApp({ sites: 1 });
    const id = await app.row('https://xn--bcher-kva.example/');
    await app.call('update-site', { site_id_or_domain: id, name: 'Books' });
    for (const search of ['bücher', 'BÜCHER.example', 'bü', 'xn--bcher'])
      expect((await app.call('list-sites', { search })).items).toMatchObject([{ id }]);
    for (const site_id_or_domain of ['bücher.example', 'https://Bücher.example', 'xn--bcher-kva.example'])
      expect(await app.call('get-site', { site_id_or_domain })).toMatchObject({ id });
    const client_email = 'jane@bücher.example';
    const client = await app.call('add-client', { name: 'Jane', client_email });
    expect(await app.call('get-client', { client_id_or_email: client_email })).toMatchObject({
      id: client.id,
      email: client_email,
    });
    for (const wrong of [
      'jane@bü cher.example',
      'jane@bücher',
      'jane@bücher.example/x',
      'bücher.example',
      'jane@ü@x.de',
    ])
      expect(await app.fail('add-client', { name: 'X', client_email: wrong })).toMatchObject({
        field: 'client_email',
      });
  });
});
