/** Runs over MCP and REST as their clients see them, and every id of a change that they show. */

import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, type Answer } from '../support/harness.js';
import { connect, type Driver, type McpApp, mcpApp } from '../support/mcp-clients.js';
import { tokens } from '../support/tokens.js';
import { callRest, callTool } from './callers.js';
import { ordinary } from './safety-app.js';

let mcp: McpApp;
let client: Driver;
const SLUG = 'shop/shop.php';
const ONE = { site_id_or_domain: 1 };
const UNGUARDED = { site_id_or_domain: 2 };

beforeAll(async () => {
  mcp = await mcpApp({ sites: 2, connected: 2, realClock: false, fleet: { plugins: 3 } });
  for (const site of mcp.app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    Object.assign(plugin, { slug: SLUG, name: 'Shop', version: '1.0', active: true, premium: false });
    site.state.wpVersion = '7.0';
    site.state.wpUpdate = '7.1';
  }
  offer(0);
  offer(1);
  client = await connect(['2025-11-25', 'http'], {
    ...mcp.target,
    url: `${mcp.url}?toolsets=default,guard,monitoring,support,undo`,
  });
  await tool('sync-sites', {});
  await tool('install-site-guard', ONE);
});

const tool = (name: string, args: Record<string, unknown>) => callTool(mcp, client, name, args);
const rest = (method: string, path: string, body?: unknown) => callRest(mcp, method, path, body);
const shop = (i: number) => mcp.app.fleet.site(i).state.plugins.find(({ slug }) => slug === SLUG);
const offer = (i: number) =>
  Object.assign(shop(i) as object, { update: { version: '2.0', requiresPhp: '', requiresWp: '' } });
const version = (i: number) => shop(i)?.version;

describe('a run', () => {
  it('of an assistant is read by it and by a script', async () => {
    const { run_id, updated } = await tool('update-site-plugins', ONE);
    expect(updated).toMatchObject([{ slug: SLUG, change_id: expect.any(String), can_roll_back: true }]);
    const told = await tool('get-run', { run_id });
    expect(told).toMatchObject({ state: 'ended', via: 'mcp', counts: { kept: 1 }, items: [{ state: 'kept' }] });
    const { status, data, run, total } = await rest('GET', `/runs/${run_id}`);
    expect([status, total, data]).toEqual([200, 1, told.items]);
    expect(run).toMatchObject({ run_id, counts: { kept: 1 } });
    // The list of protected updates names the same run.
    expect((await rest('GET', '/sites/1/safe-updates')).data).toMatchObject([
      { run_id, change_id: updated[0].change_id },
    ]);
  });

  it('of a script is one, and an unknown one is not found', async () => {
    const { run_id, data } = await rest('POST', '/updates/2/update/plugins', { slug: SLUG });
    expect(data[SLUG]).toMatchObject({ success: 1, can_roll_back: false });
    const core = await rest('POST', '/updates/2/update');
    expect(core.data).toMatchObject([{ type: 'core', can_roll_back: false }]);
    const listed = (await rest('GET', '/runs?site=2')).data;
    expect(listed.map((one: Answer) => [one.run_id, one.via])).toEqual([
      [core.run_id, 'rest'],
      [run_id, 'rest'],
    ]);
    expect((await tool('list-runs', UNGUARDED)).runs).toEqual(listed);
    expect(await rest('GET', '/runs/run_0')).toMatchObject({ status: 404, code: 'svc_run_not_found' });
    expect((await rest('POST', '/updates/update', { dry_run: true })).run_id).toBeUndefined();
  });
});

describe('an id of a change', () => {
  const changes = async (site: object) =>
    (await tool('get-site-changes', { ...site, source: 'all' })).changes as Answer[];

  it('is unique in a change log, wherever the change was made', async () => {
    const { db } = mcp.app;
    const other = "'akismet/akismet.php', '', '', '1.0', '2.0', 'jane', 3";
    await db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, slug, summary, detail, old_value, new_value, user_login,
         user_id, created) SELECT 1, 'x', value, 'plugins', 'activated', 'Akismet', ${other}, value FROM json_each(?)`,
      [JSON.stringify([1, 2, 3, 4, 5])],
    );
    const ids = (await changes(ONE)).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(6);
    expect(new Set(ids).size).toBe(ids.length);
    const { data } = await rest('GET', '/sites/1/non-mainwp-changes?source=all');
    expect(new Set(data.map(({ id }: Answer) => id))).toEqual(new Set(ids));
  });

  it('in a change log rolls the update back, or says why it cannot', async () => {
    const of = async (site: object, words: RegExp) =>
      (await changes(site)).find(({ description }) => words.test(description))?.id;
    const refused = (change_id: unknown) => mcp.app.fail('roll-back', { change_id });
    expect(await refused(await of(ONE, /^Activated/))).toMatchObject({
      code: 'svc_update_unprotected',
      message: expect.stringMatching(/^This change is not an update: /),
    });
    expect(await refused(await of(UNGUARDED, /^Updated: WordPress/))).toMatchObject({ code: 'svc_update_unprotected' });
    expect(await refused(987_654)).toMatchObject({ code: 'svc_change_not_found' });
    const id = await of(ONE, /^Updated plugin: Shop/);
    expect(await tool('roll-back', { change_id: id })).toMatchObject({
      slug: SLUG,
      version: '1.0',
      protection: 'guard',
    });
    expect(version(0)).toBe('1.0');
    // The run says so, and who did it.
    const { runs } = await tool('list-runs', { ...ONE, state: 'rolled_back' });
    expect((await tool('get-run', { run_id: runs[0].run_id })).items).toMatchObject([
      {
        state: 'rolled_back',
        message: expect.stringMatching(/ rolled it back to 1\.0\.$/),
        can_roll_back: false,
        cannot_roll_back_because: 'It was rolled back.',
      },
    ]);
    // As text it is the same id.
    expect(await tool('roll-back', { change_id: String(id) })).toMatchObject({ version: '1.0' });
  });

  it('of any list is one change, and undo takes it or says why not', async () => {
    await mcp.app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, slug, old_value, new_value, user_login, user_id, created)
       VALUES (1, 'x', 6, 'plugins', 'updated', 'Shop', '${SLUG}', '0.9', '1.0', 'jane', 3, 7)`,
    );
    const listed = (await tool('get-site-changes', { ...ONE, source: 'all', per_page: 100 })).changes as Answer[];
    const found = (await tool('search-changes', { since: '1970-01-01', site_id_or_domain: 1, per_page: 50 }))
      .changes as Answer[];
    expect(found.map(({ id, what }) => [id, what])).toEqual(listed.map(({ id, description }) => [id, description]));
    const { actions } = await tool('list-actions', { since: '1970-01-01', per_page: 100, details: true });
    const of = (words: RegExp) => found.find(({ what }) => words.test(what));
    // The call named the site.
    for (const row of found) expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['site_id']));
    // Through Sitefleet: the entry of the log that has the same id.
    const own = found.filter(({ via }) => via !== 'site');
    expect(own.length).toBeGreaterThan(2);
    for (const { id, slug, kind } of own)
      expect(actions.find((action: Answer) => action.id === id)).toMatchObject({
        site_id: 1,
        slug: slug ?? '',
        context: kind,
      });
    const updated = of(/^Updated plugin: Shop \(from 1\.0 to 2\.0\)$/);
    const plan = await tool('undo-change', { change_id: updated?.id, dry_run: true });
    expect([...plan.undo, ...plan.errors]).toMatchObject([{ site_id: 1, slug: SLUG }]);
    // On the site itself: there is no entry.
    const theirs = found.filter(({ via }) => via === 'site');
    expect(theirs.length).toBeGreaterThan(5);
    for (const { id, what } of theirs) {
      const refused = await mcp.app.fail('undo-change', { change_id: id, dry_run: true });
      expect(refused).toMatchObject({ code: 'svc_not_undoable', field: 'change_id' });
      expect(refused.message).toContain('made on the site itself');
      expect(refused.message).toContain(what.split(' (')[0]);
      expect(String(refused.advice).includes(`roll-back-v1 {"change_id":${id}}`)).toBe(what.startsWith('Updated'));
    }
    const theirUpdate = theirs.find(({ what }) => what.startsWith('Updated'));
    expect(await mcp.app.fail('roll-back', { change_id: theirUpdate?.id })).toMatchObject({
      code: 'svc_snapshot_not_found',
      message: expect.stringContaining('There is no copy of 0.9'),
    });
  });

  it('of an item without a copy is known, and nothing is changed', async () => {
    const { runs } = await tool('list-runs', UNGUARDED);
    for (const { run_id } of runs) {
      const [item] = (await tool('get-run', { run_id })).items;
      expect(await mcp.app.fail('roll-back', { change_id: item.change_id })).toMatchObject({
        code: item.type === 'core' ? 'svc_update_unprotected' : 'svc_snapshot_not_found',
        message: expect.stringMatching(
          item.type === 'core'
            ? /WordPress itself/
            : /There is no copy of 1\.0 on the site, and wordpress\.org has none/,
        ),
      });
    }
    // By its name it is the same: the version before its last update.
    expect(await mcp.app.fail('roll-back', { ...UNGUARDED, type: 'plugin', slug: SLUG })).toMatchObject({
      message: expect.stringContaining('There is no copy of 1.0'),
    });
    expect(version(1)).toBe('2.0');
  });

  it('of an item that was left alone says so', async () => {
    Object.assign(shop(1) as object, { version: '1.0' });
    offer(1);
    mcp.app.fleet.site(1).faults.failUpdates = [SLUG];
    await tool('sync-sites', {});
    const { run_id } = await tool('run-updates', { site_ids_or_domains: [2], types: ['plugins'] });
    const [item] = (await tool('get-run', { run_id })).items;
    expect(item).toMatchObject({ state: 'failed', can_roll_back: false });
    expect(await mcp.app.fail('roll-back', { change_id: item.change_id })).toMatchObject({
      code: 'svc_update_unprotected',
    });
  });
});

it('stays small at any size of the fleet', async () => {
  const { db, call } = mcp.app;
  await db.run(
    `INSERT INTO site (id, url, url_key, name, search, created_at) SELECT value, 'https://site-' || value || '.example.com/',
       'site-' || value || '.example.com/', 'Site', 'site', 0 FROM json_each(?)`,
    [JSON.stringify(Array.from({ length: 1000 }, (_, i) => i + 100))],
  );
  const origin = JSON.stringify({ ...ADMIN, operation: 'svc/update-all-v1', request_id: 'x' });
  await db.run(
    `INSERT INTO update_run (id, started_at, ended_at, owner, actor, origin, asked, sites)
     SELECT 'run_' || value, 9999999999000 + value, 9999999999000, '', 'Ada', ?, '{"types":[],"specific_items":[]}', 1000 FROM json_each(?)`,
    [origin, JSON.stringify(Array.from({ length: 60 }, (_, i) => i))],
  );
  const message = `Version 99.0 broke the site. Sitefleet rolled back to 1.0. ${'The page is blank. '.repeat(40)}`;
  await db.run(
    `INSERT INTO update_run_item (run_id, site_id, type, slug, name, old_version, new_version, protection, state, code, message, change_id)
     SELECT 'run_59', s.id, 1, 'plugin-' || e.value || '/plugin.php', 'P', '1.0', '99.0', 'none', 'failed', 'svc_update_failed', ?,
       'change_' || s.id || '_' || e.value FROM site s JOIN json_each('[1,2,3]') e WHERE s.id >= 100`,
    [message],
  );
  const seen = new Set<string>();
  for (let page = 1; page <= 150; page++) {
    const answer = await call('get-run', { run_id: 'run_59', page, per_page: 20 });
    expect(answer).toMatchObject({ total: 3000, counts: { failed: 3000 }, sites: 1000 });
    for (const { site_id, slug } of answer.items) seen.add(`${site_id} ${slug}`);
  }
  expect(seen.size).toBe(3000);
  for (const [name, args] of [
    ['get-run', { run_id: 'run_59' }],
    ['get-run', { run_id: 'run_59', per_page: 20 }],
    ['list-runs', { per_page: 20 }],
  ] as const)
    expect([name, tokens(await tool(name, args)) <= 5000]).toEqual([name, true]);
  const result = await client.call('svc-get-run-v1', { run_id: 'run_59' });
  expect(JSON.stringify(result.content)).toContain('Next page: svc-get-run-v1');
});
