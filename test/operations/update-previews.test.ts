/** What a preview of updates says is what the same call then does on an unchanged fleet: counts by item, and what is skipped. */

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { running } from '../safety/safety-app.js';
import type { Answer } from '../support/harness.js';
import { type CheckedApp, checkedApp, pluginsOfAll } from './checked-app.js';

const SITES = [1, 2, 3, 4];
/** The first site has a guard. */
const GUARDED = 1;
const VERSIONS = { patch: '1.0.1', minor: '1.1', major: '2.0' } as const;
type Level = keyof typeof VERSIONS;
const STATES = ['usual', 'suspended', 'disconnected', 'outdated', 'on trial'] as const;

let app: CheckedApp;
let shared: string[];

interface Case {
  /** Of plugins on sites, as `site × plugin`. */
  levels: (Level | null)[];
  states: (typeof STATES)[number][];
  core: boolean;
  /** The plugin whose versions are quarantined everywhere. */
  held: number | null;
  /** The plugin whose versions need PHP 8.4, and which of the sites have 8.1 only. */
  needy: number | null;
  old: boolean[];
  only: Level | null;
  named: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  levels: fc.array(fc.constantFrom('patch' as const, 'minor' as const, 'major' as const, null), {
    minLength: 8,
    maxLength: 8,
  }),
  states: fc.array(fc.constantFrom(...STATES), { minLength: 4, maxLength: 4 }),
  core: fc.boolean(),
  held: fc.constantFrom(0, 1, null),
  needy: fc.constantFrom(0, 1, null),
  old: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  only: fc.constantFrom('patch' as const, 'major' as const, null),
  named: fc.boolean(),
});

/** Tried whatever the others are: sites in any state leave little on which something else is missing. */
const CALM: Case = {
  levels: SITES.flatMap(() => ['minor' as const, 'major' as const]),
  states: SITES.map(() => 'usual' as const),
  core: true,
  held: 0,
  needy: 1,
  old: [true, false, true, false],
  only: null,
  named: false,
};

beforeEach(async () => {
  app = await checkedApp({ sites: 4, config: { direct_call_ms: 86_400_000 } });
  shared = pluginsOfAll(app).slice(0, 2);
  expect(shared).toHaveLength(2);
  putGuard(app.fleet.site(0));
  await app.connectAll(4);
  await running(app, app.call('get-site-guard', { site_id_or_domain: GUARDED }));
});

/** Gives the fleet exactly these updates, states and quarantines. */
async function arrange({ levels, states, core, held, needy, old }: Case): Promise<void> {
  await app.db.run('UPDATE site SET suspended = 0, disconnected = 0');
  await app.db.run('UPDATE site_detail SET on_trial = 0');
  for (const [at, { state }] of app.fleet.sites.entries()) {
    Object.assign(state, {
      phpVersion: old[at] ? '8.1.2-1ubuntu2.14' : '8.4.1',
      translations: [],
      wpVersion: '7.0',
      wpUpdate: core ? '7.1' : null,
    });
    for (const theme of state.themes) theme.update = null;
    for (const plugin of state.plugins) {
      const level = shared.includes(plugin.slug) ? levels[at * 2 + shared.indexOf(plugin.slug)] : null;
      const requiresPhp = shared[needy ?? -1] === plugin.slug ? '8.4' : '';
      const update = level ? { version: VERSIONS[level], requiresPhp, requiresWp: '6.0' } : null;
      Object.assign(
        plugin,
        { premium: false, update },
        shared.includes(plugin.slug) && { version: '1.0', active: true },
      );
    }
  }
  await running(app, app.call('sync-sites', { site_ids_or_domains: SITES }));
  for (const [nth, slug] of shared.entries())
    for (const version of Object.values(VERSIONS)) {
      const key = { type: 1, slug, version };
      await app.service.store.quarantine.lift(key, 'ada', 1);
      if (nth !== held) continue;
      await app.service.store.quarantine.add(
        { ...key, name: 'x', site_id: 2, site_url: 'u', change_id: 'c', evidence: '["It broke."]', created_at: 1 },
        { seen: false, fleet_until: null },
      );
      await app.service.store.quarantine.setScope(key, 'fleet', 'ada', 'because');
    }
  for (const [at, state] of states.entries()) {
    const id = SITES[at] ?? 0;
    if (state === 'suspended') await app.db.run('UPDATE site SET suspended = 1 WHERE id = ?', [id]);
    if (state === 'disconnected') await app.db.run('UPDATE site SET disconnected = 1 WHERE id = ?', [id]);
    if (state === 'on trial') await app.db.run('UPDATE site_detail SET on_trial = 1 WHERE site_id = ?', [id]);
    await app.db.run('UPDATE site_detail SET child_version = ? WHERE site_id = ?', [
      state === 'outdated' ? '3.9' : '6.1',
      id,
    ]);
  }
}

type Entry = { site_id: number; type: string; slug: string; can_roll_back?: boolean; code: string };

const CODES = {
  suspended: 'svc_site_suspended',
  disconnected: 'svc_site_offline',
  outdated: 'svc_child_version_outdated',
  'on trial': 'svc_site_on_trial',
} as const;

/** Updates that match, as the arrangement has them: `site type slug`, with the reason why it is skipped; '' = none. */
function matching({
  levels,
  states,
  core,
  held,
  needy,
  old,
  only,
}: Case): { key: string; level: Level; code: string }[] {
  return SITES.flatMap((site, at) => {
    const state = states[at] ?? 'usual';
    const code = state === 'usual' ? '' : CODES[state];
    const plugins = shared.flatMap((slug, nth) => {
      const level = levels[at * 2 + nth];
      const held_back = nth === held ? 'svc_version_quarantined' : '';
      const missing = nth === needy && old[at] ? 'svc_requirement_missing' : '';
      return level ? [{ key: `${site} plugin ${slug}`, level, code: code || held_back || missing }] : [];
    });
    const own = core ? [{ key: `${site} core platform`, level: 'minor' as const, code }] : [];
    return [...own, ...plugins].filter(({ level }) => only === null || level === only);
  });
}

function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

const countsOf = (list: { code: string; count: number }[]) =>
  Object.fromEntries(list.map(({ code, count }) => [code, count]));
const itemOf = (key: string) => key.replace(/^\d+ /, '');
const keysOf = (entries: Entry[]) => entries.map(({ site_id, type, slug }) => `${site_id} ${type} ${slug}`).sort();

function expectPreview(preview: Answer, all: ReturnType<typeof matching>): void {
  const applied = all.filter(({ code }) => code === '');
  const { would_affect, will_be_skipped, would_update } = preview;
  expect(keysOf(would_update)).toEqual(applied.map(({ key }) => key).sort());
  expect(would_affect.total).toBe(applied.length);
  const byItem = (would_affect.by_item as string[]).flatMap((line) => {
    const [, item = '', n = '', levels = ''] = /^(.*): (\d+) \((.*)\)$/.exec(line) ?? [];
    const each = levels.split(', ').flatMap((part) => {
      const [count, level] = part.split(' ');
      return Array<string>(Number(count)).fill(`${item} ${level}`);
    });
    expect(each).toHaveLength(Number(n));
    return each;
  });
  expect(byItem.sort()).toEqual(applied.map(({ key, level }) => `${itemOf(key)} ${level}`).sort());
  expect(countsOf(will_be_skipped)).toEqual(tally(all.flatMap(({ code }) => code || [])));
}

describe('a preview of updates on an unchanged fleet', () => {
  it.each(['run-updates', 'update-all'])('says what %s then does, skips and can roll back', async (name) => {
    await fc.assert(
      fc.asyncProperty(cases, async (each) => {
        await arrange(each);
        const input = {
          ...(each.only === null ? {} : { level: [each.only] }),
          ...(each.named ? { site_ids_or_domains: SITES } : {}),
        };
        const all = matching(each);
        const preview = await app.call(name, { ...input, dry_run: true });
        expectPreview(preview, all);
        const skipped = countsOf(preview.will_be_skipped);
        const done = await running(app, app.call(name, input));
        expect(done.summary.total_updated).toBe(preview.would_affect.total);
        const run = { run_id: done.run_id, state: 'kept', per_page: 20 };
        const kept: Entry[] = done.run_id === undefined ? [] : (await app.call('get-run', run)).items;
        expect(keysOf(kept)).toEqual(keysOf(preview.would_update));
        const firm = kept.filter(({ can_roll_back }) => can_roll_back !== true);
        expect(firm).toHaveLength(preview.would_affect.cannot_be_rolled_back);
        for (const code of ['svc_version_quarantined', 'svc_requirement_missing'])
          expect(done.errors.filter((error: Entry) => error.code === code)).toHaveLength(skipped[code] ?? 0);
        // Also of a site that has no updates: it is counted nowhere, and told by both.
        const told = ({ errors }: Answer) => errors.map((error: Entry) => `${keysOf([error])} ${error.code}`).sort();
        expect(told(done)).toEqual(told(preview));
      }),
      { numRuns: 8, examples: [[CALM]] },
    );
  });

  it('says what safe-update-site then does', async () => {
    await fc.assert(
      fc.asyncProperty(
        cases,
        fc.constantFrom(...SITES),
        fc.constantFrom('guard', 'none'),
        async (each, site, least) => {
          const calm = { ...each, states: SITES.map(() => 'usual' as const), only: null };
          await arrange(calm);
          const input = { site_id_or_domain: site, least_protection: least };
          const preview = await running(app, app.call('safe-update-site', { ...input, dry_run: true }));
          const free = matching(calm).filter(({ key, code }) => key.startsWith(`${site} `) && code === '');
          const kept = free.filter(({ key }) => least === 'none' || (site === GUARDED && key.includes(' plugin ')));
          const planned = preview.planned.map(({ type, slug }: Entry) => `${site} ${type} ${slug}`).sort();
          expect(planned).toEqual(kept.map(({ key }) => key).sort());
          const done = await running(app, app.call('safe-update-site', input));
          expect(keysOf(done.updated)).toEqual(planned);
          const told = ({ errors }: Answer) => errors.map(({ slug, code }: Entry) => `${slug} ${code}`).sort();
          expect(told(done)).toEqual(told(preview));
          expect(JSON.stringify(preview.errors)).not.toContain('was not updated');
        },
      ),
      { numRuns: 8, examples: [[CALM, 3, 'none']] },
    );
  });

  it('says what retry-run then does, also on sites that changed since', async () => {
    const levels = SITES.flatMap(() => ['minor' as const, 'patch' as const]);
    const usual = {
      levels,
      core: false,
      held: null,
      needy: 1,
      old: [true, false, true, false],
      only: null,
      named: true,
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STATES), { minLength: 4, maxLength: 4 }), async (states) => {
        await arrange({ ...usual, states: SITES.map(() => 'disconnected') });
        const { run_id } = await running(app, app.call('run-updates', { site_ids_or_domains: SITES }));
        await arrange({ ...usual, states });
        const all = matching({ ...usual, states });
        const preview = await app.call('retry-run', { run_id, dry_run: true });
        expectPreview(preview, all);
        const done = await running(app, app.call('retry-run', { run_id }));
        expect(keysOf(done.updated)).toEqual(keysOf(preview.would_update));
      }),
      { numRuns: 5 },
    );
  });

  it('says that what needs the WordPress of the same run is for the run after it, which takes it', async () => {
    await arrange({
      levels: SITES.flatMap(() => ['patch' as const, null]),
      states: SITES.map(() => 'usual'),
      ...{ core: false, held: null, needy: null, old: SITES.map(() => false), only: null, named: true },
    });
    const [slug = ''] = shared;
    // On site 2 the WordPress on offer suffices, on site 3 it does not, and on site 4 PHP is missing, too.
    for (const [id, requires] of [
      [2, { requiresWp: '95.1', requiresPhp: '' }],
      [3, { requiresWp: '99.0', requiresPhp: '' }],
      [4, { requiresWp: '95.1', requiresPhp: '9.9' }],
    ] as const) {
      const { state } = app.fleet.site(id - 1);
      state.wpUpdate = '95.1';
      Object.assign(state.plugins.find((one) => one.slug === slug)?.update ?? {}, requires);
    }
    app.clock.move(60_000);
    const chosen = { site_ids_or_domains: [2, 3, 4] };
    await app.call('sync-sites', chosen);
    const waits = 'The same run installs that WordPress: the update is for the run after it.';
    const told = ({ errors }: Answer) =>
      errors.map(({ site_id, code, message }: Entry & { code: string; message: string }) => {
        return [site_id, code, message.endsWith(waits)];
      });
    const code = 'svc_requirement_missing';
    const left = [
      [2, code, true],
      [3, code, false],
      [4, code, false],
    ];
    expect(told(await app.call('run-updates', { ...chosen, dry_run: true }))).toEqual(left);
    // Without WordPress itself, nothing of it comes.
    expect(told(await app.call('run-updates', { ...chosen, types: ['plugins'], dry_run: true }))).toEqual(
      left.map(([id]) => [id, code, false]),
    );
    const plan = await app.call('plan-updates', chosen);
    expect(plan.left_out).toEqual([
      { reason: 'awaits_wordpress', updates: 1, sites: 1, site_ids: [2] },
      { reason: 'requirement_missing', updates: 2, sites: 2, site_ids: [3, 4] },
    ]);
    expect(plan.summary).toContain('1 update whose site first gets the WordPress that it needs by this plan');
    expect(told(await running(app, app.call('run-updates', chosen)))).toEqual(left);
    const next = await running(app, app.call('run-updates', { ...chosen, types: ['plugins'] }));
    expect(next.updated).toMatchObject([{ site_id: 2, slug }]);
  });
});
