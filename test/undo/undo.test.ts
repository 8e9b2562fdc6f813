/** Undo: each kind of change is restored as it was, by what sites and lists show; what cannot be is said beforehand. */

import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PluginState } from '../../src/demo/state.js';
import { verifyLog } from '../../src/domain/action-log/verify.js';
import { ordinary, type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { ADMIN, type Answer, testApp } from '../support/harness.js';

let app: SafetyApp;
beforeAll(async () => {
  app = await safetyApp({ config: { modules: ['comments', 'logs'] } });
});
beforeEach(() => {
  app.clock.move(60_000);
});

const one = { site_id_or_domain: 1 };

/** All that a change may reach: the sites' own state, and the records about them. */
async function state(): Promise<string> {
  const sites = app.fleet.sites.map(({ state: { plugins, themes, activeTheme, posts, comments } }) => ({
    plugins: plugins.map(({ slug, version, active }) => [slug, version, active]),
    themes: themes.map(({ slug, version }) => [slug, version]),
    activeTheme,
    posts: posts.map(({ id, status }) => [id, status]),
    comments: comments.map(({ id, status }) => [id, status]),
  }));
  const all = (sql: string) => app.db.all(sql);
  const records = await Promise.all([
    all(
      'SELECT s.id, s.url, s.name, s.client_id, s.suspended, s.disconnected > 0 AS off, d.notes, d.ssl_verify, d.ignore_plugins FROM site s JOIN site_detail d ON d.site_id = s.id ORDER BY s.id',
    ),
    all('SELECT id, name, color FROM tag ORDER BY id'),
    all('SELECT * FROM site_tag ORDER BY 1, 2'),
    all('SELECT id, name, email, phone, city, note, suspended FROM client ORDER BY id'),
    all('SELECT site_id, type, slug, version FROM ignored_update ORDER BY 1, 2, 3, 4'),
    all('SELECT type, slug, version, until FROM ignored_everywhere ORDER BY 1, 2, 3'),
    // A monitor without settings of its own has no row until it is first changed.
    all(
      'SELECT site_id, active, interval_min, timeout_s, maxretries, type, method, expected_status, keyword FROM monitor WHERE coalesce(active, interval_min, timeout_s, maxretries, type, method, expected_status, keyword) IS NOT NULL ORDER BY site_id',
    ),
  ]);
  const settings = await app.db.all("SELECT key, value FROM setting WHERE key LIKE 'general.%' ORDER BY key");
  return createHash('sha256')
    .update(JSON.stringify([sites, records, settings]))
    .digest('hex');
}

/** The last entry about a call; with its id all that the call did is undone. */
async function lastCall(): Promise<number> {
  const { actions } = await app.call('list-actions', { contexts: 'call', per_page: 20 });
  return actions.find(({ action }: { action: string }) => action === 'called').id;
}

const undo = (input: object) => app.safely('undo-change', { confirm: true, ...input });
const preview = (input: object) => app.safely('undo-change', { dry_run: true, ...input });

/** Makes a change, previews its undo, and undoes it; expects all as before. */
async function thereAndBack(change: () => Promise<unknown>): Promise<{ plan: Answer; done: Answer }> {
  const before = await state();
  await change();
  const changed = await state();
  expect(changed).not.toBe(before);
  const change_id = await lastCall();
  const plan = await preview({ change_id });
  expect(plan.errors).toEqual([]);
  expect(plan.total_undo).toBeGreaterThan(0);
  expect(await state()).toBe(changed);
  const done = await undo({ change_id, digest: plan.digest });
  expect(done.errors).toEqual([]);
  expect(await state()).toBe(before);
  // A second time there is nothing to undo.
  const again = await undo({ change_id });
  expect(again.total_undone).toBe(0);
  expect(new Set(again.errors.map(({ code }: Answer) => code))).toEqual(new Set(['svc_already_undone']));
  expect(await state()).toBe(before);
  return { plan, done };
}

describe('what is restored as it was', () => {
  const plugin = () => ordinary(app.site(0)).find(({ active }) => active) as PluginState;

  it('a plugin that was deactivated', async () => {
    const { plan, done } = await thereAndBack(() =>
      app.call('deactivate-site-plugins', { ...one, slugs: [plugin().slug] }),
    );
    expect(plan.undo).toMatchObject([{ site_id: 1, kind: 'plugin', field: 'active', now: 'false', back_to: 'true' }]);
    expect(done.undone).toHaveLength(1);
  });

  it('the theme that was active', async () => {
    const { themes, activeTheme } = app.site(0).state;
    const other = themes.find(({ slug }) => slug !== activeTheme);
    await thereAndBack(() => app.call('activate-site-theme', { ...one, slug: other?.slug }));
  });

  it('an update of a plugin, from the copy of the guard', async () => {
    const { slug, version } = app.offer(app.site(0), 0, '98.0');
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const { plan } = await thereAndBack(() => app.safely('update-site-plugins', { ...one, slugs: [slug] }));
    expect(plan.undo).toMatchObject([{ slug, field: 'version', now: '98.0', back_to: version }]);
  });

  it('an update of a theme, from the copy of the guard', async () => {
    const [theme] = app.site(0).state.themes;
    if (theme === undefined) throw new Error('the site has no theme');
    const { slug, version } = theme;
    theme.update = { version: '96.0', requiresPhp: '', requiresWp: '' };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const { plan } = await thereAndBack(() => app.safely('update-site-themes', { ...one, slugs: [slug] }));
    expect(plan.undo).toMatchObject([{ kind: 'theme', slug, field: 'version', now: '96.0', back_to: version }]);
    expect(app.site(0).state.themes[0]?.version).toBe(version);
  });

  it('tags of sites, also new ones', async () => {
    await app.call('add-tag', { name: 'Old' });
    await app.call('tag-sites', { site_ids_or_domains: [1, 2], add: ['Old'] });
    await thereAndBack(() =>
      app.call('tag-sites', { site_ids_or_domains: [1, 2, 3], add: ['New'], remove: ['Old'], create: true }),
    );
  });

  it('a tag that was deleted, with its id and its sites', async () => {
    const { id } = await app.call('add-tag', { name: 'Gone', color: '#112233' });
    await app.call('tag-sites', { site_ids_or_domains: [1, 3], add: ['Gone'] });
    await thereAndBack(() => app.call('delete-tag', { tag_id: id, confirm: true }));
  });

  it('name, colour, notes, client and other settings of a site', async () => {
    const { id } = await app.call('add-tag', { name: 'Blue', color: '#0000ff' });
    await thereAndBack(() => app.call('update-tag', { tag_id: id, name: 'Red', color: '#ff0000' }));
    const client = await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com' });
    await thereAndBack(() =>
      app.call('update-site', {
        ...one,
        name: 'Renamed',
        notes: 'Ring first',
        client_id: client.id,
        ssl_verify: false,
        add_tags: [id],
      }),
    );
  });

  it('a client: added with sites, changed, suspended, deleted', async () => {
    await thereAndBack(() =>
      app.call('add-client', { name: 'Bo', client_email: 'bo@example.com', selected_sites: [2, 3] }),
    );
    const { id: client_id } = await app.call('add-client', {
      name: 'Cy',
      client_email: 'cy@example.com',
      selected_sites: [1, 2],
    });
    const ref = { client_id_or_email: client_id };
    await thereAndBack(() =>
      app.call('update-client', { ...ref, city: 'Rome', note: 'Pays late', selected_sites: [2, 3] }),
    );
    await app.call('suspend-site', { site_id_or_domain: 1 });
    await thereAndBack(() => app.call('suspend-client', ref));
    await thereAndBack(() => app.safely('delete-client', { ...ref, confirm: true }));
    await app.safely('unsuspend-site', one);
  });

  it('the own settings of monitors, and that they follow the global ones', async () => {
    await app.call('update-monitors', { site_ids_or_domains: [2], interval: 10 });
    const { plan } = await thereAndBack(() =>
      app.call('update-monitors', {
        site_ids_or_domains: [1, 2],
        ...{ active: false, type: 'keyword', keyword: 'Welcome' },
        follow: ['interval'],
      }),
    );
    const shown = plan.undo.filter(({ site_id }: Answer) => site_id === 2);
    expect(shown).toMatchObject(['active', 'interval', 'type', 'keyword'].map((field) => ({ kind: 'monitor', field })));
    expect(shown.find(({ field }: Answer) => field === 'interval')).toMatchObject({ now: 'null', back_to: '10' });
  });

  it('a suspension, and its end', async () => {
    await thereAndBack(() => app.call('suspend-sites', { site_ids_or_domains: [1, 2] }));
    await app.call('suspend-site', { site_id_or_domain: 3 });
    await thereAndBack(() => app.safely('unsuspend-site', { site_id_or_domain: 3 }));
    await app.safely('unsuspend-site', { site_id_or_domain: 3 });
  });

  it('ignored updates', async () => {
    await thereAndBack(() => app.call('ignore-site-plugins', { ...one, slugs: [plugin().slug], action: 'add' }));
  });

  it('updates ignored on every site', async () => {
    const item = { type: 'plugin', slug: plugin().slug };
    await app.call('ignore-update-everywhere', { ...item, action: 'ignore', version: '1.0' });
    await app.call('ignore-update-everywhere', { ...item, action: 'ignore', version: '2.0', until: '2999-01-01' });
    await thereAndBack(() => app.call('ignore-update-everywhere', { ...item, action: 'ignore' }));
    await thereAndBack(() => app.call('ignore-update-everywhere', { ...item, action: 'unignore' }));
  });

  it('the states of posts and comments', async () => {
    const { posts, comments } = app.site(0).state;
    const published = posts.find(({ status, type }) => status === 'publish' && type === 'post');
    const [approved] = comments;
    if (approved !== undefined) approved.status = 'approved';
    const post = { ...one, post_id: published?.id };
    await thereAndBack(() => app.call('set-post-status', { ...post, step: 'unpublish' }));
    await thereAndBack(() => app.call('set-post-status', { ...post, step: 'trash' }));
    for (const action of ['unapprove', 'spam', 'trash'])
      await thereAndBack(() => app.call('moderate-comments', { ...one, comment_ids: [approved?.id], action }));
  });

  it('a post that was written, even if it was published since: it goes to the trash', async () => {
    const { posts } = app.site(0).state;
    const { post_id } = await app.call('create-post', { ...one, post_title: 'Draft', post_content: 'x' });
    const call = await lastCall();
    const status = () => posts.find(({ id }) => id === post_id)?.status;
    expect(status()).toBe('draft');
    const since = new Date(app.clock.now()).toISOString();
    await app.call('set-post-status', { ...one, post_id, step: 'publish' });
    expect(status()).toBe('publish');
    // Undoing only that it was written is refused: it was published since.
    expect((await preview({ change_id: call })).errors).toMatchObject([{ code: 'svc_changed_since' }]);
    const plan = await preview({ since });
    expect(plan.undo).toMatchObject([{ kind: 'post', now: 'publish', caution: 'Moves the new post to the trash.' }]);
    expect((await undo({ since, digest: plan.digest })).errors).toEqual([]);
    expect(status()).toBe('trash');
    expect((await undo({ since })).errors.map(({ code }: Answer) => code)).toContain('svc_already_undone');
    expect(status()).toBe('trash');
  });

  it('everything since a time, and an undo itself', async () => {
    const before = await state();
    app.clock.move(1_000);
    const since = new Date(app.clock.now()).toISOString();
    await app.call('suspend-site', { site_id_or_domain: 2 });
    await app.call('update-site', { ...one, notes: 'First' });
    app.clock.move(1_000);
    await app.call('update-site', { ...one, notes: 'Second' });
    await app.call('deactivate-site-plugins', { ...one, slugs: [plugin().slug] });
    const changed = await state();
    const done = await undo({ since });
    expect(done).toMatchObject({ errors: [], total_undone: 3 });
    expect(await state()).toBe(before);
    const call = await lastCall();
    expect((await undo({ change_id: call })).errors).toEqual([]);
    expect(await state()).toBe(changed);
    await undo({ since });
    expect(await state()).toBe(before);
  });
});

describe('since a time', () => {
  const iso = () => new Date(app.clock.now()).toISOString();

  it('ends where until says, leaves out what is named, and shows who made what and what needs care', async () => {
    const grace = { ...ADMIN, id: 7, name: 'grace' };
    const since = iso();
    const { id } = await app.call('add-tag', { name: 'Added' });
    await app.call('update-site', { ...one, notes: 'By grace' }, { actor: grace });
    await app.call('suspend-site', { site_id_or_domain: 2 });
    app.clock.move(1_000);
    const until = iso();
    app.clock.move(1_000);
    await app.call('suspend-site', { site_id_or_domain: 1 });
    const all = await preview({ since });
    expect(all).toMatchObject({ total_undo: 4, total_cautions: 1, total_by_others: 1 });
    expect(all.undo[0]).toMatchObject({ kind: 'tag', caution: 'Deletes the tag.', by: ['admin'] });
    expect(all.undo.filter(({ by }: Answer) => by[0] === 'grace')).toMatchObject([{ site_id: 1, field: 'notes' }]);
    const some = await preview({ since, until });
    expect(some).toMatchObject({ total_undo: 3, total_errors: 0 });
    const [tag] = some.undo as Answer[];
    const fewer = await preview({ since, until, exclude_action_ids: tag?.action_ids });
    expect(fewer).toMatchObject({ total_undo: 2, total_cautions: 0, total_by_others: 1 });
    // The digest stands for what is left, not for all of it.
    const digest = fewer.digest;
    await expect(undo({ since, until, digest })).rejects.toMatchObject({ code: 'svc_undo_plan_changed' });
    const done = await undo({ since, until, exclude_action_ids: tag?.action_ids, digest });
    expect(done).toMatchObject({ total_undone: 2, errors: [] });
    expect(await app.db.all('SELECT id FROM site WHERE suspended = 1')).toEqual([{ id: 1 }]);
    expect(await app.db.all('SELECT name FROM tag WHERE id = ?', [id])).toEqual([{ name: 'Added' }]);
    await undo({ since });
    expect(await app.db.all('SELECT id FROM site WHERE suspended = 1')).toEqual([]);
  });

  it('of a call, too; a run is undone as a whole, and an id that is not meant is refused', async () => {
    await app.call('suspend-sites', { site_ids_or_domains: [1, 2] });
    const change_id = await lastCall();
    const { undo: steps } = await preview({ change_id });
    const [first, second] = (steps as Answer[]).map(({ action_ids }) => action_ids[0]);
    const wrong = { code: 'svc_invalid_input', field: 'exclude_action_ids' };
    await expect(undo({ change_id, exclude_action_ids: [first, 99_999_999] })).rejects.toMatchObject(wrong);
    await expect(undo({ run_id: 'run', exclude_action_ids: [first] })).rejects.toMatchObject(wrong);
    expect(await undo({ change_id, exclude_action_ids: [second] })).toMatchObject({ total_undone: 1 });
    expect(await app.db.all('SELECT id FROM site WHERE suspended = 1')).toHaveLength(1);
    expect(await undo({ change_id })).toMatchObject({ total_undone: 1 });
    const since = iso();
    app.clock.move(1_000);
    for (const until of ['2001-01-01T00:00:00Z', '2999-01-01T00:00:00Z', 'soon'])
      await expect(preview({ since, until })).rejects.toMatchObject({ code: 'svc_invalid_input', field: 'until' });
    await expect(preview({ change_id, until: since })).rejects.toMatchObject({ field: 'until' });
  });
});

it('of a call that became a job, although somebody else gave a call of theirs the same id meanwhile', async () => {
  const own = await testApp({ sites: 4, jobs: false, config: { batch_threshold: 1, job_chunk: 1 } });
  const [mine, other] = [[1, 2, 3], 4];
  for (const index of [0, 1, 2, 3]) await own.connect(index);
  expect(await own.call('suspend-sites', { site_ids_or_domains: mine })).toMatchObject({ queued: true });
  // Tests give all calls one id.
  await own.call('suspend-sites', { site_ids_or_domains: [other] }, { actor: { ...ADMIN, id: 99, name: 'mallory' } });
  await own.drain();
  // All is in the log once it is listed.
  await own.call('list-actions');
  const [{ id: change_id }] = (await own.db.all(
    "SELECT id FROM action_log WHERE context = 'call' AND action = 'called' AND operation = 'svc/suspend-sites-v1' ORDER BY id",
  )) as [Answer];
  const plan = await own.call('undo-change', { change_id, dry_run: true });
  expect([plan.total_undo, plan.undo.map(({ site_id }: Answer) => site_id).sort()]).toEqual([3, mine]);
});

describe('several changes of the same thing, undone from the newest on', () => {
  /** Makes the changes, and undoes all since; a second undo of the undo brings them back. */
  async function allBack(change: () => Promise<unknown>): Promise<Answer> {
    const before = await state();
    app.clock.move(1_000);
    const since = new Date(app.clock.now()).toISOString();
    await change();
    const changed = await state();
    const plan = await preview({ since });
    const asBefore = Array(plan.total_errors).fill('svc_already_undone');
    expect(plan.errors.map(({ code }: Answer) => code)).toEqual(asBefore);
    const done = await undo({ since, digest: plan.digest });
    expect(done.errors.map(({ code }: Answer) => code)).toEqual(asBefore);
    expect(done.total_undone).toBe(plan.total_undo);
    expect(await state()).toBe(before);
    const call = await lastCall();
    expect((await undo({ change_id: call })).errors).toEqual([]);
    expect(await state()).toBe(changed);
    await undo({ since });
    expect(await state()).toBe(before);
    return plan;
  }

  it('a tag that was added, renamed twice and given to sites', async () => {
    const { undo: steps } = await allBack(async () => {
      const { id } = await app.call('add-tag', { name: 'First', color: '#111111' });
      await app.call('update-tag', { tag_id: id, name: 'Second' });
      await app.call('tag-sites', { site_ids_or_domains: [1, 2], add: ['Second'] });
      await app.call('update-tag', { tag_id: id, name: 'Third', color: '#333333' });
    });
    expect(steps).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'tag', field: 'name', now: 'Third', back_to: 'First' }),
        expect.objectContaining({ kind: 'tag', field: 'record', now: 'First', back_to: 'none' }),
        ...[1, 2].map((site_id) =>
          expect.objectContaining({ site_id, field: 'tag Third', now: 'true', back_to: 'false' }),
        ),
      ]),
    );
  });

  it('tags and clients of sites, also of a deleted one, by their names', async () => {
    const { id } = await app.call('add-tag', { name: 'Gone soon' });
    const [ada, bea] = [await app.call('add-client', { name: 'Ada' }), await app.call('add-client', { name: 'Bea' })];
    await app.call('update-site', { site_id_or_domain: 1, client_id: ada.id });
    await app.call('tag-sites', { site_ids_or_domains: [1], add: ['Gone soon'] });
    const { undo: steps } = await allBack(async () => {
      await app.call('delete-tag', { tag_id: id, confirm: true });
      await app.call('update-site', { site_id_or_domain: 1, client_id: bea.id });
      await app.call('update-site', { site_id_or_domain: 3, client_id: bea.id });
    });
    expect(steps).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'tag', field: 'record', now: 'none', back_to: '"Gone soon"' }),
        expect.objectContaining({ site_id: 1, field: 'tag "Gone soon"', now: 'false', back_to: 'true' }),
        expect.objectContaining({ site_id: 1, field: 'client', now: 'Bea', back_to: 'Ada' }),
        expect.objectContaining({ site_id: 3, field: 'client', now: 'Bea', back_to: 'none' }),
      ]),
    );
    await app.call('update-site', { site_id_or_domain: 1, client_id: null });
    for (const { id: client_id } of [ada, bea])
      await app.call('delete-client', { client_id_or_email: client_id, confirm: true });
    await app.call('delete-tag', { tag_id: id, confirm: true });
  });

  it('a tag that was renamed and then deleted', async () => {
    const { id } = await app.call('add-tag', { name: 'Early', color: '#111111' });
    await app.call('tag-sites', { site_ids_or_domains: [1], add: ['Early'] });
    await allBack(async () => {
      await app.call('update-tag', { tag_id: id, name: 'Late' });
      await app.call('delete-tag', { tag_id: id, confirm: true });
    });
  });

  it('a tag that was added, renamed and deleted: there is nothing to undo', async () => {
    const before = await state();
    app.clock.move(1_000);
    const since = new Date(app.clock.now()).toISOString();
    const { id } = await app.call('add-tag', { name: 'Short' });
    await app.call('update-tag', { tag_id: id, name: 'Lived' });
    await app.call('delete-tag', { tag_id: id, confirm: true });
    const plan = await preview({ since });
    expect(plan).toMatchObject({ total_undo: 0, total_errors: 3 });
    expect(plan.errors.map(({ code }: Answer) => code)).toEqual(Array(3).fill('svc_already_undone'));
    expect(await state()).toBe(before);
  });

  it('a client that was added with sites, changed twice, and suspended', async () => {
    await allBack(async () => {
      const { id } = await app.call('add-client', {
        name: 'Di',
        client_email: 'di@example.com',
        selected_sites: [1, 2],
      });
      const ref = { client_id_or_email: id };
      await app.call('update-client', { ...ref, city: 'Oslo' });
      await app.call('update-client', { ...ref, city: 'Bergen', name: 'Dina', selected_sites: [2] });
      await app.call('suspend-client', ref);
    });
  });

  it('notes, settings of a site and a client that changed twice', async () => {
    const { id } = await app.call('add-client', { name: 'Ed', client_email: 'ed@example.com' });
    await allBack(async () => {
      await app.call('update-site', { ...one, notes: 'One', name: 'One', client_id: id });
      await app.call('update-site', { ...one, notes: 'Two', name: 'Two', ssl_verify: false });
      await app.call('update-client', { client_id_or_email: id, city: 'Lima' });
      await app.call('update-client', { client_id_or_email: id, city: 'Cusco' });
    });
  });

  it('but what somebody else changed in between stays, and so does that it was added', async () => {
    const { id } = await app.call('add-tag', { name: 'Mine' });
    const added = await lastCall();
    await app.call('update-tag', { tag_id: id, name: 'Theirs' });
    expect(await preview({ change_id: added })).toMatchObject({
      ...{ total_undo: 0, errors: [{ kind: 'tag', code: 'svc_changed_since' }] },
    });
    await app.call('delete-tag', { tag_id: id, confirm: true });
  });
});

describe('what is left alone', () => {
  it('what was changed again since, which is said beforehand', async () => {
    await app.call('update-site', { ...one, notes: '' });
    await app.call('update-site', { ...one, name: 'Mine', notes: 'Mine' });
    const change_id = await lastCall();
    await app.call('update-site', { ...one, name: 'Theirs' });
    const errors = [
      { site_id: 1, kind: 'site', code: 'svc_changed_since', message: expect.stringContaining('Theirs') },
    ];
    expect(await preview({ change_id })).toMatchObject({ undo: [{ field: 'notes' }], errors });
    expect(await undo({ change_id })).toMatchObject({ undone: [{ field: 'notes' }], errors });
    expect(await app.call('get-site', one)).toMatchObject({ name: 'Theirs', notes: '' });
  });

  it('what a person switched on the site itself, although no sync has seen it', async () => {
    const { state } = app.site(0);
    const [first, theirs] = state.themes.filter(({ slug }) => slug !== state.activeTheme);
    await app.call('activate-site-theme', { ...one, slug: first?.slug });
    const change_id = await lastCall();
    state.activeTheme = String(theirs?.slug);
    const { digest } = await preview({ change_id });
    expect(await undo({ change_id, digest })).toMatchObject({
      ...{ total_undone: 0, errors: [{ code: 'svc_changed_since' }] },
    });
    expect(state.activeTheme).toBe(theirs?.slug);
    // It is seen now.
    expect(await preview({ change_id })).toMatchObject({ total_undo: 0, errors: [{ code: 'svc_changed_since' }] });
  });

  it('what a person changed on the site itself', async () => {
    const { posts } = app.site(0).state;
    const post = posts.find(({ status, type }) => status === 'publish' && type === 'post');
    await app.call('set-post-status', { ...one, post_id: post?.id, step: 'unpublish' });
    const change_id = await lastCall();
    if (post !== undefined) post.status = 'private';
    expect(await preview({ change_id })).toMatchObject({ total_undo: 0, errors: [{ code: 'svc_changed_since' }] });
    expect(await undo({ change_id })).toMatchObject({ total_undone: 0, errors: [{ code: 'svc_changed_since' }] });
    expect(post?.status).toBe('private');
  });

  it.each([
    [
      'delete-site-plugins',
      () => ({ slugs: [ordinary(app.site(1)).find(({ active }) => !active)?.slug], confirm: true }),
    ],
    ['update-site-core', () => ({})],
  ])('what cannot be undone, with the reason: %s', async (name, input) => {
    app.site(1).state.wpUpdate = '99.0';
    for (const plugin of ordinary(app.site(1)).slice(-1)) plugin.active = false;
    await app.call('sync-sites', { site_ids_or_domains: [2] });
    await app.safely(name, { site_id_or_domain: 2, ...input() });
    const before = await state();
    const found = await preview({ change_id: await lastCall() });
    expect(found).toMatchObject({ total_undo: 0, errors: [{ code: 'svc_not_undoable' }] });
    expect(found.errors[0].message).not.toBe('');
    expect((await undo({ change_id: await lastCall() })).total_undone).toBe(0);
    expect(await state()).toBe(before);
  });

  it('an update whose copy is gone', async () => {
    const site = app.site(2);
    const { slug } = app.offer(site, 0, '97.0');
    await app.call('sync-sites', { site_ids_or_domains: [3] });
    const { run_id } = await app.safely('update-site-plugins', { site_id_or_domain: 3, slugs: [slug] });
    site.guard?.kept.splice(0);
    expect(await preview({ run_id })).toMatchObject({ total_undo: 0, errors: [{ slug, code: 'svc_not_undoable' }] });
  });

  it('everything, if the plan is not the one that was shown', async () => {
    await app.call('update-site', { ...one, name: 'A', notes: 'B' });
    const change_id = await lastCall();
    const { digest } = await preview({ change_id });
    await app.call('update-site', { ...one, name: 'C' });
    const before = await state();
    const refused = await app.fail('undo-change', { change_id, digest, confirm: true });
    expect(refused.code).toBe('svc_undo_plan_changed');
    expect(await state()).toBe(before);
  });
});

describe('the call', () => {
  it('needs one choice, a confirmation and the right to write', async () => {
    const change_id = await lastCall();
    expect((await app.fail('undo-change', { confirm: true })).code).toBe('svc_invalid_input');
    expect((await app.fail('undo-change', { change_id, run_id: 'run_1', confirm: true })).code).toBe(
      'svc_invalid_input',
    );
    expect((await app.fail('undo-change', { change_id, by: 'x', confirm: true })).code).toBe('svc_invalid_input');
    expect((await app.fail('undo-change', { change_id, everything: true })).code).toBe('ability_invalid_input');
    expect((await app.fail('undo-change', { change_id })).code).toBe('svc_confirmation_required');
    expect((await app.fail('undo-change', { change_id: 999_999, confirm: true })).code).toBe('svc_action_not_found');
    expect((await app.fail('undo-change', { change_id: 'nothing', confirm: true })).code).toBe('svc_change_not_found');
    expect((await app.fail('undo-change', { run_id: 'nothing', dry_run: true })).code).toBe('svc_run_not_found');
    const reader = { ...ADMIN, id: 2, name: 'eve', rights: ['read' as const] };
    expect((await app.fail('undo-change', { change_id, confirm: true }, { actor: reader })).code).toBe(
      'svc_permission_denied',
    );
  });

  it('is told in the log: which entries it undid, and what of them can be undone', async () => {
    await app.call('update-site', { ...one, notes: 'Told' });
    const { actions } = await app.call('list-actions', { contexts: 'site', per_page: 1, details: true });
    const [{ id }] = actions;
    expect(actions).toMatchObject([{ can_undo: true, undoes: [] }]);
    await undo({ change_id: id });
    const after = await app.call('list-actions', { contexts: 'site', per_page: 1, details: true });
    expect(after.actions).toMatchObject([{ operation: 'svc/undo-change-v1', undoes: [id], can_undo: true }]);
    const call = await app.call('list-actions', { contexts: 'call', per_page: 1, details: true });
    expect(call.actions).toMatchObject([{ can_undo: null }]);
    const entry = async (action_id: number) => {
      const short = await app.call('list-actions', { contexts: 'site', per_page: 10 });
      return short.actions.find((action: Answer) => action.id === action_id);
    };
    const undone = { can_undo: false, cannot_undo_because: 'It has already been undone.' };
    expect(await entry(id)).toMatchObject(undone);
    // What undoes it may be undone in turn: then it holds again.
    const by = after.actions[0].id;
    await undo({ change_id: by });
    expect(await entry(by)).toMatchObject(undone);
    expect(await entry(id)).toMatchObject({ can_undo: true });
    await undo({ change_id: id });
    expect(await entry(id)).toMatchObject(undone);
    expect(await verifyLog(app.ctx())).toMatchObject({ valid: true });
  });

  it('is told in the log of an update that was rolled back, by whichever call', async () => {
    const item = app.offer(app.site(0), 1, '77.0');
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    await app.safely('update-site-plugins', { ...one, slugs: [item.slug] });
    const updates = async () =>
      (await app.call('list-actions', { contexts: 'plugin', per_page: 10 })).actions.filter(
        ({ action, new_version }: Answer) => action === 'updated' && new_version === '77.0',
      );
    expect(await updates()).toMatchObject([{ can_undo: true }]);
    await app.safely('roll-back', { ...one, type: 'plugin', slug: item.slug });
    expect(await updates()).toMatchObject([{ can_undo: false, cannot_undo_because: 'It has already been undone.' }]);
  });

  it('keeps no secret in the log, and says of it that it is not restored', async () => {
    await app.call('update-site', {
      ...one,
      http_user: 'walrus',
      http_pass: 'zebra-77',
      notes: 'http://u:ocelot-4@x.example/',
    });
    const kept = await app.db.all('SELECT fields FROM action_log');
    for (const secret of ['walrus', 'zebra-77', 'ocelot-4']) expect(JSON.stringify(kept)).not.toContain(secret);
    const plan = await preview({ change_id: await lastCall() });
    expect(plan).toMatchObject({ total_undo: 0, total_errors: 3 });
  });
});
