/** The number of storage queries of an operation does not grow with the fleet (operations §11.10). */

import { beforeAll, describe, expect, it } from 'vitest';
import type { Counts } from '../support/counting-db.js';
import { type CheckedApp, checkedApp } from './checked-app.js';

const SIZES = [1, 50, 200];
const kits = new Map<number, CheckedApp>();

beforeAll(async () => {
  for (const size of SIZES) kits.set(size, await filled(size));
});

/** A fleet in the storage only: no site is contacted. */
async function filled(size: number): Promise<CheckedApp> {
  const app = await checkedApp({ sites: 1, config: { batch_threshold: 100_000 } });
  await app.call('add-client', { name: 'Ada' });
  await app.call('add-tag', { name: 'blue' });
  const numbers = JSON.stringify(Array.from({ length: size }, (_, i) => i + 1));
  for (const statement of [
    `INSERT INTO site (id, url, url_key, name, search, client_id, created_at)
     SELECT value, 'https://s' || value || '.example/', 's' || value || '.example/', 'Site ' || value, 'site ' || value || char(31) || 'https://s' || value || '.example/', 1, 0 FROM json_each(?)`,
    `INSERT INTO site_detail (site_id, child_version, last_sync) SELECT value, '6.1', 0 FROM json_each(?)`,
    'INSERT INTO site_tag (site_id, tag_id) SELECT value, 1 FROM json_each(?)',
    `INSERT INTO site_update (site_id, type, slug, position, name, current_version, new_version, url_key)
     SELECT j.value, t.value, 'x' || t.value, 0, 'X', '1', '2', 's' || j.value || '.example/' FROM json_each(?) j, json_each('[0,1,2,3]') t`,
    "INSERT INTO ignored_update (site_id, type, slug, version, name) SELECT value, 1, 'y', '*', 'Y' FROM json_each(?)",
    `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key)
     SELECT j.value, k.value, 'old', 'Old', '1', 0, 's' || j.value || '.example/' FROM json_each(?) j, json_each('[0,1]') k`,
    "INSERT INTO site_security (site_id, check_id, value) SELECT value, 'debug_disabled', 'N' FROM json_each(?)",
  ])
    await app.db.run(statement, [numbers]);
  return app;
}

async function counts(app: CheckedApp, name: string, input: object) {
  app.db.reset();
  await app.call(name, input);
  return { ...app.db.counts };
}

/** The whole fleet, named in every supported form. */
const everySite = (size: number) =>
  Array.from({ length: size }, (_, i) =>
    i % 3 === 0 ? i + 1 : i % 3 === 1 ? `s${i + 1}.example` : `https://s${i + 1}.example/`,
  );

const READS: [string, (size: number) => object, number][] = [
  ['list-sites', () => ({ per_page: 100 }), 1],
  ['list-sites', () => ({ per_page: 100, search: 'example', client_id: 1, tag_id: 1 }), 1],
  ['list-sites', () => ({ per_page: 100, search: 'example' }), 3],
  ['get-site', () => ({ site_id_or_domain: 's1.example', include_stats: true }), 4],
  ['get-site-plugins', () => ({ site_id_or_domain: 1 }), 2],
  ['get-site-themes', () => ({ site_id_or_domain: 1 }), 2],
  ['get-abandoned-plugins', () => ({ per_page: 200 }), 3],
  ['get-abandoned-themes', () => ({ per_page: 200 }), 3],
  ['get-site-security', () => ({ site_id_or_domain: 1 }), 3],
  ['get-site-changes', () => ({ site_id_or_domain: 1 }), 2],
  ['search-changes', () => ({ site_id_or_domain: 1, tag: 'blue', client_id_or_email: 1 }), 6],
  ['diagnose-site', () => ({ site_id_or_domain: 1 }), 20],
  ['get-site-client', () => ({ site_id_or_domain: 1 }), 2],
  ['get-site-costs', () => ({ site_id_or_domain: 1 }), 3],
  ['count-sites', () => ({ status: 'connected' }), 1],
  ['get-sites-basic', () => ({}), 1],
  ['list-updates', () => ({ per_page: 200 }), 3],
  ['list-updates', (size) => ({ per_page: 200, site_ids_or_domains: everySite(size) }), 4],
  ['list-ignored-updates', () => ({ per_page: 200 }), 1],
  ['get-site-updates', () => ({ site_id_or_domain: 1 }), 3],
  ['list-clients', () => ({}), 2],
  ['get-client-sites', () => ({ client_id_or_email: 1, per_page: 100 }), 2],
  ['get-client-costs', () => ({ client_id_or_email: 1 }), 3],
  ['get-tag-sites', () => ({ tag_id: 1, per_page: 100 }), 2],
  ['get-tag-clients', () => ({ tag_id: 1, per_page: 100 }), 2],
];

describe('a read', () => {
  it.each(READS)('%s', async (name, input, most) => {
    const found: Counts[] = [];
    for (const [size, app] of kits) found.push(await counts(app, name, input(size)));
    expect(found).toEqual(found.map(() => found[0]));
    expect(found[0]?.calls).toBeLessThanOrEqual(most);
  });
});

describe('a selection', () => {
  it.each([
    'sync-sites',
    'run-updates',
    'update-all',
    'check-sites',
    'reconnect-sites',
    'disconnect-sites',
    'suspend-sites',
  ])('%s is stored as a job in a few round trips', async (name) => {
    const found: Counts[] = [];
    for (const size of SIZES.slice(1)) {
      const app = await openKitWithThreshold(size);
      found.push(await counts(app, name, { site_ids_or_domains: everySite(size) }));
      await app.close();
    }
    expect(found).toEqual(found.map(() => found[0]));
    expect(found[0]?.calls).toBeLessThanOrEqual(4);
  });

  it('for a write reads each site no more than once', async () => {
    const found: Counts[] = [];
    for (const [size, app] of kits) {
      const { calls } = await counts(app, 'suspend-sites', { site_ids_or_domains: everySite(size) });
      // Lines of the action log, and the names in them, come in batches, whose number depends on how long the call takes.
      const statements = app.db.log.filter((text) => !/action_log|nullif\(name, ''\)/.test(text)).length;
      found.push({ calls, statements });
    }
    const [one, fifty, all] = found as [Counts, Counts, Counts];
    // Selecting and loading costs the same for one as for many. One mark per site, of two statements; marks that are
    // ready together share a call.
    expect(fifty.statements).toBe(one.statements + 2 * 49);
    expect(all.statements).toBe(one.statements + 2 * 199);
    expect(fifty.calls).toBeLessThanOrEqual(one.calls + 49);
    expect(all.calls).toBeLessThanOrEqual(one.calls + 199);
  });
});

async function openKitWithThreshold(size: number): Promise<CheckedApp> {
  const app = await filled(size);
  Object.assign(app.service.config, { batch_threshold: 10 });
  return app;
}
