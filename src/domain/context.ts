/** What a verb may touch. Built by main.ts; a way in adds who calls and what may cut the call short. */

import type { Auditor } from '../audit/audit.js';
import type { ChildSites } from '../child/child.js';
import type { Mailer } from '../mail/mailer.js';
import type { Probe } from '../probe/probe.js';
import type { Store } from '../store/store.js';

export type Right = 'read' | 'write';
export type WayIn = 'mcp' | 'run' | 'rest' | 'cli' | 'jobs';

/** Who calls, and through which door. Plain data: it crosses the thread border with each call. */
export interface Actor {
  type: 'user' | 'key' | 'token' | 'local' | 'system';
  /** Row id of the user or key; null for an external access token, the local shell and the schedule. */
  id: number | null;
  /** Of an external access token: its subject, by which it is told apart. */
  name: string;
  rights: readonly Right[];
  via: WayIn;
  /** Sites this principal may neither see nor touch (operations §3 "Per-site access"). */
  denied_sites: readonly number[];
}

/** By how many milliseconds a clock was put forward and back. */
export interface ClockSteps {
  forward: number;
  back: number;
}

export interface Clock {
  /** Milliseconds since the epoch, for what is stored or shown. May be put forward or back at any moment: never measure with it. */
  now(): number;
  /** Milliseconds since some moment, only ever growing: for durations within this process. Stands still while the machine sleeps. */
  elapsed(): number;
  /**
   * The steps of `now` against `elapsed` since this process began, or within the last milliseconds of `elapsed`. A lease of `ms`
   * of another process has lapsed when it ends before `now() - steps(ms).forward`: after a step forward, and after a sleep of the
   * machine, its holder must first have had the time to renew it.
   */
  steps(within?: number): ClockSteps;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Structured, leveled, to stderr. Never give it a secret or a child's raw text. */
export interface Log {
  debug(facts: Record<string, unknown>, message: string): void;
  info(facts: Record<string, unknown>, message: string): void;
  warn(facts: Record<string, unknown>, message: string): void;
  error(facts: Record<string, unknown>, message: string): void;
}

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

export const TOOLSETS = ['sites', 'clients', 'tags', 'updates', 'batch'] as const;
export type Toolset = (typeof TOOLSETS)[number];

/** `confirm`: nothing more. `preview`: a token from a preview of the same call. `elicit`: a person, asked by the client. */
export const CONFIRM_POLICIES = ['confirm', 'preview', 'elicit'] as const;
export type ConfirmPolicy = (typeof CONFIRM_POLICIES)[number];

/** The settled configuration. `config.ts` makes it from the environment; tests make their own. */
export interface Config {
  /** `file:…`, `:memory:`, `libsql://…`, `http(s)://…`, `ws(s)://…` */
  db: string;
  db_token: string | null;
  /** File in which the serving thread keeps a copy of a storage server for its reads; null = it asks the server. */
  db_replica: string | null;
  /** How often the copy is brought up to date by itself. */
  db_replica_sync_ms: number;
  host: string;
  port: number;
  /** Public base URL without a trailing slash; null = from host and port. */
  base_url: string | null;
  secret_key: string | null;
  secret_key_file: string | null;
  admin_user: string | null;
  admin_password: string | null;
  modules: readonly ModuleName[];
  toolsets: readonly Toolset[];
  read_only: boolean;
  trust_proxy: boolean;
  log_level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Multi-site operations over more sites than this are queued. */
  batch_threshold: number;
  job_chunk: number;
  job_delay_ms: number;
  job_timeout_ms: number;
  job_ttl_ms: number;
  /** Sites worked on at once. */
  concurrency: number;
  /** Requests in flight to one host. */
  per_host: number;
  /** One call to one site. */
  site_timeout_ms: number;
  /** A direct call on many sites answers within this; what is unfinished then goes on as a job. */
  direct_call_ms: number;
  /** `loopback`: only this machine's own addresses; for the demo. */
  allow_private_sites: boolean | 'loopback';
  /** Browser for performance audits; null = the usual places. */
  chromium: string | null;
  /** Where PageSpeed Insights answers. */
  pagespeed_url: string;
  /** `smtp://` or `smtps://` with login; null = no mail is sent. */
  smtp_url: string | null;
  /** Sender of mail; null = made from the SMTP login or host. */
  mail_from: string | null;
  /** REST requests of one key per minute; 0 = no limit. */
  rest_rate_limit: number;
  /** What a destructive MCP tool needs besides `confirm: true`. */
  confirm: ConfirmPolicy;
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

/** A fact that happened (operations §5.13). Names are `<noun>.<past participle>`. */
export interface Event {
  name: string;
  at: number;
  site_id?: number;
  facts: Record<string, unknown>;
}

export interface Events {
  emit(event: Omit<Event, 'at'>): void;
}

export interface Progress {
  done: number;
  total: number;
  message: string;
}

/**
 * Keeps two pieces of work from touching one site at the same time, in this process and in others: the later one waits.
 * `held` is aborted when another process may have taken over, after a pause of ours.
 */
export interface SiteLocks {
  exclusive<T>(siteId: number, signal: AbortSignal, work: (held: AbortSignal) => Promise<T>): Promise<T>;
  /** Keeps apart within this process only, without a word to the database: for looks, which storage tells old from new. */
  local<T>(siteId: number, signal: AbortSignal, work: (waited: boolean) => Promise<T>): Promise<T>;
}

export interface Ctx {
  readonly store: Store;
  readonly child: ChildSites;
  readonly auditor: Auditor;
  readonly mailer: Mailer;
  /** Monitors, certificates, registries: the other outgoing network. */
  readonly probe: Probe;
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly events: Events;
  readonly locks: SiteLocks;
  readonly actor: Actor;
  /** Id of the request, for logs and error reports. */
  readonly request_id: string;
  /** The caller gave up, or the process is shutting down. */
  readonly signal: AbortSignal;
  /** Tells the caller how far a multi-site call has come. */
  readonly progress: (progress: Progress) => void;
  /** Public base URL without a trailing slash, for `status_url`. */
  readonly base_url: string;
}
