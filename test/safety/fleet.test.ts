/** A bad version in a fleet: every site it breaks is repaired, no other is touched, and it is held back once. */

import { beforeAll, expect, it } from 'vitest';
import type { PluginState } from '../../src/demo/state.js';
import { shortOrLong } from '../robustness/soak.js';
import { ordinary, type SafetyApp, safetyApp } from './safety-app.js';

const SITES = shortOrLong(60, 500);
/** One in twenty. */
const BAD = SITES / 20;

let app: SafetyApp;
const plugins: PluginState[] = [];

beforeAll(async () => {
  const config = { batch_threshold: SITES + 1 };
  app = await safetyApp({ sites: SITES, fleet: { plugins: 3, keepCalls: false }, config });
  for (const [index, site] of app.fleet.sites.entries()) {
    const plugin = ordinary(site)[0];
    if (plugin === undefined) throw new Error('a site without a plugin');
    Object.assign(plugin, { slug: 'shop/shop.php', name: 'Shop', version: '1.0', active: true, premium: false });
    plugin.update = { version: '2.0', requiresPhp: '', requiresWp: '' };
    site.faults.watchdog = index % 2 === 0;
    // Every twentieth site has something that is incompatible with 2.0.
    if (index % (SITES / BAD) === 7) site.faults.breaks = { 'shop/shop.php@2.0': 'fatal' };
    plugins.push(plugin);
  }
  await app.call('sync-sites', {});
});

it(`${SITES} sites, ${BAD} of them broken by the update`, async () => {
  const answer = await app.safely('run-updates', { types: ['plugins'] });
  const bad = app.fleet.sites.flatMap(({ faults }, index) => (faults.breaks === undefined ? [] : [index + 1]));
  expect(bad).toHaveLength(BAD);
  const updated = (answer.updated as { site_id: number }[]).map(({ site_id }) => site_id);
  const errors = answer.errors as { site_id: number; code: string }[];
  const told = ['svc_update_rolled_back', 'svc_version_quarantined'];
  expect(errors.filter(({ code }) => !told.includes(code))).toEqual([]);
  const undone = errors.filter(({ code }) => code === 'svc_update_rolled_back').map(({ site_id }) => site_id);
  // A site whose turn came after the first had broken was spared.
  const spared = errors.filter(({ code }) => code === 'svc_version_quarantined').map(({ site_id }) => site_id);
  expect([...updated, ...undone, ...spared].sort((a, b) => a - b)).toEqual(plugins.map((_, index) => index + 1));
  expect(undone.length).toBeGreaterThan(0);
  expect(undone.filter((id) => !bad.includes(id))).toEqual([]);
  expect(updated.filter((id) => bad.includes(id))).toEqual([]);
  for (const [index, plugin] of plugins.entries())
    expect([index, plugin.version]).toEqual([index, updated.includes(index + 1) ? '2.0' : '1.0']);
  for (const { guard } of app.fleet.sites) expect(guard?.armed).toEqual([]);
  expect(await app.cell('SELECT count(*) FROM safe_change WHERE settled_at IS NULL')).toBe(0);
  expect(await app.call('list-quarantined-versions')).toMatchObject({
    total: 1,
    versions: [{ slug: 'shop/shop.php', version: '2.0' }],
  });
});
