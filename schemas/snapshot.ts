/** The snapshot of a child site that a sync reads: plain types, shared by the child client, the domain and the store. */

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
  /** The name of what was changed. */
  item: string;
  /** What became of it, as `from editor to administrator`; '' when the entry does not say. */
  detail: string;
  /** What was done, in words that stand before the item; '' when the action says it. */
  summary: string;
  slug: string;
  /** Versions of an extension or of WordPress, roles of a user; '' when the entry does not say. */
  old_value: string;
  new_value: string;
  /** Read over, never kept: WordPress' timers, somebody who only looked, and what this service did itself. */
  not_a_change: boolean;
  user_login: string;
  user_id: number;
  /** Unix seconds with fraction. */
  created: number;
  duration: number | null;
}

/** One `stats` answer (or the `sync` part of another), normalised. A part that the answer lacks is absent, never empty. */
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
  /** Which of its addresses gave the answer; only of a sync. */
  door?: 'ajax' | 'root';
  /** The child's own idea of its URL. */
  site_url?: string;
  unique_id?: string;
  admin_email?: string;
  /** Name of the connected user when the child says that it changed. */
  regverify?: string;
  /** Offered core version; null = none on offer. */
  core_update?: string | null;
  plugins?: SnapshotExtension[];
  themes?: SnapshotExtension[];
  plugin_updates?: SnapshotOffer[];
  theme_updates?: SnapshotOffer[];
  translation_updates?: SnapshotOffer[];
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
}
