import { beforeEach, describe, expect, it } from 'vitest';
import { keepRecordTexts } from '../../src/store/sites/inventory-lists.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeEach(async () => {
  app = await restApp({ sites: 4 });
});

/** Domain, port and path of a site of the fleet, as callers write them. */
const domainOf = (i: number) => app.fleet.site(i).url.replace(/^http:\/\/|\/$/g, '');

async function added(i: number, more: object = {}) {
  const { url, admin, password, uniqueId } = app.fleet.site(i);
  return app.rest('POST /sites/add', {
    body: { url, name: `Site ${i}`, admin, adminpassword: password, uniqueid: uniqueId, ...more },
  });
}

describe('adding a site', () => {
  it('connects it, with client, tags and settings', async () => {
    const client = (await app.rest('POST /clients/add', { body: { name: 'Ltd' } })).body.data;
    const tag = (await app.rest('POST /tags/add', { body: { name: 'Shop', color: '#5EC130' } })).body.data;
    const { status, body } = await added(0, { client_id: client.id, groupids: `${tag.id}`, force_use_ipv4: 1 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: 1,
      data: {
        id: 1,
        name: 'Site 0',
        status: 'connected',
        client_id: client.id,
        client_name: 'Ltd',
        tags: { [tag.id]: 'Shop' },
        tag_list: [{ id: tag.id, name: 'Shop', color: '#5EC130' }],
        force_use_ipv4: 1,
        admin_username: app.fleet.site(0).admin,
      },
    });
    expect(JSON.stringify(body)).not.toContain(app.fleet.site(0).password);
  });

  it('says what was wrong, in words of the interface', async () => {
    await added(0);
    const again = await added(0);
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ success: 0, code: 'svc_rest_site_exists', data: { status: 409, found_id: 1 } });
    const url = await added(1, { url: 'ftp://example.com' });
    expect(url.body).toMatchObject({ code: 'rest_invalid_param', data: { params: { url: expect.any(String) } } });
    expect((await added(1, { client_id: 77 })).body.code).toBe('svc_rest_invalid_client_id');
    const tags = await added(1, { groupids: '5,6' });
    expect(tags.body.data.params.groupids).toBe('names tags that do not exist: 5, 6');
    const password = await added(1, { adminpassword: 'wrong' });
    expect([password.status, password.body.code]).toEqual([422, 'svc_invalid_credentials']);
    expect(password.body.data.field).toBe('adminpassword');
    expect(password.body.data.advice).toMatch(/\badminpassword\b/);
    expect(JSON.stringify(password.body)).not.toContain('admin_password');
    app.fleet.site(2).uniqueId = 'secret-id';
    const unique = await added(2, { uniqueid: undefined });
    expect([unique.status, unique.body.code]).toEqual([409, 'svc_rest_unique_id_required']);
    const wrong = await added(2, { uniqueid: 'other-id' });
    expect([wrong.status, wrong.body.data.field]).toEqual([422, 'uniqueid']);
    expect(JSON.stringify(wrong.body)).not.toContain('unique_id');
    expect((await app.rest('GET /sites/count')).body).toMatchObject({ success: 1, total: 1, count: 1 });
  });
});

describe('lists', () => {
  beforeEach(async () => {
    for (const i of [2, 0, 1]) await added(i);
  });

  it('lists full records by name, or identifying fields only', async () => {
    const { body, headers } = await app.rest('GET /sites');
    expect(body).toMatchObject({ success: 1, total: 3, page: 1, per_page: 100, pages: 1 });
    expect(body.data.map((site: { name: string }) => site.name)).toEqual(['Site 0', 'Site 1', 'Site 2']);
    const [first] = body.data;
    expect(first).toMatchObject({ tags: {}, tag_list: [], plugins: expect.any(Array), verify_certificate: 1 });
    expect(first.plugins.length).toBe(app.fleet.site(0).state.plugins.length);
    expect(first.stats.plugin_updates).toBe(Object.keys(first.plugin_upgrades).length);
    for (const name of ['private_key', 'regverify', 'http_user', 'http_pass', 'unique_id', 'uniqueid'])
      expect(first).not.toHaveProperty(name);
    expect(headers.get('x-wp-total')).toBe('3');
    const slim = await app.rest('GET /sites?full_data=false&with_tags=0&per_page=2');
    expect(slim.body).toMatchObject({ page: 1, per_page: 2, pages: 2 });
    expect(slim.body.data).toEqual([
      { id: 2, name: 'Site 0', url: app.fleet.site(0).url, status: 'connected', client_id: null },
      { id: 3, name: 'Site 1', url: app.fleet.site(1).url, status: 'connected', client_id: null },
    ]);
    expect(slim.headers.get('link')).toContain('rel="next"');
    const basic = await app.rest('GET /sites/basic?page=2');
    expect(basic.body).toMatchObject({ total: 3, page: 2, per_page: 20, data: [] });
  });

  it('leads to pages as long as this one, where the call names neither page nor length', async () => {
    // More than the 100 of such a call; never contacted.
    const columns = (
      await app.db.all<{ name: string }>(
        "SELECT name FROM pragma_table_info('site') WHERE name NOT IN ('id', 'url', 'url_key', 'status')",
      )
    ).map(({ name }) => name);
    for (let id = 1_000; id < 1_120; id++)
      await app.db.run(
        `INSERT INTO site (id, url, url_key, ${columns}) SELECT ?1, 'https://s' || ?1 || '.example/', 's' || ?1, ${columns} FROM site WHERE id = 2`,
        [id],
      );
    await app.db.run('INSERT INTO site_detail (site_id) SELECT id FROM site WHERE id >= 1000');
    for (const list of ['GET /sites?full_data=false', 'GET /sites/basic']) {
      const seen: number[] = [];
      const first = await app.rest(list);
      const links = (reply: typeof first) =>
        Object.fromEntries(
          [...(reply.headers.get('link') ?? '').matchAll(/<[^>]*\/v2([^>]+)>; rel="(\w+)"/g)].map(([, to, rel]) => [
            rel,
            to,
          ]),
        );
      let next: typeof first | undefined = first;
      while (next !== undefined) {
        seen.push(...next.body.data.map(({ id }: { id: number }) => id));
        const to: string | undefined = links(next).next;
        next = to === undefined ? undefined : await app.rest(`GET ${to}`);
      }
      expect([seen.length, new Set(seen).size]).toEqual([first.body.total, first.body.total]);
      const last = await app.rest(`GET ${links(first).last}`);
      expect(last.body).toMatchObject({
        page: first.body.pages,
        per_page: 100,
        data: { length: first.body.total - 100 },
      });
      expect((await app.rest(`GET ${links(last).prev}`)).body.data).toEqual(first.body.data);
    }
    await app.db.run('DELETE FROM site WHERE id >= 1000');
  });

  it('goes on by the cursor of the page before, in any order', async () => {
    const { next_cursor: toSecond } = (await app.rest('GET /sites?per_page=1')).body;
    const second = await app.rest(`GET /sites?per_page=1&cursor=${toSecond}&full_data=false`);
    expect(second.body).toMatchObject({ total: 3, page: 2, per_page: 1, pages: 3, data: [{ name: 'Site 1' }] });
    const link = /^<([^>]+)>; rel="next"$/.exec(second.headers.get('link') ?? '')?.[1] ?? '';
    expect(new URL(link).searchParams.get('cursor')).toBe(second.body.next_cursor);
    const last = await app.rest(`GET /sites${new URL(link).search}`);
    expect(last.body).toMatchObject({ page: 3, data: [{ name: 'Site 2' }] });
    expect(last.body).not.toHaveProperty('next_cursor');
    expect(last.headers.get('link')).toBeNull();
    // The next cursor is the same whether a page was requested by cursor or by number.
    expect((await app.rest('GET /sites?per_page=1&page=2')).body.next_cursor).toBe(second.body.next_cursor);
    for (const orderby of ['name', 'url', 'id', 'last_sync'])
      for (const order of ['asc', 'desc']) {
        const list = `GET /sites/basic?orderby=${orderby}&order=${order}`;
        const walked: number[] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const { body } = await app.rest(`${list}&per_page=2&cursor=${cursor}`);
          walked.push(...body.data.map(({ id }: { id: number }) => id));
          cursor = body.next_cursor;
        }
        expect(walked).toEqual((await app.rest(list)).body.data.map(({ id }: { id: number }) => id));
      }
    for (const query of ['orderby=url', 'order=desc', 'search=Site', 'exclude=1', 'status=connected']) {
      const { status, body } = await app.rest(`GET /sites/basic?cursor=${toSecond}&${query}`);
      expect([status, body.message]).toEqual([400, expect.stringContaining('other filters or another order')]);
      expect(body.data.field).toBe('cursor');
    }
    expect((await app.rest(`GET /sites?cursor=${toSecond}&page=2`)).body.data.field).toBe('page');
  });

  it('filters: every status is counted once, a comma list matches any', async () => {
    await app.rest('POST /sites/1/suspend');
    app.fleet.site(0).faults.offline = true;
    await app.rest('POST /sites/2/sync');
    const count = async (query: string) => (await app.rest(`GET /sites/count?${query}`)).body.count;
    const states = await Promise.all(['connected', 'disconnected', 'suspended'].map((s) => count(`status=${s}`)));
    expect(states).toEqual([1, 1, 1]);
    expect(await count('status=any')).toBe(3);
    expect(await count('status=connected,%20suspended')).toBe(2);
    expect(await count('include=1,-3,3&exclude=3')).toBe(1);
    expect(await count('include[]=1&include[]=2')).toBe(2);
    expect(await count('search=ITE%201')).toBe(1);
    const ids = async (query: string) =>
      (await app.rest(`GET /sites/basic?${query}`)).body.data.map((site: { id: number }) => site.id);
    expect(await ids('orderby=id&order=desc')).toEqual([3, 2, 1]);
    expect(await ids('orderby=name&order=desc')).toEqual([1, 3, 2]);
    for (const site of [1, 2, 3]) await app.rest(`PUT /updates/${site}/ignore/plugins`);
    for (const site of [1, 2]) {
      await app.rest(`PUT /updates/${site}/ignore/themes`);
      await app.rest(`PUT /updates/${site}/ignore/wp`);
    }
    await app.rest('PATCH /sites/3/edit', { body: { ignore_plugin_updates: 0 } });
    const offers = await ids('orderby=id&status=available_update');
    expect(offers).toContain(3);
    expect(await ids('orderby=id&status=available_update,suspended')).toEqual([...new Set([1, ...offers])].sort());
    const wrong = await app.rest('GET /sites?status=nonsense');
    expect(wrong.body.data.params).toHaveProperty('status[0]');
  });

  it('searches the digits of ids beside names and URLs', async () => {
    await app.db.run("UPDATE sqlite_sequence SET seq = 987654320 WHERE name = 'site'");
    await added(3);
    for (const part of ['987654321', '8765432', '%209876%20', '98']) {
      const { body } = await app.rest(`GET /sites/basic?search=${part}&include=1,2,987654321`);
      const digits = part.replaceAll('%20', '');
      const fits = (site: { id: number; url: string }) => site.id > 3 || (site.id < 3 && site.url.includes(digits));
      const want = (await app.rest('GET /sites/basic')).body.data.filter(fits).map((site: { id: number }) => site.id);
      expect([body.total, body.data.map((site: { id: number }) => site.id)]).toEqual([want.length, want]);
      const { count } = (await app.rest(`GET /sites/count?search=${part}&include=1,2,987654321`)).body;
      expect(count).toBe(want.length);
    }
    // Monitors are searched by name and URL only.
    expect((await app.rest('GET /monitors/count?search=987654321')).body.count).toBe(0);
  });

  it('shows of a plugin what each site says of it itself', async () => {
    // In the order in which they were added.
    const plugins = (id: 1 | 2) => app.fleet.site(id === 1 ? 2 : 0).state.plugins;
    const slug = plugins(1).find((one) => plugins(2).some((other) => other.slug === one.slug))?.slug;
    const say = (id: 1 | 2, description: string) => {
      const plugin = plugins(id).find((one) => one.slug === slug);
      Object.assign(plugin ?? {}, { name: 'Shop', description });
    };
    const shown = async (site: number) => {
      const { data } = (await app.rest(`GET /sites/${site}`)).body;
      const { data: alone } = (await app.rest(`GET /sites/${site}/plugins`)).body;
      const of = (list: { slug: string; description: string }[]) => list.find((one) => one.slug === slug)?.description;
      expect(of(alone)).toBe(of(data.plugins));
      return of(data.plugins);
    };
    for (const [mine, theirs] of [
      ['Sells things.', 'Sells things.'],
      ['Sells things.', 'Call 0900 12345 to renew.'],
      ['Sells things.', ''],
      ['Sells more things.', 'Sells things.'],
    ] as const) {
      say(1, mine);
      say(2, theirs);
      await app.call('sync-sites', { site_ids_or_domains: [1, 2] });
      expect([await shown(1), await shown(2)]).toEqual([mine, theirs]);
    }
  });

  it('says of each site what the record of the one site says, byte by byte', async () => {
    const odd = [
      '"quoted" \\ back',
      'tab\t, line\n, escape\u001b, delete\u007f',
      'Ünïcödé \u2028 😀 </script>',
      '{"a":[1]}',
    ];
    const { state } = app.fleet.site(0);
    const stored = () => app.db.one('SELECT count(*) AS n FROM site_record_text WHERE site_id IN (1, 2, 3)');
    await app.call('sync-sites', { site_ids_or_domains: [1, 2, 3] });
    expect(await stored()).toEqual({ n: 3 });
    for (const [i, text] of odd.entries())
      await app.db.run(
        'UPDATE package SET name = ?, description = ? WHERE id = (SELECT id FROM package LIMIT 1 OFFSET ?)',
        [text, text.repeat(3), i * 3],
      );
    await app.db.run('UPDATE site_extension SET version = ?, flags = 3, active = 1 - active WHERE site_id = 1', [
      odd[0] ?? '',
    ]);
    await app.db.run('UPDATE site_extension SET position = 50 - position, update_version = ? WHERE site_id = 2', [
      odd[1] ?? '',
    ]);
    await app.db.run('UPDATE site_extension SET flags = 4 WHERE site_id = 3 AND kind = 1 AND active = 0');
    await app.db.run('UPDATE site_detail SET notes = ? WHERE site_id = 1', [odd[2] ?? '']);
    const tag = (await app.rest('POST /tags/add', { body: { name: odd[3] } })).body.data.id;
    await app.rest('PATCH /sites/2/edit', { body: { groupids: `${tag}` } });
    await app.rest('POST /updates/2/ignore/plugins', { body: { slug: state.plugins[0]?.slug } });
    await app.rest('POST /sites/3/suspend');
    await app.db.run('DELETE FROM site_extension WHERE site_id = 3 AND kind = 0');
    await app.db.run('DELETE FROM site_document WHERE site_id = 3');
    const text = async (path: string) => {
      const headers = { Authorization: `Bearer ${app.tokens.read}` };
      return (await app.http.request(`http://127.0.0.1/v2${path}`, { headers })).text();
    };
    const records = await Promise.all(
      [2, 3, 1].map(async (id) => (await text(`/sites/${id}`)).slice('{"success":1,"data":'.length, -1)),
    );
    const around = (data: string) => `{"success":1,"total":3,"page":1,"per_page":100,"data":[${data}],"pages":1}`;
    expect(await text('/sites')).toBe(around(records.join(',')));
    expect(records[2]).toContain(JSON.stringify(odd[0]));
    // The texts stored by a sync equal those built without them.
    expect(await stored()).toEqual({ n: 0 });
    await app.db.batch([1, 2, 3].map(keepRecordTexts));
    expect(await stored()).toEqual({ n: 3 });
    expect(await text('/sites')).toBe(around(records.join(',')));
    // Each member alone, and random selections, equal the corresponding part of the whole record.
    const whole = records.map((record) => JSON.parse(record) as Record<string, unknown>);
    const names = Object.keys(whole[0] ?? {});
    const random = (n: number) => (n * 7919) % 13 < 4;
    const choices = [
      ...names.map((name) => [name]),
      ...[1, 2, 3].map((k) => names.filter((_, i) => random(i * k + k))),
    ];
    for (const chosen of choices) {
      const cut = whole.map((record) =>
        Object.fromEntries(names.filter((name) => chosen.includes(name)).map((name) => [name, record[name]])),
      );
      expect(await text(`/sites?_fields=${chosen.join(',')}`)).toBe(around(JSON.stringify(cut).slice(1, -1)));
    }
  });

  it('gives back only the fields that were asked for', async () => {
    const { body } = await app.rest('GET /sites?_fields=id,stats.health_score');
    expect(Object.keys(body.data[0])).toEqual(['id', 'stats']);
    expect(Object.keys(body.data[0].stats)).toEqual(['health_score']);
  });

  it('does so for the items of lists that are keyed, too, and keeps their keys', async () => {
    const cost = { name: 'Hosting', price: 12.5, renewal_type: 'monthly', sites: '1,2', last_renewal: '2026-11-01' };
    await app.rest('POST /costs/add', { body: cost });
    await app.db.run(
      "INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key) VALUES (1, 0, 'old/old.php', 'Old', '1', 1, '')",
    );
    const lists: [path: string, member: string][] = [
      ['/ssl-monitor/info', 'url'],
      ['/domain-monitor/profiles', 'name'],
      ['/updates', 'plugins'],
      ['/updates/1', 'plugins'],
      ['/sites/1/costs', 'amount'],
      ['/sites/1/plugins/abandoned', 'last_updated'],
      ['/posts', 'title'],
      ['/comments', 'comment_author'],
    ];
    for (const [path, member] of lists) {
      const { data: whole } = (await app.rest(`GET ${path}`)).body;
      const { data } = (await app.rest(`GET ${path}?_fields=${member},nothing`)).body;
      const cut = (item: object) => Object.fromEntries(Object.entries(item).filter(([name]) => name === member));
      const want = Object.entries(whole).map(([key, item]) => [
        key,
        Array.isArray(item) ? item.map(cut) : cut(item as object),
      ]);
      expect(want.length, path).toBeGreaterThan(0);
      expect(JSON.stringify(want), path).toContain(member);
      expect([path, data]).toEqual([path, Object.fromEntries(want)]);
    }
    // Here the keys are members.
    const settings = await app.rest('GET /settings/general?_fields=date_format');
    expect(Object.keys(settings.body.data)).toEqual(['date_format']);
    expect(Object.keys((await app.rest('GET /updates/ignored?_fields=themes')).body.data)).toEqual(['themes']);
  });
});

describe('one site', () => {
  beforeEach(async () => {
    await added(0);
  });

  it('is found by id, by domain with port, by URL, and by nothing else', async () => {
    for (const ref of ['1', encodeURIComponent(domainOf(0)), encodeURIComponent(app.fleet.site(0).url)])
      expect((await app.rest(`GET /sites/${ref}`)).body.data).toMatchObject({ id: 1 });
    expect((await app.rest('GET /sites/77')).body).toMatchObject({
      code: 'svc_rest_invalid_site_id',
      data: { status: 404 },
    });
    expect((await app.rest('GET /sites/example.org')).body.code).toBe('svc_rest_invalid_site_data');
    // The bare host never refers to a site below a path.
    const host = new URL(app.fleet.site(0).url).host;
    expect((await app.rest(`GET /sites/${encodeURIComponent(host)}`)).status).toBe(404);
    expect((await app.rest(`GET /sites/${encodeURIComponent(`${domainOf(0)}/blog`)}`)).status).toBe(404);
    expect((await app.rest('GET /sites/%zz')).body.code).toBe('rest_no_route');
  });

  it('changes only what was sent, and null clears', async () => {
    const tag = (await app.rest('POST /tags/add', { body: { name: 'A' } })).body.data.id;
    const edit = await app.rest('PATCH /sites/1/edit', {
      body: {
        name: 'New',
        groupids: `${tag}`,
        notes: 'n',
        http_user: 'u',
        http_pass: 'p',
        backup_before_upgrade: 1,
        sslversion: 7,
        healththreshold: 80,
        monitoring_emails: 'a@example.com, b@example.com',
        automatic_update: 'yes',
      },
    });
    expect(edit.body).toMatchObject({
      success: 1,
      group_updated: true,
      data: {
        name: 'New',
        notes: 'n',
        note: 'n',
        tags: { [tag]: 'A' },
        backup_before_upgrade: 1,
        ssl_version: 7,
        health_threshold: 80,
        automatic_update: 1,
        monitoring_emails: ['a@example.com', 'b@example.com'],
      },
    });
    expect((await app.service.store.sites.connections([1])).get(1)).toMatchObject({ http_user: 'u', http_pass: 'p' });
    const cleared = await app.rest('PUT /sites/1/edit', {
      body: { notes: null, groupids: '', http_user: '', http_pass: null, monitoring_emails: null },
    });
    expect(cleared.body.data).toMatchObject({ name: 'New', notes: '', tags: {}, monitoring_emails: [] });
    expect((await app.service.store.sites.connections([1])).get(1)).toMatchObject({ http_user: null, http_pass: null });
    expect((await app.rest('GET /sites/basic?search=new')).body.total).toBe(1);
  });

  it('refuses an edit as a whole, naming every field', async () => {
    const bad = await app.rest('POST /sites/1/edit', {
      body: { name: '', force_use_ipv4: 3, suspended: 'maybe', monitoring_emails: 'nobody' },
    });
    expect(Object.keys(bad.body.data.params).sort()).toEqual([
      'force_use_ipv4',
      'monitoring_emails[0]',
      'name',
      'suspended',
    ]);
    expect(bad.body.data.params.suspended).toBe('must be 0 or 1');
    for (const [body, field] of [
      [{ tags: { 1: 'Shops' } }, 'tags'],
      [{ sslversion: 3 }, 'sslversion'],
      [{ name: 'X', groupids: '99' }, 'groupids'],
    ] as const) {
      const reply = await app.rest('POST /sites/1/edit', { body });
      expect([reply.status, Object.keys(reply.body.data.params)]).toEqual([400, [field]]);
    }
    expect((await app.rest('POST /sites/1/edit')).body.code).toBe('empty_body');
    expect((await app.rest('POST /sites/1/edit', { body: { name: 'X', client_id: 9 } })).status).toBe(404);
    expect((await app.rest('GET /sites/1')).body.data.name).toBe('Site 0');
  });

  it('disconnects for real, and comes back by reconnect', async () => {
    const off = await app.rest('PUT /sites/1/disconnect');
    expect(off.body).toMatchObject({ success: 1, data: { id: 1, status: 'disconnected' } });
    expect(app.fleet.site(0).state.connection).toBeNull();
    const live = await app.rest('POST /sites/1/plugins/activate', { body: { slug: 'x' } });
    expect([live.status, live.body.code]).toEqual([409, 'svc_site_disconnected']);
    const back = await app.rest('POST /sites/1/reconnect');
    expect(back.body).toMatchObject({ success: 1, data: { status: 'connected' } });
    expect(app.fleet.site(0).state.connection).not.toBeNull();
    expect((await app.rest('POST /sites/1/reconnect')).body.message).toContain('already');
  });

  it.each(['http500', 'firewall'] as const)(
    '%s: a sync and a reconnection fail with the codes of the routes',
    async (fault) => {
      app.fleet.site(0).faults[fault] = true;
      const sync = await app.rest('POST /sites/1/sync');
      expect([sync.status, sync.body.code]).toEqual([502, 'svc_child_error']);
      expect(sync.body.data).toMatchObject({ status: 502, site_id: 1, advice: expect.any(String) });
      const back = await app.rest('PUT /sites/1/reconnect');
      expect([back.status, back.body.code]).toEqual([502, 'svc_rest_reconnect_site_error']);
      expect(back.body.message).toBe(sync.body.message);
      const { body } = await app.rest('POST /sites/batch', { body: { sync: [1], reconnect: [1] } });
      expect([body.sync[0].error.code, body.reconnect[0].error.code]).toEqual([sync.body.code, back.body.code]);
      // The operations have codes of their own for it.
      expect((await app.fail('reconnect-site', { site_id_or_domain: 1 })).code).toBe('svc_reconnect_failed');
    },
  );

  it('a site that gives no answer is svc_site_offline of a sync', async () => {
    app.fleet.site(0).faults.offline = true;
    const sync = await app.rest('POST /sites/1/sync');
    expect([sync.status, sync.body.code]).toEqual([503, 'svc_site_offline']);
    expect((await app.rest('PUT /sites/1/reconnect')).body.code).toBe('svc_rest_reconnect_site_error');
  });

  it('marks a site as disconnected although it cannot be reached', async () => {
    app.fleet.site(0).faults.offline = true;
    const off = await app.rest('PUT /sites/1/disconnect');
    expect(off.body).toMatchObject({ success: 1, data: { status: 'disconnected' } });
    expect(off.body.message).toContain('did not confirm this, and may still have');
    app.fleet.site(0).faults.offline = false;
    expect((await app.rest('POST /sites/1/sync')).body.data.status).toBe('connected');
  });

  it('suspends and unsuspends, again and again', async () => {
    for (let i = 0; i < 2; i++)
      expect((await app.rest('POST /sites/1/suspend')).body).toMatchObject({
        suspended: 1,
        data: { status: 'suspended' },
      });
    const sync = await app.rest('POST /sites/1/sync');
    expect([sync.status, sync.body.code]).toEqual([409, 'svc_site_suspended']);
    expect((await app.rest('GET /sites/1/security')).body.code).toBe('svc_site_suspended');
    for (let i = 0; i < 2; i++)
      expect((await app.rest('POST /sites/1/unsuspend')).body).toMatchObject({
        suspended: 0,
        data: { status: 'connected' },
      });
  });

  it('checks: a site that is down is a result', async () => {
    const up = await app.rest('POST /sites/1/check');
    expect(up.body.data).toMatchObject({ status: 'connected', http_code: 200, reachable: true });
    expect((await app.rest('GET /sites/1')).body.data).toMatchObject({ http_status: '200 - OK', http_code: 200 });
    app.fleet.site(0).faults.offline = true;
    const down = await app.rest('POST /sites/1/check');
    expect(down.body.data).toMatchObject({ status: 'disconnected', http_code: 0, reachable: false });
  });

  it('looks at security now, and keeps what it saw', async () => {
    const { body } = await app.rest('GET /sites/1/security');
    expect(body.data).toMatchObject({ sslprotocol: 'N', security_issues: expect.any(Array) });
    expect(body.data.security_issues).toContainEqual(
      expect.objectContaining({ type: 'sslprotocol', severity: 'high' }),
    );
    app.fleet.site(0).state.debug = true;
    expect((await app.rest('GET /sites/1/security')).body.data.debug_disabled).toBe('N');
    const stored = await app.call('get-site-security', { site_id_or_domain: 1 });
    expect(stored.security_issues.map((issue: { type: string }) => issue.type)).toContain('debug_disabled');
    app.fleet.site(0).faults.offline = true;
    const offline = await app.rest('GET /sites/1/security');
    expect([offline.status, offline.body.code]).toEqual([503, 'svc_site_offline']);
  });

  it('lists changes made on the site, what was done through the service, and both', async () => {
    const all = await app.rest('GET /sites/1/non-mainwp-changes?source=all');
    expect(all.body.total).toBeGreaterThan(0);
    const times = all.body.data.map((change: { created: number }) => change.created);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    const plugins = await app.rest('GET /sites/1/non-mainwp-changes?contexts=plugins&order=asc&per_page=200');
    for (const change of plugins.body.data) expect(['plugin', 'plugins']).toContain(change.context);
    const count = await app.rest('GET /sites/1/non-mainwp-changes?total_count=1');
    const ours = await app.rest('GET /sites/1/non-mainwp-changes?source=dashboard&total_count=1');
    expect(count.body.data).toEqual({ total: all.body.total - ours.body.total });
    expect((await app.rest('GET /sites/1/non-mainwp-changes?source=elsewhere')).status).toBe(400);
  });

  it('shows client and costs', async () => {
    expect((await app.rest('GET /sites/1/client')).body).toMatchObject({ success: 1, data: null });
    const client = (await app.rest('POST /clients/add', { body: { name: 'Ltd', selected_sites: '1' } })).body.data;
    expect((await app.rest('GET /sites/1/client')).body.data).toMatchObject({ client_id: client.id, name: 'Ltd' });
    expect((await app.rest('GET /sites/1/costs')).body).toMatchObject({ success: 1, total: 0, data: {} });
    const cost = await app.rest('POST /costs/add', {
      body: { name: 'Hosting', price: 12.5, renewal_type: 'monthly', sites: '1', last_renewal: '2026-11-01' },
    });
    const { body } = await app.rest('GET /sites/1/costs');
    expect(body).toMatchObject({ total: 1, total_monthly: 12.5, total_yearly: 150 });
    expect(body.data[cost.body.data.id]).toMatchObject({
      name: 'Hosting',
      price: '12.5',
      amount: 12.5,
      next_due: '2026-12-01',
    });
  });

  it('removes a site that does not answer, and claims nothing of its plugin', async () => {
    app.fleet.site(0).faults.pluginMissing = true;
    const { body } = await app.rest('DELETE /sites/1/remove');
    expect(body.message).toBe(
      'The site was removed. Its child plugin did not confirm this and may still be active on the site.',
    );
  });

  it('removes a site and tells the child', async () => {
    const { body } = await app.rest('DELETE /sites/1/remove');
    expect(body).toMatchObject({ success: 1, data: { id: 1 } });
    expect(app.fleet.site(0).state.pluginActive).toBe(false);
    expect((await app.rest('GET /sites/1')).status).toBe(404);
    expect((await app.rest('DELETE /sites/1/remove')).body.code).toBe('svc_rest_invalid_site_id');
  });
});

describe('plugins and themes', () => {
  beforeEach(async () => {
    await added(0);
  });
  const plugins = () => app.fleet.site(0).state.plugins;

  it('lists and filters what is installed', async () => {
    const { body } = await app.rest('GET /sites/1/plugins');
    expect(body.total).toBe(plugins().length);
    expect(body.site).toEqual({
      id: 1,
      name: 'Site 0',
      url: app.fleet.site(0).url,
      client_id: null,
      status: 'connected',
    });
    expect(body.data.find((p: { is_child_agent: boolean }) => p.is_child_agent).slug).toContain('mainwp-child');
    const active = await app.rest('GET /sites/1/plugins?status=active&page=1&per_page=2');
    expect(active.body.data).toHaveLength(2);
    expect(active.body.total).toBe(plugins().filter((p) => p.active).length);
    const needle = plugins()[0]?.name.toUpperCase() ?? '';
    expect((await app.rest(`GET /sites/1/plugins?search=${encodeURIComponent(needle)}`)).body.total).toBeGreaterThan(0);
    const mu = (await app.rest('GET /sites/1/plugins?must_use=true')).body.total;
    const plain = (await app.rest('GET /sites/1/plugins?must_use=false')).body.total;
    expect(mu + plain).toBe(plugins().length);
    const themes = await app.rest('GET /sites/1/themes');
    expect(themes.body.data.filter((t: { active: number }) => t.active === 1)).toHaveLength(1);
  });

  it('acts on several, one failure leaves the others', async () => {
    const target = plugins().find((p) => p.active && !p.mustUse && !p.slug.startsWith('mainwp-child'))?.slug ?? '';
    const child = plugins().find((p) => p.slug.startsWith('mainwp-child'))?.slug ?? '';
    const off = await app.rest('POST /sites/1/plugins/deactivate', {
      body: { slug: `${target}, no/such.php,${child}` },
    });
    expect(off.status).toBe(200);
    expect(off.body.data).toEqual([{ slug: target, name: expect.any(String), version: expect.any(String) }]);
    expect(off.body.errors).toMatchObject([
      { slug: 'no/such.php', code: 'not_installed' },
      { slug: child, code: 'protected_item' },
    ]);
    expect(plugins().find((p) => p.slug === target)?.active).toBe(false);
    const gone = await app.rest(`DELETE /sites/1/plugins/delete?slug=${encodeURIComponent(target)}`);
    expect(gone.body).toMatchObject({ success: 1, message: '1 plugin was deleted.' });
    expect(plugins().some((p) => p.slug === target)).toBe(false);
  });

  it('fails as a whole when nothing was done', async () => {
    const inactive = plugins().find((p) => !p.active && !p.mustUse)?.slug ?? '';
    app.fleet.site(0).faults.falseSuccess = true;
    const refused = await app.rest('POST /sites/1/plugins/activate', { body: { slug: [inactive] } });
    expect([refused.status, refused.body.code]).toEqual([502, 'svc_rest_activate_plugins_action']);
    const unknown = await app.rest('PATCH /sites/1/plugins/activate', { body: { slug: 'a/b.php' } });
    expect([unknown.status, unknown.body.code]).toEqual([400, 'svc_rest_invalid_plugins_slugs']);
    const none = await app.rest('PATCH /sites/1/plugins/activate', { body: { slug: ' , ' } });
    expect(none.body.code).toBe('svc_rest_invalid_plugins_slugs');
    expect((await app.rest('PATCH /sites/1/plugins/activate', { body: {} })).body.data.params).toEqual(['slug']);
    app.fleet.site(0).faults = { offline: true };
    const offline = await app.rest('POST /sites/1/plugins/activate', { body: { slug: inactive } });
    expect([offline.status, offline.body.code]).toEqual([503, 'svc_site_offline']);
    // It did not say that it has none of these.
    for (const call of ['POST /sites/1/plugins/activate?slug=a/b.php', 'DELETE /sites/1/themes/delete?slug=zzz']) {
      const { status, body } = await app.rest(call);
      expect([status, body.code]).toEqual([503, 'svc_site_offline']);
      expect(body.data.errors).toMatchObject([{ code: 'svc_site_offline' }]);
    }
  });

  it('pages only where both the page and its length are given', async () => {
    for (const kind of ['plugins', 'themes']) {
      const whole = (await app.rest(`GET /sites/1/${kind}`)).body.data;
      expect(whole.length).toBeGreaterThan(2);
      for (const query of ['per_page=2', 'page=2']) {
        const { body } = await app.rest(`GET /sites/1/${kind}?${query}`);
        expect(body.data).toEqual(whole);
        expect(body).not.toHaveProperty('page');
      }
      const second = (await app.rest(`GET /sites/1/${kind}?page=2&per_page=2`)).body;
      expect(second).toMatchObject({ page: 2, per_page: 2, data: whole.slice(2, 4) });
    }
  });

  it('switches and deletes themes', async () => {
    const { themes, activeTheme } = app.fleet.site(0).state;
    const parent = themes.find((t) => t.slug === activeTheme)?.parent;
    const other = themes.find((t) => t.slug !== activeTheme && t.slug !== parent && t.parent === '')?.slug ?? '';
    const refused = await app.rest(`DELETE /sites/1/themes/delete?slug=${activeTheme}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'svc_rest_conflict']);
    expect(refused.body.data.errors).toMatchObject([{ slug: activeTheme, code: 'theme_in_use' }]);
    expect(refused.body.message).toContain('switch the site to another theme first');
    const switched = await app.rest('POST /sites/1/themes/activate', { body: { slug: other } });
    expect(switched.body.data).toMatchObject({ activate: { slug: other }, deactivate: { slug: activeTheme } });
    expect(app.fleet.site(0).state.activeTheme).toBe(other);
    const two = await app.rest('POST /sites/1/themes/activate', { body: { slug: 'a,b' } });
    expect([two.status, two.body.code]).toEqual([400, 'svc_rest_invalid_themes_slugs']);
    expect((await app.rest('POST /sites/1/themes/activate', { body: { slug: 'zzz' } })).body.code).toBe(
      'svc_rest_invalid_themes_slugs',
    );
    const gone = await app.rest(`DELETE /sites/1/themes/delete?slug=${activeTheme},${other}`);
    expect(gone.body.data).toMatchObject({ delete: [{ slug: activeTheme }], error: [{ slug: other }] });
  });

  it('finds names with letters beyond ASCII, however they are written', async () => {
    const name = 'Ärzte ΟΔΟΣ';
    await app.db.run('UPDATE package SET name = ? WHERE kind = 0 AND slug = ?', [name, plugins()[0]?.slug ?? '']);
    await app.db.run(
      "INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key) VALUES (1, 0, 'old/old.php', ?, '1', 1, '')",
      [name],
    );
    await app.db.run(
      "INSERT INTO ignored_update (site_id, type, slug, version, name) VALUES (1, 1, 'a/a.php', '*', ?)",
      [name],
    );
    await app.db.run("INSERT INTO ignored_everywhere (type, slug, version, name) VALUES (1, 'b/b.php', '*', ?)", [
      name,
    ]);
    for (const part of ['οδος', 'οδοσ', 'ΟΔΟΣ', 'ÄRZTE', 'A\u0308rzte', ' ärzte ']) {
      const get = async (path: string) => (await app.rest(`GET ${path}?search=${encodeURIComponent(part)}`)).body;
      expect([part, (await get('/sites/1/plugins')).total]).toEqual([part, 1]);
      expect([part, (await get('/sites/1/plugins/abandoned')).total]).toEqual([part, 1]);
      expect([part, Object.keys((await get('/updates/ignored')).data.plugins)]).toEqual([part, ['b/b.php']]);
      const ofSite = Object.keys((await get('/updates/1/ignored')).data.plugins);
      expect([part, ofSite]).toEqual([part, ['a/a.php', 'b/b.php']]);
    }
  });

  it('keys abandoned items by slug', async () => {
    const { body } = await app.rest('GET /sites/1/plugins/abandoned');
    expect(body.total).toBe(Object.keys(body.data).length);
    for (const [slug, entry] of Object.entries(body.data))
      expect(entry).toMatchObject({
        slug,
        Name: expect.any(String),
        last_updated_at: expect.stringMatching(/^\d{4}-/),
      });
    expect((await app.rest('GET /sites/1/themes/abandoned?search=zzzz')).body).toMatchObject({ total: 0, data: {} });
  });
});
