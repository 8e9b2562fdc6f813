/** Builds a site snapshot that equals the stored data of the site. */

import type { Snapshot } from '../../schemas/snapshot.js';
import type { StoredInventory } from '../../src/store/sites/inventory.js';

export function snapshotOf(extensions: StoredInventory['extensions'], offers: StoredInventory['offers']): Snapshot {
  const of = (kind: number) =>
    extensions
      .filter((row) => row.kind === kind)
      .map(({ slug, name, version, active, description }) => ({
        slug,
        name,
        version,
        active: active === 1,
        description,
        mu: false,
        child_agent: false,
        parent_active: false,
      }));
  return {
    child_version: '6.1.2',
    wp_version: '6.8.1',
    php_version: '8.3.29',
    plugins: of(0),
    themes: of(1),
    plugin_updates: offers
      .filter((offer) => offer.type === 1)
      .map(({ slug, name, current_version, new_version }) => ({ slug, name, current_version, new_version })),
    theme_updates: [],
    core_update: offers.some((offer) => offer.type === 0) ? '6.8.2' : null,
    health: { good: 10, recommended: 2, critical: 0 },
  };
}
