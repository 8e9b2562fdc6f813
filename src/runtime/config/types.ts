/** The configuration's type, and the values of its enumerations. */

import type { Toolset } from '../toolsets.js';

export { DEFAULT_TOOLSETS, TOOLSETS, type Toolset } from '../toolsets.js';

/** Optional parts of the product (operations §1.10, REST §6). */
export const MODULES = [
  'logs',
  'cost-tracker',
  'comments',
  'ssl-monitor',
  'domain-monitor',
  'perf-audit',
  'pro-reports',
  'time-tracker',
] as const;

export type ModuleName = (typeof MODULES)[number];

/**
 * `ask`: consent of the user, if the client can ask. `confirm`: nothing beyond what the operations require. `preview`:
 * a token from a preview of the same call. `elicit`: consent of the user, or the token if the client cannot ask.
 */
export const CONFIRM_POLICIES = ['ask', 'confirm', 'preview', 'elicit'] as const;

export type ConfirmPolicy = (typeof CONFIRM_POLICIES)[number];

/**
 * `guarded`: updates on sites with a guard are probed, and rolled back if they break the site. `off`: as if no site had
 * a guard.
 */
export const SAFE_UPDATES = ['guarded', 'off'] as const;

export type SafeUpdates = (typeof SAFE_UPDATES)[number];

/** The complete configuration. `config.ts` creates it from the environment; tests create their own. */
export interface Config {
  /** `file:…`, `:memory:`, `libsql://…`, `http(s)://…`, `ws(s)://…` */
  db: string;
  db_token: string | null;
  backup_dir: string | null;
  /** Folder of the backups of sites. */
  site_backup_dir: string;
  /** `https://HOST/BUCKET[/PREFIX]` in place of the folder. */
  site_backup_s3: string | null;
  site_backup_s3_region: string | null;
  site_backup_s3_key: string | null;
  site_backup_s3_secret: string | null;
  /** Backups may be restored on this machine to prove them: code of sites runs here. */
  drills: boolean;
  /** Where the copies are; null = the folder for temporary files. */
  drill_dir: string | null;
  /** Folders with the programs that run them, separated as in PATH; null = the usual ones. */
  drill_path: string | null;
  /** Folder of WordPress Playground, which runs them where these are missing; null = the usual places. */
  drill_playground: string | null;
  /** Words of the command that runs a container, in which copies are then; null = none. */
  drill_container: readonly string[] | null;
  host: string;
  port: number;
  /** Public base URL without a trailing slash; null = from host and port. */
  base_url: string | null;
  /** Origins whose pages may call the service from a browser. */
  cors_origins: readonly string[];
  secret_key: string | null;
  secret_key_file: string | null;
  admin_user: string | null;
  admin_password: string | null;
  modules: readonly ModuleName[];
  /** Toolsets that connections may be shown; null = all, optional ones only if a connection names them. */
  toolsets: readonly Toolset[] | null;
  /** Allowlist and blocklist of MCP tools; names are read by `toolIds` of app/tool-rules.ts. */
  tools_allow: readonly string[];
  tools_block: readonly string[];
  read_only: boolean;
  trust_proxy: boolean;
  log_level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Multi-site operations over more sites than this are queued. */
  batch_threshold: number;
  job_chunk: number;
  job_delay_ms: number;
  job_timeout_ms: number;
  job_ttl_ms: number;
  /** How long the action log is kept. */
  log_days: number;
  /** How many sites are worked on at once. */
  concurrency: number;
  /** Concurrent requests to one host. */
  per_host: number;
  /** Time limit of one call to one site. */
  site_timeout_ms: number;
  /** A call on sites responds within this time; what is unfinished by then continues as a job. */
  direct_call_ms: number;
  /** How long a site is polled after its connection broke during an update. */
  update_wait_ms: number;
  /** `loopback`: only loopback addresses; for the demo. */
  allow_private_sites: boolean | 'loopback';
  safe_updates: SafeUpdates;
  /** Browser for performance audits; null = searched in the usual places. */
  lighthouse: string | null;
  chromium: string | null;
  /** How long safe updates look at the pages of a site, if a browser is named. */
  pictures_ms: number;
  /** URL of PageSpeed Insights. */
  pagespeed_url: string;
  /** Feed of known vulnerabilities: a URL or the path of a file; null = none. */
  vulnerability_feed: string | null;
  /** Sent to the feed as bearer token. */
  vulnerability_key: string | null;
  /** `smtp://` or `smtps://` with login; null = no mail is sent. */
  smtp_url: string | null;
  /** Sender of mail; null = made from the SMTP login or host. */
  mail_from: string | null;
  /** REST requests of one key per minute; 0 = no limit. */
  rest_rate_limit: number;
  /** What deletions and changes of the whole fleet need over MCP besides their own `confirm: true`. */
  confirm: ConfirmPolicy;
  /** How long a user has to answer a confirmation question. */
  confirm_timeout_ms: number;
  /** Largest result of one MCP call, in estimated tokens. */
  mcp_max_tokens: number;
  /** Authorization server whose access tokens `/mcp` accepts; null = none. */
  oauth_issuer: string | null;
  oauth_jwks_url: string | null;
  /** The value that a token's `aud` must contain; null = the base URL with `/mcp`. */
  oauth_audience: string | null;
  oauth_read_scope: string;
  oauth_write_scope: string;
  /** Token required by `/metrics`; null = it responds to this machine only. */
  metrics_token: string | null;
  /** Ask browsers for a Basic login if there is none. */
  basic_challenge: boolean;
}
