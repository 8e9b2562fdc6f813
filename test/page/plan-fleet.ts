/** A fleet whose sites have updates of the same few plugins, for tests of the plan of updates, of runs and their outcome. */

import { putGuard } from '../../src/demo/guard/state.js';
import { ordinary, type SafetyApp, safetyApp } from '../safety/safety-app.js';
import type { TestOptions } from '../support/harness.js';
import { builtPage } from './browser.js';

/** Plugins by the numbers of the sites that have an update of them. */
export const PLUGINS = {
  forms: {
    slug: 'harbour-forms/harbour-forms.php',
    name: 'Harbour Forms',
    from: '1.8.0',
    to: '1.9.0',
    on: [1, 2, 3, 4, 5],
  },
  seo: { slug: 'tidepool-seo/tidepool-seo.php', name: 'Tidepool SEO', from: '4.2', to: '5.0', on: [1, 2, 6] },
  cache: {
    slug: 'lantern-cache/lantern-cache.php',
    name: 'Lantern Cache',
    from: '2.1.3',
    to: '2.1.4',
    on: [2, 3, 5, 6],
  },
  gallery: { slug: 'meadow/meadow.php', name: 'Meadow Gallery', from: '1.0', to: '1.1', on: [4, 6] },
} as const;
export const SITES = 6;
/** Without a guard. */
export const BARE = 6;
const NAMES = ['Shop', 'Journal', 'Bakery', 'Studio', 'Clinic', 'Shop'];

/** The updates of plugins, as `site plugin`, but those that are left out. */
export function offered(but: (plugin: keyof typeof PLUGINS, site: number) => boolean = () => false): string[] {
  return Object.entries(PLUGINS).flatMap(([key, { on }]) =>
    on.filter((site) => !but(key as keyof typeof PLUGINS, site)).map((site) => `${site} ${key}`),
  );
}

/** What the plan says of them. */
export function sumOf(but?: Parameters<typeof offered>[0]): string {
  const found = offered(but);
  return `${found.length} updates on ${new Set(found.map((one) => one.split(' ')[0])).size} sites`;
}

/** All sites are connected, with ids 1 to 6, and have the tag `shops` (id 1) up to site 3. Site 1 has a core update, too. */
export async function planFleet(options: TestOptions = {}): Promise<SafetyApp> {
  const app = await safetyApp({
    sites: SITES,
    fleet: { plugins: 8 },
    guards: false,
    pageFolder: await builtPage(),
    ...options,
  });
  for (const [index, site] of app.fleet.sites.entries()) {
    if (index + 1 !== BARE) putGuard(site);
    site.state.wpUpdate = index === 0 ? '99.0' : null;
    const plugins = ordinary(site);
    for (const [nth, { slug, name, from, to, on }] of Object.values(PLUGINS).entries()) {
      const plugin = plugins[nth];
      if (plugin === undefined || !on.some((one) => one === index + 1)) continue;
      Object.assign(plugin, { slug, name, version: from, active: true, premium: false });
      plugin.update = { version: to, requiresPhp: '', requiresWp: '' };
    }
  }
  await app.call('sync-sites', {});
  for (const [index, name] of NAMES.entries()) await app.call('update-site', { site_id_or_domain: index + 1, name });
  for (let id = 1; id <= SITES; id += 1) if (id !== BARE) await app.call('get-site-guard', { site_id_or_domain: id });
  await app.call('add-tag', { name: 'shops' });
  for (const id of [1, 2, 3]) await app.call('update-site', { site_id_or_domain: id, tags: [1] });
  return app;
}
