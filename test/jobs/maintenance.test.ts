/** Scheduled work of the service, driven by the clock. */

import { beforeEach, describe, expect, it } from 'vitest';
import { logEntry } from '../../src/demo/change-log.js';
import { refreshAbandoned } from '../../src/domain/connection/abandoned.js';
import { reportHealth, syncDueSites } from '../../src/domain/connection/maintenance.js';
import { deleteExpired } from '../../src/domain/retention/delete-expired.js';
import { type TestApp, testApp } from '../support/harness.js';
import { holdBack } from '../support/hold-back.js';

const DAY = 24 * 3600_000;

let app: TestApp;
beforeEach(async () => {
  app = await testApp({ sites: 12 });
  for (let i = 0; i < 12; i++) await app.connect(i);
});

describe('the daily sync', () => {
  it('looks at each site once a day and leaves suspended and disconnected ones alone', async () => {
    expect(await syncDueSites(app.ctx())).toBe('nothing due');
    await app.call('suspend-site', { site_id_or_domain: 1 });
    await app.call('disconnect-site', { site_id_or_domain: 2 });
    app.fleet.site(2).faults.offline = true;
    app.clock.move(DAY);
    expect(await syncDueSites(app.ctx())).toBe('9 synced, 1 failed');
    expect(await syncDueSites(app.ctx())).toBe('nothing due');
    expect((await app.call('get-site', { site_id_or_domain: 4 })).last_sync).toBe('2026-11-21T12:00:00Z');
    expect((await app.call('get-site', { site_id_or_domain: 1 })).last_sync).toBe('2026-11-20T12:00:00Z');
  });
});

describe('a slow site in the daily sync', () => {
  it('has the time of the run, not that of a direct call', async () => {
    const other = await testApp({ sites: 3, config: { direct_call_ms: 40_000 } });
    for (const site of [0, 1, 2]) await other.connect(site);
    const held = holdBack(other.fleet.site(1), /^stats$/);
    other.fleet.site(2).faults.offline = true;
    other.clock.move(DAY);
    const synced = syncDueSites(other.ctx());
    await held.waiting;
    other.clock.move(2 * other.service.config.direct_call_ms);
    held.letGo();
    expect(await synced).toBe('2 synced, 1 failed');
    expect(await other.call('get-site', { site_id_or_domain: 2 })).toMatchObject({
      status: 'connected',
      last_sync: '2026-11-21T12:01:20Z',
    });
  });
});

describe('what others changed on sites', () => {
  it('is kept as long as the log of what was done', async () => {
    const kept = app.service.config.log_days;
    for (const [days, item] of [
      [kept + 1, 'Old'],
      [kept - 1, 'New'],
    ] as const)
      for (const site of [1, 2])
        await app.db.run(
          `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
           VALUES (?, 'logs', ?, 'plugins', 'deleted', ?, 'ada', 1, ?)`,
          [site, item, item, app.clock.now() / 1000 - days * 86_400],
        );
    const items = async (site: number) => {
      const { changes } = await app.call('get-site-changes', { site_id_or_domain: site, per_page: 100 });
      const ours = changes.filter(({ user }: { user: string }) => user === 'ada');
      return ours.map(({ description }: { description: string }) => description);
    };
    expect(await items(1)).toEqual(['Deleted plugin: New', 'Deleted plugin: Old']);
    expect(await deleteExpired(app.ctx())).toBe('0 audits, 0 mails, 2 actions deleted');
    for (const site of [1, 2]) expect(await items(site)).toEqual(['Deleted plugin: New']);
  });

  it('of one site at most 20,000, the newest: a site that reports without end fills no disk', async () => {
    const changes = (site: number) =>
      app.db.all('SELECT item, created FROM site_change WHERE site_id = ? ORDER BY created', [site]);
    const others = await changes(2);
    await app.db.run('DELETE FROM site_change WHERE site_id = 1');
    await app.db.run(
      `INSERT INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created)
       WITH RECURSIVE many (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM many WHERE value < 20000)
       SELECT 1, 'logs', 'made' || value, 'plugins', 'deleted', 'Made ' || value, 'ada', 1, ? - 30000 + value FROM many`,
      [app.clock.now() / 1000],
    );
    const change = { type: 1610, context: 'user', action: 'created', user: 'tom', meta: {} };
    const { state } = app.fleet.site(0);
    state.actions.clear();
    state.changeLog = [1, 2, 3].map((id) => logEntry(9_000 + id, { ...change, created: app.clock.now() / 1000 + id }));
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const kept = await changes(1);
    expect(kept).toHaveLength(20_000);
    expect([kept[0]?.item, kept.at(-4)?.item]).toEqual(['Made 4', 'Made 20000']);
    expect(await changes(2)).toEqual(others);
  });
});

describe('abandoned items', () => {
  const listed = async () => (await app.call('get-abandoned-plugins', { per_page: 200 })).total as number;

  it('are found by asking each child, kept over later syncs, and dropped with the plugin', async () => {
    // Not checked yet is not the same as "none".
    expect(await app.call('get-abandoned-plugins')).toMatchObject({
      total: 0,
      checked_at: null,
      sites_not_checked: 12,
    });
    expect(await refreshAbandoned(app.ctx())).toBe('12 refreshed, 0 failed');
    const found = await app.call('get-abandoned-plugins', { per_page: 200 });
    expect(found).toMatchObject({ checked_at: '2026-11-20T12:00:00Z', sites_not_checked: 0 });
    expect(found.total).toBeGreaterThan(0);
    for (const item of found.items) expect(item.last_updated <= '2024-11-20').toBe(true);
    expect(await refreshAbandoned(app.ctx())).toBe('nothing due');

    // The child's cache is empty again: that means nothing.
    await app.call('sync-sites', {});
    expect(await listed()).toBe(found.total);

    const { site_id, slug } = found.items[0];
    await app.call('delete-site-plugins', { site_id_or_domain: site_id, slugs: [slug], confirm: true });
    const left = await app.call('get-abandoned-plugins', { per_page: 200 });
    expect(
      left.items.some((item: { site_id: number; slug: string }) => item.site_id === site_id && item.slug === slug),
    ).toBe(false);
  });

  it('of a site that cannot answer wait their turn like the others', async () => {
    app.fleet.site(0).faults.offline = true;
    expect(await refreshAbandoned(app.ctx())).toBe('11 refreshed, 1 failed');
    expect(await refreshAbandoned(app.ctx())).toBe('nothing due');
    expect(await app.call('get-abandoned-themes')).toMatchObject({ checked_at: null, sites_not_checked: 1 });
    // A site without results is retried sooner.
    app.clock.move(DAY / 24);
    expect(await refreshAbandoned(app.ctx())).toBe('0 refreshed, 1 failed');
    app.clock.move(2 * DAY);
    expect(await refreshAbandoned(app.ctx())).toBe('11 refreshed, 1 failed');
    app.fleet.site(0).faults.offline = false;
    app.clock.move(DAY / 24);
    expect(await refreshAbandoned(app.ctx())).toBe('1 refreshed, 0 failed');
    expect(await app.call('get-abandoned-themes')).toMatchObject({ sites_not_checked: 0 });
  });

  it('of a site with many plugins are all found, although the child looks at ten with each call', async () => {
    const { state } = app.fleet.site(3);
    const [sample] = state.plugins;
    if (sample === undefined) throw new Error('no plugin');
    const old = Math.floor(app.clock.now() / 1000) - 3000 * 86_400;
    state.plugins = Array.from({ length: 27 }, (_, i) => ({
      ...sample,
      slug: `old-${i}/old.php`,
      name: `Old ${i}`,
      lastUpdated: old,
    }));
    await app.call('sync-sites', { site_ids_or_domains: [4] });
    await refreshAbandoned(app.ctx());
    const { items } = await app.call('get-abandoned-plugins', { per_page: 200 });
    expect(items.filter((item: { site_id: number }) => item.site_id === 4)).toHaveLength(27);
  });

  it('are looked up after a run of syncs, not while it shares their calls', async () => {
    const other = await testApp({ sites: 2 });
    const looks = () => other.fleet.site(0).calls.filter(({ function: name }) => name === 'check_abandoned').length;
    for (const site of [0, 1]) await other.connect(site);
    await other.service.start();
    other.fleet.site(1).faults.latencyMs = 400;
    await other.call('sync-sites', {});
    expect(looks()).toBe(0);
    await expect.poll(() => other.call('get-abandoned-plugins')).toMatchObject({ sites_not_checked: 0 });
    expect(looks()).toBeGreaterThan(0);
  });

  it('of a new site are looked up when it is connected, where the schedule runs', async () => {
    const other = await testApp({ sites: 1 });
    await other.service.start();
    await other.connect(0);
    await expect.poll(() => other.call('get-abandoned-plugins')).toMatchObject({ sites_not_checked: 0 });
  });
});

describe('site health', () => {
  it('is raised for each site that reports badly, once it is switched on', async () => {
    expect(await reportHealth(app.ctx())).toBe('disabled');
    const told: number[] = [];
    app.service.events.subscribe((event) => {
      if (event.name === 'site.unhealthy') told.push(event.site_id ?? 0);
    });
    // Individual rules: site 1 is reported although the fleet is not, site 2 is not although the fleet is.
    const own = (site: number, rule: object) =>
      app.service.store.sites.record(site).then((row) => row && app.service.store.siteSettings.change(row, rule));
    await app.db.run('UPDATE site_detail SET health_good = 9, health_recommended = 1, health_critical = 0');
    await own(1, { disable_health_checking: 0, health_threshold: 100 });
    expect(await reportHealth(app.ctx())).toBe('1 of 1 sites below good');
    await own(2, { disable_health_checking: 1, health_threshold: 100 });
    await app.service.store.settings.write([{ key: 'monitoring.svc_disable_sites_health_monitoring', value: 0 }], 0);
    expect(await reportHealth(app.ctx())).toBe('1 of 11 sites below good');
    expect(told).toEqual([1, 1]);
    await app.call('suspend-site', { site_id_or_domain: 1 });
    expect(await reportHealth(app.ctx())).toBe('0 of 10 sites below good');
    expect(told).toEqual([1, 1]);
  });
});
