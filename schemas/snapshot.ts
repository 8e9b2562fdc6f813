/** The snapshot of a child site read by a sync: plain types, shared by the child client, the domain and the store. */

export type ExtensionKind = 'plugin' | 'theme';

export interface SnapshotExtension {
  slug: string;
  name: string;
  version: string;
  active: boolean;
  description: string;
  /** Must-use plugin. */
  mu: boolean;
  /** The child plugin itself. */
  child_agent: boolean;
  /** Theme only: parent of the active child theme. */
  parent_active: boolean;
}

export interface SnapshotOffer {
  slug: string;
  name: string;
  current_version: string;
  new_version: string;
  /** What it needs that the site does not have, as `PHP 8.4`; absent: nothing is known to be missing. */
  needs?: string;
}

/** The languages of a translation update. */
export interface SnapshotTranslation {
  /** What is translated. */
  type: 'core' | 'plugin' | 'theme';
  languages: { language: string; version: string }[];
}

export interface SnapshotAbandoned {
  slug: string;
  name: string;
  version: string;
  /** Unix seconds of the last release. */
  last_updated: number;
}

export interface SnapshotChange {
  /** The child's own id of the entry, unique per site and source. */
  child_id: string;
  source: 'actions' | 'logs';
  context: string;
  action: string;
  /** The name of the changed object. */
  item: string;
  /** Details of the change, as `from editor to administrator`; '' if the entry has none. */
  detail: string;
  /** The action in words that precede the item; '' if the action itself is sufficient. */
  summary: string;
  slug: string;
  /** Versions of an extension or of WordPress, roles of a user; '' if the entry does not contain them. */
  old_value: string;
  new_value: string;
  /** Skipped, never stored: WordPress' timers, views, and changes by this service itself. */
  not_a_change: boolean;
  user_login: string;
  user_id: number;
  /** Unix seconds with fraction. */
  created: number;
  duration: number | null;
}

/**
 * One `stats` answer (or the `sync` part of another), normalized. A part that the answer lacks is absent, never empty.
 */
export interface Snapshot {
  child_version?: string;
  wp_version?: string;
  php_version?: string;
  mysql_version?: string;
  memory_limit?: string;
  database_size?: string;
  language?: string;
  ip?: string;
  debug_mode?: boolean;
  search_visible?: boolean;
  timezone?: string;
  gmt_offset?: string;
  /** Which of its addresses answered; only for a sync. */
  door?: 'ajax' | 'root';
  /** The URL reported by the child itself. */
  site_url?: string;
  unique_id?: string;
  admin_email?: string;
  /** Name of the connected user if the child reports that it changed. */
  regverify?: string;
  /** Available core version; null = none. */
  core_update?: string | null;
  plugins?: SnapshotExtension[];
  themes?: SnapshotExtension[];
  plugin_updates?: SnapshotOffer[];
  theme_updates?: SnapshotOffer[];
  translation_updates?: SnapshotOffer[];
  /** The languages of `translation_updates`, by slug. */
  translations?: Record<string, SnapshotTranslation>;
  health?: { good: number; recommended: number; critical: number };
  /** Check key → the child's value (`Y`, `N`, `Y_UNABLE`, …). */
  security?: Record<string, string>;
  abandoned_plugins?: SnapshotAbandoned[];
  abandoned_themes?: SnapshotAbandoned[];
  changes?: SnapshotChange[];
  /** As the child sent them, bounded in number and size. */
  recent_posts?: unknown[];
  recent_pages?: unknown[];
  recent_comments?: unknown[];
  categories?: string[];
  /** Unix seconds. */
  last_post?: number;
  /** Only if it was asked for: of which backup plugin, and unix seconds of its last backup; null = the child knows of none. */
  backup?: { plugin: string; last: number | null };
}
