/** Rows of sites, as used by lists, records and connections. */

import type { Row } from '../driver/db.js';

export type SiteStatus = 'connected' | 'disconnected' | 'suspended';

export interface SiteRow extends Row {
  id: number;
  url: string;
  name: string;
  status: SiteStatus;
  client_id: number | null;
  /**
   * 1 = the newest look at the front page did not reach the site; 2 = that was a check without any answer, and the site
   * has answered nothing since.
   */
  unreached: number;
}

export interface SiteRecord extends SiteRow {
  site_id: number;
  url_key: string;
  suspended: number;
  /** Manually disconnected: 0 no, 1 yes, 2 yes and while it was suspended. */
  disconnected: number;
  /** The client with which it was suspended; null: on its own, or not suspended. */
  suspended_with: number | null;
  sync_error: string;
  created_at: number;
  admin_username: string;
  notes: string;
  ssl_verify: number;
  child_version: string;
  wp_version: string;
  php_version: string;
  mysql_version: string;
  memory_limit: string;
  database_size: string;
  language: string;
  ip: string;
  timezone: string;
  gmt_offset: string;
  health_good: number | null;
  health_recommended: number | null;
  health_critical: number | null;
  last_post: number | null;
  backup_plugin: string;
  last_backup: number | null;
  backup_looked_at: number | null;
  last_sync: number | null;
  last_attempt: number | null;
  sync_error_code: string;
  /**
   * Of the last visit: 1 up, 0 down; null = undecided, or never visited. See `lastVisit` for the latest of all checks.
   */
  reachable: number | null;
  http_status: number | null;
  response_time_ms: number | null;
  checked_at: number | null;
  /** The monitor's last check: 0 down, 1 up, 2 pending, 99 none yet. */
  monitor_status: number | null;
  monitor_http_status: number | null;
  /** What was wrong then, in words; '' = nothing. */
  monitor_msg: string | null;
  monitor_checked_at: number | null;
  /** When the certificate was last checked. */
  certificate_checked_at: number | null;
  /** 1 = the next sync may show the outcome of changes that were left open. */
  open_changes: number;
  ignore_core: number;
  ignore_plugins: number;
  ignore_themes: number;
  abandoned_checked_at: number | null;
  abandoned_known_at: number | null;
  changes_after: number;
  content_hash: string;
  ssl_version: number;
  force_use_ipv4: number;
  automatic_update: number;
  backup_before_upgrade: number;
  disable_health_checking: number;
  health_threshold: number;
  monitoring_emails: string;
  /** How often it was asked for the title to be used as its name; null = it has a name. */
  title_tries: number | null;
  is_staging: number;
  on_trial: number;
}

/** Connection options from the stored settings: 0 no, 1 yes, 2 as the global one; 6 TLS 1.2, 7 TLS 1.3. */
export function reachOf(force_use_ipv4: number, ssl_version: number): Pick<SiteConnection, 'ipv4_only' | 'min_tls'> {
  return {
    ipv4_only: force_use_ipv4 === 2 ? undefined : force_use_ipv4 === 1,
    min_tls: ssl_version === 7 ? 'TLSv1.3' : ssl_version === 6 ? 'TLSv1.2' : undefined,
  };
}

/** What a call to the child needs, unsealed. Never leaves the process. */
export interface SiteConnection {
  site_id: number;
  url: string;
  user: string;
  private_key: string;
  regverify: string | null;
  unique_id: string;
  http_user: string | null;
  http_pass: string | null;
  ssl_verify: boolean;
  /** undefined = the global setting applies. */
  ipv4_only: boolean | undefined;
  min_tls: 'TLSv1.2' | 'TLSv1.3' | undefined;
  /** On trial next to another dashboard: read, never changed. */
  reads_only: boolean;
  /** Which address answered the last sync. */
  door: 'ajax' | 'root' | undefined;
  /** The last sync failed: the next answer to any call clears that. */
  failing: boolean;
}

export interface NewSite
  extends Pick<SiteRecord, 'url' | 'url_key' | 'name' | 'client_id' | 'admin_username' | 'title_tries'>,
    Pick<SiteConnection, 'ssl_verify' | 'unique_id' | 'private_key' | 'regverify' | 'http_user' | 'http_pass'> {
  tags: readonly number[];
}
