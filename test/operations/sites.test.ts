/** Sites: connecting, reading, changing, removing (operations §8.1). */

import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { beforeEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import { holdBack, runOutOfTime } from '../support/hold-back.js';
import { listenLocally } from '../support/local-server.js';
import { type CheckedApp, checkedApp, offers } from './checked-app.js';

const pluck = (items: Record<string, unknown>[], name: string) => items.map((item) => item[name]);

describe('the main job', () => {
  it('connects, reads, syncs and updates a plugin', async () => {
    const app = await checkedApp({ sites: 1 });
    const id = await app.connect(0);
    const { plugins } = offers(app.site(0), { plugins: 1 });
    expect(await app.call('sync-sites')).toMatchObject({ queued: false, total_synced: 1, total_errors: 0, errors: [] });
    const { updates } = await app.call('get-site-updates', { site_id_or_domain: id, types: ['plugins'] });
    expect(pluck(updates, 'slug')).toEqual(pluck(plugins as never, 'slug'));
    const [offer] = updates;
    const done = await app.call('update-site-plugins', { site_id_or_domain: id, slugs: [offer.slug] });
    expect(done.updated).toMatchObject([
      { slug: offer.slug, name: offer.name, old_version: '1.0', new_version: '2.0' },
    ]);
    const after = await app.call('get-site-plugins', { site_id_or_domain: id });
    expect(after.plugins).toContainEqual(
      expect.objectContaining({ slug: offer.slug, version: '2.0', update_version: null }),
    );
  });
});

describe('add-site and get-site', () => {
  let app: CheckedApp;
  beforeEach(async () => {
    app = await checkedApp({ sites: 3 });
  });
  const login = (i: number) => {
    const { url, admin, password, uniqueId } = app.site(i);
    return { url, admin, admin_password: password, unique_id: uniqueId };
  };

  it('says that there is no WordPress, instead of blaming a firewall, only where nothing speaks for one', async () => {
    let [status, front] = [200, '<html><body>Bakery</body></html>'];
    const html: Record<string, string> = { 'Content-Type': 'text/html' };
    let sent = html;
    const server = createServer((request, response) => {
      const isFront = request.method === 'GET' && request.url === '/';
      response.writeHead(isFront ? status : 404, isFront ? sent : html).end(isFront ? front : 'not found');
    });
    const { url } = await listenLocally(server);
    for (status of [200, 404, 403]) {
      const none = await app.fail('add-site', { url: `${url}/`, admin: 'boss', admin_password: 'x' });
      expect([none.code, none.message]).toEqual([
        'svc_connection_failed',
        expect.stringMatching(
          /^No WordPress was found at 127\.0\.0\.1:\d+: .*HTTP 404, and nothing else has a sign of WordPress\.$/,
        ),
      ]);
      expect(none.advice).toMatch(/^Check the address/);
    }
    // What the front page says is not known.
    sent = { ...html, 'Content-Encoding': 'gzip' };
    const unread = await app.fail('add-site', { url: `${url}/`, admin: 'boss', admin_password: 'x' });
    expect(unread.message).toMatch(/without an answer from the child plugin/);
    sent = html;
    front = '<link href="/wp-content/themes/x/style.css">';
    const hidden = await app.fail('add-site', { url: `${url}/`, admin: 'boss', admin_password: 'x' });
    expect([hidden.message, hidden.advice]).toEqual([
      expect.stringMatching(/without an answer from the child plugin/),
      expect.stringMatching(/firewall/),
    ]);
    app.site(0).faults.firewall = true;
    const walled = await app.fail('add-site', login(0));
    expect(walled.message).not.toMatch(/No WordPress/);
  });

  it('advises what a site that is not added yet can do about a failure', async () => {
    const server = createHttpsServer(
      selfSigned({ notBefore: 0, notAfter: Date.UTC(2090, 0, 1) }),
      (_request, response) => response.end('x'),
    );
    const { port } = await listenLocally(server as unknown as Server);
    const tls = await app.fail('add-site', { url: `https://127.0.0.1:${port}/`, admin: 'boss', admin_password: 'x' });
    expect([tls.code, tls.data.failure]).toEqual(['svc_connection_failed', 'tls']);
    expect(tls.advice).toMatch(/add the site with ssl_verify: false/);
    expect(tls.advice).not.toMatch(/update-site/);
    const moved = await listenLocally(
      createServer((_request, response) => response.writeHead(301, { Location: 'https://other.example/' }).end()),
    );
    const redirected = await app.fail('add-site', { url: `${moved.url}/`, admin: 'boss', admin_password: 'x' });
    expect(redirected.advice).toMatch(/add it with its new address/);
    expect(redirected.advice).not.toMatch(/update-site/);
  });

  it('ends in time on a slow site: one that has registered is stored, and the next sync reads the rest', async () => {
    const reading = holdBack(app.site(0), /^stats$/);
    expect(await runOutOfTime(app, reading, app.call('add-site', { ...login(0), name: 'Slow' }))).toMatchObject({
      id: 1,
      last_sync: null,
      wp_version: '',
    });
    reading.letGo();
    expect(await app.call('sync-sites')).toMatchObject({ total_synced: 1, errors: [] });
    expect(await app.call('get-site', { site_id_or_domain: 1 })).toMatchObject({
      status: 'connected',
      wp_version: app.site(0).state.wpVersion,
    });
    const registering = holdBack(app.site(1), /^register$/);
    const late = await runOutOfTime(app, registering, app.fail('add-site', login(1)));
    expect(late).toMatchObject({ code: 'svc_connection_failed', field: 'url' });
    expect(late.advice).toContain('add it again');
    registering.letGo();
    expect(await app.call('add-site', login(1))).toMatchObject({ status: 'connected', last_sync: expect.any(String) });
    expect(await app.call('count-sites')).toMatchObject({ total: 2 });
  });

  it('stores a site that has registered, too, when the time of a single request is up first', async () => {
    app.ctx().child.configure({ callTimeoutMs: 2_000 });
    const reading = holdBack(app.site(0), /^stats$/);
    const added = app.call('add-site', { ...login(0), name: 'Slow' });
    expect(await runOutOfTime(app, reading, added, 2_000)).toMatchObject({
      status: 'connected',
      last_sync: null,
    });
    app.site(0).faults = {};
    expect(await app.call('sync-sites')).toMatchObject({ total_synced: 1, errors: [] });
    const registering = holdBack(app.site(1), /^register$/);
    expect((await runOutOfTime(app, registering, app.fail('add-site', login(1)), 2_000)).advice).toContain(
      'add it again',
    );
    expect(await app.call('count-sites')).toMatchObject({ total: 1 });
  });

  it('stores what was given and what the site reported', async () => {
    await app.call('add-client', { name: 'Ada' });
    await app.call('add-tag', { name: 'blue' });
    await app.call('add-tag', { name: 'red' });
    const site = app.site(0);
    const added = await app.call('add-site', {
      ...login(0),
      name: ' My <b>shop</b>\n on https://shop.example ',
      client_id: 1,
      tags: [2, 1, 2],
    });
    expect(added).toEqual({
      id: 1,
      url: site.url,
      name: 'My <b>shop</b> on shop.example',
      status: 'connected',
      client_id: 1,
      wp_version: site.state.wpVersion,
      php_version: site.state.phpVersion,
      last_sync: '2026-11-20T12:00:00Z',
      admin_username: site.admin,
      child_version: expect.stringMatching(/^6\./),
      notes: '',
      status_reason: null,
      status_since: null,
      last_check: { reachable: null, http_status: null, checked_at: null },
      tags: [
        { id: 1, name: 'blue' },
        { id: 2, name: 'red' },
      ],
    });
    expect(await app.call('get-site', { site_id_or_domain: site.url })).toEqual(added);
    for (const tag_id of [1, 2]) expect(await app.call('get-tag-sites', { tag_id })).toMatchObject({ total: 1 });
    const { stats } = await app.call('get-site', { site_id_or_domain: 1, include_stats: true });
    expect(stats).toEqual({
      plugin_updates: expect.any(Number),
      theme_updates: expect.any(Number),
      wp_update_available: site.state.wpUpdate !== null,
      health_score: expect.toSatisfy(
        (score: unknown) => score === null || (Number(score) >= 0 && Number(score) <= 100),
      ),
    });
  });

  it('takes the title of the site for a name, and the login in front of the site', async () => {
    app.site(0).faults.httpAuth = { user: 'u', pass: 'p:w' };
    expect(
      await app.call('add-site', { ...login(0), name: ' http:// ', http_user: 'u', http_pass: 'p:w' }),
    ).toMatchObject({
      name: app.site(0).state.title,
      client_id: null,
    });
    expect(await app.call('sync-sites')).toMatchObject({ total_synced: 1 });
    expect(await app.call('check-site', { site_id_or_domain: 1 })).toMatchObject({ reachable: true, http_status: 200 });
  });

  it('keeps brackets and ampersands of a title, and of the names of plugins, which WordPress sends as entities', async () => {
    const title = 'Bäcker & Söhne <Test>';
    const [site] = [app.site(0)];
    site.state.title = title;
    const [plugin] = site.state.plugins;
    if (plugin) plugin.name = 'Tables &amp; &lt;Charts&gt;';
    const { id } = await app.call('add-site', login(0));
    expect(await app.call('get-site', { site_id_or_domain: id })).toMatchObject({ name: title });
    const { plugins } = await app.call('get-site-plugins', { site_id_or_domain: id });
    expect(plugins.map(({ name }: { name: string }) => name)).toContain('Tables & <Charts>');
    const renamed = await app.call('update-site', { site_id_or_domain: id, notes: 'x' });
    expect(renamed).toMatchObject({ name: title });
    // The action log keeps the name of a client unchanged, too.
    await app.call('add-client', { name: 'A &amp; B <Ltd>' });
    await expect.poll(() => app.cell("SELECT name FROM action_log WHERE context = 'client'")).toBe('A &amp; B <Ltd>');
  });

  it('asks again after each sync for a title that was unknown, seven times at most, and never over a given name', async () => {
    const untitled = [0, 1, 2].map((i) => app.site(i));
    const titles = untitled.map(({ state }) => state.title);
    const hosts = untitled.map(({ url }) => new URL(url).hostname);
    for (const { state } of untitled) state.title = '';
    for (const i of [0, 1, 2]) expect(await app.call('add-site', login(i))).toMatchObject({ name: hosts[i] });
    const names = () =>
      Promise.all([1, 2, 3].map(async (id) => (await app.call('get-site', { site_id_or_domain: id })).name));
    // A name chosen by a user, even if it is the same as the current one.
    await app.call('update-site', { site_id_or_domain: 2, name: hosts[1] });
    await app.call('sync-sites');
    expect(await names()).toEqual(hosts);
    for (const i of [0, 1]) app.site(i).state.title = titles[i] ?? '';
    await app.call('sync-sites');
    expect(await names()).toEqual([titles[0], hosts[1], hosts[2]]);
    expect(await app.call('list-sites', { search: titles[0] })).toMatchObject({ total: 1, items: [{ id: 1 }] });
    // Site 3 was asked when it was added, and twice since.
    for (let i = 0; i < 4; i++) await app.call('sync-sites');
    app.site(2).state.title = titles[2] ?? '';
    await app.call('sync-sites');
    expect(await names()).toEqual([titles[0], hosts[1], hosts[2]]);
  });

  it('leaves no scheme in a name, however it is written', async () => {
    await app.connect(0);
    const named = (name: string) => app.call('update-site', { site_id_or_domain: 1, name });
    expect(await named('HTTPS://Shop of http://a.example')).toMatchObject({ name: 'Shop of a.example' });
    expect(await named('hthttps://tp://a.example')).toMatchObject({ name: 'a.example' });
    expect((await app.fail('update-site', { site_id_or_domain: 1, name: 'httphttp://://' })).code).toBe(
      'svc_invalid_input',
    );
  });

  it('stores no password, and secrets only sealed', async () => {
    await app.call('add-site', { ...login(0), http_user: 'franz', http_pass: 'geheim' });
    const rows = JSON.stringify([
      await app.db.all('SELECT * FROM site_secret'),
      await app.db.all('SELECT * FROM site_detail'),
    ]);
    for (const secret of [app.site(0).password, 'geheim', 'franz', 'PRIVATE KEY']) expect(rows).not.toContain(secret);
  });

  it('makes one of two calls for the same site', async () => {
    const outcomes = await Promise.allSettled([app.call('add-site', login(0)), app.call('add-site', login(0))]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'svc_site_already_exists' },
    });
    expect(await app.call('count-sites')).toEqual({ total: 1 });
    expect(await app.call('sync-sites')).toMatchObject({ total_errors: expect.any(Number) });
  });

  it('leaves ignored offers out of the counts, and keeps them with the plugin', async () => {
    await app.connect(0);
    const { plugins, themes } = offers(app.site(0), { plugins: 2, themes: 1, core: true });
    await app.call('sync-sites');
    const [first] = plugins;
    await app.call('ignore-site-plugins', { site_id_or_domain: 1, action: 'add', slugs: [first?.slug] });
    await app.call('ignore-site-core', { site_id_or_domain: 1, action: 'add' });
    const { stats } = await app.call('get-site', { site_id_or_domain: 1, include_stats: true });
    expect(stats).toMatchObject({ plugin_updates: 1, theme_updates: themes.length, wp_update_available: false });
    const offered = await app.call('get-site-plugins', { site_id_or_domain: 1, has_update: true });
    expect(offered).toMatchObject({ total: 2 });
  });
});

describe('update-site and delete-site', () => {
  let app: CheckedApp;
  beforeEach(async () => {
    app = await checkedApp({ sites: 2 });
    await app.connectAll(2);
    await app.call('add-client', { name: 'Ada' });
    await app.call('add-tag', { name: 'blue' });
  });

  it('changes only what is given', async () => {
    const before = await app.call('get-site', { site_id_or_domain: 1 });
    expect(await app.call('update-site', { site_id_or_domain: 1 })).toEqual(before);
    const notes = 'First line\nsecond\tcolumn';
    expect(
      await app.call('update-site', { site_id_or_domain: 1, name: 'A\n B', notes, client_id: '1', tags: [1, 1] }),
    ).toEqual({
      ...before,
      name: 'A B',
      notes,
      client_id: 1,
      tags: [{ id: 1, name: 'blue' }],
    });
    expect(await app.call('update-site', { site_id_or_domain: 1, client_id: null })).toMatchObject({
      client_id: null,
      notes,
    });
    expect(await app.call('get-tag', { tag_id: 1 })).toMatchObject({ sites_count: 1 });
    expect(await app.call('update-site', { site_id_or_domain: 1, notes: '', tags: [] })).toMatchObject({
      notes: '',
      name: 'A B',
    });
    expect(await app.call('get-tag', { tag_id: 1 })).toMatchObject({ sites_count: 0 });
    expect(await app.call('list-sites', { search: 'a b' })).toMatchObject({ total: 1 });
  });

  it('takes null for an optional input as absent, as many model APIs send it', async () => {
    const nothing = { page: null, per_page: null, status: null, search: null, client_id: null, tag_id: null };
    expect(await app.call('list-sites', nothing)).toEqual(await app.call('list-sites'));
    expect(await app.call('sync-sites', { site_ids_or_domains: null })).toMatchObject({ total_synced: 2 });
    const named = { site_id_or_domain: 1, name: 'Kept', client_id: (await app.call('add-client', { name: 'Ada' })).id };
    await app.call('update-site', named);
    // A null with a meaning stays null.
    const changed = await app.call('update-site', { site_id_or_domain: 1, name: null, notes: null, client_id: null });
    expect(changed).toMatchObject({ name: 'Kept', client_id: null });
    const refused = await app.fail('delete-site', { site_id_or_domain: 1, confirm: null, dry_run: null });
    expect(refused.code).toBe('svc_confirmation_required');
  });

  it('adds and removes tags without touching the others', async () => {
    for (const name of ['red', 'green']) await app.call('add-tag', { name });
    const of = { site_id_or_domain: 1 };
    const tagsOf = async () => pluck((await app.call('get-site', of)).tags, 'name');
    await app.call('update-site', { ...of, tags: [1] });
    const added = await app.call('update-site', { ...of, add_tags: [2, 3, 2, 1] });
    expect(pluck(added.tags, 'name')).toEqual(['blue', 'green', 'red']);
    expect(pluck((await app.call('update-site', { ...of, add_tags: [2], remove_tags: [1, 3] })).tags, 'id')).toEqual([
      2,
    ]);
    // Removing a tag that is not set succeeds.
    await app.call('update-site', { ...of, remove_tags: [1] });
    expect(await tagsOf()).toEqual(['red']);
    for (const [change, code, field] of [
      [{ add_tags: [3, 99] }, 'svc_tag_not_found', 'add_tags'],
      [{ remove_tags: [99] }, 'svc_tag_not_found', 'remove_tags'],
      [{ tags: [1], add_tags: [3] }, 'svc_invalid_input', 'add_tags'],
      [{ tags: [], remove_tags: [2] }, 'svc_invalid_input', 'remove_tags'],
      [{ add_tags: [3], remove_tags: [3] }, 'svc_invalid_input', 'remove_tags'],
    ] as const)
      expect(await app.fail('update-site', { ...of, name: 'x', ...change })).toMatchObject({ code, field });
    expect(await tagsOf()).toEqual(['red']);
    expect(await app.call('get-site', { ...of, include_stats: true })).toMatchObject({
      tags: [{ id: 2, name: 'red' }],
    });
  });

  it('contacts no site', async () => {
    const requests = app.fleet.stats().requests;
    await app.call('update-site', { site_id_or_domain: 1, name: 'x' });
    await app.call('disconnect-site', { site_id_or_domain: 1 });
    await app.call('suspend-site', { site_id_or_domain: 1 });
    await app.call('delete-site', { site_id_or_domain: 1, confirm: true });
    expect(app.fleet.stats().requests).toBe(requests);
  });

  it('previews a removal, and removes with all that hangs on the site', async () => {
    const { url, name } = await app.call('get-site', { site_id_or_domain: 1 });
    await app.call('update-site', { site_id_or_domain: 1, tags: [1], client_id: 1 });
    await app.call('ignore-site-plugins', { site_id_or_domain: 1, action: 'add', slugs: ['a/a.php'] });
    const before = await app.content();
    expect(await app.call('delete-site', { site_id_or_domain: 1, dry_run: true })).toEqual({
      dry_run: true,
      needs_approval: null,
      deleted: false,
      site_id: 1,
      site_url: url,
      would_affect: { id: 1, url, name },
      warnings: expect.arrayContaining([expect.stringMatching(/cannot be undone/)]),
    });
    expect(await app.content()).toBe(before);
    expect(await app.call('delete-site', { site_id_or_domain: url, confirm: true })).toEqual({
      deleted: true,
      site_id: 1,
      site_url: url,
    });
    for (const table of [
      'site_detail',
      'site_secret',
      'site_tag',
      'site_extension',
      'site_update',
      'ignored_update',
      'site_security',
    ])
      expect([table, await app.cell(`SELECT count(*) FROM ${table} WHERE site_id = 1`)]).toEqual([table, 0]);
    expect((await app.fail('delete-site', { site_id_or_domain: 1, confirm: true })).code).toBe('svc_site_not_found');
    expect(await app.call('count-sites')).toEqual({ total: 1 });
  });

  it('gives no id a second time', async () => {
    await app.call('delete-site', { site_id_or_domain: 2, confirm: true });
    app.site(1).state.connection = null;
    expect(await app.connect(1)).toBe(3);
  });
});
