import { atLeast } from '../inventory.js';
import { list, type Params, text } from '../params.js';
import { CHILD_SLUG } from '../plugins.js';
import type { PluginState, SiteState, ThemeState } from '../state.js';

/** One plugin as the lists show it (child protocol §5.1). */
export function pluginItem(plugin: PluginState): Record<string, unknown> {
  return {
    mainwp: plugin.slug === CHILD_SLUG ? 'T' : 'F',
    name: plugin.name,
    slug: plugin.slug,
    description: plugin.description,
    version: plugin.version,
    active: plugin.active ? 1 : 0,
    ...(plugin.mustUse ? { mu: 1 } : {}),
  };
}

/** One theme as the lists show it; parents and children point at each other (child protocol §5.1). */
function themeItem(state: SiteState, theme: ThemeState): Record<string, unknown> {
  const active = state.themes.find((each) => each.slug === state.activeTheme);
  const isActive = theme.slug === state.activeTheme;
  const isParent = active !== undefined && active.parent === theme.slug;
  return {
    name: theme.name,
    title: theme.name,
    description: theme.description,
    version: theme.version === '' ? false : theme.version,
    active: isActive ? 1 : 0,
    slug: theme.slug,
    parent_active: isParent ? 1 : 0,
    ...(isParent ? { child_theme: active.slug } : {}),
    ...(isActive && theme.parent !== '' ? { child_active: 1 } : {}),
  };
}

export function themeItems(state: SiteState): Record<string, unknown>[] {
  return state.themes.map((theme) => themeItem(state, theme));
}

/** Updates from the public directory; the lists inside update answers have three fields less. */
export function pluginOffers(state: SiteState, kind: 'stats' | 'update'): Record<string, unknown> {
  const offers: Record<string, unknown> = {};
  for (const plugin of state.plugins) {
    if (plugin.update === null || plugin.premium) continue;
    const verdict = {
      active: plugin.active ? 1 : 0,
      wp_compatible: atLeast(state.wpVersion, plugin.update.requiresWp),
      php_compatible: atLeast(state.phpVersion, plugin.update.requiresPhp),
    };
    offers[plugin.slug] = {
      ...pluginHeader(plugin),
      update: pluginUpdate(plugin),
      ...(kind === 'stats' ? verdict : {}),
    };
  }
  return offers;
}

function pluginHeader(plugin: PluginState): Record<string, unknown> {
  return {
    Name: plugin.name,
    PluginURI: '',
    Version: plugin.version,
    Description: plugin.description,
    Author: plugin.author,
    AuthorURI: '',
    TextDomain: folderOf(plugin.slug),
    DomainPath: '',
    Network: false,
    RequiresWP: plugin.update?.requiresWp ?? '',
    RequiresPHP: plugin.update?.requiresPhp ?? '',
    UpdateURI: '',
    RequiresPlugins: '',
    Title: plugin.name,
    AuthorName: plugin.author,
  };
}

function pluginUpdate(plugin: PluginState): Record<string, unknown> {
  const folder = folderOf(plugin.slug);
  return {
    id: `w.org/plugins/${folder}`,
    slug: folder,
    plugin: plugin.slug,
    new_version: plugin.update?.version,
    url: `https://wordpress.org/plugins/${folder}/`,
    package: `https://downloads.wordpress.org/plugin/${folder}.${plugin.update?.version}.zip`,
    icons: [],
    banners: [],
    tested: '7.1',
    requires_php: plugin.update?.requiresPhp,
    requires: plugin.update?.requiresWp,
  };
}

export function themeOffers(state: SiteState): Record<string, unknown> {
  const offers: Record<string, unknown> = {};
  for (const theme of state.themes) {
    if (theme.update === null) continue;
    offers[theme.slug] = {
      Name: theme.name,
      Version: theme.version,
      active: theme.slug === state.activeTheme ? 1 : 0,
      update: {
        theme: theme.slug,
        new_version: theme.update.version,
        url: `https://wordpress.org/themes/${theme.slug}/`,
        package: `https://downloads.wordpress.org/theme/${theme.slug}.${theme.update.version}.zip`,
        requires: theme.update.requiresWp,
        requires_php: theme.update.requiresPhp,
      },
    };
  }
  return offers;
}

/** Updates of commercial plugins; the key is absent if there are none. */
export function premiumOffers(state: SiteState): Record<string, unknown> | undefined {
  const offers: Record<string, unknown> = {};
  for (const plugin of state.plugins) {
    if (plugin.update === null || !plugin.premium) continue;
    offers[plugin.slug] = {
      ...pluginHeader(plugin),
      type: 'plugin',
      update: { new_version: plugin.update.version, premium: true, slug: plugin.slug },
      active: plugin.active ? 1 : 0,
    };
  }
  return Object.keys(offers).length === 0 ? undefined : offers;
}

/**
 * The filters that get_all_plugins and get_all_themes share: `status`, `filter`, `keyword`, `not_criteria`,
 * `not_installed` (child protocol §6.1).
 */
export function filterItems(items: Record<string, unknown>[], params: Params, allKey: string): Record<string, unknown> {
  const everyStatus = text(params, 'filter') === '0';
  const wanted = text(params, 'status') === 'active' ? 1 : 0;
  const keywords = list(params, 'keyword', ',').map((word) => word.toLowerCase());
  const inverted = text(params, 'not_criteria') === '1';
  const data = items.filter((item) => {
    if (!everyStatus && item.active !== wanted) return false;
    if (keywords.length === 0) return true;
    const title = `${item.name} ${item.title ?? ''}`.toLowerCase();
    return keywords.some((word) => title.includes(word)) !== inverted;
  });
  const withAll = text(params, 'not_installed') === '1' && data.length === 0;
  return { data, ...(withAll ? { [allKey]: items } : {}) };
}

function folderOf(slug: string): string {
  const slash = slug.indexOf('/');
  return slash < 0 ? slug.replace(/\.php$/, '') : slug.slice(0, slash);
}
