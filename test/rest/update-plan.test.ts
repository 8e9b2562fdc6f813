/** The plan of updating the fleet: a matrix of sites and items, its totals, and that the run with the same choice does just that. */

import { beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { running } from '../safety/safety-app.js';
import { type RestApp, restApp } from './client.js';

const SITES = 5;
/** `name version → version` on the sites by number. */
const OFFERS = [
  { slug: 'alpha/alpha.php', from: '1.0', to: '1.1', on: [1, 2, 3, 4] },
  { slug: 'beta/beta.php', from: '1.0', to: '2.0', on: [1, 2] },
  { slug: 'gamma/gamma.php', from: '1.0.0', to: '1.0.1', on: [3, 5] },
] as const;
const [ALPHA, BETA, GAMMA] = OFFERS;

let app: RestApp;

interface Cell {
  item: number;
  current_version: string;
  new_version: string;
  level: string | null;
  quarantined: boolean;
  quarantined_elsewhere: boolean;
  needs: string | null;
}
interface PlanSite {
  site_id: number;
  site_name: string;
  obstacle: string | null;
  guarded: boolean | null;
  down: boolean;
  namesake: boolean;
  cells: Cell[];
}

const plan = async (query = '') => (await app.rest(`GET /fleet/updates/plan${query}`)).body;
const cellsOf = (body: { data: PlanSite[]; items: { slug: string }[] }) =>
  body.data.flatMap(({ site_id, cells }) => cells.map(({ item }) => `${site_id} ${body.items[item]?.slug}`)).sort();
const offered = (but: (slug: string, site: number) => boolean = () => false) =>
  OFFERS.flatMap(({ slug, on }) => on.flatMap((site) => (but(slug, site) ? [] : [`${site} ${slug}`]))).sort();
/** A run in which nothing breaks. */
const applied = async (body: object) => {
  const answer = await running(app, app.rest('POST /updates/update', { body }));
  return answer.body.data.map(({ site_id, slug }: { site_id: number; slug: string }) => `${site_id} ${slug}`).sort();
};

beforeAll(async () => {
  app = await restApp({ sites: SITES, fleet: { plugins: 4 }, config: { direct_call_ms: 86_400_000 }, jobs: false });
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = index === 0 ? '99.0' : null;
    for (const { slug, from, to, on } of OFFERS) {
      if (!on.some((one) => one === index + 1)) continue;
      const [model] = site.state.plugins.filter(({ mustUse, slug }) => !mustUse && !slug.includes('mainwp'));
      if (model === undefined) throw new Error('the site has no plugin');
      const update = { version: to, requiresPhp: '', requiresWp: '' };
      const plugin = { ...model, slug, name: slug.split('/')[0] ?? '', version: from, active: true, premium: false };
      site.state.plugins.push({ ...plugin, update });
    }
    if (index < 2) putGuard(site);
  }
  for (let i = 0; i < SITES; i += 1) await app.connect(i);
  for (const id of [1, 2]) await app.call('get-site-guard', { site_id_or_domain: id });
  for (const name of ['shops', 'staging']) await app.call('add-tag', { name });
  for (const [site, tags] of [
    [1, [1]],
    [2, [1, 2]],
    [3, [1]],
  ] as const)
    await app.call('update-site', { site_id_or_domain: site, tags: [...tags] });
});

describe('GET /fleet/updates/plan', () => {
  it('has every site and item with an update, WordPress first, and the totals of all', async () => {
    const body = await plan();
    expect(body).toMatchObject({ total: SITES, total_items: 4, page: 1, pages: 1, item_page: 1 });
    expect(body.items).toMatchObject([
      { type: 'core', sites: 1, level: 'major' },
      { type: 'plugin', slug: ALPHA.slug, name: 'alpha', sites: 4, level: 'minor', quarantined: 0 },
      { slug: BETA.slug, sites: 2, level: 'major' },
      { slug: GAMMA.slug, sites: 2, level: 'patch' },
    ]);
    expect(cellsOf(body)).toEqual([...offered(), '1 platform'].sort());
    // The guards of the first two answered; of the others nothing is known.
    expect(body.totals).toEqual({
      updates: 9,
      sites: 5,
      unguarded_sites: 3,
      quarantined: 0,
      major: 3,
      core: 1,
      plugins: 8,
      themes: 0,
      translations: 0,
    });
    const first = body.data.find(({ site_id }: PlanSite) => site_id === 1);
    expect(first).toMatchObject({ guarded: true, down: false, namesake: false, obstacle: null });
    expect(first.cells).toContainEqual({
      item: 2,
      current_version: '1.0',
      new_version: '2.0',
      level: 'major',
      quarantined: false,
      quarantined_elsewhere: false,
      needs: null,
    });
    expect(body.data.map(({ site_name }: PlanSite) => site_name)).toEqual(
      [...body.data.map(({ site_name }: PlanSite) => site_name)].sort(),
    );
  });

  it('narrows by kind, size, tag and name, and leaves out by tag; the totals follow', async () => {
    expect(cellsOf(await plan('?type=plugin'))).toEqual(offered());
    expect(cellsOf(await plan('?type=plugin&level=minor,patch'))).toEqual(offered((slug) => slug === BETA.slug));
    expect(cellsOf(await plan('?type=plugin&tag_ids=1'))).toEqual(offered((_, site) => site > 3));
    const shops = await plan('?type=plugin&tag_ids=1&exclude_tag_ids=2');
    expect(cellsOf(shops)).toEqual(offered((_, site) => site > 3 || site === 2));
    expect(shops.totals).toMatchObject({ updates: 4, sites: 2, unguarded_sites: 1 });
    expect(cellsOf(await plan('?search=GAM'))).toEqual(offered((slug) => slug !== GAMMA.slug));
    expect((await plan('?search=nothing')).totals).toMatchObject({ updates: 0, sites: 0, unguarded_sites: 0 });
    expect((await app.rest('GET /fleet/updates/plan?exclude_tag_ids=99')).body).toMatchObject({
      code: 'svc_tag_not_found',
      message: expect.stringContaining('exclude_tag_ids'),
    });
  });

  it('is read in windows of sites and items, and the totals stay those of all', async () => {
    const whole = await plan();
    const seen: string[] = [];
    for (const item_page of [1, 2])
      for (const page of [1, 2, 3]) {
        const body = await plan(`?per_page=2&page=${page}&items_per_page=3&item_page=${item_page}`);
        expect(body).toMatchObject({ total: SITES, total_items: 4, totals: whole.totals });
        seen.push(...cellsOf(body));
      }
    expect(seen.sort()).toEqual(cellsOf(whole));
    expect((await app.rest('GET /fleet/updates/plan?items_per_page=51')).status).toBe(400);
  });

  it('counts neither what is quarantined nor what cannot be updated, and says where a version broke another site', async () => {
    const held = { type: 1, slug: BETA.slug, version: '2.0', name: 'beta', site_id: 1, site_url: 'https://x.example/' };
    const entry = { ...held, change_id: 'c', evidence: '["It broke."]', created_at: app.clock.now() };
    await app.service.store.quarantine.add(entry, { seen: true, fleet_until: 32_503_680_000_000 });
    const of = { type: 'plugin', slug: BETA.slug, version: '2.0' };
    await app.rest('PUT /quarantine', { body: { ...of, scope: 'site', reason: 'Only there.' } });
    await app.call('disconnect-site', { site_id_or_domain: 5 });
    await app.db.run("INSERT INTO incident (site_id, started_at, msg, down_count) VALUES (3, ?, 'HTTP 503', 2)", [
      app.clock.now(),
    ]);
    await app.db.run('UPDATE site SET name = (SELECT name FROM site WHERE id = 3) WHERE id = 4');
    const body = await plan('?type=plugin');
    expect(body.totals).toMatchObject({ updates: 6, sites: 4, unguarded_sites: 2, quarantined: 1, major: 1 });
    expect(
      body.items.map(({ slug, sites, quarantined }: Record<string, unknown>) => [slug, sites, quarantined]),
    ).toEqual([
      [ALPHA.slug, 4, 0],
      [BETA.slug, 1, 1],
      [GAMMA.slug, 1, 0],
    ]);
    // They are still to be seen.
    expect(cellsOf(body)).toEqual(offered());
    const site = (id: number): PlanSite => body.data.find(({ site_id }: PlanSite) => site_id === id);
    const beta = (id: number) => site(id).cells.find(({ new_version }) => new_version === '2.0');
    expect([beta(1)?.quarantined, beta(1)?.quarantined_elsewhere]).toEqual([true, false]);
    expect([beta(2)?.quarantined, beta(2)?.quarantined_elsewhere]).toEqual([false, true]);
    expect(site(5).obstacle).toMatch(/disconnected/);
    expect([site(3), site(4), site(2)].map(({ down, namesake }) => [down, namesake])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
    const dry = await app.rest('POST /updates/update', { body: { type: 'plugins', dry_run: true } });
    expect(dry.body.would_affect).toMatchObject({ total: 6, sites: 4, unguarded_sites: 2 });
    await app.rest('DELETE /quarantine', { body: of });
    await app.db.run('DELETE FROM incident');
    await app.call('reconnect-site', { site_id_or_domain: 5 });
    expect((await plan('?type=plugin')).totals).toMatchObject({ updates: 8, sites: 5, quarantined: 0 });
  });
});

describe('an update that needs a newer PHP or WordPress than its site has', () => {
  const state = () => app.fleet.site(0).state;
  const update = () => state().plugins.find(({ slug }) => slug === BETA.slug)?.update;
  const sync = () => app.call('sync-sites', { site_ids_or_domains: [1] });

  it('is shown and listed with what the site lacks, counted nowhere, refused as the preview says, and back once the site has it', async () => {
    const before = { ...state() };
    Object.assign(state(), { phpVersion: '8.1.2-1ubuntu2.14', wpVersion: '6.8.3' });
    Object.assign(update() ?? {}, { requiresPhp: '8.4', requiresWp: '6.10' });
    await sync();
    const needs = 'PHP 8.4 and WordPress 6.10';
    const body = await plan('?type=plugin');
    expect(body.totals).toMatchObject({ updates: 7, sites: 5, quarantined: 0, major: 1 });
    expect(cellsOf(body)).toEqual(offered());
    const cells = body.data.flatMap(({ site_id, cells }: PlanSite) => cells.map((cell) => ({ site_id, ...cell })));
    expect(cells.filter((cell: Cell) => cell.needs !== null)).toMatchObject([
      { site_id: 1, new_version: '2.0', needs },
    ]);
    const { body: list } = await app.rest('GET /updates/1');
    expect(list.data[1].plugins[BETA.slug]).toMatchObject({ Version: '1.0', new_version: '2.0', needs });
    expect(list.data[1].plugins[ALPHA.slug]).not.toHaveProperty('needs');
    const { updates, summary } = await app.call('get-site-updates', { site_id_or_domain: 1, types: ['plugins'] });
    expect(updates).toContainEqual(expect.objectContaining({ slug: BETA.slug, needs }));
    expect(summary.plugins).toBe(2);

    const code = 'svc_requirement_missing';
    const message = `Version 2.0 of beta needs ${needs}; the site has PHP 8.1.2-1ubuntu2.14 and WordPress 6.8.3.`;
    const run = { type: 'plugins', include: [1], specific_items: undefined };
    const dry = await app.rest('POST /updates/update', { body: { ...run, dry_run: true } });
    expect(dry.body).toMatchObject({ would_affect: { total: 1 }, will_be_skipped: [{ code, count: 1 }] });
    expect(dry.body.errors).toMatchObject([{ site_id: 1, slug: BETA.slug, code, message }]);
    const named = await running(app, app.call('update-site-plugins', { site_id_or_domain: 1, slugs: [BETA.slug] }));
    expect(named).toMatchObject({ total_updated: 0, errors: [{ slug: BETA.slug, code, message }] });
    const one = await running(app, app.rest('POST /updates/1/update/plugins', { body: { slug: BETA.slug } }));
    expect(one.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(one.body)).toContain(message);
    const left = await app.call('plan-updates', { site_ids_or_domains: [1], types: ['plugins'] });
    expect(left.left_out).toEqual([{ reason: 'requirement_missing', updates: 1, sites: 1, site_ids: [1] }]);
    expect(left.summary).toContain('1 update beyond the PHP or WordPress of the site');

    // A newer PHP alone is not enough; what nobody can compare claims nothing.
    state().phpVersion = '8.4.0';
    await sync();
    expect((await app.rest('GET /updates/1')).body.data[1].plugins[BETA.slug].needs).toBe('WordPress 6.10');
    for (const requiresWp of ['6.8', '6.8.3.0', '7.0 or so', 'seven', '99.', '']) {
      Object.assign(update() ?? {}, { requiresWp });
      await sync();
      expect((await app.rest('GET /updates/1')).body.data[1].plugins[BETA.slug]).not.toHaveProperty('needs');
    }
    expect((await plan('?type=plugin')).totals).toMatchObject({ updates: 8, sites: 5 });
    Object.assign(update() ?? {}, { requiresPhp: '' });
    Object.assign(state(), { phpVersion: before.phpVersion, wpVersion: before.wpVersion });
    await sync();
  });
});

describe('POST /updates/update with what a person left out', () => {
  const exclude_items = [
    { type: 'plugin', slug: BETA.slug },
    { type: 'plugin', slug: ALPHA.slug, site_id: 3 },
  ];

  it('refuses what it does not know, an empty list, and more than it should hold', async () => {
    const refused = async (body: object) => {
      const { status, body: answer } = await app.rest('POST /updates/update', { body: { ...body, dry_run: true } });
      return [status, answer.code];
    };
    const unknown = [{ type: 'plugin', slug: 'nothing/nothing.php' }];
    expect(await refused({ exclude_items: unknown })).toEqual([400, 'svc_invalid_input']);
    expect(await refused({ exclude_items: [] })).toEqual([400, 'rest_invalid_param']);
    expect(await refused({ exclude_items: [{ ...exclude_items[0], site: 1 }] })).toEqual([400, 'rest_invalid_param']);
    expect(await refused({ exclude_items: Array(1001).fill(exclude_items[0]) })).toEqual([400, 'rest_invalid_param']);
    expect(await refused({ exclude_tag_ids: [99] })).toEqual([404, 'svc_tag_not_found']);
    expect(await refused({ run_id: 'run_1' })).toEqual([400, 'rest_invalid_param']);
  });

  it('previews and applies the rest, as the run of the id that was chosen', async () => {
    const body = { type: 'plugins', exclude_items, exclude_tag_ids: [2] };
    const expected = offered((slug, site) => slug === BETA.slug || site === 2 || (slug === ALPHA.slug && site === 3));
    expect(expected).toHaveLength(4);
    const dry = await app.rest('POST /updates/update', { body: { ...body, dry_run: true } });
    expect(dry.body.would_affect).toMatchObject({ total: 4, sites: 4, unguarded_sites: 3 });
    const run_id = 'run_01234567-89ab-4def-8123-456789abcdef';
    expect(await applied({ ...body, run_id })).toEqual(expected);
    const run = await app.rest(`GET /runs/${run_id}`);
    expect(run.body.run).toMatchObject({ run_id, state: 'ended', counts: { kept: 4 } });
    expect(await app.rest('POST /updates/update', { body: { ...body, run_id } })).toMatchObject({
      status: 409,
      body: { code: 'svc_rest_conflict' },
    });
    expect(cellsOf(await plan('?type=plugin'))).toEqual(offered().filter((one) => !expected.includes(one)));
  });
});

describe('POST /runs/{run_id}/retry', () => {
  it('is the run of the id that was chosen', async () => {
    const site = app.fleet.site(0);
    site.faults.failUpdates = [BETA.slug];
    const body = { type: 'plugins', include: [1] };
    const { body: failed } = await running(app, app.rest('POST /updates/update', { body }));
    expect(failed.errors).toMatchObject([{ slug: BETA.slug }]);
    site.faults.failUpdates = [];
    const as = 'run_11111111-89ab-4def-8123-456789abcdef';
    const path = `/runs/${failed.run_id}/retry`;
    const { body: again } = await running(app, app.rest(`POST ${path}`, { body: { as } }));
    expect(again).toMatchObject({ run_id: as, data: [{ site_id: 1, slug: BETA.slug }] });
    expect((await app.rest(`GET /runs/${as}`)).body.run).toMatchObject({ run_id: as, counts: { kept: 1 } });
    expect((await app.rest(`POST ${path}`, { body: { as } })).status).toBe(409);
    expect((await app.rest(`POST ${path}`, { body: { as: 'mine' } })).status).toBe(400);
  });
});

describe('GET /runs/{run_id}', () => {
  it('says what a run came to: what stayed, what broke its site, and how long that was broken', async () => {
    const site = app.fleet.site(1);
    site.faults.breaks = { [`${BETA.slug}@2.0`]: 'fatal' };
    const { body: answer } = await running(app, app.rest('POST /updates/update', { body: { type: 'plugins' } }));
    const { body } = await app.rest(`GET /runs/${answer.run_id}`);
    const own = body.data.find(({ site_id, slug }: Record<string, unknown>) => site_id === 2 && slug === BETA.slug);
    const history = await app.rest('GET /sites/2/safe-updates');
    const change = history.body.data.find(({ slug }: { slug: string }) => slug === BETA.slug);
    expect(change).toMatchObject({ outcome: 'rolled_back', well_after_ms: expect.any(Number) });
    expect(own).toMatchObject({ state: 'rolled_back', restored_after_ms: change.well_after_ms });
    const kept = body.data.filter(({ state }: { state: string }) => state === 'kept');
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.every((item: object) => !('restored_after_ms' in item))).toBe(true);
    expect(body.result).toEqual({
      kept_sites: new Set(kept.map(({ site_id }: { site_id: number }) => site_id)).size,
      suspects: 0,
      broke: 1,
      worst: {
        site_id: 2,
        site_name: own.site_name,
        name: 'beta',
        new_version: '2.0',
        restored_after_ms: change.well_after_ms,
      },
    });
    // As it is while the old version is restored.
    await app.db.run("UPDATE safe_change SET step = 'restore', outcome = NULL WHERE id = ?", [own.change_id]);
    const during = await app.rest(`GET /runs/${answer.run_id}?state=checking`);
    expect(during.body.data).toMatchObject([{ slug: BETA.slug, restoring: true }]);
    expect(during.body.result).toMatchObject({ broke: 0, worst: null });
  });
});
