/** Versions that are held back: no list, count or preview promises them, and a preview skips what a run refuses. */

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { running } from '../safety/safety-app.js';
import type { Answer } from '../support/harness.js';
import { type CheckedApp, checkedApp, pluginsOfAll } from './checked-app.js';

const SITES = [1, 2, 3];
const offer = (version: string) => ({ version, requiresPhp: '', requiresWp: '' });

let app: CheckedApp;
/** Plugins that every site has. */
let shared: string[];

interface Case {
  /** Plugins with an update, as `site × plugin`. */
  offered: boolean[];
  /** What is held back: of which plugin, on which sites it was seen, and where a person has decided it holds. */
  held: { plugin: number; seen: number[]; scope: 'site' | 'fleet' | null; lifted: boolean }[];
}

beforeEach(async () => {
  app = await checkedApp({ sites: 3, config: { direct_call_ms: 600_000 } });
  shared = pluginsOfAll(app).slice(0, 3);
  expect(shared).toHaveLength(3);
  await app.connectAll(3);
});

/** Gives the fleet exactly these updates and quarantines, and returns the pairs `site slug` that stay on offer. */
async function arrange({ offered, held }: Case): Promise<{ free: string[]; back: string[] }> {
  for (const [at, site] of app.fleet.sites.entries()) {
    site.state.wpUpdate = null;
    site.state.translations = [];
    for (const theme of site.state.themes) theme.update = null;
    for (const plugin of site.state.plugins) {
      const nth = shared.indexOf(plugin.slug);
      const given = nth >= 0 && offered[at * shared.length + nth] === true;
      Object.assign(plugin, { premium: false, update: given ? offer('9.0') : null }, given && { version: '1.0' });
    }
  }
  const { quarantine } = app.service.store;
  for (const slug of shared) await quarantine.lift({ type: 1, slug, version: '9.0' }, 'ada', 1);
  await app.call('sync-sites', { site_ids_or_domains: SITES });
  const holds = new Map<string, (site: number) => boolean>();
  for (const { plugin, seen, scope, lifted } of held) {
    const slug = shared[plugin] ?? '';
    const key = { type: 1, slug, version: '9.0' };
    for (const site_id of seen)
      await quarantine.add(
        { ...key, name: 'x', site_id, site_url: 'u', change_id: 'c', evidence: '["It broke."]', created_at: 1 },
        { seen: false, fleet_until: null },
      );
    if (scope !== null) await quarantine.setScope(key, scope, 'ada', 'because');
    if (lifted) await quarantine.lift(key, 'ada', 2);
    holds.set(slug, (site) => !lifted && (scope === 'fleet' || seen.includes(site)));
  }
  const pairs = SITES.flatMap((site, at) =>
    shared.flatMap((slug, nth) => (offered[at * shared.length + nth] === true ? [{ site, slug }] : [])),
  );
  const isHeld = ({ site, slug }: { site: number; slug: string }) => holds.get(slug)?.(site) === true;
  const named = (list: typeof pairs) => list.map(({ site, slug }) => `${site} ${slug}`).sort();
  return { free: named(pairs.filter((pair) => !isHeld(pair))), back: named(pairs.filter(isHeld)) };
}

const pairsOf = (entries: { site_id: number; slug: string }[]) =>
  entries.map(({ site_id, slug }) => `${site_id} ${slug}`).sort();
const refused = ({ errors }: Answer) =>
  pairsOf(errors.filter(({ code }: { code: string }) => code === 'svc_version_quarantined'));

const cases = fc.record({
  offered: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
  held: fc.uniqueArray(
    fc.record({
      plugin: fc.nat({ max: 2 }),
      seen: fc.uniqueArray(fc.constantFrom(...SITES), { minLength: 1 }),
      scope: fc.constantFrom('site' as const, 'fleet' as const, null),
      lifted: fc.boolean(),
    }),
    { selector: ({ plugin }) => plugin },
  ),
});

/** Two plugins on offer everywhere: one held back on every site, one only on the second. */
const TWO: Case = {
  offered: [true, true, false, true, true, false, true, true, false],
  held: [
    { plugin: 0, seen: [1], scope: 'fleet', lifted: false },
    { plugin: 1, seen: [2], scope: null, lifted: false },
  ],
};

describe('a version that is held back', () => {
  it('is in no list and no count, and a search for it still finds the sites', async () => {
    const { free, back } = await arrange(TWO);
    expect([free.length, back.length]).toEqual([2, 4]);
    const listed = await app.call('list-updates', {});
    expect([pairsOf(listed.updates), listed.total, listed.summary.plugins]).toEqual([free, 2, 2]);
    const one = await app.call('get-site-updates', { site_id_or_domain: 2 });
    expect([one.updates, one.summary.total]).toEqual([[], 0]);
    expect((await app.call('list-updates', { slug: shared[0] })).total).toBe(0);
    const brief = await app.call('get-fleet-brief');
    expect(brief.updates_on_offer.plugins).toBe(2);
    // The second site has nothing else: a run would not affect it.
    const preview = await app.call('run-updates', { dry_run: true });
    expect(preview.would_affect).toMatchObject({ sites: 2, plugins: 2, total: 2 });
    expect(await app.cell('SELECT n FROM update_count WHERE type = 1')).toBe(2);
    expect(await app.cell('SELECT sites FROM update_count WHERE type = 1')).toBe(2);
    expect(await app.cell('SELECT n FROM offering_site_count')).toBe(2);
    const found = await app.call('search-fleet', { has_update: ['plugins'], fields: ['id'] });
    expect(found.total).toBe(2);
    expect((await app.call('search-fleet', { quarantined: true, fields: ['id'] })).total).toBe(3);
  });

  it('is named beside the updates that are on offer, with where and why, as far as the list was asked for', async () => {
    await arrange(TWO);
    const [everywhere, second] = [shared[0] ?? '', shared[1] ?? ''];
    const because = (what: string) =>
      `Version 9.0 has been quarantined since 1970-01-01T00:00Z, because ${what} Newer versions are not affected; lift-quarantine-v1 allows this one.`;
    const decided = because('ada decided so for all sites: because');
    const broke = `plugin ${second} on site 2: ${because('it broke u: It broke.')}`;
    const of = (where: string) => `plugin ${everywhere} on ${where}: ${decided}`;
    expect(await app.call('list-updates', {})).toMatchObject({
      held_back: [of('sites 1, 2, 3'), broke],
      ...{ total_held_back: 2, total: 2 },
    });
    for (const [input, wanted] of [
      [{ types: ['plugins'] }, [of('sites 1, 2, 3'), broke]],
      [{ slug: second }, [broke]],
      [{ exclude_slugs: [second] }, [of('sites 1, 2, 3')]],
      [{ site_ids_or_domains: [1] }, [of('site 1')]],
      [{ level: ['major'], site_ids_or_domains: [2] }, [of('site 2'), broke]],
    ] as const)
      expect([input, (await app.call('list-updates', input)).held_back]).toEqual([input, wanted]);
    const one = await app.call('get-site-updates', { site_id_or_domain: 1 });
    expect([one.held_back, one.total_held_back]).toEqual([[of('site 1')], 1]);
    for (const input of [{ types: ['themes'] }, { level: ['patch'] }])
      expect(await app.call('list-updates', input)).not.toHaveProperty('held_back');
    await app.call('lift-quarantine', { type: 'plugin', slug: everywhere, version: '9.0' });
    for (const free of [
      await app.call('get-site-updates', { site_id_or_domain: 1 }),
      await app.call('list-updates', { slug: everywhere }),
    ]) {
      expect(free).not.toHaveProperty('held_back');
      expect(free).not.toHaveProperty('total_held_back');
    }
  });

  it('is told by name with the reason, not as "up to date"', async () => {
    await arrange(TWO);
    for (const input of [{}, { site_ids_or_domains: [2] }])
      for (const dry_run of [true, false]) {
        const answer = await app.call('run-updates', { ...input, specific_items: [shared[0]], dry_run });
        expect(refused(answer)).toEqual(pairsOf(answer.errors));
        expect(answer.errors.length).toBeGreaterThan(0);
      }
  });

  it('is on offer again once the quarantine is lifted', async () => {
    await arrange(TWO);
    await app.call('lift-quarantine', { type: 'plugin', slug: shared[0], version: '9.0' });
    expect((await app.call('list-updates', {})).total).toBe(5);
    await app.call('set-quarantine-scope', {
      ...{ type: 'plugin', slug: shared[1], version: '9.0' },
      ...{ scope: 'fleet', reason: 'It loses orders.' },
    });
    expect((await app.call('list-updates', {})).total).toBe(3);
  });

  it('is held back too where updates are not protected', async () => {
    app = await checkedApp({ sites: 3, config: { direct_call_ms: 600_000, safe_updates: 'off' } });
    await app.connectAll(3);
    const { free, back } = await arrange(TWO);
    const answer = await running(app, app.call('run-updates', {}));
    expect([pairsOf(answer.updated), refused(answer)]).toEqual([free, back]);
  });
});

describe('a preview on an unchanged fleet', () => {
  const ways = [
    { name: 'run-updates', input: {} },
    { name: 'run-updates', input: { site_ids_or_domains: SITES, types: ['plugins'] } },
    { name: 'update-all', input: {} },
  ];

  /** What triggers count of sites with updates, by type, against the updates themselves. */
  async function expectSitesCounted() {
    const counted = await app.cell('SELECT json_group_array(sites) FROM update_count');
    const found = `SELECT count(DISTINCT site_id) FROM site_update u WHERE u.type = c.type AND ignored = 0`;
    expect(counted).toBe(await app.cell(`SELECT json_group_array((${found})) FROM update_count c`));
  }

  it.each(ways)('promises what $name $input then does', async ({ name, input }) => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const { free, back } = await arrange(each);
        await expectSitesCounted();
        const preview = await app.call(name, { ...input, dry_run: true });
        expect(pairsOf(preview.would_update)).toEqual(free);
        expect([preview.would_affect.total, preview.total_errors]).toEqual([free.length, back.length]);
        expect(refused(preview)).toEqual(back);
        const done = await running(app, app.call(name, input));
        expect(done.summary.total_updated).toBe(free.length);
        expect(refused(done)).toEqual(back);
        expect((await app.call('list-updates', {})).total).toBe(0);
        await expectSitesCounted();
      }),
      { numRuns: 12 },
    );
  });

  it('of a site promises what update-site-plugins then does', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        const { free, back } = await arrange(each);
        const ofFirst = (pairs: string[]) => pairs.filter((pair) => pair.startsWith('1 '));
        const preview = await app.call('run-updates', { site_ids_or_domains: [1], types: ['plugins'], dry_run: true });
        expect([pairsOf(preview.would_update), refused(preview)]).toEqual([ofFirst(free), ofFirst(back)]);
        const done = await running(app, app.call('update-site-plugins', { site_id_or_domain: 1 }));
        const updated = done.updated.map(({ slug }: { slug: string }) => `1 ${slug}`).sort();
        expect([updated, refused(done)]).toEqual([ofFirst(free), ofFirst(back)]);
      }),
      { numRuns: 12 },
    );
  });
});
