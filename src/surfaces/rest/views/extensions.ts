/** Plugins and themes as the REST interface shows them (REST §4.3). */

import { CHILD_AGENT, MUST_USE, PARENT_ACTIVE } from '../../../domain/sites/inventory.js';
import type { ExtensionRow } from '../../../store/sites/inventory.js';

/** A plugin of a site (REST §4.3). */
export function pluginEntry(row: ExtensionRow) {
  return {
    slug: row.slug,
    name: row.name,
    version: row.version,
    description: row.description,
    active: row.active,
    mu: (row.flags & MUST_USE) === 0 ? 0 : 1,
    is_child_agent: (row.flags & CHILD_AGENT) !== 0,
    update_version: row.update_version,
  };
}

/** Themes of a site: the active one is a child theme if another one is flagged as its parent. */
export function themeEntries(extensions: readonly ExtensionRow[]) {
  const themes = extensions.filter((row) => row.kind === 1);
  const parent = themes.find((row) => (row.flags & PARENT_ACTIVE) !== 0);
  return themes.map((row) => ({
    slug: row.slug,
    name: row.name,
    title: row.name,
    version: row.version,
    description: row.description,
    active: row.active,
    parent_active: row === parent ? 1 : 0,
    child_active: row.active === 1 && parent !== undefined ? 1 : 0,
    child_theme: row.active === 1 && parent !== undefined ? parent.slug : null,
    update_version: row.update_version,
  }));
}
