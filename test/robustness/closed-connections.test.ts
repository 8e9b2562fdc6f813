/** A server that closes kept connections just as they are used again: nothing that is done on its site fails for it. */

import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ordinary, type SafetyApp, safetyApp } from '../safety/safety-app.js';
import { tempFolder } from '../support/cleanup.js';

let app: SafetyApp;

beforeAll(async () => {
  // Each site has a listener, as each real one has a server.
  const config = { site_backup_dir: join(tempFolder('closed'), 'repository') };
  app = await safetyApp({ sites: 3, fleet: { mode: 'port' }, config });
  for (const { faults } of app.fleet.sites) faults.closesKept = true;
});

it('a safe update is done, and says nothing else', async () => {
  const site = app.fleet.site(0);
  const plugin = app.offer(site, 0, '9.0');
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  const answer = await app.safely('safe-update-site', { site_id_or_domain: 1, types: ['plugins'] });
  expect(answer.errors).toEqual([]);
  expect(answer.updated).toMatchObject([{ slug: plugin.slug, new_version: '9.0' }]);
  expect(plugin.version).toBe('9.0');
  expect(site.guard?.armed).toEqual([]);
});

it('an update that breaks the site is rolled back', async () => {
  const site = app.fleet.site(1);
  const plugin = app.offer(site, 0, '9.0');
  const before = plugin.version;
  site.faults.watchdog = false;
  site.faults.breaks = { [`${plugin.slug}@9.0`]: 'fatal' };
  await app.call('sync-sites', { site_ids_or_domains: [2] });
  const answer = await app.safely('safe-update-site', { site_id_or_domain: 2, types: ['plugins'] });
  expect(answer.errors).toMatchObject([{ code: 'svc_update_rolled_back', slug: plugin.slug }]);
  expect(plugin.version).toBe(before);
});

it('an update after which a page breaks off every other time is rolled back: it is not asked for again', async () => {
  const site = app.fleet.site(2);
  const plugin = app.offer(site, 0, '9.0');
  const before = plugin.version;
  // Each of these is a page on a sound connection.
  site.faults.closesKept = false;
  let visits = 0;
  site.faults.breaks = {
    [`${plugin.slug}@9.0`]: (page, { path }) => ({ ...page, drop: path === 'wp-login.php' && visits++ % 2 === 0 }),
  };
  await app.call('sync-sites', { site_ids_or_domains: [3] });
  const answer = await app.safely('safe-update-site', { site_id_or_domain: 3, types: ['plugins'] });
  expect(answer.errors).toMatchObject([{ code: 'svc_update_rolled_back', slug: plugin.slug }]);
  expect(plugin.version).toBe(before);
});

it('plugins are switched off and on', async () => {
  const plugin = ordinary(app.fleet.site(0))[1];
  const input = { site_id_or_domain: 1, slugs: [plugin?.slug] };
  for (const [name, active] of [
    ['deactivate', false],
    ['activate', true],
    ['deactivate', false],
  ] as const) {
    expect((await app.safely(`${name}-site-plugins`, input)).errors).toEqual([]);
    expect(plugin?.active).toBe(active);
  }
});

it('a site is backed up, and restored', async () => {
  const { backup_id } = await app.safely('back-up-site', { site_id_or_domain: 1 });
  const backup = app.fleet.site(0).guard?.backup;
  const upload = 'wp-content/uploads/2026/a b 🌱.txt';
  const before = backup?.files.get(upload)?.bytes.toString('hex');
  expect(before).toBeDefined();
  backup?.files.delete(upload);
  await app.safely('restore-backup', { backup_id, what: 'site', confirm: true });
  expect(backup?.files.get(upload)?.bytes.toString('hex')).toBe(before);
});
