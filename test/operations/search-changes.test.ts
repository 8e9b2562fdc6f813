/** Who changed what, across the fleet: over MCP and HTTP, from the logs of simulated sites and what was done through the service. */

import { beforeAll, describe, expect, it } from 'vitest';
import { type LoggedChange, logEntry } from '../../src/demo/change-log.js';
import { restApp } from '../rest/client.js';
import type { Answer } from '../support/harness.js';
import { plugin, type SupportApp, supportApp } from './support-app.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SHOP = 'shop/shop.php';

let support: SupportApp;
/** When the sites were made. */
let start: number;
const search = (input: Record<string, unknown> = {}) => support.ask('search-changes', { per_page: 50, ...input });
const lines = (answer: { changes: { what: string }[] }) => answer.changes.map(({ what }) => what);
const iso = (ms: number) => new Date(ms).toISOString();

/** What the sites logged, with hours before the start; the newest first. */
const LOGGED: { site: number; hours: number; what: string; entry: Omit<LoggedChange, 'created'> }[] = [
  {
    site: 1,
    hours: 1,
    what: 'Promoted to administrator: jane (from Editor to Administrator)',
    entry: {
      type: 1615,
      context: 'user',
      action: 'modified',
      user: 'mallory',
      meta: { changeusername: 'jane', oldrole: 'Editor', newrole: 'Administrator' },
    },
  },
  {
    site: 2,
    hours: 2,
    what: 'Created user: root (role administrator)',
    entry: {
      type: 1610,
      context: 'user',
      action: 'created',
      user: 'tom',
      meta: { newuserid: 9, newuserdata: { username: 'root', userroles: 'administrator' } },
    },
  },
  {
    site: 2,
    hours: 3,
    what: 'Changed role of user: eve (from Author to Editor)',
    entry: {
      type: 1615,
      context: 'user',
      action: 'modified',
      user: 'tom',
      meta: { changeusername: 'eve', oldrole: 'Author', newrole: 'Editor' },
    },
  },
  {
    site: 3,
    hours: 26,
    what: 'Updated plugin: Forms (from 1.9 to 2.0)',
    entry: {
      type: 1970,
      context: 'plugin',
      action: 'updated',
      user: 'tom',
      meta: { plugindata: { name: 'Forms', version: '2.0', slug: 'forms/forms.php' }, oldversion: '1.9' },
    },
  },
  {
    site: 1,
    hours: 24 * 40,
    what: 'Turned on setting: Anyone can register',
    entry: { type: 1785, context: 'system-setting', action: 'enabled', user: 'ada' },
  },
];

beforeAll(async () => {
  support = await supportApp({
    connected: 3,
    prepare(app) {
      start = app.clock.now();
      for (const [place, { state }] of app.fleet.sites.entries()) {
        state.actions.clear();
        state.changeLog = LOGGED.filter(({ site }) => site === place + 1).map(({ hours, entry }, index) =>
          logEntry(100 - index, { ...entry, created: (start - hours * HOUR) / 1000 }),
        );
        plugin(app, place, {
          slug: SHOP,
          name: 'Shop',
          version: '1.0',
          update: { version: '2.0', requiresPhp: '', requiresWp: '' },
        });
      }
      app.fleet.site(1).faults.failUpdates = [SHOP];
    },
  });
  const { app } = support;
  await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
  const { id: tag } = await app.call('add-tag', { name: 'Staging' });
  await app.call('update-site', { site_id_or_domain: 2, tags: [tag] });
  app.clock.move(HOUR);
  for (const id of [1, 2]) await app.call('update-site-plugins', { site_id_or_domain: id, slugs: [SHOP] });
});

describe('search-changes', () => {
  it('finds what was logged on the sites, newest first, within the last 30 days unless told otherwise', async () => {
    const recent = LOGGED.filter(({ hours }) => hours < 24 * 30);
    const answer = await search({ via: 'site' });
    expect(lines(answer)).toEqual(recent.map(({ what }) => what));
    expect(answer.total).toBe(recent.length);
    expect(answer.changes.map(({ site_id }: { site_id: number }) => site_id)).toEqual(recent.map(({ site }) => site));
    expect(answer.changes.map(({ at }: { at: string }) => Date.parse(at))).toEqual(
      recent.map(({ hours }) => start - hours * HOUR),
    );
    expect(lines(await search({ via: 'site', since: iso(start - 50 * DAY) }))).toEqual(LOGGED.map(({ what }) => what));
    const yesterday = { since: iso(start - 2 * DAY), until: iso(start - DAY) };
    expect(lines(await search({ via: ['site'], ...yesterday }))).toEqual(['Updated plugin: Forms (from 1.9 to 2.0)']);
  });

  it('finds who became an administrator, and whose role changed', async () => {
    const administrators = await search({ new_role: 'Administrator' });
    expect(administrators.changes).toMatchObject([
      { site_id: 1, url: support.app.fleet.site(0).url, by: 'mallory', via: 'site', kind: 'user' },
      { site_id: 2, by: 'tom' },
    ]);
    expect(lines(administrators)).toEqual([LOGGED[0]?.what, LOGGED[1]?.what]);
    const changed = await search({ kinds: ['user'], actions: ['role-changed'] });
    expect(lines(changed)).toEqual([LOGGED[0]?.what, LOGGED[2]?.what]);
    for (const actions of ['role change', 'role_changed'])
      expect(lines(await search({ kinds: 'users', actions, by: 'TOM' }))).toEqual([LOGGED[2]?.what]);
    expect(lines(await search({ kinds: 'users', actions: 'role-changed', by: 'nobody' }))).toEqual([]);
  });

  it('finds what was done through Sitefleet, and what failed', async () => {
    const updates = await search({ kinds: ['plugin'], actions: ['update'], item: 'SHOP' });
    expect(updates.changes).toMatchObject([
      { site_id: 2, what: expect.stringMatching(/^Failed: updated plugin: Shop/), slug: SHOP, by: 'admin', via: 'run' },
      { site_id: 1, what: 'Updated plugin: Shop (from 1.0 to 2.0)', slug: SHOP, by: 'admin', via: 'run' },
    ]);
    expect(lines(await search({ result: 'failed' }))).toEqual([updates.changes[0].what]);
    expect(lines(await search({ result: 'done', item: 'shop' }))).toEqual([updates.changes[1].what]);
    expect((await search({ kinds: ['tag', 'client'] })).changes).toMatchObject([
      { site_id: null, url: null, what: 'Created tag: Staging' },
      { site_id: null, url: null, what: 'Added client: Ada' },
    ]);
  });

  it('keeps to a site, a client, a tag by its name or id', async () => {
    const sites = async (input: object) => [
      ...new Set((await search({ ...input })).changes.map(({ site_id }: { site_id: number }) => site_id)),
    ];
    // Without the site, which the call names.
    const ofOne = await search({ site_id_or_domain: support.app.fleet.site(2).url, via: 'site' });
    expect(lines(ofOne)).toEqual(LOGGED.filter(({ site }) => site === 3).map(({ what }) => what));
    for (const row of ofOne.changes) expect(row).not.toHaveProperty('site_id');
    expect(await sites({ client_id_or_email: 'ada@example.com' })).toEqual([1]);
    for (const tag of ['staging', 1, '1']) expect(await sites({ tag })).toEqual([2]);
  });

  it('counts each kind of change, whatever kinds are shown', async () => {
    const { kinds, total } = await search({ kinds: ['core'] });
    expect(total).toBe(0);
    expect(kinds).toContainEqual({ kind: 'plugin', action: 'updated', count: 3, failed: 1 });
    expect(kinds).toContainEqual({ kind: 'user', action: 'role-changed', count: 2 });
    const all = await search();
    expect(all.kinds).toEqual(kinds);
    expect(kinds.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(all.total);
  });

  it('counts by person, site or kind instead, and leaves out kinds and actions', async () => {
    const { app } = support;
    await app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
       SELECT 3, 'logs', 'in' || value, 'user', 'logged-in', 'tom', 'tom', 1, ? FROM json_each('[1,2,3,4,5]')`,
      [start / 1000],
    );
    const all = await search();
    const without = await search({ exclude_kinds: ['login'] });
    expect(without.total).toBe(all.total - 5);
    expect(lines(without)).not.toContain('Logged in user: tom');
    expect((await search({ exclude_kinds: ['user', 'plugin'] })).changes.map(({ kind }: Answer) => kind)).not.toContain(
      'user',
    );
    const people = await search({ group_by: 'person', via: 'site', exclude_kinds: 'login' });
    expect(people.groups.map(({ group, count }: Answer) => [group, count])).toEqual([
      ['tom', 3],
      ['mallory', 1],
    ]);
    expect(people).toMatchObject({ changes: [], total: 4, total_groups: 2 });
    expect(Date.parse(people.groups[0].last_at)).toBe(start - 2 * HOUR);
    const sites = await search({ group_by: 'site', via: 'site' });
    expect(sites.groups.map(({ site_id, count }: Answer) => [site_id, count])).toEqual([
      [3, 6],
      [2, 2],
      [1, 1],
    ]);
    const kinds = await support.tool('search-changes', { group_by: 'kind', via: 'site', per_page: 1 });
    expect(kinds).toMatchObject({ groups: [{ group: 'user', count: 8 }], total_groups: 2, total: 9 });
    const second = { group_by: 'kind', via: 'site', per_page: 1, page: 2 };
    expect((await support.tool('search-changes', second)).groups).toMatchObject([{ group: 'plugin', count: 1 }]);
    await app.db.run("DELETE FROM site_change WHERE action = 'logged-in'");
  });

  it('says of how many sites there is no log, or none as old as that', async () => {
    const { app } = support;
    // The log of site 1 is 40 days old, those of the others begin later.
    const [without, later] = [/1 of 3 sites reported no log/, /The logs of \d of 3 sites begin after since/];
    const administrators = await search({ new_role: 'administrator' });
    expect(administrators.not_known).toEqual([expect.stringMatching(later)]);
    await app.db.run('CREATE TABLE kept AS SELECT * FROM site_change WHERE site_id = 2');
    await app.db.run('DELETE FROM site_change WHERE site_id = 2');
    const none = await search({ new_role: 'owner' });
    expect(none).toMatchObject({ total: 0, not_known: [expect.stringMatching(without), expect.stringMatching(later)] });
    expect(await search({ new_role: 'owner', site_id_or_domain: 1 })).not.toHaveProperty('not_known');
    expect((await search({ tag: 'Staging' })).not_known).toEqual([
      expect.stringMatching(/^1 of 1 site reported no log/),
    ]);
    // What was done through Sitefleet is known.
    expect(await search({ via: 'mcp' })).not.toHaveProperty('not_known');
    await app.db.run('INSERT INTO site_change SELECT * FROM kept');
    await app.db.run('DROP TABLE kept');
  });

  it('says the same over REST', async () => {
    const rest = await restApp({ sites: 1, config: { modules: ['logs'] } });
    await rest.connect(0);
    await rest.db.run('DELETE FROM site_change');
    const { body } = await rest.rest('GET /fleet/changes?exclude_kinds=login');
    expect(body.not_known).toEqual([expect.stringMatching(/^1 of 1 site reported no log/)]);
  });

  it('says how many kinds it does not name, and names an item by its whole slug', async () => {
    const slug = `${'a-long-name-of-a-plugin-'.repeat(4)}/plugin.php`;
    await support.app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, slug, user_login, user_id, created)
       WITH RECURSIVE many (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM many WHERE value < 30)
       SELECT 1, 'logs', 'kind' || value, 'plugin', 'kind-' || value, 'Long', ?, 'kay', 1, ? FROM many`,
      [slug, start / 1000],
    );
    const found = await search({ by: 'kay' });
    expect([found.kinds.length + found.more_kinds, found.total]).toEqual([30, 30]);
    expect(found.changes[0].slug).toBe(slug);
    expect(await search({ by: 'tom' })).not.toHaveProperty('more_kinds');
    await support.app.db.run("DELETE FROM site_change WHERE user_login = 'kay'");
  });

  it('has pages, which together are the whole', async () => {
    const all = await search();
    const shown: string[] = [];
    for (let page = 1; page <= Math.ceil(all.total / 4); page++)
      shown.push(...lines(await search({ page, per_page: 4 })));
    expect(shown).toEqual(lines(all));
    // Also of changes within one millisecond, whose ids are in another order than their times.
    await support.app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
       SELECT 1, 'logs', 'fast' || value, 'plugin', 'updated', 'Fast ' || value, 'swift', 1, ? - value * 0.0001 FROM json_each('[1,2,3,4]')`,
      [start / 1000],
    );
    const fast: string[] = [];
    for (let page = 1; page <= 4; page++) fast.push(...lines(await search({ by: 'swift', page, per_page: 1 })));
    expect(fast).toEqual([1, 2, 3, 4].map((number) => `Updated plugin: Fast ${number}`));
    await support.app.db.run("DELETE FROM site_change WHERE user_login = 'swift'");
    expect(await search({ page: 99 })).toMatchObject({ changes: [], total: all.total });
  });

  it.each([
    [{ since: 'yesterday' }, 'svc_invalid_input', 'since'],
    [{ until: '2999-01-01' }, 'svc_invalid_input', 'until'],
    [{ tag: 'nothing' }, 'svc_tag_not_found', 'tag'],
    [{ site_id_or_domain: 'nowhere.example' }, 'svc_site_not_found', 'site_id_or_domain'],
    [{ client_id_or_email: 99 }, 'svc_client_not_found', 'client_id_or_email'],
    [{ users: true }, 'ability_invalid_input', 'users'],
  ])('refuses %j', async (input, code, field) => {
    const { status, body } = await support.post('search-changes', input);
    expect([status >= 400, body.code, body.data.field]).toEqual([true, code, field]);
  });

  it.each(['kinds', 'exclude_kinds', 'actions'])('takes no more than 100 %s', async (name) => {
    const words = Array.from({ length: 101 }, (_, at) => `kind-${at}`);
    const { status, body } = await support.post('search-changes', { [name]: words });
    expect([status, body.code, body.data.field]).toEqual([400, 'ability_invalid_input', name]);
    expect((await support.post('search-changes', { [name]: words.slice(1) })).status).toBe(200);
  });

  it('stays below 5,000 tokens on a large fleet with long texts', async () => {
    const { app } = support;
    const long = '更新'.repeat(120);
    const numbers = JSON.stringify(Array.from({ length: 3000 }, (_, index) => index));
    await app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, summary, detail, old_value, new_value, user_login, user_id, slug, created)
       SELECT 1 + value % 3, 'logs', 'many' || value, 'kind-' || value || ?1, ?1, ?1, ?1, ?1, ?1, ?1, ?1, 1, ?1, ?2 + value FROM json_each(?3)`,
      [long, start / 1000 - 5000, numbers],
    );
    const answer = await support.tool('search-changes');
    // By an estimate that is high for such texts, and says so.
    expect(answer.changes.length).toBeGreaterThan(0);
    expect(answer.truncated).toContain(`${answer.changes.length} of ${answer.total} changes are shown.`);
    expect(answer.total).toBeGreaterThan(3000);
  });
});
