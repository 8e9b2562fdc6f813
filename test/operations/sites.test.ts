import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../harness.js';

let app: TestApp;
beforeEach(async () => {
  app = await testApp({ sites: 4 });
});
afterEach(() => app.close());

describe('the main job', () => {
  it('connects, reads, syncs and updates a plugin', async () => {
    const id = await app.connect(0);
    const site = app.fleet.site(0);
    const record = await app.call('get-site', { site_id_or_domain: id, include_stats: true });
    expect(record).toMatchObject({ id, status: 'connected', admin_username: site.admin });
    expect(record.last_sync).toBe('2026-11-20T12:00:00Z');

    const synced = await app.call('sync-sites', {});
    expect(synced).toMatchObject({ queued: false, total_synced: 1, total_errors: 0, errors: [] });

    const updates = await app.call('get-site-updates', { site_id_or_domain: id, types: ['plugins'] });
    expect(updates.updates.length).toBeGreaterThan(0);
    const offer = updates.updates[0];
    const done = await app.call('update-site-plugins', { site_id_or_domain: id, slugs: [offer.slug] });
    expect(done.updated).toEqual([
      { slug: offer.slug, name: offer.name, old_version: offer.current_version, new_version: offer.new_version },
    ]);
    const after = await app.call('get-site-plugins', { site_id_or_domain: id });
    expect(after.plugins.find((p: { slug: string }) => p.slug === offer.slug)).toMatchObject({
      version: offer.new_version,
      update_version: null,
    });
  });
});
