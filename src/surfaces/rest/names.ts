/** Names of parameters: accepted aliases, and suggestions for unknown names (REST §3.5). */

import { nearestName } from '../../operation/validation/nearest-name.js';
import { ownMember } from '../../runtime/own-member.js';
import type { InnerCodes } from './parameter-errors.js';

interface Alias {
  /** The parameter's name in this interface. */
  name: string;
  /** Only for rows whose path starts with one of these. */
  under?: readonly string[];
}

/**
 * Names from the operations and from the records in answers, where those of the routes differ. An alias applies to
 * every row that has the parameter and no other parameter of the alias's name.
 */
const ALIASES: Readonly<Record<string, Alias>> = {
  admin_password: { name: 'adminpassword' },
  admin_username: { name: 'admin' },
  disable_health_checking: { name: 'disablehealthchecking' },
  email: { name: 'client_email' },
  health_threshold: { name: 'healththreshold' },
  is_ignoreCoreUpdates: { name: 'ignore_core_updates' },
  is_ignorePluginUpdates: { name: 'ignore_plugin_updates' },
  is_ignoreThemeUpdates: { name: 'ignore_theme_updates' },
  site_ids: { name: 'include', under: ['/sites/', '/updates', '/perf-audit/'] },
  site_ids_or_domains: { name: 'include', under: ['/sites/', '/updates', '/perf-audit/'] },
  slugs: { name: 'slug', under: ['/sites/', '/updates/'] },
  ssl_version: { name: 'sslversion' },
  tags: { name: 'groupids' },
  types: { name: 'type', under: ['/updates'] },
  unique_id: { name: 'uniqueid' },
};

/** Names from other interfaces that are spelled too differently for the suggestion to be found by similarity. */
const MEANT: Readonly<Record<string, string>> = {
  groups: 'groupids',
  id: 'include',
  ids: 'include',
  items_per_page: 'per_page',
  limit: 'per_page',
  paged: 'page',
  plugin: 'slug',
  plugins: 'slug',
  q: 'search',
  site_id: 'include',
  sites: 'include',
  theme: 'slug',
  themes: 'slug',
  websites: 'include',
};

/** Alias → name. */
export type Aliases = ReadonlyMap<string, string>;

/** Aliases of parameters, and the codes of invalid ones. */
export interface Naming {
  aliases: Aliases;
  inner: InnerCodes;
  /** Treats null as absent for optional parameters that do not accept null. Otherwise null clears, or is refused. */
  nullIsAbsent: boolean;
}

/** The aliases of the parameters of a row. */
export function aliasesOf(path: string, names: readonly string[]): Aliases {
  const own = Object.entries(ALIASES).filter(
    ([alias, { name, under = [''] }]) =>
      names.includes(name) && !names.includes(alias) && under.some((root) => path.startsWith(root)),
  );
  return new Map(own.map(([alias, { name }]) => [alias, name]));
}

/** Maximum number of valid names that the refusal of an unknown one lists. */
const MOST_LISTED = 12;

/** Why a name is refused, with the right one if it can be guessed. Follows the name in a sentence. */
export function unknownName(name: string, names: readonly string[], aliases: Aliases): string {
  const meant = ownMember(MEANT, name);
  const near = meant !== undefined && names.includes(meant) ? meant : nearestName(name, [...names, ...aliases.keys()]);
  const refusal = 'is not a parameter of this route';
  if (near !== undefined) return `${refusal}; did you mean ${aliases.get(near) ?? near}?`;
  if (names.length === 0) return `${refusal}, which takes none`;
  const more = names.length > MOST_LISTED ? ' and others' : '';
  return `${refusal}, which takes ${names.slice(0, MOST_LISTED).join(', ')}${more}`;
}
