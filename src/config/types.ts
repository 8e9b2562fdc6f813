/** The settled configuration, and the values its lists may hold. */

import type { Toolset } from '../core/toolsets.js';

export { DEFAULT_TOOLSETS, TOOLSETS, type Toolset } from '../core/toolsets.js';

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
 * `ask`: a person, where the client can ask one. `confirm`: nothing more than the operations themselves require. `preview`: a
 * token from a preview of the same call. `elicit`: a person; where the client cannot ask one, the token.
 */
export const CONFIRM_POLICIES = ['ask', 'confirm', 'preview', 'elicit'] as const;

export type ConfirmPolicy = (typeof CONFIRM_POLICIES)[number];

/** `guarded`: updates on sites with a guard are probed, and undone when they break the site. `off`: as if no site had one. */
export const SAFE_UPDATES = ['guarded', 'off'] as const;

export type SafeUpdates = (typeof SAFE_UPDATES)[number];

/** The settled configuration. `config.ts` makes it from the environment; tests make their own. */
export interface Config {
  /** `file:…`, `:memory:`, `libsql://…`, `http(s)://…`, `ws(s)://…` */
  db: string;
  db_token: string | null;
  /** File in which the serving thread keeps a copy of a storage server for its reads; null = it asks the server. */
  db_replica: string | null;
  /** How often the copy is brought up to date by itself. */
  db_replica_sync_ms: number;
  backup_dir: string | null;
  host: string;
  port: number;
  /** Public base URL without a trailing slash; null = from host and port. */
  base_url: string | null;
  /** Origins whose pages may call from a browser. */
  cors_origins: readonly string[];
  secret_key: string | null;
  secret_key_file: string | null;
  admin_user: string | null;
  admin_password: string | null;
  modules: readonly ModuleName[];
  /** What connections may be shown; null = all, of which the optional ones only where they are named. */
  toolsets: readonly Toolset[] | null;
  /** Tools that alone are offered over MCP, and tools that are not; names as `toolIds` of app/tool-rules.ts reads them. */
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
  /** How long the log of what was done through the service is kept. */
  log_days: number;
  /** Sites worked on at once. */
  concurrency: number;
  /** Requests in flight to one host. */
  per_host: number;
  /** One call to one site. */
  site_timeout_ms: number;
  /** A call on sites answers within this; what is unfinished then goes on as a job. */
  direct_call_ms: number;
  /** How long a site is looked at again whose connection broke while an update ran. */
  update_wait_ms: number;
  /** `loopback`: only this machine's own addresses; for the demo. */
  allow_private_sites: boolean | 'loopback';
  safe_updates: SafeUpdates;
  /** Browser for performance audits; null = the usual places. */
  lighthouse: string | null;
  chromium: string | null;
  /** Where PageSpeed Insights answers. */
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
  /** What deletions, and changes of the whole fleet, need over MCP besides their own `confirm: true`. */
  confirm: ConfirmPolicy;
  /** How long a person who is asked has to answer. */
  confirm_timeout_ms: number;
  /** Largest answer of one MCP call, in estimated tokens. */
  mcp_max_tokens: number;
  /** Authorization server whose access tokens `/mcp` accepts; null = none. */
  oauth_issuer: string | null;
  oauth_jwks_url: string | null;
  /** What a token's `aud` must name; null = the base URL with `/mcp`. */
  oauth_audience: string | null;
  oauth_read_scope: string;
  oauth_write_scope: string;
  /** What `/metrics` asks for; null = it answers this machine only. */
  metrics_token: string | null;
  /** Ask browsers for a Basic login where one is missing. */
  basic_challenge: boolean;
}
