/**
 * The port to the child sites: everything verbs ask of a site, as typed calls. `create.ts` implements it with the child
 * protocol over undici. Answers are normalized behind it, so no verb sees PHP's field names or encodings (child
 * protocol §1.1).
 */

import type {
  ExtensionKind,
  Snapshot,
  SnapshotAbandoned,
  SnapshotChange,
  SnapshotExtension,
  SnapshotOffer,
  SnapshotTranslation,
} from '../../../schemas/snapshot.js';
import type {
  ChildComment,
  ChildPost,
  ChildUser,
  CommentAction,
  CommentsQuery,
  EditablePost,
  PostAction,
  PostListing,
  PostsQuery,
  PostUpdate,
  SavedFields,
  SavedOver,
  SavedPost,
} from './content-types.js';
import type { ChildFailure } from './failure.js';
import type { MinTls, WireAnswer, WireRequest } from './wire/exchange.js';

export { MOST_REDIRECTS } from '../redirects.js';

export type * from './content-types.js';
export { ChildFailure, GATEWAY_LOST } from './failure.js';
export type { MinTls, WireAnswer, WireRequest } from './wire/exchange.js';
/** `summary` of a role change that makes someone an administrator: it must stand out from other edits. */
export const PROMOTED = 'Promoted to administrator';

export type {
  ExtensionKind,
  Snapshot,
  SnapshotAbandoned,
  SnapshotChange,
  SnapshotExtension,
  SnapshotOffer,
  SnapshotTranslation,
};

/** The address of a child site and how to connect to it. */
export interface ChildAddress {
  /** Site URL with a trailing slash. */
  url: string;
  http_user: string | null;
  http_pass: string | null;
  ssl_verify: boolean;
  /** IPv4 only: yes, no, or (omitted) as in `ChildSettings.ipv4Only`. */
  ipv4_only?: boolean | undefined;
  /** Minimum accepted TLS version; omitted: Node's default. */
  min_tls?: MinTls | undefined;
}

/** Where a child answers: `wp-admin/admin-ajax.php`, or the site's root, which firewalls of wp-admin let pass. */
export type Door = 'ajax' | 'root';

/** A registered connection: sufficient for a signed call. */
export interface ChildConnection extends ChildAddress {
  site_id: number;
  /** WordPress login of the connected administrator. */
  user: string;
  /** RSA private key, PKCS#8 PEM. */
  private_key: string;
  /** Which of the two addresses answered the last sync: it is tried first. */
  door?: Door | undefined;
  /** The last sync failed: an answer to this call is reported, see `ChildSitesOptions.onAnswer`. */
  failing?: boolean | undefined;
  /**
   * Another dashboard owns the site: calls that change it fail with `reads_only`, and none leaves a trace of this one.
   */
  reads_only?: boolean | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** From the start of the call, after any wait in the queue, in milliseconds; default from the configuration. */
  timeoutMs?: number | undefined;
  /** Further headers of the request. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** HEAD spares the site the page; what only the page shows, such as maintenance or an error of PHP, is not seen. */
export type VisitMethod = 'GET' | 'HEAD';

export interface VisitOptions extends CallOptions {
  /** Default GET. */
  method?: VisitMethod | undefined;
}

export interface StatsRequest {
  /** Days after which an extension counts as abandoned. */
  abandonedAfterDays: number;
  /** Only newer changes are returned: unix seconds with fraction. */
  changesAfter: number;
  /** Also request a new `regverify` (child protocol §3.2). */
  renewRegverify?: boolean;
  /** Also request when this backup plugin last made a backup: the child's name of it; '' = none. */
  backupPlugin?: string | undefined;
  /**
   * Parts of the answer to enable or disable, differing from the defaults (child protocol §5.2), by the child's names.
   */
  parts?: Readonly<Record<string, boolean>> | undefined;
}

/** Keys of a connection: PKCS#8 and SPKI PEM. */
export interface KeyPair {
  private_key: string;
  public_key: string;
}

export interface Registration {
  user: string;
  /** SPKI PEM. */
  public_key: string;
  unique_id: string;
  /** The administrator's password: used once, never stored. */
  password?: string | undefined;
  /** Secret of an earlier registration. */
  regverify?: string | undefined;
}

export interface Registered {
  regverify: string | null;
  unique_id: string;
  snapshot: Snapshot;
}

/** Answer of the unsigned `stats` call (child protocol §3.1). */
export type ConnectionState =
  | { state: 'unconnected'; child_version: string; wp_version: string }
  /** The child has a key; whose is unknown. */
  | { state: 'connected' };

/** What the child's answer says about one slug of an action or update. Verbs decide by the inventory, not by this. */
export interface ChildVerdict {
  slug: string;
  /** The child's claim. Not proof (child protocol §6). */
  claimed: boolean;
  /** Why it was refused: our words, or the child's quoted as such; '' if it gave no reason. */
  message: string;
  /** The installed version according to the child; '' if not reported. */
  version: string;
  /** The previous version according to the child; '' if nothing was replaced. */
  old_version: string;
  /** WordPress restored the old copy. */
  rolled_back: boolean;
}

export interface ChildActionAnswer {
  verdicts: ChildVerdict[];
  /** Inventory returned with the answer; null if there was none. */
  snapshot: Snapshot | null;
}

export interface CoreUpdateAnswer {
  claimed: boolean;
  old_version: string;
  version: string;
  message: string;
}

/** A visit to the public front page, as by a browser (operations §5.12). */
export interface Visit {
  /** 0 = no HTTP response. */
  http_status: number;
  /** Milliseconds until the headers arrived, or until the failure. */
  response_time_ms: number;
  /** It is WordPress' maintenance page. */
  maintenance: boolean;
  /** It ended at a redirect: one to another site, or one too many within this one. */
  redirect?: 'elsewhere' | 'endless' | undefined;
  /** First bytes of the body as text. */
  body: string;
  /** Address that answered; '' if none did. */
  ip: string;
  failure: ChildFailure | null;
}

/** A public page of the site as it was sent; redirects are not followed. */
export interface Page {
  /** 0 = no HTTP response, or one below 500 that could not be read to its end: its status says nothing about the page. */
  status: number;
  /** Redirect target as sent; '' = none. */
  location: string;
  content_type: string;
  /** It sets at least one cookie. */
  sets_cookies: boolean;
  /** First bytes of the body as text. Untrusted: match it, never show it. */
  body: string;
  /** The body was longer than what was read. */
  cut: boolean;
  /** Headers `Retry-After` (or `RateLimit-Retry-After`), `X-Robots-Tag`, `Refresh` and `X-Sitefleet-Session`, '' if absent. */
  retry_after?: string;
  robots?: string;
  refresh?: string;
  session?: string;
  /** Headers `Nonce` of WooCommerce's Store API, '' if absent, and `Set-Cookie`. */
  nonce?: string;
  set_cookies?: readonly string[];
  ms: number;
  failure: ChildFailure | null;
}

/** The child's answer about a package that it should install. Not proof: read the version afterwards. */
export interface InstallAnswer {
  claimed: boolean;
  /** Version of the installed item; '' if not reported. */
  version: string;
  message: string;
}

/** A change whose caller gave up. `answered` = the site ended it with an answer, so nothing more will come of it. */
export type UnfinishedChange = 'running' | 'answered';

/** Settings that may change while calls are running; they apply to calls started afterwards. */
export interface ChildSettings {
  /** Concurrent calls, in total / to one host. */
  concurrency: number;
  perHost: number;
  /** Minimum milliseconds between two starts to one host / between any two starts. */
  perHostDelayMs: number;
  minDelayMs: number;
  /** Concurrent syncs / concurrent calls that install, delete or update; within `concurrency`. */
  maxSyncs: number;
  maxUpdates: number;
  /** False = TLS certificates are never checked, regardless of the site's own setting. */
  verify: boolean;
  ipv4Only: boolean;
  /** Hash of the signatures (child protocol §2). */
  hash: 'SHA256' | 'SHA384' | 'SHA512';
  /** Time limits of a call / of a call that installs, deletes or updates, in milliseconds. */
  callTimeoutMs: number;
  updateTimeoutMs: number;
}

/** Puts code on a site. */
export interface ChildPackages {
  /** Installs the package from this URL over an existing one; `activate` also activates a plugin. */
  installPackage(
    site: ChildConnection,
    kind: ExtensionKind,
    address: string,
    activate: boolean,
    options?: CallOptions,
  ): Promise<InstallAnswer>;
  /** Runs PHP (without its opening tag) on the site and returns its output. */
  runSnippet(site: ChildConnection, code: string, options?: CallOptions): Promise<string>;
}

/** Reads and writes content. Writes are not verified here: the child always reports success (child protocol §6.4). */
export interface ChildContent {
  posts(site: ChildConnection, query: PostsQuery, options?: CallOptions): Promise<ChildPost[]>;
  /**
   * Status of one post of any type; null if the lists do not contain it. Types excluded from searches are never listed.
   */
  postStatus(
    site: ChildConnection,
    id: number,
    options?: CallOptions,
  ): Promise<Pick<ChildPost, 'post_status' | 'title' | 'post_type'> | null>;
  postListing(
    site: ChildConnection,
    post: Pick<EditablePost, 'id' | 'post_type' | 'post_status'>,
    options?: CallOptions,
  ): Promise<PostListing | null>;
  /**
   * null if the site has no such post. Sets our user's edit lock on the post; `setEditLock` restores the previous one.
   */
  postForEditing(site: ChildConnection, id: number, options?: CallOptions): Promise<EditablePost | null>;
  /** `lock` as `EditablePost.edit_lock`; '' for none. */
  setEditLock(site: ChildConnection, id: number, lock: string, options?: CallOptions): Promise<void>;
  actOnPost(site: ChildConnection, id: number, action: PostAction, options?: CallOptions): Promise<void>;
  /** Changes the given fields and nothing else. An empty update makes no call. */
  updatePost(site: ChildConnection, id: number, update: PostUpdate, options?: CallOptions): Promise<void>;
  /**
   * Creates a post, or replaces `over`. A replaced post loses its featured image, and its author unless one is given.
   */
  savePost(
    site: ChildConnection,
    fields: SavedFields,
    over: SavedOver | null,
    options?: CallOptions,
  ): Promise<SavedPost>;
  comments(site: ChildConnection, query: CommentsQuery, options?: CallOptions): Promise<ChildComment[]>;
  actOnComments(
    site: ChildConnection,
    ids: readonly number[],
    action: CommentAction,
    options?: CallOptions,
  ): Promise<void>;
  /** Users with one of these WordPress roles. */
  users(site: ChildConnection, roles: readonly string[], options?: CallOptions): Promise<ChildUser[]>;
  /** Ends the sessions of one administrator. False if the site did not confirm it. */
  endSessions(site: ChildConnection, login: string, options?: CallOptions): Promise<boolean>;
  /** Check → `Y`, `N`, `Y_UNABLE` or `N_UNABLE` (child protocol §6.5); empty if the site returned none. */
  securityChecks(site: ChildConnection, options?: CallOptions): Promise<Record<string, string>>;
}

/**
 * All calls to child sites. Rejections are always ChildFailure. Signed calls fail with `refused` both for a wrong key
 * and for a lost connection; `connectionState` distinguishes them.
 */
export interface ChildSites extends ChildContent, ChildPackages {
  generateKey(): Promise<KeyPair>;
  connectionState(at: ChildAddress, user: string, options?: CallOptions): Promise<ConnectionState>;
  register(at: ChildAddress, registration: Registration, options?: CallOptions): Promise<Registered>;
  stats(site: ChildConnection, request: StatsRequest, options?: CallOptions): Promise<Snapshot>;
  pluginAction(
    site: ChildConnection,
    action: 'activate' | 'deactivate' | 'delete',
    slugs: readonly string[],
    options?: CallOptions,
  ): Promise<ChildActionAnswer>;
  themeAction(
    site: ChildConnection,
    action: 'activate' | 'delete',
    slugs: readonly string[],
    options?: CallOptions,
  ): Promise<ChildActionAnswer>;
  upgradeExtensions(
    site: ChildConnection,
    kind: ExtensionKind,
    slugs: readonly string[],
    options?: CallOptions,
  ): Promise<ChildActionAnswer>;
  upgradeTranslations(
    site: ChildConnection,
    slugs: readonly string[],
    options?: CallOptions,
  ): Promise<ChildActionAnswer>;
  upgradeCore(site: ChildConnection, options?: CallOptions): Promise<CoreUpdateAnswer>;
  checkAbandoned(site: ChildConnection, kind: ExtensionKind, options?: CallOptions): Promise<Snapshot>;
  /** Has the child empty the cache of the plugin that it found for it. What came of it is not told reliably. */
  clearCaches(site: ChildConnection, options?: CallOptions): Promise<void>;
  disconnect(site: ChildConnection, options?: CallOptions): Promise<void>;
  deactivate(site: ChildConnection, options?: CallOptions): Promise<void>;
  /** Never rejects for what the site did, only when cancelled. */
  visit(at: ChildAddress, options?: VisitOptions): Promise<Visit>;
  /** The title of the site from WordPress' own interface; '' if unavailable. Rejects only when cancelled. */
  title(at: ChildAddress, options?: CallOptions): Promise<string>;
  /**
   * A visitor's GET of one URL: relative to the site's, or absolute. Redirects are not followed. Rejects only when
   * cancelled.
   */
  page(at: ChildAddress, address: string, options?: CallOptions): Promise<Page>;
  /** Posts JSON to an address of the site, as its visitors do; redirects are not followed. */
  post(site: ChildConnection, address: string, json: object, options?: CallOptions): Promise<Page>;
  /**
   * One exchange with something other than the child on the same site, within the same limits; `name` is for log and
   * metrics.
   */
  exchange(site: ChildConnection, name: string, request: WireRequest): Promise<WireAnswer>;
  /** The same port for jobs and the schedule: its calls yield to those of the plain port, for which users wait. */
  bulk(): ChildSites;
  /** The same port for calls to many sites at once: they yield to those to one site, and go before those of jobs. */
  many(): ChildSites;
  /**
   * The calls of a site go first, whichever port made them: a user waits for the work they belong to.
   * @returns a function that ends it
   */
  expedite(siteId: number): () => void;
  /**
   * The last abandoned change of a site: still running, or ended with the site's answer. Null = there is none, or this
   * process does not know its outcome.
   */
  leftRunning(siteId: number): UnfinishedChange | null;
  configure(settings: Partial<ChildSettings>): void;
  close(): Promise<void>;
}

/** Form parameters; nested ones become PHP brackets: `{post_data: {ID: 5}}` → `post_data[ID]=5` (child protocol §2.2). */
export type ChildParams = {
  readonly [name: string]: string | number | boolean | ChildParams | readonly (string | number)[];
};
