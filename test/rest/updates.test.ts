import { beforeEach, describe, expect, it } from 'vitest';
import { holdBack, runOutOfTime } from '../support/hold-back.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeEach(async () => {
  app = await restApp({ sites: 3, jobs: false });
  const state = app.fleet.site(0).state;
  for (const plugin of state.plugins) plugin.update = null;
  const [first, second, third] = state.plugins.filter((p) => !p.mustUse && !p.premium);
  for (const plugin of [first, second, third])
    if (plugin !== undefined) plugin.update = { version: '99.1', requiresPhp: '', requiresWp: '' };
  state.wpVersion = '6.8.7';
  state.wpUpdate = '7.2';
  for (const i of [0, 1, 2]) await app.connect(i);
});

const offered = () => app.fleet.site(0).state.plugins.filter((p) => p.update !== null);
const slugs = () => offered().map((p) => p.slug);
const bySite = async (query = '') => (await app.rest(`GET /updates?${query}`)).body;
const ofSite = async (query = '') => (await app.rest(`GET /updates/1?${query}`)).body.data[1] ?? {};

describe('lists', () => {
  it('keys by site, type and slug', async () => {
    const body = await bySite();
    expect(body.total).toBe(Object.keys(body.data).length);
    const [plugin] = offered();
    expect(body.data[1].plugins[plugin?.slug ?? '']).toMatchObject({
      Name: plugin?.name,
      Version: plugin?.version,
      current_version: plugin?.version,
      new_version: '99.1',
      active: plugin?.active ? 1 : 0,
      update: { slug: plugin?.slug, new_version: '99.1' },
    });
    expect(body.data[1].wp).toEqual({
      platform: {
        Name: 'WordPress',
        current: '6.8.7',
        new: '7.2',
        current_version: '6.8.7',
        new_version: '7.2',
        site_status: 'connected',
      },
    });
    const one = await app.rest('GET /updates/1');
    expect(one.body).toMatchObject({ success: 1, total: 1, data: { 1: body.data[1] }, site: { id: 1 } });
  });

  it('narrows by slug, level, tag and client, in lists and runs alike', async () => {
    const [first = '', second = '', third = ''] = slugs();
    await app.call('add-tag', { name: 'staging' });
    await app.call('add-client', { name: 'Ada' });
    await app.call('update-site', { site_id_or_domain: 1, tags: [1], client_id: 1 });
    const plugins = async (query: string) => Object.keys((await bySite(query)).data[1]?.plugins ?? {}).sort();
    expect(await plugins(`exclude_slugs=${encodeURIComponent(first)}`)).toEqual([second, third].sort());
    expect(await plugins(`slug=${encodeURIComponent(`${first},${third}`)}`)).toEqual([first, third].sort());
    expect(await plugins('level=major')).toEqual([first, second, third].sort());
    expect((await bySite('level=minor')).data[1]?.plugins).toBeUndefined();
    expect(Object.keys((await bySite('tag_ids=1&client_ids=1')).data)).toEqual(['1']);
    const refused = async (row: string, body?: object) => {
      const { status, body: answer } = await app.rest(row, body === undefined ? {} : { body });
      return [status, answer.code];
    };
    expect(await refused('GET /updates?slug=nothing-like-that')).toEqual([400, 'svc_invalid_input']);
    expect(await refused('GET /updates?tag_ids=99')).toEqual([404, 'svc_tag_not_found']);
    for (const body of [{ exclude_slugs: '' }, { tag_ids: [] }, { level: ',' }])
      expect(await refused('POST /updates/update', body)).toEqual([400, 'rest_invalid_param']);
    expect(await refused('POST /updates/update', { exclude_slugs: 'nothing-like-that' })).toEqual([
      400,
      'svc_invalid_input',
    ]);
    const run = await app.rest('POST /updates/update', {
      body: { type: 'plugins', tag_ids: [1], level: 'major', exclude_slugs: [first, second] },
    });
    expect(run.body.data.map(({ slug }: { slug: string }) => slug)).toEqual([third]);
    const one = await app.rest('POST /updates/1/update', { body: { slug: second } });
    expect(one.body.data.map(({ slug }: { slug: string }) => slug)).toEqual([second]);
    expect(slugs()).toEqual([first]);
  });

  it('filters by type, text and site, and pages by site', async () => {
    expect(Object.keys(await ofSite('type=plugins'))).toEqual(['plugins']);
    expect(Object.keys(await ofSite('type=wp,%20plugins')).sort()).toEqual(['plugins', 'wp']);
    const needle = encodeURIComponent(offered()[0]?.name.toUpperCase() ?? '');
    expect(Object.keys((await ofSite(`search=${needle}`)).plugins)).toContain(slugs()[0]);
    expect((await bySite('search=zzzzzz')).data).toEqual({});
    const [first = ''] = slugs();
    await app.db.run('UPDATE site_update SET name = ? WHERE site_id = 1 AND slug = ?', ['Ärzte & 100% Öl', first]);
    for (const part of ['ÄRZTE', 'ärzte', ' & 100% ö', 'A\u0308rzte', 'é'])
      for (const found of [
        await bySite(`search=${encodeURIComponent(part)}`),
        (await app.rest(`GET /updates/1?search=${encodeURIComponent(part)}`)).body,
      ])
        expect([part, found.total, Object.keys(found.data[1]?.plugins ?? {})]).toEqual(
          part === 'é' ? [part, 0, []] : [part, 1, [first]],
        );
    expect(Object.keys((await bySite('include=1')).data)).toEqual(['1']);
    expect(Object.keys((await bySite('exclude=1')).data)).not.toContain('1');
    const { total } = await bySite();
    const pages = await Promise.all(
      Array.from({ length: total }, (_, i) => bySite(`per_page=1&page=${i + 1}`).then((b) => Object.keys(b.data))),
    );
    expect(pages.flat().sort()).toEqual(Object.keys((await bySite()).data).sort());
    await app.rest('POST /sites/1/suspend');
    const suspended = Object.values((await bySite()).data[1].plugins as Record<string, { site_status: string }>);
    expect(suspended.map(({ site_status }) => site_status)).toContain('suspended');
    await app.rest('POST /updates/update');
    expect(slugs()).not.toEqual([]);
    expect((await app.rest('GET /updates?type=nonsense')).body.data.params).toHaveProperty('type[0]');
  });
});

describe('the revision of the list', () => {
  /** The list of the whole fleet, requested with a previous ETag. */
  const asked = (tag: string) => app.rest('GET /updates?per_page=500', { headers: { 'If-None-Match': tag } });
  const enabled = async () =>
    (await app.rest('GET /sites/1')).body.data.plugins.find(
      (plugin: { slug: string; active: number }) => slugs().includes(plugin.slug) && plugin.active === 1,
    )?.slug ?? slugs()[0];

  it('changes with everything that the list shows, and answers 304 until then', async () => {
    const state = () => app.fleet.site(0).state;
    const sync = () => app.rest('POST /sites/1/sync');
    const slug = await enabled();
    const writes: [what: string, write: () => Promise<unknown>][] = [
      ['activation', () => app.rest('POST /sites/1/plugins/deactivate', { body: { slug } })],
      ['suspension', () => app.rest('POST /sites/1/suspend')],
      ['its end', () => app.rest('POST /sites/1/unsuspend')],
      ['an ignored update', () => app.rest('POST /updates/1/ignore/plugins', { body: { slug } })],
      [
        'one that is not ignored any more',
        () => app.rest(`DELETE /updates/1/ignore/plugins?slug=${encodeURIComponent(slug)}`),
      ],
      ['an ignored type', () => app.rest('POST /updates/1/ignore/wp')],
      [
        'a newer version on offer',
        () => {
          for (const plugin of offered()) if (plugin.update !== null) plugin.update.version = '99.2';
          return sync();
        },
      ],
      [
        'nothing on offer any more',
        () => {
          for (const plugin of state().plugins) plugin.update = null;
          for (const theme of state().themes) theme.update = null;
          state().wpUpdate = null;
          state().translations = [];
          return sync();
        },
      ],
      [
        'a failed sync',
        () => {
          app.fleet.site(1).faults.offline = true;
          return app.rest('POST /sites/2/sync');
        },
      ],
      ['a new address', () => app.db.run("UPDATE site SET url_key = 'zzz.example' WHERE id = 3")],
      ['a removed site', () => app.rest('DELETE /sites/2/remove')],
    ];
    let { headers, body } = await app.rest('GET /updates?per_page=500');
    const seen = new Set<string>();
    for (const [what, write] of writes) {
      const tag = headers.get('etag') ?? '';
      expect(seen.has(tag), what).toBe(false);
      seen.add(tag);
      const same = await asked(`"x", W/${tag}`);
      expect([what, same.status, same.body, same.headers.get('etag')]).toEqual([what, 304, '', tag]);
      await write();
      const now = await asked(tag);
      expect([what, now.status]).toEqual([what, 200]);
      // The total is stored, not counted.
      expect([what, now.body.total]).toEqual([what, Object.keys(now.body.data).length]);
      const filtered = (await app.rest('GET /updates?per_page=500&type=wp,plugins,themes,translations')).body;
      expect([what, filtered]).toEqual([what, now.body]);
      if (what !== 'a new address') expect(now.body, what).not.toEqual(body);
      ({ headers, body } = now);
    }
  });

  it('is not the same for another question', async () => {
    const { headers } = await app.rest('GET /updates');
    const tag = { 'If-None-Match': headers.get('etag') ?? '' };
    expect((await app.rest('GET /updates', { headers: tag })).status).toBe(304);
    expect((await app.rest('GET /updates?type=plugins', { headers: tag })).status).toBe(200);
  });
});

describe('ignoring', () => {
  it('hides named slugs, lists them, and takes them back', async () => {
    const [slug = ''] = slugs();
    const on = await app.rest('POST /updates/1/ignore/plugins', { body: { slug: `${slug},no/such.php` } });
    expect(on.body).toMatchObject({
      success: 1,
      data: { [slug]: 'success' },
      errors: [{ slug: 'no/such.php', code: 'not_installed' }],
      url: app.fleet.site(0).url,
    });
    expect(Object.keys((await ofSite()).plugins)).not.toContain(slug);
    const listed = await app.rest('GET /updates/1/ignored');
    expect(listed.body.data).toEqual({
      plugins: { [slug]: { Name: offered()[0]?.name, ignored_versions: ['all_versions'] } },
      themes: {},
      wp: {},
    });
    expect((await app.rest('GET /updates/1/ignored?type=themes')).body.data).toEqual({ themes: {} });
    expect((await app.rest('GET /updates/ignored')).body.data).toEqual({ plugins: {}, themes: {}, wp: {} });
    for (const call of ['POST', 'DELETE']) {
      const unknown = await app.rest(`${call} /updates/1/ignore/plugins?slug=no/such.php`);
      expect(unknown).toMatchObject({ status: 200, body: { success: 1, data: {} } });
      expect(unknown.body.errors).toMatchObject([{ slug: 'no/such.php', code: 'not_installed' }]);
    }
    expect((await app.rest(`DELETE /updates/1/ignore/plugins?slug=${encodeURIComponent(slug)}`)).status).toBe(200);
    expect(Object.keys((await ofSite()).plugins)).toContain(slug);
  });

  it('hides a whole type, and a named update still runs', async () => {
    await app.rest('POST /updates/1/ignore/wp');
    await app.rest('POST /updates/1/ignore/plugins');
    expect(await ofSite('type=wp,plugins')).toEqual({});
    expect((await app.rest('GET /updates/1/ignored')).body.ignored_types).toEqual(['wp', 'plugins']);
    expect((await app.rest('GET /updates/1/ignored?type=wp')).body.data).toEqual({
      wp: { platform: { Name: 'WordPress', ignored_versions: ['all_versions'] } },
    });
    expect((await app.rest('GET /updates/2/ignored')).body.ignored_types).toEqual([]);
    expect((await app.rest('GET /sites/1')).body.data).toMatchObject({
      is_ignoreCoreUpdates: 1,
      is_ignorePluginUpdates: 1,
      stats: { plugin_updates: 0, wp_update_available: false },
    });
    const bare = await app.rest('POST /updates/1/update/plugins');
    expect(bare.body).toMatchObject({ success: 1, data: {} });
    const [slug = ''] = slugs();
    const named = await app.rest('POST /updates/1/update/plugins', { body: { slug } });
    expect(named.body.data[slug]).toMatchObject({ success: 1, version: '99.1' });
    await app.rest('DELETE /updates/1/ignore/wp');
    expect(await ofSite('type=wp')).toHaveProperty('wp');
  });
});

describe('taking an ignore back by another way in', () => {
  const ignored = async () => {
    const { body } = await app.rest('GET /updates/1/ignored');
    return { ...body.data, types: body.ignored_types };
  };
  const NONE = { wp: {}, plugins: {}, themes: {}, types: [] };

  it.each(['ignore-site-core', 'set-ignored-updates'])('%s lifts the switch of REST', async (operation) => {
    await app.rest('POST /updates/1/ignore/wp');
    const input =
      operation === 'ignore-site-core'
        ? { site_id_or_domain: 1, action: 'remove' }
        : { site_id_or_domain: 1, action: 'unignore', type: 'core', slug: 'platform' };
    const answer = await app.call(operation, input);
    if (operation === 'ignore-site-core') expect(answer.core_ignored).toBe(false);
    expect(answer).not.toHaveProperty('notice');
    expect(await ignored()).toEqual(NONE);
    expect((await ofSite('type=wp')).wp).toHaveProperty('platform');
  });

  it('DELETE lifts the entry of an operation', async () => {
    await app.call('ignore-site-core', { site_id_or_domain: 1, action: 'add' });
    const { body } = await app.rest('DELETE /updates/1/ignore/wp');
    expect(body.message).toBe('Core updates are no longer ignored on this site.');
    expect(await ignored()).toEqual(NONE);
    expect((await ofSite('type=wp')).wp).toHaveProperty('platform');
  });

  it('DELETE of a whole type lifts what was ignored by name, and names it', async () => {
    const [slug = ''] = slugs();
    await app.rest('POST /updates/1/ignore/plugins', { body: { slug } });
    await app.rest('POST /updates/1/ignore/plugins');
    const { body } = await app.rest('DELETE /updates/1/ignore/plugins');
    expect(body).toMatchObject({
      message: 'All updates of plugins are no longer ignored on this site.',
      data: { [slug]: 'success' },
    });
    expect(await ignored()).toEqual(NONE);
    expect(Object.keys((await ofSite('type=plugins')).plugins)).toContain(slug);
  });

  it('says so where the switch or every site ignores it still', async () => {
    const [slug = ''] = slugs();
    await app.rest('POST /updates/1/ignore/plugins', { body: { slug } });
    await app.rest('POST /updates/1/ignore/plugins');
    const named = await app.rest(`DELETE /updates/1/ignore/plugins?slug=${encodeURIComponent(slug)}`);
    expect(named.body.message).toMatch(/^1 of 1 plugins are no longer ignored by name\. .*all plugin updates/);
    const input = { site_id_or_domain: 1, action: 'remove', slugs: [slug] };
    expect((await app.call('ignore-site-plugins', input)).notice).toContain('DELETE /v2/updates/1/ignore/plugins');
    await app.call('ignore-update-everywhere', { action: 'ignore', type: 'plugin', slug });
    const whole = await app.rest('DELETE /updates/1/ignore/plugins');
    expect(whole.body.message).toContain(`${slug} is ignored on every site`);
    expect(whole.body.message).not.toContain('on this site.');
  });

  it('undoing an operation leaves the switch that was on before', async () => {
    await app.rest('POST /updates/1/ignore/wp');
    await app.call('ignore-site-core', { site_id_or_domain: 1, action: 'add' });
    const [entry] = (await app.rest('GET /actions?per_page=1')).body.data;
    expect((await app.rest('POST /actions/undo', { body: { change_id: entry.id, confirm: true } })).status).toBe(200);
    expect(await ignored()).toMatchObject({ types: ['wp'] });
  });
});

describe('a slug or type that names nothing', () => {
  it('is refused, and never means everything', async () => {
    const before = await ofSite();
    const flags = async () => {
      const { data } = (await app.rest('GET /sites/1')).body;
      return [data.is_ignorePluginUpdates, data.is_ignoreThemeUpdates];
    };
    await app.rest('POST /updates/1/ignore/themes');
    for (const [call, slug, code] of [
      ['POST /updates/1/ignore/plugins', '', 'svc_rest_invalid_plugins_slugs'],
      ['POST /updates/1/ignore/plugins', [], 'svc_rest_invalid_plugins_slugs'],
      ['DELETE /updates/1/ignore/themes', ' , ', 'svc_rest_invalid_themes_slugs'],
      ['PUT /updates/1/update/plugins', ',', 'svc_rest_invalid_plugins_slugs'],
      ['PUT /updates/1/update/themes', '', 'svc_rest_invalid_themes_slugs'],
      ['PUT /updates/1/update/translations', '', 'rest_invalid_param'],
    ] as const) {
      const { status, body } = await app.rest(call, { body: { slug } });
      expect([call, status, body.code, body.data?.field]).toEqual([call, 400, code, 'slug']);
    }
    expect((await app.rest('DELETE /updates/1/ignore/themes?slug=')).status).toBe(400);
    for (const type of ['', []])
      expect((await app.rest('POST /updates/update', { body: { type } })).body.data.params).toHaveProperty('type');
    expect(await flags()).toEqual([0, 1]);
    await app.rest('DELETE /updates/1/ignore/themes');
    expect(await ofSite()).toEqual(before);
  });
});

describe('translations', () => {
  it('are listed with what they translate and every language with its version', async () => {
    const of = (type: 'core' | 'plugin' | 'theme', slug: string, language: string, version: string) => ({
      type,
      slug,
      name: slug,
      language,
      version,
    });
    app.fleet.site(0).state.translations = [
      of('plugin', 'akismet', 'de_DE', '5.3'),
      of('core', 'default', 'fr_FR', '6.8.7'),
      of('plugin', 'akismet', 'it_IT', '5.10'),
      of('theme', 'neve', 'de_DE', '4.1'),
    ];
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const { translations } = (await bySite()).data[1];
    expect(translations).toMatchObject({
      akismet: {
        type: 'plugin',
        slug: 'akismet',
        new_version: '5.10',
        languages: [
          { language: 'de_DE', version: '5.3' },
          { language: 'it_IT', version: '5.10' },
        ],
      },
      default: { type: 'core', languages: [{ language: 'fr_FR', version: '6.8.7' }] },
      neve: { type: 'theme', languages: [{ language: 'de_DE', version: '4.1' }] },
    });
    expect((await ofSite('type=translations')).translations).toEqual(translations);
  });

  it('are left out of both lists while show_language_updates is 0', async () => {
    app.fleet.site(0).state.translations = [
      { type: 'plugin', slug: 'akismet', name: 'Akismet', version: '5.3', language: 'de_DE' },
    ];
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const show = (on: number | null) => app.rest('PUT /settings/general/edit', { body: { show_language_updates: on } });
    const lists = ['', '/1', '?type=all', '?type=plugins,translations', '?type=translations'];
    const read = async () => {
      const answers = await Promise.all(lists.map((list) => app.rest(`GET /updates${list}`)));
      return answers.map(
        ({ body }) => new Set(Object.values(body.data).flatMap((site) => Object.keys(site as object))),
      );
    };
    const before = await read();
    for (const types of before) expect(types).toContain('translations');
    const { headers } = await app.rest('GET /updates');
    const etag = headers.get('etag') ?? '';
    expect((await show(0)).body.message).toBe('The general settings were changed.');
    const after = await read();
    for (const [index, types] of after.entries())
      expect(types).toEqual(new Set([...(before[index] ?? [])].filter((type) => type !== 'translations')));
    expect((await app.rest('GET /updates?type=translations')).body.total).toBe(0);
    const changed = await app.rest('GET /updates', { headers: { 'If-None-Match': etag } });
    expect(changed.status).toBe(200);
    expect((await app.call('list-updates', { types: ['translations'] })).total).toBeGreaterThan(0);
    await show(null);
    expect(await read()).toEqual(before);
  });
});

describe('updating', () => {
  it('cuts the results with _fields, not the slugs', async () => {
    const [slug = ''] = slugs();
    const { body } = await app.rest('PUT /updates/1/update/plugins?_fields=success,error', {
      body: { slug: `${slug},gone/x.php` },
    });
    expect(body.data).toEqual({ [slug]: { success: 1 }, 'gone/x.php': { success: 0, error: 'no_update' } });
  });

  it('updates named plugins and says which were not', async () => {
    const [a = '', b = '', c = ''] = slugs();
    const old = offered()[0]?.version;
    app.fleet.site(0).faults.failUpdates = [b];
    const { status, body } = await app.rest('PUT /updates/1/update/plugins', {
      body: { slug: `${a},${b},gone/x.php` },
    });
    expect(status).toBe(200);
    expect(body.data[a]).toMatchObject({ success: 1, old_version: old, version: '99.1' });
    expect(body.data[b]).toMatchObject({ success: 0, error: 'svc_update_failed' });
    expect(body.data['gone/x.php']).toMatchObject({ success: 0, error: 'no_update' });
    expect(body.message).toBe('1 of 3 plugins were updated.');
    const failed = await app.rest('PUT /updates/1/update/plugins', { body: { slug: b } });
    expect([failed.status, failed.body.code]).toEqual([502, 'svc_rest_upgrade_plugins_of_site_error']);
    expect(failed.body.data.results[b]).toMatchObject({ success: 0 });
    app.fleet.site(0).faults = {};
    const rest = await app.rest('PUT /updates/1/update/plugins');
    expect(Object.keys(rest.body.data).sort()).toEqual([b, c].sort());
  });

  it.each(['plugins', 'themes', 'translations'])('fails when no named slug has an update: %s', async (type) => {
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const { status, body } = await app.rest(`${method} /updates/1/update/${type}`, { body: { slug: 'gone,none' } });
      expect([status, body.success, body.code]).toEqual([502, 0, `svc_rest_upgrade_${type}_of_site_error`]);
      const reason = { success: 0, error: 'no_update', message: expect.stringContaining('not installed') };
      expect(body.data.results).toEqual({ gone: reason, none: reason });
    }
  });

  it('says which status the front page had afterwards, while it is visited after updates', async () => {
    const visiting = (on: number) => app.rest('PUT /settings/general/edit', { body: { check_http_response: on } });
    const [a = '', b = '', c = ''] = slugs();
    const update = async (slug: string) => (await app.rest('PUT /updates/1/update/plugins', { body: { slug } })).body;
    expect(await update(a)).toMatchObject({ http_code: 200 });
    await visiting(0);
    app.clock.move(60_000);
    expect(await update(b)).not.toHaveProperty('http_code');
    await visiting(1);
    expect(await update(c)).toMatchObject({ http_code: 200 });
    expect((await app.rest('POST /updates/1/update/wp')).body).toMatchObject({
      data: { version: '7.2' },
      http_code: 200,
    });
    expect((await app.rest('POST /updates/1/update/wp')).body).not.toHaveProperty('http_code');
  });

  it('updates the core, and says when there is nothing to do', async () => {
    const done = await app.rest('POST /updates/1/update/wp');
    expect(done.body.data).toEqual({
      old_version: '6.8.7',
      version: '7.2',
      change_id: expect.stringMatching(/^change_/),
      can_roll_back: false,
      cannot_roll_back_because: 'WordPress itself cannot be rolled back.',
    });
    expect(done.body.run_id).toMatch(/^run_/);
    expect((await app.rest('POST /updates/1/update/wp')).body).toMatchObject({ success: 1, data: null });
  });

  it('updates everything on one site or on all, but nothing that is ignored', async () => {
    const [ignored = ''] = slugs();
    await app.rest('POST /updates/1/ignore/plugins', { body: { slug: ignored } });
    const one = await app.rest('POST /updates/1/update');
    expect(one.body).toMatchObject({ success: 1, site: { id: 1 }, summary: { sites_updated: 1, total_errors: 0 } });
    expect(slugs()).toEqual([ignored]);
    const before = (await bySite()).total;
    const all = await app.rest('POST /updates/update', { body: { type: 'plugins' } });
    expect(all.body.summary.total_errors).toBe(0);
    expect(before).toBeGreaterThan(0);
    for (const site of Object.values((await bySite()).data)) expect(site).not.toHaveProperty('plugins');
    await app.rest('POST /updates/update');
    expect((await bySite()).data).toEqual({});
    expect((await app.rest('POST /updates/update')).body).toMatchObject({ success: 1, summary: { total_updated: 0 } });
  });

  it('calls no update a success after which the site is down', async () => {
    const [killer = ''] = slugs();
    app.fleet.site(0).faults.killedBy = [killer];
    const { status, body } = await app.rest('POST /updates/1/update/plugins', { body: { slug: killer } });
    expect([status, body.code]).toEqual([502, 'svc_update_broke_site']);
    expect(body.message).toMatch(/99\.1 was installed, but the site has answered HTTP 500 since/);
    expect(body.data.results).toMatchObject({
      [killer]: { success: 0, error: 'svc_update_broke_site', version: '99.1' },
    });
    const site = (await app.rest('GET /sites/1')).body.data;
    expect(site).toMatchObject({ http_code: 500, health_score: null });
    expect(site.plugins.find((each: { slug: string }) => each.slug === killer)).toMatchObject({ version: '99.1' });
    expect(Object.keys(site.plugin_upgrades)).not.toContain(killer);
  });

  it.each(['', 'with more to update'])('says of one site that its update has broken it %s', async (how) => {
    const { state, faults } = app.fleet.site(0);
    const [killer = '', ...others] = slugs();
    for (const plugin of state.plugins) if (others.includes(plugin.slug)) plugin.update = null;
    const theme = state.themes[0];
    for (const each of state.themes) each.update = null;
    state.translations = [];
    state.wpUpdate = null;
    if (how !== '' && theme !== undefined) theme.update = { version: '99.1', requiresPhp: '', requiresWp: '' };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    faults.killedBy = [killer];
    const { status, body } = await app.rest('POST /updates/1/update');
    expect([status, body.code]).toEqual([502, 'svc_update_broke_site']);
    expect(body.message).toMatch(/99\.1 was installed, but the site has answered HTTP 500 since/);
    expect(body.data.errors).toContainEqual(
      expect.objectContaining({ slug: killer, code: 'svc_update_broke_site', site_id: 1 }),
    );
  });

  it('answers 504 with the job when the site is slow, and names it when asked again', async () => {
    const held = holdBack(app.fleet.site(0), /^upgrade/);
    const first = await runOutOfTime(app, held, app.rest('POST /updates/1/update/plugins'));
    expect([first.status, first.body.code]).toEqual([504, 'svc_still_running']);
    const { job_id } = first.body.data;
    expect((await app.rest('POST /updates/1/update/plugins')).body.data).toMatchObject({ job_id });
    const { status, body } = await app.rest(`GET /jobs/${job_id}?per_page=2`);
    expect([status, body]).toMatchObject([200, { job_id, type: 'update', items: [], per_page: 2 }]);
    held.letGo();
    await expect.poll(() => offered()).toEqual([]);
  });

  it('runs nothing on a site that is disconnected or does not answer, and says so with a status', async () => {
    const all = slugs();
    app.fleet.site(0).faults.offline = true;
    const offline = await app.rest('POST /updates/1/update');
    expect([offline.status, offline.body.code]).toEqual([503, 'svc_site_offline']);
    expect(offline.body.data.errors.map(({ slug }: { slug: string }) => slug)).toEqual(expect.arrayContaining(all));
    app.fleet.site(0).faults = {};
    await app.call('disconnect-site', { site_id_or_domain: 1 });
    const off = await app.rest('POST /updates/1/update');
    expect([off.status, off.body.code]).toEqual([409, 'svc_site_disconnected']);
    await app.db.run('UPDATE site_detail SET on_trial = 1 WHERE site_id = 2');
    const trial = await app.rest('POST /updates/2/update');
    expect([trial.status, trial.body.code]).toEqual([409, 'svc_site_on_trial']);
    expect(slugs()).toEqual(all);
  });

  it('refuses a suspended site, and finds a run that is on', async () => {
    await app.rest('POST /sites/1/suspend');
    const refused = await app.rest('POST /updates/1/update');
    expect([refused.status, refused.body.code]).toEqual([409, 'svc_rest_updates_site_error']);
    const typed = await app.rest('POST /updates/1/update/plugins');
    expect([typed.status, typed.body.code]).toEqual([409, 'svc_site_suspended']);
    // It is suspended still when it is disconnected, too.
    await app.rest('POST /sites/1/disconnect');
    const both = await app.rest('POST /updates/1/update');
    expect([both.status, both.body.code]).toEqual([409, 'svc_rest_updates_site_error']);
    for (const call of ['GET /sites/1/security', 'POST /updates/1/update/plugins', 'GET /posts?websites=1']) {
      const { status, body } = await app.rest(call);
      expect([call, status, body.code ?? body.errors?.[0]?.code]).toEqual([call, status, 'svc_site_suspended']);
    }
    const queued = await restApp({ sites: 2, config: { batch_threshold: 1 }, jobs: false });
    for (const i of [0, 1]) await queued.connect(i);
    const first = await queued.rest('POST /updates/update');
    expect(first.body).toMatchObject({ queued: true, queued_count: 2 });
    const again = await queued.rest('POST /updates/update');
    expect(again.body).toMatchObject({
      success: 1,
      already_running: true,
      job_id: first.body.job_id,
      run_id: first.body.run_id,
    });
    expect((await queued.rest('POST /updates/1/update')).body).toMatchObject({ already_running: true });
  });
});
