/** Converts ignore lists of a MainWP Dashboard: JSON texts in two formats. Pure. */

import type { FleetIgnored } from '../../../schemas/fleet.js';

const EVERY_VERSION = '*';

/** The ignore lists of a site, or of all sites, one text for each kind. */
export function ignoredUpdates(plugins: string, themes: string, core: string): FleetIgnored[] {
  return [...ignoredItems('plugin', plugins), ...ignoredItems('theme', themes), ...ignoredCore(core)];
}

/** `{slug: {Name, ignored_versions}}`, or `{slug: Name}` of older versions, which means every version. */
function ignoredItems(type: 'plugin' | 'theme', json: string): FleetIgnored[] {
  return Object.entries(objectOf(json)).flatMap(([key, info]) => {
    const slug = unescaped(key);
    if (typeof info === 'string') return [{ type, slug, name: info || slug, version: EVERY_VERSION }];
    const { Name, ignored_versions } = asObject(info);
    const name = typeof Name === 'string' && Name !== '' ? Name : slug;
    return versionsOf(ignored_versions).map((version) => ({ type, slug, name, version }));
  });
}

/** `{ignored_versions}`. */
function ignoredCore(json: string): FleetIgnored[] {
  const { ignored_versions } = objectOf(json);
  return versionsOf(ignored_versions).map((version) => ({
    type: 'core',
    slug: 'platform',
    name: 'WordPress',
    version,
  }));
}

function versionsOf(list: unknown): string[] {
  const values = Array.isArray(list) ? list : Object.values(asObject(list));
  const texts = values.filter((value): value is string => typeof value === 'string' && value !== '');
  return texts.includes('all_versions') ? [EVERY_VERSION] : texts;
}

function objectOf(json: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(json));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Some versions percent-encode plugin slugs: `folder%2Ffile.php`. */
function unescaped(slug: string): string {
  try {
    return /%2f/i.test(slug) ? decodeURIComponent(slug) : slug;
  } catch {
    return slug;
  }
}
