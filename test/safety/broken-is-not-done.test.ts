/** An update that broke its site is not counted as done: by the brief, the log of actions, the digest, or the events. */

import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/harness.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
const ONE = { site_id_or_domain: 1 };

/** Two updates of the first site, of which one breaks it. */
async function offered(guards: boolean): Promise<{ broken: string; fine: string }> {
  app = await safetyApp({ guards });
  const site = app.site(0);
  const [broken, fine] = [app.offer(site, 0).slug, app.offer(site, 1).slug];
  site.faults.breaks = { [`${broken}@99.0`]: 'fatal' };
  site.faults.watchdog = false;
  await app.call('sync-sites', { site_ids_or_domains: [1] });
  return { broken, fine };
}

/** Completed and failed updates of plugins, as stored. */
const logged = () =>
  app.db.all<{ slug: string; code: string; new_version: string }>(
    "SELECT slug, code, new_version FROM action_log WHERE context = 'plugin' AND action = 'updated' ORDER BY slug, id",
  );
/** How many updates of plugins the brief counts as done. */
const done = async (): Promise<number> => {
  const brief = await app.call('get-fleet-brief', {});
  return brief.done.find(({ what }: Answer) => what === 'plugin updated')?.count ?? 0;
};

describe('an update that broke its site', () => {
  it.each<[string, (slug: string) => Promise<unknown>]>([
    ['update-site-plugins', (slug) => app.safely('update-site-plugins', { ...ONE, slugs: [slug] })],
    [
      'run-updates',
      (slug) => app.safely('run-updates', { site_ids_or_domains: [1], types: ['plugins'], specific_items: [slug] }),
    ],
    ['safe-update-site', () => app.safely('safe-update-site', { ...ONE, least_protection: 'none' })],
  ])('is a failure of %s without a guard', async (_, update) => {
    const { broken } = await offered(false);
    await update(broken);
    await expect.poll(logged).toEqual([{ slug: broken, code: 'svc_update_broke_site', new_version: '99.0' }]);
    expect(await done()).toBe(0);
  });

  it('is a failure with a guard, which rolled it back, and the other one is done', async () => {
    const { broken, fine } = await offered(true);
    await app.safely('update-site-plugins', { ...ONE, slugs: [broken, fine] });
    await expect.poll(logged).toEqual(
      [
        { slug: broken, code: 'svc_update_rolled_back', new_version: '99.0' },
        { slug: fine, code: '', new_version: '99.0' },
      ].sort((a, b) => (a.slug < b.slug ? -1 : 1)),
    );
    expect(await done()).toBe(1);
  });
});
