/** Rows of the inventory, and the numbers that stand for kinds and types. */

import type { Row } from '../driver/db.js';

export const KIND = { plugin: 0, theme: 1 } as const;
export const TYPE = { core: 0, plugin: 1, theme: 2, translation: 3 } as const;

/** Slug of the core offer everywhere (operations §5.5). */
export const CORE_SLUG = 'platform';
export const CORE_NAME = 'WordPress';

export const FLAG = { mu: 1, child_agent: 2, parent_active: 4 } as const;

export interface ExtensionRow extends Row {
  site_id: number;
  kind: number;
  package_id: number;
  slug: string;
  name: string;
  description: string;
  position: number;
  version: string;
  active: number;
  flags: number;
  update_version: string | null;
}

export interface OfferRow extends Row {
  site_id: number;
  type: number;
  slug: string;
  position: number;
  name: string;
  current_version: string;
  new_version: string;
  needs: string;
  ignored: number;
}

export interface StoredInventory {
  extensions: ExtensionRow[];
  offers: OfferRow[];
}

export const NO_INVENTORY: StoredInventory = { extensions: [], offers: [] };

/** The state of a site before a snapshot is stored. */
export interface SaveTarget {
  site_id: number;
  url_key: string;
  content_hash: string;
  /** Over 0 = a user had disconnected it before the sync: success reconnects it. A later disconnection stays. */
  disconnected?: number;
}
