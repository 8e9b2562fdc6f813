/** Updates on sites that carry a guard: what works stays, what breaks the site does not, and no other site gets it. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
beforeEach(async () => {
  app = await safetyApp();
});
afterEach(() => app.close());

describe('the ordinary update operations', () => {
  it('keep an update that works, and leave nothing armed', async () => {
    const site = app.site(0);
    const plugin = app.offer(site);
    const before = plugin.version;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const answer = await app.safely('update-site-plugins', { site_id_or_domain: 1 });
    expect(answer).toMatchObject({
      updated: [{ slug: plugin.slug, old_version: before, new_version: '99.0' }],
      errors: [],
    });
    expect(plugin.version).toBe('99.0');
    expect(site.guard?.armed).toEqual([]);
    expect(site.guard?.kept).toMatchObject([{ slug: plugin.slug, version: before, role: 'snapshot' }]);
  });

  it('put back a version that is fatal, and hold it back from another site', async () => {
    const site = app.site(0);
    const plugin = app.offer(site);
    const before = plugin.version;
    site.faults.breaks = { [`${plugin.slug}@99.0`]: 'fatal' };
    site.faults.watchdog = false;
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    const answer = await app.safely('run-updates', { site_ids_or_domains: [1], types: ['plugins'] });
    expect(answer.updated).toEqual([]);
    expect(answer.errors).toMatchObject([{ slug: plugin.slug, code: 'svc_update_rolled_back' }]);
    expect(answer.errors[0].message).toContain('HTTP 500');
    expect(plugin.version).toBe(before);
    expect(plugin.update?.version).toBe('99.0');
    expect(site.guard?.armed).toEqual([]);
    const { versions } = await app.call('list-quarantined-versions');
    expect(versions).toMatchObject([{ slug: plugin.slug, version: '99.0', site_id: 1 }]);
  });
});
