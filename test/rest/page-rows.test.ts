/**
 * The rows the page uses: matters that need attention, sorted sites, updates by item, jobs, the safe updates of a site.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { ordinary } from '../safety/safety-app.js';
import { type RestApp, restApp } from './client.js';

/** Broken in the version's own file: held back on all sites. */
const FLEET = { seen: true, fleet_until: 32_503_680_000_000 };

let app: RestApp;
const SLUG = 'shared/shared.php';

beforeAll(async () => {
  app = await restApp({ sites: 4, fleet: { plugins: 4 }, config: { batch_threshold: 3 }, jobs: false });
  for (const site of app.fleet.sites) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
  }
  // The same plugin on three sites: two offers of one new version, one of another.
  for (const [index, version] of ['2.0', '2.0', '3.1'].entries()) {
    const plugin = ordinary(app.fleet.site(index))[0];
    if (plugin === undefined) throw new Error('the site has no plugin');
    Object.assign(plugin, { slug: SLUG, name: 'Shared', version: index === 0 ? '1.9' : '1.10', premium: false });
    plugin.update = { version, requiresPhp: '', requiresWp: '' };
  }
  app.fleet.site(0).state.wpUpdate = '99.0';
  for (const index of [0, 1, 2, 3]) await app.connect(index);
});

describe('GET /fleet/updates', () => {
  it('has one entry for each item, WordPress first, with all versions newest first', async () => {
    const { body } = await app.rest('GET /fleet/updates');
    expect(body.total).toBe(2);
    expect(body.data.map(({ type, sites }: { type: string; sites: number }) => [type, sites])).toEqual([
      ['core', 1],
      ['plugin', 3],
    ]);
    expect(body.data[1]).toEqual({
      type: 'plugin',
      slug: SLUG,
      name: 'Shared',
      sites: 3,
      guarded: 0,
      level: 'major',
      current_versions: ['1.10', '1.9'],
      new_versions: ['3.1', '2.0'],
      held_back: [],
      // Without a feed this is unknown, not none.
      fixing_sites: null,
      fixes: [],
    });
  });

  it('calls an item what most of its sites call it: one site names nothing for the others', async () => {
    const named = async (index: number, name: string) => {
      const plugin = app.fleet.site(index).state.plugins.find(({ slug }) => slug === SLUG);
      Object.assign(plugin ?? {}, { name });
      await app.call('sync-sites', { site_ids_or_domains: [index + 1] });
      return (await app.rest('GET /fleet/updates?type=plugin')).body.data.map((item: { name: string }) => item.name);
    };
    for (const name of ['zz Call 0900 12345', '00 Call 0900 12345', 'Shared'])
      expect(await named(1, name)).toEqual(['Shared']);
  });

  it('leaves suspended sites out, and updates that are held back; their versions are named apart', async () => {
    await app.rest('POST /sites/1/suspend');
    await app.service.store.quarantine.add(
      {
        ...{ type: 1, slug: SLUG, version: '3.1', name: 'Shared', site_id: 3, site_url: 'https://example.com/' },
        ...{ change_id: 'c', evidence: '["It broke."]', created_at: app.clock.now() },
      },
      FLEET,
    );
    const { body } = await app.rest('GET /fleet/updates?type=plugin');
    expect(body.data).toMatchObject([{ sites: 1, new_versions: ['2.0'], held_back: ['3.1'] }]);
    const sites = (await app.rest(`GET /fleet/updates/sites?type=plugin&slug=${encodeURIComponent(SLUG)}`)).body.data;
    expect(sites.map((site: Record<string, unknown>) => [site.site_id, site.guarded])).toEqual([[2, null]]);
    const version = { type: 'plugin', slug: SLUG, version: '3.1' };
    const narrowed = await app.rest('PUT /quarantine', { body: { ...version, scope: 'site', reason: 'Only there.' } });
    expect(narrowed.body.data).toMatchObject({
      scope: 'site',
      scope_by: expect.any(String),
      scope_reason: 'Only there.',
    });
    // On the site that it broke it is still held back.
    expect((await app.rest('GET /fleet/updates?type=plugin')).body.data).toMatchObject([
      { sites: 1, held_back: ['3.1'] },
    ]);
    expect((await app.rest('PUT /quarantine', { body: { ...version, scope: 'all', reason: 'x' } })).status).toBe(400);
    await app.rest('DELETE /quarantine', { body: version });
    const gone = await app.rest('PUT /quarantine', { body: { ...version, scope: 'fleet', reason: 'x' } });
    expect([gone.status, gone.body.code]).toEqual([404, 'svc_quarantine_not_found']);
    await app.rest('POST /sites/1/unsuspend');
  });
});

describe('POST /updates/update with dry_run', () => {
  it('tells what would be updated where, changes nothing, and asks no site', async () => {
    const before = app.fleet.stats().requests;
    const { body } = await app.rest('POST /updates/update', {
      body: { type: 'plugins', slug: SLUG, exclude: [3], dry_run: true },
    });
    expect(body).toMatchObject({ dry_run: true, would_affect: { plugins: 2, total: 2 } });
    expect(body.would_update.map((one: { site_id: number }) => one.site_id).sort()).toEqual([1, 2]);
    expect(app.fleet.stats().requests).toBe(before);
    expect((await app.rest('GET /fleet/updates?type=plugin')).body.data[0].sites).toBe(3);
  });
});

describe('GET /fleet/sites', () => {
  it('orders by what is asked, each way', async () => {
    const ids = async (query: string) =>
      (await app.rest(`GET /fleet/sites?columns=id,updates&${query}`)).body.rows.map(([id]: [number]) => id);
    const byUpdates = await ids('orderby=updates&order=desc');
    expect([byUpdates[0], byUpdates[3]]).toEqual([1, 4]);
    const names = (await app.rest('GET /fleet/sites?columns=name&order=desc')).body.rows.flat();
    expect(names).toEqual([...names].sort((a, b) => b.localeCompare(a)));
    expect(await ids('has_update=core')).toEqual([1]);
  });

  it('orders by each column: versions by their numbers, down before up, what is unknown last', async () => {
    const { db } = app;
    await db.run(
      "UPDATE site_detail SET php_version = CASE site_id WHEN 1 THEN '8.10.2' WHEN 2 THEN '8.9' WHEN 3 THEN '' ELSE '7.4.33' END",
    );
    await db.run(
      'UPDATE monitor SET active = CASE site_id WHEN 4 THEN 0 ELSE 1 END, status = CASE site_id WHEN 1 THEN 1 WHEN 2 THEN 0 ELSE 2 END',
    );
    await db.run(
      'UPDATE site_detail SET health_good = 10, health_recommended = 4 - site_id, health_critical = (site_id = 4)',
    );
    const ids = async (orderby: string, order = 'asc') =>
      (await app.rest(`GET /fleet/sites?columns=id&orderby=${orderby}&order=${order}`)).body.rows.flat();
    expect(await ids('php')).toEqual([4, 2, 1, 3]);
    expect(await ids('php', 'desc')).toEqual([1, 2, 4, 3]);
    expect(await ids('monitor')).toEqual([2, 3, 1, 4]);
    // 10 of 11.5; 10 of 13, 12 and 11 with half of what is recommended.
    expect(await ids('health')).toEqual([4, 1, 2, 3]);
    for (const column of [
      'url',
      'client',
      'child',
      'certificate',
      'domain',
      'vulnerabilities',
      'wp',
      'tags',
      'since',
      'reason',
    ])
      expect((await ids(column, 'desc')).sort(), column).toEqual([1, 2, 3, 4]);
    await db.run('UPDATE monitor SET active = NULL, status = 99');
  });

  it('says how many vulnerabilities a site has, and that nothing is known without a feed', async () => {
    const answer = async () => (await app.rest('GET /fleet/sites?columns=id,vulnerabilities')).body;
    expect(await answer()).toMatchObject({ columns: ['id', 'vulnerabilities'], total: 4 });
    expect((await answer()).rows.map(([, known]: [number, unknown]) => known)).toEqual([null, null, null, null]);
  });

  it('finds sites without a guard, and says where that is unknown', async () => {
    const add = (site: number, present: number) =>
      app.db.run('INSERT INTO site_guard (site_id, present, looked_at) VALUES (?, ?, 1)', [site, present]);
    await add(1, 1);
    await add(2, 0);
    await add(3, 2);
    const found = async (guarded: number) => {
      const { rows, unknown } = (await app.rest(`GET /fleet/sites?columns=id&orderby=url&guarded=${guarded}`)).body;
      return [rows.flat(), unknown];
    };
    expect(await found(1)).toEqual([[1], 1]);
    expect(await found(0)).toEqual([[2, 3], 1]);
    await app.db.run('DELETE FROM site_guard');
  });

  it('refuses an unknown filter by name', async () => {
    const { status, body } = await app.rest('GET /fleet/sites?stat=connected');
    expect(status).toBe(400);
    expect(body.data.params).toHaveProperty('stat');
  });
});

describe('GET /fleet/attention', () => {
  it('has what needs a person, worst first, with as many cases as asked for', async () => {
    await app.rest('POST /sites/2/disconnect');
    const change = {
      type: 1,
      slug: SLUG,
      name: 'Shared',
      old_version: '1',
      new_version: '1.10',
      protection: 'none' as const,
    };
    for (const id of ['a', 'b']) {
      const own = { id, run_id: id, site_id: 3, position: 0, step: 'probe' as const, started_at: app.clock.now() };
      await app.service.store.safeChanges.add({ ...change, ...own }, '{}');
      const evidence = JSON.stringify({ seen: [`${id} broke.`], by: null, well_after_ms: null, suspect: [] });
      await app.service.store.safeChanges.note(id, { outcome: 'broken', evidence, settled_at: app.clock.now() });
    }
    const { data } = (await app.rest('GET /fleet/attention?cases=1')).body;
    expect(data.matters.map(({ matter, count }: { matter: string; count: number }) => [matter, count])).toEqual([
      ['broken_update', 2],
      ['disconnected', 1],
    ]);
    expect(data.matters[0].cases).toHaveLength(1);
    expect(data.matters[0].cases[0]).toMatchObject({
      site_id: 3,
      item: 'Shared',
      old_version: '1',
      seen: ['a broke.'],
    });
    // Of one site, the same.
    const of = async (id: number) => (await app.rest(`GET /sites/${id}/attention`)).body.data.matters;
    expect(await of(3)).toMatchObject([
      { matter: 'broken_update', count: 2, cases: [{ change_id: 'a' }, { change_id: 'b' }] },
    ]);
    expect(await of(2)).toMatchObject([{ matter: 'disconnected', cases: [{ site_id: 2 }] }]);
    expect(await of(1)).toEqual([]);
    expect(data.not_known.vulnerabilities).toBeNull();
    expect(data.vulnerability_note).toMatch(/nothing is known/);
    expect(data.updates).toEqual({ major: 4, minor: 0, patch: 0, unknown: 0 });
    const story = (await app.rest('GET /sites/3/safe-updates')).body;
    expect(story.total).toBe(2);
    expect(story.guard.installed).toBeNull();
  });
});

describe('GET /fleet/changes', () => {
  it('has who did what across the fleet, by any filter, with what takes it back', async () => {
    await app.rest('POST /sites/4/suspend');
    const changes = async (query: string) => (await app.rest(`GET /fleet/changes?${query}`)).body;
    const { data, total, kinds } = await changes('kinds=site&actions=suspended');
    expect(data).toHaveLength(total);
    expect(data[0]).toMatchObject({
      site_id: 4,
      kind: 'site',
      action: 'suspended',
      via: 'rest',
      result: 'done',
      undo: 'unsuspend',
    });
    expect(kinds).toContainEqual({ kind: 'site', action: 'suspended', count: total });
    expect((await changes('site=4&by=nobody-of-this-name')).total).toBe(0);
    await app.rest('POST /sites/4/unsuspend');
    expect((await changes('kinds=site&actions=suspended')).data[0].undo).toBeNull();
    expect((await app.rest('GET /fleet/changes?since=1')).body.data.params).toHaveProperty('since');
  });
});

describe('POST /fleet/attention/mark', () => {
  const matters = async () =>
    (await app.rest('GET /fleet/attention')).body.data.matters.map(
      ({ matter, count, cases }: { matter: string; count: number; cases: { mark: string | null }[] }) =>
        [matter, count, cases.map(({ mark }) => mark)] as const,
    );
  const set = (body: object, token?: string) =>
    app.rest('POST /fleet/attention/mark', { body, ...(token && { token }) });
  const subjectOf = async (index: number, at = 0) =>
    (await app.rest('GET /fleet/attention')).body.data.matters[index].cases[at].subject as string;

  it('sets aside one case, with its name and note; an acknowledged one stays, at the end', async () => {
    expect(await matters()).toEqual([
      ['broken_update', 2, [null, null]],
      ['disconnected', 1, [null]],
    ]);
    const subject = await subjectOf(0);
    const { status, body } = await set({ subject, state: 'acknowledged', note: 'On it.' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ subject, site_id: 3, state: 'acknowledged', note: 'On it.', until: null });
    expect(await matters()).toEqual([
      ['broken_update', 2, [null, 'acknowledged']],
      ['disconnected', 1, [null]],
    ]);
    expect((await set({ subject, state: 'done' })).body.data).toMatchObject({ state: 'done' });
    expect((await matters())[0]).toEqual(['broken_update', 1, [null]]);
    // The same for the brief, and only there: its site still says so, with the mark.
    const brief = await app.call('get-fleet-brief');
    expect(brief.needs_attention[0]).toMatchObject({ matter: 'broken after an update', count: 1 });
    const [{ cases }] = (await app.rest('GET /sites/3/attention')).body.data.matters;
    expect(cases.map(({ mark }: { mark: string | null }) => mark)).toEqual([null, 'done']);
  });

  it('lists again what happens anew, what a snooze ends for, and what is taken back', async () => {
    const gone = await subjectOf(1);
    await set({ subject: gone, state: 'snoozed', hours: 2 });
    expect((await matters()).map(([matter]: readonly [string]) => matter)).toEqual(['broken_update']);
    const { body } = await app.rest('GET /fleet/attention/aside');
    expect(body.total).toBe(2);
    app.clock.move(2 * 3_600_000 + 1);
    expect((await matters())[1]).toEqual(['disconnected', 1, [null]]);
    await set({ subject: gone, state: 'done' });
    await app.rest('POST /sites/2/reconnect');
    app.clock.move(60_000);
    await app.rest('POST /sites/2/disconnect');
    expect((await matters())[1]).toEqual(['disconnected', 1, [null]]);
    expect(await subjectOf(1)).not.toBe(gone);
    await set({ subject: 'change:a', state: 'open' });
    await set({ subject: 'change:b', state: 'open' });
    expect((await matters())[0]).toEqual(['broken_update', 2, [null, null]]);
  });

  it('hides a vulnerable plugin until another vulnerability of it becomes known, and an unreachable site until it is reached', async () => {
    const { db } = app;
    const add = async (uid: string) => {
      const { lastId } = await db.run(
        "INSERT INTO vulnerability (uid, digest, title, severity) VALUES (?, '', 'SQL injection', 4)",
        [uid],
      );
      await db.run(
        'INSERT INTO vulnerable_version (package_id, version, vulnerability_id) SELECT package_id, version, ? FROM site_extension WHERE site_id = 1 ORDER BY package_id LIMIT 1',
        [lastId],
      );
    };
    await add('one');
    const vulnerable = async () => (await matters()).find(([matter]: readonly [string]) => matter === 'vulnerable');
    const [, before] = (await vulnerable()) ?? [];
    expect(before).toBeGreaterThan(0);
    const at = (await matters()).findIndex(([matter]: readonly [string]) => matter === 'vulnerable');
    await set({ subject: await subjectOf(at), state: 'done' });
    expect(await vulnerable()).toBeUndefined();
    await add('two');
    expect((await vulnerable())?.[1]).toBe(before);
    await db.run('DELETE FROM vulnerability');

    await db.run('UPDATE site_detail SET reachable = 0, checked_at = ? WHERE site_id = 1', [app.clock.now()]);
    const unreachable = async () => (await matters()).some(([matter]: readonly [string]) => matter === 'unreachable');
    expect(await unreachable()).toBe(true);
    await set({ subject: 'unreachable:1', state: 'done' });
    await db.run('UPDATE site_detail SET checked_at = ? WHERE site_id = 1', [app.clock.now() + 1]);
    expect(await unreachable()).toBe(false);
    await db.run('UPDATE site_detail SET reachable = 1 WHERE site_id = 1');
    await db.run('UPDATE site_detail SET reachable = 0 WHERE site_id = 1');
    expect(await unreachable()).toBe(true);
    await db.run('UPDATE site_detail SET reachable = 1 WHERE site_id = 1');
  });

  it('refuses what needs no attention, other members, and a key that may not write', async () => {
    for (const subject of ['nothing:1', 'stale:9', 'stale:x', 'incident:99', 'constructor:1'])
      expect((await set({ subject, state: 'done' })).body.data.params, subject).toHaveProperty('subject');
    expect((await set({ subject: 'stale:1', state: 'gone' })).status).toBe(400);
    expect((await set({ subject: 'stale:1', state: 'done', days: 1 })).body.data.params).toHaveProperty('days');
    expect((await set({ subject: 'stale:1', state: 'done' }, app.tokens.read)).status).toBe(403);
  });
});

describe('GET /jobs', () => {
  it('lists jobs, newest first, and counts those that have not ended', async () => {
    const { job_id } = (await app.rest('POST /sites/sync', { body: {} })).body;
    const { body } = await app.rest('GET /jobs');
    expect(body).toMatchObject({ total: 1, running: 1, data: [{ job_id, type: 'sync', status: 'queued', total: 4 }] });
    await app.rest(`POST /jobs/${job_id}/cancel`);
    expect((await app.rest('GET /jobs?open=1')).body).toMatchObject({ total: 0, running: 0 });
  });
});

describe('GET /fleet/compare and GET /fleet/days', () => {
  it('say what differs and how many there are, and refuse what they do not know', async () => {
    const { body } = await app.rest('GET /fleet/compare?site_ids_or_domains=1,2&same=1&per_page=500');
    const differ = body.data.rows.map((row: { difference: string }) => row.difference !== 'none');
    // What differs comes first.
    expect(differ).toEqual([...differ].sort((a: boolean, b: boolean) => Number(b) - Number(a)));
    expect(body.data.sites.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    for (const [query, status] of [
      ['site_ids_or_domains=1', 400],
      ['site_ids_or_domains=1,2,3,4,5,6', 400],
      ['site_ids_or_domains=1,2&sites=3', 400],
      ['site_ids_or_domains=1,nowhere.example', 404],
    ] as const)
      expect((await app.rest(`GET /fleet/compare?${query}`)).status, query).toBe(status);
    const days = (await app.rest('GET /fleet/days')).body.data;
    expect(days.at(-1)).toMatchObject({ date: '2026-11-20', suspended: 0, vulnerable: null, uptime: null });
    const { connected, down, disconnected } = days.at(-1);
    expect(connected + down + disconnected).toBe(4);
    expect((await app.rest('GET /fleet/days?days=401')).body.data.params).toHaveProperty('days');
    expect((await app.rest('GET /fleet/days?since=1')).body.data.params).toHaveProperty('since');
  });
});
