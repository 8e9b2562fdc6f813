/** Undo of a rollout: every site is as it was before, or is listed with the reason. */

import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { removeGuard } from '../../src/demo/guard/state.js';
import { shortOrLong } from '../robustness/soak.js';
import { type RolloutApp, rolloutApp, SHOP } from '../rollouts/rollout-app.js';
import type { Answer } from '../support/harness.js';
import { tokens } from '../support/tokens.js';

const SITES = shortOrLong(30, 200);
const PLAN = { waves: { canaries: 5, sizes: [shortOrLong(10, 70)], soak_minutes: 10, halt_sites: SITES } };
/** Of sites that cannot be restored for the same reason. */
const EACH = shortOrLong(1, 8);
/** Broken by the update: the last, as its item goes to no site whose turn comes later. */
const BROKEN = SITES;

/** Sites by what keeps them from being restored, from the first on. */
const REASONS = [
  'unguarded',
  'changed',
  'changed unseen',
  'down',
  'copies expired',
  'guard lost',
  'deleted',
  'suspended',
  'removed',
] as const;
type Reason = (typeof REASONS)[number];
const sitesOf = (reason: Reason) => {
  const first = REASONS.indexOf(reason) * EACH + 1;
  return Array.from({ length: EACH }, (_, at) => first + at);
};
const EXPECTED: Readonly<Record<Exclude<Reason, 'changed unseen'>, [code: string, message: RegExp]>> = {
  unguarded: ['svc_not_undoable', /No guard kept a copy of 1\.0/],
  changed: ['svc_changed_since', /it is 2\.1 now/],
  down: ['svc_not_undoable', /./],
  'copies expired': ['svc_not_undoable', /guard has no copy of that version any more/],
  'guard lost': ['svc_not_undoable', /guard/],
  deleted: ['svc_not_undoable', /not installed any more/],
  suspended: ['svc_not_undoable', /suspended/],
  removed: ['svc_site_not_found', /removed/],
};

let app: RolloutApp;
let rollout_id: string;
let began: string;
let before: string[];

/** All that a site has, by its own state and not by what the service knows of it. */
const digests = () =>
  app.fleet.sites.map(({ state: { plugins, themes, activeTheme, wpVersion } }) =>
    createHash('sha256')
      .update(
        JSON.stringify([
          plugins.map(({ slug, version, active }) => [slug, version, active]).sort(),
          themes.map(({ slug, version }) => [slug, version]).sort(),
          activeTheme,
          wpVersion,
        ]),
      )
      .digest('hex'),
  );
const site = (id: number) => app.fleet.site(id - 1);
const plugin = (id: number) => site(id).state.plugins.find(({ slug }) => slug === SHOP);
const updated = () => app.fleet.sites.flatMap((_, at) => (plugin(at + 1)?.version === '2.0' ? [at + 1] : []));
const isAsBefore = () => {
  const now = digests();
  return before.flatMap((digest, at) => (digest === now[at] ? [at + 1] : []));
};

/** All pages of what would be done. */
async function preview(what: object = { rollout_id }): Promise<{ plan: Answer; undo: Answer[]; errors: Answer[] }> {
  const undo: Answer[] = [];
  const errors: Answer[] = [];
  for (let page = 1; ; page++) {
    const plan = await app.safely('undo-change', { ...what, dry_run: true, page });
    undo.push(...plan.undo);
    errors.push(...plan.errors);
    expect(tokens(plan)).toBeLessThan(5_000);
    if (undo.length >= plan.total_undo && errors.length >= plan.total_errors) return { plan, undo, errors };
  }
}
const idsOf = (entries: Answer[]) => entries.map(({ site_id }: Answer) => site_id).sort((a, b) => a - b);

beforeAll(async () => {
  app = await rolloutApp(SITES);
  for (const id of sitesOf('unguarded'))
    await app.safely('remove-site-guard', { site_id_or_domain: id, confirm: true });
  site(BROKEN).faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
  before = digests();
  began = new Date(app.clock.now()).toISOString();
  ({ rollout_id } = await app.start(PLAN));
  await app.turn();
});

describe('undo of a rollout', () => {
  it('waits until it no longer runs', async () => {
    const refused = await app.fail('undo-change', { rollout_id, dry_run: true });
    expect(refused).toMatchObject({ code: 'svc_rest_conflict', field: 'rollout_id' });
    expect((await app.fail('undo-change', { rollout_id: 'none', dry_run: true })).code).toBe('svc_rollout_not_found');
    expect((await app.fail('undo-change', { rollout_id, run_id: 'run_1', dry_run: true })).code).toBe(
      'svc_invalid_input',
    );
  });

  it('restores every site of all its waves, and lists the others with their reasons, beforehand too', async () => {
    for (let wave = 1; wave <= 3; wave++) await app.after(11);
    const { state, counts } = await app.read(rollout_id);
    expect(state).not.toBe('running');
    expect(counts.rolled_back).toBe(1);
    const changedByIt = updated();
    // Those after the broken one in its wave may have been left out.
    expect(changedByIt.length).toBeGreaterThan(SITES / 3 + 5);
    for (const reason of REASONS) expect(changedByIt).toEqual(expect.arrayContaining(sitesOf(reason)));
    await spoil();
    const changed = digests();

    const { plan, undo, errors } = await preview();
    expect(digests()).toEqual(changed);
    const tried = changedByIt.filter((id) => Object.keys(EXPECTED).every((of) => !sitesOf(of as Reason).includes(id)));
    expect(idsOf(undo)).toEqual(tried);
    for (const [reason, [code, message]] of Object.entries(EXPECTED))
      for (const id of sitesOf(reason as Reason)) {
        const told = errors.filter(({ site_id }) => site_id === id);
        expect([reason, told]).toEqual([reason, [expect.objectContaining({ code })]]);
        expect([reason, told[0].message]).toEqual([reason, expect.stringMatching(message)]);
      }
    expect(errors.filter(({ site_id }) => site_id === BROKEN)).toMatchObject([{ code: 'svc_already_undone' }]);
    const confirmed = { rollout_id, digest: plan.digest, confirm: true };
    expect(await app.fail('undo-change', { ...confirmed, page: 2 })).toMatchObject({ field: 'page' });
    expect(digests()).toEqual(changed);

    const done = await app.safely('undo-change', confirmed);
    expect(tokens(done)).toBeLessThan(5_000);
    const unseen = sitesOf('changed unseen');
    expect(done).toMatchObject({ total_undone: tried.length - EACH, total_errors: errors.length + EACH });
    // What was tried and failed is told first.
    expect(idsOf(done.errors.slice(0, EACH))).toEqual(unseen);
    const listed = new Set(idsOf([...errors, ...done.errors]));
    const same = isAsBefore();
    for (const id of app.fleet.sites.map((_, at) => at + 1))
      expect([id, same.includes(id) || listed.has(id)]).toEqual([id, true]);
    for (const id of tried) expect([id, same.includes(id)]).toEqual([id, !unseen.includes(id)]);
    for (const id of [...unseen, ...sitesOf('changed')]) expect(plugin(id)?.version).toBe('2.1');
  });

  it('by its time says nothing of its own turns, nor of roll-backs: of a site, what became of the update', async () => {
    const { errors: told } = await preview({ since: began });
    expect(told.filter(({ name }) => name === 'rollout')).toEqual([]);
    const stays = told.filter(({ message }) =>
      /roll-back stays, as what it removed may have broken the site/.test(message),
    );
    expect(idsOf(stays)).toEqual([BROKEN]);
  });
});

/** What people do on their sites, and what time does. */
async function spoil(): Promise<void> {
  for (const id of [...sitesOf('changed'), ...sitesOf('changed unseen')])
    Object.assign(plugin(id) ?? {}, { version: '2.1' });
  for (const id of sitesOf('deleted'))
    site(id).state.plugins = site(id).state.plugins.filter(({ slug }) => slug !== SHOP);
  for (const id of sitesOf('guard lost')) removeGuard(site(id));
  for (const id of sitesOf('copies expired')) site(id).guard?.kept.splice(0);
  const seen = [...sitesOf('changed'), ...sitesOf('deleted')];
  await app.call('sync-sites', { site_ids_or_domains: seen });
  for (const id of sitesOf('down')) site(id).faults.offline = true;
  for (const id of sitesOf('suspended')) await app.call('suspend-site', { site_id_or_domain: id });
  for (const id of sitesOf('removed')) await app.call('delete-site', { site_id_or_domain: id, confirm: true });
}
