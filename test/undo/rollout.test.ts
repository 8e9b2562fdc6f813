/** Undo of a rollout: every site is as it was before, or is listed with the reason. */

import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type RolloutApp, rolloutApp, SHOP } from '../rollouts/rollout-app.js';
import type { Answer } from '../support/harness.js';

const SITES = 30;
const PLAN = { waves: { canaries: 5, sizes: [10], soak_minutes: 10, halt_sites: 5 } };
/** Broken by the update, and changed by a person after it. */
const BROKEN = 12;
const THEIRS = 3;

let app: RolloutApp;
let rollout_id: string;
let before: string[];

const digests = () =>
  app.fleet.sites.map(({ state: { plugins, themes } }) =>
    createHash('sha256')
      .update(
        JSON.stringify([
          plugins.map(({ slug, version, active }) => [slug, version, active]),
          themes.map(({ slug, version }) => [slug, version]),
        ]),
      )
      .digest('hex'),
  );
const version = (site: number) => app.plugins[site - 1]?.version;

beforeAll(async () => {
  app = await rolloutApp(SITES);
  app.fleet.site(BROKEN - 1).faults.breaks = { [`${SHOP}@2.0`]: 'fatal' };
  before = digests();
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

  it('restores every site of all its waves, but what a person changed since, and says so beforehand', async () => {
    // The item of the broken site goes no further: what is left ends the rollout.
    for (let wave = 1; wave <= 3; wave++) await app.after(11);
    const { state, counts } = await app.read(rollout_id);
    expect(state).not.toBe('running');
    const kept = await app.sites(rollout_id, 'kept');
    expect(kept.length).toBeGreaterThan(PLAN.waves.canaries);
    expect(kept).toContain(THEIRS);
    expect(counts.rolled_back).toBe(1);
    const theirs = app.plugins[THEIRS - 1];
    if (theirs !== undefined) theirs.version = '2.1';
    await app.call('sync-sites', { site_ids_or_domains: [THEIRS] });
    const changed = digests();

    const plan = await app.safely('undo-change', { rollout_id, dry_run: true });
    const left = Object.fromEntries(plan.errors.map(({ site_id, code }: Answer) => [site_id, code]));
    expect(left).toEqual({ [THEIRS]: 'svc_changed_since', [BROKEN]: 'svc_already_undone' });
    expect(plan.undo.map(({ site_id }: Answer) => site_id)).toEqual(kept.filter((site) => site !== THEIRS));
    expect(digests()).toEqual(changed);

    const done = await app.safely('undo-change', { rollout_id, digest: plan.digest, confirm: true });
    expect(done).toMatchObject({ total_undone: kept.length - 1, total_errors: 2 });
    expect(version(THEIRS)).toBe('2.1');
    expect(digests().filter((digest, at) => at + 1 !== THEIRS && digest !== before[at])).toEqual([]);
  });
});
