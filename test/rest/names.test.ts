/**
 * Parameter names: unknown ones are refused, alternative spellings are accepted, nothing may be given twice (REST
 * §3.5).
 */

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routes } from '../../src/surfaces/rest/index.js';
import type { Route } from '../../src/surfaces/rest/route.js';
import { newKey } from '../support/logins.js';
import { type RestApp, restApp } from './client.js';

/** A name that no list of ids, names or settings has. */
const UNKNOWN = 'zz_no_such_member';

/** Path values that exist in the fleet below. */
const PATHS: Readonly<Record<string, string>> = {
  id_or_domain: '1',
  id_or_email: '1',
  tag_id: '1',
  cost_id: '1',
  mail_type: 'uptime',
  api_slug: 'vultr',
  slug: 'hosting',
  approval_id: 'apr_0123456789abcdef01234567',
};

function address(row: Route): string {
  return row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const pattern = row.where[name];
    const own = PATHS[name] ?? '1';
    return pattern === undefined || pattern.test(own) ? own : 'sync_1';
  });
}

const pairs = routes.flatMap((row) => row.on.map((on) => ({ on, row, pair: `${on} ${row.path}` })));

/** All rows of all tables, except those that any call changes: keys store their last use. */
async function stored({ db }: RestApp): Promise<string> {
  const tables = await db.all("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'");
  const rows: unknown[] = [];
  for (const { name } of tables)
    if (!/key|sqlite_|lease|process/.test(String(name))) rows.push([name, await db.all(`SELECT * FROM "${name}"`)]);
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

describe('a name that a row does not have', () => {
  let app: RestApp;
  beforeAll(async () => {
    app = await restApp({ sites: 2, jobs: false });
    for (const index of [0, 1]) await app.connect(index);
    await app.call('add-client', { name: 'Example Ltd', client_email: 'office@example.com', selected_sites: [1] });
    await app.call('add-tag', { name: 'Shops' });
    await app.rest('POST /costs/add', { body: { name: 'Hosting', price: '1', sites: [1] } });
  });

  it('is refused on every row, in the body and in the query, and nothing happens', async () => {
    const before = await stored(app);
    const children = JSON.stringify(app.fleet.sites.map(({ state }) => state));
    const wrong: unknown[] = [];
    const { token } = await newKey(app.service.store.keys, { approves: true });
    for (const { on, row, pair } of pairs) {
      const calls = [{ call: `${on} ${address(row)}?${UNKNOWN}=1` }];
      const inBody = { call: `${on} ${address(row)}`, body: { [UNKNOWN]: [1] } };
      for (const { call, ...options } of on === 'GET' ? calls : [...calls, inBody]) {
        const { status, body } = await app.rest(call, { ...options, token });
        const reason = String(body.data?.params?.[UNKNOWN]);
        const told = status === 400 && body.data.field === UNKNOWN && reason.startsWith('is not a parameter');
        if (!told) wrong.push([pair, status, body]);
      }
    }
    expect(wrong).toEqual([]);
    expect(await stored(app)).toBe(before);
    expect(JSON.stringify(app.fleet.sites.map(({ state }) => state))).toBe(children);
  });

  it('is refused with the name that was meant', async () => {
    const reason = async (call: string, body?: object) => {
      const reply = await app.rest(call, body === undefined ? {} : { body });
      expect([call, reply.status, reply.body.code]).toEqual([call, 400, 'rest_invalid_param']);
      return [reply.body.data.field, reply.body.data.params[reply.body.data.field]];
    };
    const meant = (name: string) => `is not a parameter of this route; did you mean ${name}?`;
    expect(await reason('POST /sites/disconnect', { includes: [1] })).toEqual(['includes', meant('include')]);
    expect(await reason('POST /sites/disconnect', { site_id: 1 })).toEqual(['site_id', meant('include')]);
    expect(await reason('POST /updates/1/update/plugins', { slgu: 'a/a.php' })).toEqual(['slgu', meant('slug')]);
    expect(await reason('POST /updates/1/update/themes', { plugins: 'a' })).toEqual(['plugins', meant('slug')]);
    // A misspelled required parameter is not only reported as missing.
    expect(await reason('POST /sites/add', { uri: 'https://x.example', admin: 'a' })).toEqual(['uri', meant('url')]);
    expect(await reason('GET /sites?perpage=5')).toEqual(['perpage', meant('per_page')]);
    expect(await reason('GET /sites?limit=5')).toEqual(['limit', meant('per_page')]);
    expect(await reason('GET /sites?items_per_page=5')).toEqual(['items_per_page', meant('per_page')]);
    expect(await reason('GET /sites?paged=2')).toEqual(['paged', meant('page')]);
    expect(await reason('POST /sites/1/sync?confirm=true')).toEqual([
      'confirm',
      'is not a parameter of this route, which takes id_or_domain',
    ]);
    expect(await reason('GET /sites?a]=1')).toEqual(['a]', expect.stringContaining('is not a parameter')]);
  });

  it('is refused in an item of a batch, whose others go on', async () => {
    const { body } = await app.rest('POST /sites/batch', {
      body: {
        create: [{ url: 'https://x.example', admin: 'a', pasword: 'x' }],
        update: [
          { id: 1, nmae: 'Wrong' },
          { id: 1, note: 'right' },
        ],
      },
    });
    expect(body.create[0].error.data.params).toHaveProperty('pasword');
    expect(body.update[0].error.data.params.nmae).toContain('did you mean name?');
    expect(body.update[1]).toEqual({ id: 1, success: 1 });
  });

  it('leaves alone what clients of WordPress add to any address', async () => {
    const reply = await app.rest('GET /sites?_fields=id&_fields=name&_locale=user&_=1700000000');
    expect(Object.keys(reply.body.data[0])).toEqual(['id', 'name']);
    for (const name of ['_method', '_envelope', '_jsonp'])
      expect((await app.rest(`GET /sites?${name}=x`)).body.data.params).toHaveProperty(name);
  });
});

describe('another spelling', () => {
  let app: RestApp;
  beforeEach(async () => {
    app = await restApp({ sites: 3, jobs: false });
    for (const index of [0, 1]) await app.connect(index);
  });

  it('names the same sites', async () => {
    for (const name of ['site_ids', 'site_ids_or_domains', 'include']) {
      const { body } = await app.rest('POST /sites/disconnect', { body: { [name]: [2], dry_run: true } });
      expect([name, Object.keys(body.data)]).toEqual([name, ['2']]);
      expect((await app.rest('POST /sites/disconnect', { body: { [name]: [] } })).status).toBe(400);
    }
    const { body } = await app.rest('POST /sites/disconnect', { body: { site_ids: [2] } });
    expect(Object.keys(body.data)).toEqual(['2']);
    expect((await app.rest('GET /sites/1')).body.data.status).toBe('connected');
  });

  it('names the same items and fields', async () => {
    const [plugin] = app.fleet.site(0).state.plugins.filter(({ active, mustUse }) => active && !mustUse);
    const off = await app.rest('POST /sites/1/plugins/deactivate', { body: { slugs: [plugin?.slug] } });
    expect(off.body.data.map(({ slug }: { slug: string }) => slug)).toEqual([plugin?.slug]);
    await app.call('add-tag', { name: 'Shops' });
    const edit = { tags: [1], ssl_version: 7, unique_id: 'x', health_threshold: 80, is_ignoreCoreUpdates: 1 };
    expect((await app.rest('PUT /sites/1/edit', { body: edit })).status).toBe(200);
    expect((await app.rest('GET /sites/1')).body.data).toMatchObject({
      tags: { 1: 'Shops' },
      ssl_version: 7,
      health_threshold: 80,
      is_ignoreCoreUpdates: 1,
    });
    const site = app.fleet.site(2);
    const { url, admin, password, uniqueId } = site;
    const login = { admin, admin_password: password, unique_id: uniqueId };
    const added = await app.rest('POST /sites/add', { body: { url, ...login } });
    expect([added.status, added.body.data.id]).toEqual([200, 3]);
    const client = await app.rest('POST /clients/add', { body: { name: 'A', email: 'a@example.com' } });
    expect(client.body.data.email).toBe('a@example.com');
    const types = async (query: string) => Object.keys((await app.rest(`GET /updates/1?${query}`)).body.data[1] ?? {});
    expect(await types('types=core,plugins')).toEqual(await types('type=wp,plugins'));
  });

  it('is not taken beside the name itself, and is named in an error as it was sent', async () => {
    const both = await app.rest('POST /sites/disconnect', { body: { include: [1], site_ids: [2] } });
    expect([both.status, both.body.data.field]).toEqual([400, 'site_ids']);
    const wrong = await app.rest('POST /sites/disconnect', { body: { site_ids: ['example.com'] } });
    expect([wrong.status, wrong.body.data.field]).toEqual([400, 'site_ids[0]']);
    expect((await app.rest('GET /sites/count?status=connected')).body.count).toBe(2);
  });
});

describe('the sites of an update of all', () => {
  let app: RestApp;
  beforeEach(async () => {
    app = await restApp({ sites: 3, jobs: false });
    for (const index of [0, 1, 2]) {
      const { plugins } = app.fleet.site(index).state;
      for (const plugin of plugins) plugin.update = null;
      const [first] = plugins.filter(({ mustUse, premium }) => !mustUse && !premium);
      if (first !== undefined) first.update = { version: '99.1', requiresPhp: '', requiresWp: '' };
      await app.connect(index);
    }
  });

  const updated = () =>
    app.fleet.sites.flatMap(({ state }, index) =>
      state.plugins.some(({ version }) => version === '99.1') ? [index + 1] : [],
    );

  it('are those that are named, or all but those', async () => {
    const one = await app.rest('POST /updates/update', { body: { type: 'plugins', include: '2' } });
    expect([one.status, one.body.summary.sites_updated, updated()]).toEqual([200, 1, [2]]);
    const rest = await app.rest('PUT /updates/update?type=plugins&exclude=3');
    expect([rest.status, rest.body.summary.sites_updated, updated()]).toEqual([200, 1, [1, 2]]);
  });

  it('are none when the filter leaves none, or is misspelled', async () => {
    for (const body of [{ include: [] }, { include: '' }, { include: [99] }, { includ: [1] }, { slugs: 'a/a.php' }])
      expect([body, (await app.rest('POST /updates/update', { body })).status]).toEqual([body, 400]);
    expect((await app.rest('POST /updates/update', { body: { include: null } })).status).toBe(400);
    expect(updated()).toEqual([]);
  });
});

describe('a name that is given twice', () => {
  let app: RestApp;
  beforeAll(async () => {
    app = await restApp({ sites: 3, jobs: false });
    for (const index of [0, 1, 2]) await app.connect(index);
  });

  const listed = async (query: string) => {
    const { status, body } = await app.rest(`GET /sites/basic?${query}`);
    return status === 200 ? body.data.map(({ id }: { id: number }) => id).sort() : [status, body.data.params];
  };

  it('joins a list, and is refused where one value is wanted', async () => {
    expect(await listed('include=1&include=3')).toEqual([1, 3]);
    expect(await listed('include=1,2&include=3')).toEqual([1, 2, 3]);
    expect(await listed('include[]=1&include[]=3')).toEqual([1, 3]);
    expect(await listed('status=connected&status=suspended&exclude=2')).toEqual([1, 3]);
    const twice = 'is given more than once';
    expect(await listed('search=a&search=b')).toEqual([400, { search: twice }]);
    expect(await listed('page=1&page=1')).toEqual([400, { page: twice }]);
    expect(await listed('include=1&include[]=2')).toEqual([400, { include: twice }]);
    expect(await listed('include[0]=1&include[0]=2')).toEqual([400, { include: twice }]);
  });

  it('is refused in a form, too', async () => {
    const form = (body: string) =>
      app.rest('POST /sites/sync', { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
    expect(Object.keys((await form('include=1&include=3&dry_run=1')).body.data)).toEqual(['1', '3']);
    const twice = await form('include=1&dry_run=1&dry_run=0');
    expect([twice.status, twice.body.data.field]).toEqual([400, 'dry_run']);
  });
});

describe('null', () => {
  let app: RestApp;
  beforeAll(async () => {
    app = await restApp({ sites: 2 });
    await app.connect(0);
  });

  it('is as good as absent where something is made', async () => {
    const { url, admin, password, uniqueId } = app.fleet.site(1);
    const login = { admin, adminpassword: password, uniqueid: uniqueId };
    const body = { url, ...login, name: null, http_user: null, groupids: null };
    const added = await app.rest('POST /sites/add', { body });
    expect([added.status, added.body.data?.id]).toEqual([200, 2]);
    const client = await app.rest('POST /clients/add', { body: { name: 'A', client_email: null } });
    expect([client.status, client.body.data?.email]).toEqual([200, '']);
    expect((await app.rest('POST /clients/add', { body: { name: null } })).status).toBe(400);
  });

  it('is refused as a choice of sites, and as a name in an edit', async () => {
    for (const call of ['POST /sites/disconnect', 'POST /updates/update', 'POST /perf-audit/audit']) {
      const reply = await app.rest(call, { body: { include: null } });
      expect([call, reply.status, reply.body.data?.field]).toEqual([call, 400, 'include']);
    }
    expect((await app.rest('PUT /sites/1/edit', { body: { name: null } })).status).toBe(400);
  });
});
