import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DemoSite, type Fleet, startFleet } from '../../src/demo/fleet.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/dates.js';
import { at, call, callRaw, record, register } from '../support/demo-client.js';

let fleet: Fleet;
let site: DemoSite;
let next = 0;
const CHILD = 'mainwp-child/mainwp-child.php';
const OFFER = { version: '9.9.9', requiresPhp: '7.4', requiresWp: '6.0' };

beforeAll(async () => {
  fleet = closing(await startFleet({ sites: 60, plugins: 14, now: () => START }));
});
afterAll(() => {
  expect(fleet.stats().errors).toEqual([]);
});
beforeEach(async () => {
  site = fleet.site(next);
  next += 1;
  await register(site);
});

/** The n-th ordinary plugin of the site. */
function plugin(n = 0) {
  const found = site.state.plugins.filter((each) => each.slug !== CHILD && !each.mustUse && !each.premium)[n];
  if (found === undefined) throw new Error(`the site has no plugin ${n}`);
  return found;
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const decoded = (value: unknown): unknown => JSON.parse(Buffer.from(String(value), 'base64').toString('utf8'));

describe('stats', () => {
  test('the choice of parts is stored, also for the sync on other answers, until another comes', async () => {
    const cheap = await call(site, 'stats', { syncdata: '{"plugins":0,"securityStats":0,"users":1}', optimize: 1 });
    expect(cheap).not.toHaveProperty('plugins');
    expect(cheap).not.toHaveProperty('securityStats');
    expect(cheap).toHaveProperty('users');
    expect(await call(site, 'stats')).not.toHaveProperty('plugins');
    const action = await call(site, 'plugin_action', { action: 'activate', plugin: 'nope/nope.php' });
    expect(action.sync).not.toHaveProperty('plugins');
    expect(await call(site, 'stats', { syncdata: '{}' })).toHaveProperty('plugins');
    expect(await call(site, 'stats')).toHaveProperty('securityStats');
  });

  test('shows the real inventory, updates of bought plugins apart', async () => {
    const bought = plugin(0);
    Object.assign(bought, { premium: true, update: OFFER });
    plugin(1).update = OFFER;
    const payload = await call(site, 'stats');
    expect(payload.plugins).toHaveLength(14);
    const child = (payload.plugins as Record<string, unknown>[]).find((each) => each.slug === CHILD);
    expect(child).toMatchObject({ mainwp: 'T', active: 1 });
    expect(at(payload, 'premium_updates', bought.slug, 'update')).toMatchObject({ new_version: '9.9.9' });
    expect(payload.plugin_updates).not.toHaveProperty([bought.slug]);
    expect(at(payload, 'plugin_updates', plugin(1).slug, 'update', 'new_version')).toBe('9.9.9');
  });

  test('empty maps are arrays', async () => {
    for (const each of site.state.plugins) each.update = null;
    for (const each of site.state.themes) each.update = null;
    site.state.actions.clear();
    const payload = await call(site, 'stats');
    const empty = { plugin_updates: [], theme_updates: [], plugins_outdate_info: [], child_site_actions_data: [] };
    expect(payload).toMatchObject(empty);
    expect(payload.changes_logs_data).toBe('');
  });

  test('changes are paged forward by their time', async () => {
    const meta = { context: 'plugins', action_user: 'x', summary: '', meta_data: {}, duration: 0 };
    site.state.actions = new Map(
      [1.25, 2.25, 3.25].map((created, i) => [`a${i}`, { ...meta, action: 'updated', created }]),
    );
    const since = async (time: number) =>
      Object.keys(record((await call(site, 'stats', { child_actions_last_created: time })).child_site_actions_data));
    expect(await since(0)).toEqual(['a0', 'a1', 'a2']);
    expect(await since(2.25)).toEqual(['a2']);
    expect(await since(3.25)).toEqual([]);
    expect(await call(site, 'delete_actions')).toEqual({ success: 'ok' });
    expect(site.state.actions.size).toBe(0);
  });

  test('the activity log comes oldest first and only as many as asked for', async () => {
    const logs = async (newer: number) =>
      (await call(site, 'stats', { 'params_logs[events_count]': 2, 'params_logs[newer_than]': newer }))
        .changes_logs_data;
    expect(Object.keys(record(await logs(0)))).toEqual(['1', '2']);
    const last = Number(site.state.changeLog.at(-1)?.created_on);
    expect(await logs(last)).toBe('');
  });
});

describe('plugin_action', () => {
  test('really switches, reports the new inventory, and skips the child itself', async () => {
    const { slug } = plugin();
    Object.assign(plugin(), { active: false, breaksOnActivation: false });
    const answer = await call(site, 'plugin_action', { action: 'activate', plugin: `${slug}||${CHILD}` });
    expect(Object.keys(record(at(answer, 'other_data', 'plugin_action_data')))).toEqual([slug]);
    expect(plugin().active).toBe(true);
    expect(at(answer, 'sync', 'plugins')).toContainEqual(expect.objectContaining({ slug, active: 1 }));
    await call(site, 'plugin_action', { action: 'deactivate', plugin: CHILD });
    expect(site.state.plugins.find((each) => each.slug === CHILD)?.active).toBe(true);
  });

  test('says SUCCESS for an unknown slug, a fatal plugin and with the false-success fault', async () => {
    const unknown = await call(site, 'plugin_action', { action: 'activate', plugin: 'nope/nope.php' });
    expect(unknown.status).toBe('SUCCESS');
    expect(at(unknown, 'other_data', 'plugin_action_data', 'nope/nope.php')).toMatchObject({ name: '', version: '' });
    Object.assign(plugin(), { active: false, breaksOnActivation: true });
    const { slug } = plugin();
    expect(await call(site, 'plugin_action', { action: 'activate', plugin: slug })).toMatchObject({
      status: 'SUCCESS',
    });
    expect(plugin().active).toBe(false);
    plugin().breaksOnActivation = false;
    site.faults.falseSuccess = true;
    expect(await call(site, 'plugin_action', { action: 'activate', plugin: slug })).toMatchObject({
      status: 'SUCCESS',
    });
    expect(plugin().active).toBe(false);
  });

  test('delete deactivates first and is silent about unknown slugs; unknown actions FAIL', async () => {
    const { slug } = plugin();
    plugin().active = true;
    const answer = await call(site, 'plugin_action', { action: 'delete', plugin: `${slug}||nope/nope.php` });
    expect(Object.keys(record(at(answer, 'other_data', 'plugin_action_data')))).toEqual([slug]);
    expect(at(answer, 'other_data', 'plugin_deactivated_data', slug)).toMatchObject({ created: expect.any(Number) });
    expect(site.state.plugins.some((each) => each.slug === slug)).toBe(false);
    const failed = await call(site, 'plugin_action', { action: 'explode', plugin: plugin().slug });
    expect(failed).toMatchObject({ status: 'FAIL', other_data: { plugin_action_data: [] } });
  });

  test('lists follow status, filter and keyword', async () => {
    for (const each of site.state.plugins) each.active = each.slug === CHILD;
    plugin().name = 'Zebra, the "quoted" one';
    const names = async (fields: Record<string, string | number>) =>
      ((await call(site, 'get_all_plugins', fields)).data as { name: string }[]).map((each) => each.name);
    expect(await names({ status: 'active' })).toEqual(['MainWP Child']);
    expect(await names({ status: 'inactive' })).toHaveLength(13);
    expect(await names({ filter: 0 })).toHaveLength(14);
    expect(await names({ filter: 0, keyword: 'zebra,mainwp child' })).toHaveLength(2);
    expect(await names({ filter: 0, keyword: 'zebra', not_criteria: 1 })).toHaveLength(13);
    const none = await call(site, 'get_all_plugins', { status: 'active', keyword: 'zebra', not_installed: 1 });
    expect(none).toMatchObject({ data: [], installed_plugins: expect.any(Array) });
  });
});

describe('theme_action', () => {
  test('switches to a theme that does not exist and calls it SUCCESS', async () => {
    const answer = await call(site, 'theme_action', { action: 'activate', theme: 'ghost' });
    expect(answer.status).toBe('SUCCESS');
    expect(at(answer, 'other_data', 'theme_action_data', 'ghost', 'version')).toBe(false);
    expect(site.state.activeTheme).toBe('ghost');
    expect((at(answer, 'sync', 'themes') as { active: number }[]).every((theme) => theme.active === 0)).toBe(true);
    expect(await (await fetch(site.url)).text()).toBe('');
  });

  test('refuses to delete the active theme and its parent, the others go', async () => {
    const theme = { name: 'T', version: '1', description: '', update: null, lastUpdated: 0 };
    site.state.themes = [
      { ...theme, slug: 'base', parent: '' },
      { ...theme, slug: 'kid', parent: 'base' },
      { ...theme, slug: 'spare', parent: '' },
    ];
    site.state.activeTheme = 'kid';
    const remove = (themes: string) => call(site, 'theme_action', { action: 'delete', theme: themes });
    expect(await remove('kid')).toEqual({ error: { is_activated_theme: 'kid' } });
    expect(await remove('base')).toEqual({ error: { is_activated_parent: 'base' } });
    const several = await remove('kid||spare||ghost');
    expect(several).toMatchObject({ status: 'SUCCESS', error: { is_activated_theme: 'kid' } });
    expect(at(several, 'other_data', 'theme_action_data', 'ghost', 'version')).toBe(false);
    expect(site.state.themes.map((each) => each.slug)).toEqual(['base', 'kid']);
    const shown = await call(site, 'get_all_themes', { filter: 0 });
    expect(shown.data).toMatchObject([
      { slug: 'base', active: 0, parent_active: 1, child_theme: 'kid' },
      { slug: 'kid', active: 1, child_active: 1 },
    ]);
  });
});

describe('updates', () => {
  const update = (list: string, type = 'plugin') => call(site, 'upgradeplugintheme', { type, list });

  test('a version really changes, and the old offers stand in the answer', async () => {
    const { slug, version } = plugin();
    plugin().update = OFFER;
    const answer = await update(slug);
    expect(answer).toMatchObject({ upgrades: { [slug]: true } });
    const data = { old_version: version, version: '9.9.9', success: 1 };
    expect(at(answer, 'other_data', 'updated_data', slug)).toMatchObject(data);
    expect(answer.plugin_updates).toHaveProperty([slug]);
    expect(answer).not.toHaveProperty('sync');
    expect(plugin()).toMatchObject({ version: '9.9.9', update: null });
  });

  test('true for an item without an update, an unknown one, and the false-success fault', async () => {
    plugin().update = null;
    const { slug, version } = plugin();
    const answer = await update(`${slug},ghost/ghost.php`);
    expect(answer.upgrades).toEqual({ [slug]: true, 'ghost/ghost.php': true });
    expect(at(answer, 'other_data', 'updated_data', slug)).toMatchObject({ old_version: '', version, success: 1 });
    expect(at(answer, 'other_data', 'updated_data', 'ghost/ghost.php')).not.toHaveProperty('version');
    plugin().update = OFFER;
    site.faults.falseSuccess = true;
    expect((await update(slug)).upgrades).toEqual({ [slug]: true });
    expect(plugin()).toMatchObject({ version, update: OFFER });
  });

  test('a failed plugin is absent and explained, a failed theme is false', async () => {
    const { slug } = plugin();
    plugin().update = OFFER;
    const [theme] = site.state.themes;
    if (theme === undefined) throw new Error('no theme');
    theme.update = OFFER;
    Object.assign(site.faults, { failUpdates: [slug, theme.slug], rollback: true });
    const failed = await update(slug);
    expect(failed).toMatchObject({ upgrades: [], upgrades_error: { [slug]: expect.any(String) } });
    const facts = { upgrade_error_codes: { [slug]: 'download_failed' } };
    expect(failed.other_data).toMatchObject({ ...facts, updated_data: { [slug]: { success: 0, rollback: 1 } } });
    expect(plugin().update).toEqual(OFFER);
    const other = await update(theme.slug, 'theme');
    expect(other).toMatchObject({ upgrades: { [theme.slug]: false }, sync: expect.any(Object) });
  });

  test('an unmet requirement is an error alone and silence among others', async () => {
    site.state.phpVersion = '8.1.34';
    plugin(0).update = { ...OFFER, requiresPhp: '8.4' };
    plugin(1).update = OFFER;
    const [needy, easy] = [plugin(0).slug, plugin(1).slug];
    expect(Object.keys(await update(needy))).toEqual(['error']);
    expect((await update(`${needy},${easy}`)).upgrades).toEqual({ [easy]: true });
  });

  test('a wrong type or an empty list is an error', async () => {
    expect(Object.keys(await update('', 'plugin'))).toEqual(['error']);
    expect(Object.keys(await update('x', 'widget'))).toEqual(['error']);
  });

  test('core: versions only when something was replaced', async () => {
    Object.assign(site.state, { wpVersion: '6.1.9', wpUpdate: '6.8.7' });
    site.faults.failUpdates = ['core'];
    expect(await call(site, 'upgrade')).toMatchObject({ upgrade: 'WPERROR' });
    site.faults.failUpdates = false;
    site.faults.coreAnswer = 'LOCKED';
    expect(Object.keys(await call(site, 'upgrade'))).toEqual(['error']);
    site.faults.coreAnswer = 'NORESPONSE';
    expect(await call(site, 'upgrade')).toMatchObject({ upgrade: 'NORESPONSE' });
    site.faults.coreAnswer = undefined;
    const done = { upgrade: 'SUCCESS', old_version: '6.1.9', version: '6.8.7' };
    expect(await call(site, 'upgrade')).toMatchObject(done);
    const again = await call(site, 'upgrade');
    expect(again.upgrade).toBe('SUCCESS');
    expect(again).not.toHaveProperty('version');
    expect(await call(site, 'stats')).toMatchObject({ wpversion: '6.8.7', wp_updates: null });
  });

  test('translations: one slug takes all its languages, unknown ones do nothing', async () => {
    const item = { type: 'plugin', slug: 'akismet', version: '1', name: 'Akismet' } as const;
    site.state.translations = ['de_DE', 'fr_FR'].map((language) => ({ ...item, language }));
    const list = (slugs: string) => call(site, 'upgradetranslation', { type: 'translation', list: slugs });
    expect((await list('nope')).upgrades).toEqual([]);
    const answer = await list('akismet');
    expect(answer).toMatchObject({ upgrades: { akismet: true }, sync: { translation_updates: [] } });
    expect(at(answer, 'other_data', 'updated_data', 'akismet', 'success')).toBe(1);
    expect(site.state.translations).toEqual([]);
  });
});

describe('abandoned items', () => {
  test('nothing is known until a check ran; ten at once, the rest later; another tolerance forgets', async () => {
    const old = Math.floor(START / 1000) - 1000 * 86400;
    for (const each of site.state.plugins) Object.assign(each, { lastUpdated: old });
    plugin(0).lastUpdated = 0;
    plugin(1).lastUpdated = old + 400 * 86400;
    const days = { numberdaysOutdatePluginTheme: 730 };
    const known = async () => Object.keys(record((await call(site, 'stats', days)).plugins_outdate_info)).length;
    expect(await known()).toBe(0);
    const answer = await call(site, 'check_abandoned', { which: 'plugin' });
    expect(answer.success).toBe(1);
    expect(Object.keys(record(answer.sync))).toEqual(['plugins_outdate_info']);
    const first = Object.keys(record(at(answer, 'sync', 'plugins_outdate_info'))).length;
    expect(first).toBeLessThan(12);
    expect(await known()).toBe(12);
    expect((await call(site, 'stats', { numberdaysOutdatePluginTheme: 365 })).plugins_outdate_info).toEqual([]);
  });
});

describe('posts and comments', () => {
  test('no status, no list', async () => {
    expect((await callRaw(site, 'get_all_posts')).value).toBe('');
    const [sample] = site.state.posts;
    if (sample === undefined) throw new Error('no post');
    const make = (id: number, status: string) => ({ ...sample, id, type: 'post', status, date: id, modified: id });
    site.state.posts = [make(1, 'publish'), make(2, 'publish'), make(3, 'draft'), make(4, 'trash')];
    const ids = async (fields: Record<string, string | number>) =>
      ((await callRaw(site, 'get_all_posts', fields)).value as { id: number }[]).map((post) => post.id);
    expect(await ids({ status: 'publish,draft', maxRecords: 1 })).toEqual([2, 3]);
    expect(await ids({ status: 'any', maxRecords: 0 })).toEqual([3, 2, 1]);
    site.state.gmtOffset = 0;
    const between = { dtsstart: '1970-01-01 00:00:01', dtsstop: '1970-01-01 00:00:03' };
    expect(await ids({ status: 'publish,draft,trash', ...between })).toEqual([2]);
  });

  test('create, find, open, replace, trash, restore, delete', async () => {
    const fields = {
      post_title: 'Ünï "q" \\',
      post_content: '<p>x</p>',
      post_status: 'publish',
      post_tags: 'one, two',
    };
    const category = Buffer.from(encodeURIComponent('News,Brand new')).toString('base64');
    const rest = { post_custom: encoded({ color: ['red'] }), post_category: category };
    const made = await call(site, 'newpost', { new_post: encoded(fields), ...rest });
    const id = Number(made.added_id);
    expect(made).toMatchObject({
      added: true,
      other_data: { new_post_data: { new_status: 'publish', is_editing: 0 } },
    });
    const read = () => site.state.posts.find((post) => post.id === id);
    expect(read()).toMatchObject({ title: 'Ünï "q" \\', tags: ['one', 'two'], categories: ['News', 'Brand new'] });
    expect(site.state.categories.map((each) => each.name)).toContain('Brand new');

    const found = await callRaw(site, 'get_all_posts', { status: 'any', keyword: 'Ünï', search_on: 'title' });
    expect(found.value).toMatchObject([{ id, tags: 'one, two', comment_count: '0' }]);
    const opened = await call(site, 'post_action', { id, action: 'get_edit', post_type: 'post' });
    expect(decoded(at(opened, 'my_post', 'new_post'))).toMatchObject({ edit_id: String(id), post_title: 'Ünï "q" \\' });
    expect(decoded(at(opened, 'my_post', 'post_custom'))).toMatchObject({ color: ['red'] });

    const edit = { post_custom: encoded({ _mainwp_edit_post_id: [id] }) };
    await call(site, 'newpost', { new_post: encoded({ post_title: 'Second' }), ...edit });
    expect(read()).toMatchObject({ title: 'Second', categories: ['News', 'Brand new'] });
    // As the child: an empty list of categories is no list.
    await call(site, 'newpost', { new_post: encoded({ post_title: 'Second' }), ...edit, post_category: '' });
    expect(read()).toMatchObject({ categories: ['News', 'Brand new'] });
    await call(site, 'post_action', { id, action: 'update', 'post_data[ID]': id, 'post_data[post_title]': 'Third' });
    expect(read()).toMatchObject({ title: 'Third' });
    const other = site.state.users[1];
    if (other !== undefined) other.role = 'administrator';
    const foreign = { new_post: encoded({ ID: id, post_title: 'x' }), user: other?.login ?? '' };
    expect(Object.keys(await call(site, 'newpost', foreign))).toEqual(['error']);

    for (const [action, status] of [
      ['trash', 'trash'],
      ['restore', 'draft'],
      ['publish', 'publish'],
    ] as const) {
      const answer = await call(site, 'post_action', { id, action });
      expect(at(answer, 'other_data', 'post_action_data')).toMatchObject({ post_id: String(id), new_status: status });
      expect(read()?.status).toBe(status);
    }
    await call(site, 'post_action', { id, action: 'delete' });
    expect(read()).toBeUndefined();
  });

  test('a missing post is a SUCCESS', async () => {
    const gone = await call(site, 'post_action', { id: 99999, action: 'trash' });
    expect(gone).toMatchObject({ status: 'SUCCESS', other_data: { post_action_data: [] } });
    expect(await call(site, 'post_action', { id: 99999, action: 'get_edit' })).toMatchObject({ my_post: false });
    expect(await call(site, 'post_action', { id: 1, action: 'explode' })).toMatchObject({ status: 'FAIL' });
  });

  test('comments move between their states; approving an unknown one kills the child', async () => {
    const [comment] = site.state.comments;
    if (comment === undefined) throw new Error('no comment');
    comment.status = 'unapproved';
    comment.statusBefore = 'unapproved';
    const { id } = comment;
    const act = (action: string) => call(site, 'comment_action', { id, action });
    const status = () => site.state.comments.find((each) => each.id === id)?.status;
    for (const [action, expected] of [
      ['approve', 'approved'],
      ['spam', 'spam'],
      ['unspam', 'approved'],
      ['unapprove', 'unapproved'],
      ['trash', 'trash'],
      ['restore', 'unapproved'],
      ['delete', undefined],
    ] as const) {
      expect(await act(action)).toEqual({ status: 'SUCCESS' });
      expect(status()).toBe(expected);
    }
    const dead = await callRaw(site, 'comment_action', { id: 4711, action: 'approve' });
    expect([dead.status, dead.value]).toEqual([500, undefined]);
    expect(await call(site, 'comment_action', { id: 4711, action: 'trash' })).toEqual({ status: 'SUCCESS' });
    expect(await call(site, 'comment_bulk_action', { ids: '4711,4712', action: 'trash' })).toEqual({ success: 2 });
  });

  test('addresses of commenters are obfuscated, differently every time', async () => {
    const [comment] = site.state.comments;
    if (comment === undefined) throw new Error('no comment');
    comment.status = 'spam';
    const ask = async () => (await callRaw(site, 'get_all_comments', { status: 'spam' })).body;
    expect(await ask()).not.toBe(await ask());
  });
});

describe('the rest', () => {
  test('security is computed from the site, and can be fixed', async () => {
    Object.assign(site.state, { phpVersion: '7.4.33', debug: true, wpUpdate: '7.1.4', dbReporting: 'N_UNABLE' });
    const before = await call(site, 'security');
    const wanted = { phpversion_matched: 'N', debug_disabled: 'N', wp_uptodate: 'N', db_reporting: 'N_UNABLE' };
    expect(before).toMatchObject(wanted);
    const issues = Object.values(before).filter((value) => String(value).startsWith('N')).length;
    expect(await call(site, 'stats')).toMatchObject({ securityIssues: issues, securityStats: before });
    expect(await call(site, 'securityFix', { feature: 'db_reporting' })).toMatchObject({ db_reporting: 'Y' });
    const all = await call(site, 'securityUnFix', { feature: 'all', 'skip_features[]': 'php_reporting' });
    expect(all).toMatchObject({ db_reporting: 'N_UNABLE', sync: expect.any(Object) });
    expect(site.state.phpReporting).not.toBe('N');
  });

  test('sessions are destroyed, icons and users shown', async () => {
    for (const user of site.state.users) user.sessions = 2;
    expect(await call(site, 'settings_tools', { action: 'force_destroy_sessions' })).toEqual({ success: 1 });
    const left = site.state.users.filter((user) => user.sessions > 0).map((user) => user.login);
    expect(left).toEqual(site.state.users.map((user) => user.login).filter((login) => login !== site.admin));
    expect(Object.keys(await call(site, 'settings_tools'))).toEqual(['error']);
    site.state.icon = 'icon.png';
    expect(await call(site, 'get_site_icon')).toEqual({ faviIconUrl: `${site.url}icon.png` });
    const users = await callRaw(site, 'get_all_users', { role: 'administrator' });
    expect(users.value).toMatchObject([{ login: site.admin, role: 'administrator', avatar: expect.any(String) }]);
  });
});
