import {
  type CatalogueItem,
  CHILD_SLUG,
  CHILD_VERSION,
  PLUGINS,
  PREMIUM_PLUGINS,
  STALE_PLUGINS,
  STALE_THEMES,
  THEMES,
} from './plugins.js';
import type { Random } from './random.js';
import type { PluginState, ThemeState, UpdateOffer } from './state.js';

const DAY = 86400;

/** Plugins of one site; `count` includes the child plugin itself. */
export function generatePlugins(random: Random, count: number | undefined, now: number): PluginState[] {
  const wanted = count ?? random.int(8, 30);
  const plugins = [childPlugin(random, now)];
  if (random.chance(0.15) && wanted > 4) plugins.push(stalePlugin(random, now));
  if (random.chance(0.12) && wanted > 4) plugins.push(premiumPlugin(random));
  if (random.chance(0.2) && wanted > 4) plugins.push(mustUsePlugin());
  for (const item of random.sample(PLUGINS, wanted - plugins.length)) plugins.push(publicPlugin(random, item, now));
  for (let n = 1; plugins.length < wanted; n += 1) plugins.push(publicPlugin(random, numberedPlugin(n), now));
  return plugins.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function childPlugin(random: Random, now: number): PluginState {
  const current = random.chance(0.85);
  return {
    ...inactivePlugin([
      CHILD_SLUG,
      'MainWP Child',
      current ? CHILD_VERSION : '6.0.3',
      'MainWP',
      'Connects this site to a dashboard.',
    ]),
    active: true,
    update: current ? null : offer(CHILD_VERSION),
    lastUpdated: now - 20 * DAY,
  };
}

function publicPlugin(random: Random, item: CatalogueItem, now: number): PluginState {
  const behind = random.chance(0.18);
  const active = random.chance(0.82);
  return {
    ...inactivePlugin(item),
    version: behind ? olderVersion(item[2], random) : item[2],
    active,
    update: behind ? { ...offer(item[2]), ...(random.chance(0.04) ? { requiresPhp: '8.4' } : {}) } : null,
    lastUpdated: now - random.int(2, 400) * DAY,
    breaksOnActivation: !active && random.chance(0.08),
  };
}

function stalePlugin(random: Random, now: number): PluginState {
  return {
    ...inactivePlugin(random.pick(STALE_PLUGINS)),
    active: random.chance(0.5),
    lastUpdated: now - random.int(800, 3500) * DAY,
  };
}

function premiumPlugin(random: Random): PluginState {
  const item = random.pick(PREMIUM_PLUGINS);
  const behind = random.chance(0.5);
  return {
    ...inactivePlugin(item),
    premium: true,
    active: true,
    version: behind ? olderVersion(item[2], random) : item[2],
    update: behind ? offer(item[2]) : null,
  };
}

function mustUsePlugin(): PluginState {
  return {
    ...inactivePlugin(['hosting-guard.php', 'Hosting Guard', '1.0', 'The host', 'Added by the host.']),
    mustUse: true,
    active: true,
  };
}

/** Beyond the catalogue the names are numbered, for sites with hundreds of plugins. */
function numberedPlugin(n: number): CatalogueItem {
  return [`site-module-${n}/site-module-${n}.php`, `Site Module ${n}`, '2.4.1', 'Webwerk', `Module ${n} of this site.`];
}

/** A public plugin as it is installed: neither active nor updated. */
export function inactivePlugin(item: CatalogueItem): PluginState {
  const [slug, name, version, author, description] = item;
  return {
    slug,
    name,
    version,
    author,
    description,
    active: false,
    mustUse: false,
    premium: false,
    update: null,
    lastUpdated: 0,
    breaksOnActivation: false,
  };
}

export function offer(version: string): UpdateOffer {
  return { version, requiresPhp: '7.4', requiresWp: '6.0' };
}

/** Themes of one site and the stylesheet of the active one. A third of the sites run a child theme. */
export function generateThemes(random: Random, now: number): { themes: ThemeState[]; activeTheme: string } {
  const themes = random.sample(THEMES, random.int(2, 4)).map((item) => publicTheme(random, item, now));
  if (random.chance(0.1)) {
    const [slug, name, version, , description] = random.pick(STALE_THEMES);
    themes.push({ slug, name, version, description, parent: '', update: null, lastUpdated: now - 2000 * DAY });
  }
  const chosen = random.pick(themes);
  if (!random.chance(0.3)) return { themes, activeTheme: chosen.slug };
  const child: ThemeState = {
    slug: `${chosen.slug}-child`,
    name: `${chosen.name} Child`,
    version: '1.0.0',
    description: `Changes to ${chosen.name} for this site.`,
    parent: chosen.slug,
    update: null,
    lastUpdated: 0,
  };
  return { themes: [...themes, child], activeTheme: child.slug };
}

function publicTheme(random: Random, item: CatalogueItem, now: number): ThemeState {
  const [slug, name, newest, , description] = item;
  const behind = random.chance(0.2);
  return {
    slug,
    name,
    description,
    parent: '',
    version: behind ? olderVersion(newest, random) : newest,
    update: behind ? offer(newest) : null,
    lastUpdated: now - random.int(5, 300) * DAY,
  };
}

/** A version that PHP's rules call older than `newest`. */
function olderVersion(newest: string, random: Random): string {
  const parts = newest.split('.').map(Number);
  for (let i = parts.length - 1; i >= 0; i -= 1) {
    const part = parts[i] ?? 0;
    if (part > 0) {
      parts[i] = part - random.int(1, Math.min(part, 3));
      return parts.join('.');
    }
  }
  return '0.0.1';
}

/** True when dotted `version` is at least `needed`; empty `needed` is always met. */
export function atLeast(version: string, needed: string): boolean {
  const have = version.split('.').map(Number);
  const want = needed === '' ? [] : needed.split('.').map(Number);
  for (let i = 0; i < want.length; i += 1) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
