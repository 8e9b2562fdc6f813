/** What answers say of suspended sites: what pauses, and which updates no run makes. */

import { expect, it } from 'vitest';
import { plugin, supportApp } from '../operations/support-app.js';

const SHOP = 'shop/shop.php';

it('counts the updates of suspended sites apart, everywhere alike', async () => {
  const support = await supportApp({
    connected: 3,
    prepare(app) {
      for (const place of [0, 1, 2])
        plugin(app, place, { slug: SHOP, version: '1.0', update: { version: '2.0', requiresPhp: '', requiresWp: '' } });
    },
  });
  const { app } = support;
  const before = await support.ask('get-fleet-brief');
  expect(before.updates_on_offer).not.toHaveProperty('on_suspended_sites');
  expect(before.not_known.join()).not.toContain('suspended');
  const { client_id } = await app.call('add-client', { name: 'Nordlicht' });
  await app.db.run('UPDATE site SET client_id = ? WHERE id IN (1, 2)', [client_id ?? 1]);
  const suspended = await app.call('suspend-client', { client_id_or_email: client_id ?? 1 });
  expect(suspended).toMatchObject({ sites_suspended: 2 });
  const there = await app.db.all('SELECT 1 FROM site_update WHERE site_id IN (1, 2) AND ignored = 0');
  expect(there.length).toBeGreaterThan(1);
  const brief = await support.ask('get-fleet-brief');
  expect(brief.updates_on_offer.on_suspended_sites).toBe(there.length);
  expect(brief.not_known).toContain('what suspended sites need, which are left out above: 2 sites');
  const listed = await support.ask('list-updates');
  expect(listed.on_suspended_sites).toBe(there.length);
  expect(listed.total).toBe(
    ['core', 'plugins', 'themes', 'translations'].reduce((sum, kind) => sum + brief.updates_on_offer[kind], 0),
  );
  expect((await support.ask('list-updates', { slug: SHOP })).on_suspended_sites).toBe(2);
  expect(await support.ask('list-updates', { site_ids_or_domains: [3] })).not.toHaveProperty('on_suspended_sites');
  const { would_affect } = await support.tool('run-updates', { dry_run: true });
  expect(would_affect.total).toBe(listed.total - there.length);
  await app.call('unsuspend-client', { client_id_or_email: client_id ?? 1 });
});
