/** Typed client of the guard: signs requests, sends them to the addresses where a guard answers, parses the answers. */

import { type ChildConnection, ChildFailure } from '../child/port.js';
import type { WireAnswer, WireRequest } from '../child/wire/exchange.js';
import { loginHeader } from '../http-login.js';
import { hiding } from '../sent-secrets.js';
import {
  armedOf,
  faultsOf,
  flag,
  type GuardArmed,
  type GuardFault,
  type GuardHello,
  type GuardKind,
  type GuardLedger,
  type GuardRestored,
  GuardShapeError,
  type GuardSnapshot,
  helloOf,
  ledgerOf,
  MENDABLE,
  type Mendable,
  mendedOf,
  restoredOf,
  sandboxOf,
  snapshotOf,
  snapshotsOf,
  tokenOf,
} from './answers.js';
import { BackupClient } from './backup-client.js';
import type { GuardCallOptions } from './call-options.js';
import { GuardFailure } from './failure.js';
import {
  lookHeaders,
  MAX_ANSWER_BYTES,
  MAX_BACKUP_REQUEST_BYTES,
  readReply,
  sessionHeaders,
  signedRequest,
} from './protocol.js';

/** The part of a site that the guard client needs. Requests are signed with the key of the child connection. */
export type GuardSite = Pick<
  ChildConnection,
  'url' | 'private_key' | 'http_user' | 'http_pass' | 'ssl_verify' | 'ipv4_only' | 'min_tls'
>;

export interface GuardParts {
  /** One HTTP exchange, bounded; `Transport.exchange` of the child's network. */
  exchange: (request: WireRequest) => Promise<WireAnswer>;
  userAgent: string;
  /** Unix milliseconds. */
  now: () => number;
}

/**
 * Where the guard answers, in order. The last one is for a site in maintenance: WordPress defines WP_INSTALLING there,
 * so it skips the maintenance page that a killed update leaves behind.
 */
const ADDRESSES = ['', 'wp-login.php', 'wp-activate.php'];
/**
 * What may be asked for again where a connection was closed without an answer. Not a snapshot: a second one of the same
 * state displaces that of an earlier one.
 */
const REPEATABLE: ReadonlySet<string> = new Set([
  ...['hello', 'arm', 'disarm', 'list', 'faults', 'ledger', 'sandbox'],
  // Of the plugin for backups.
  ...['manifest', 'read', 'tables', 'rows', 'restoring'],
]);
const QUICK_MS = 20_000;
/** Bytes of the names in one request, whose limit is 64 KB, and requests. A guard names at most 2,000 of a kind. */
const PART_BYTES = 50_000;
const MOST_PARTS = 10;
/** Copying up to 500 MB on a slow disk. */
const SLOW_MS = 300_000;
/** Bytes of a request and of an answer. The plugin for backups sends 2 MB, or one row of at most 8 MB. */
const USUAL = { request: undefined, answer: MAX_ANSWER_BYTES };
const LARGE = { request: MAX_BACKUP_REQUEST_BYTES, answer: 16 * 1024 * 1024 };
type Room = typeof USUAL | typeof LARGE;

export interface RestoreSettings {
  /** Also removes the maintenance page left by a killed update. */
  end_maintenance?: boolean;
  /** Even while an update of the item is running, which is assumed to hang. */
  while_updating?: boolean;
  /**
   * For this many seconds (at most 3600) updates of the item requested by the dashboard do not begin, unless it is
   * armed again.
   */
  refuse_updates?: number;
}

/** The actions of the guard on one site. Rejects with GuardFailure, or with what `exchange` rejects with. */
export class GuardClient {
  readonly #parts: GuardParts;
  readonly #site: GuardSite;
  /** Takes the login that is sent to the site out of what it says. */
  readonly #hide: (text: string) => string;

  constructor(site: GuardSite, parts: GuardParts) {
    this.#site = site;
    this.#hide = hiding(site.url, site);
    this.#parts = parts;
  }

  /** Versions, disk space, permissions, and armed items. */
  hello(options?: GuardCallOptions): Promise<GuardHello> {
    return this.#call('hello', {}, QUICK_MS, helloOf, options);
  }

  /**
   * Keeps a copy of an item in its current state. `slug` is WordPress' own name: `folder/file.php`, `file.php`, or a
   * theme's folder.
   */
  snapshot(kind: GuardKind, slug: string, options?: GuardCallOptions): Promise<GuardSnapshot> {
    return this.#call('snapshot', { kind, slug }, SLOW_MS, (value) => snapshotOf(value.snapshot), options);
  }

  /**
   * Lets the guard restore the snapshot on its own if its item causes a fatal error within this many seconds (at most
   * 3600). `patience`: for so many seconds after the item has changed only requests of ours count, not a visitor's of
   * the front page.
   */
  arm(snapshot: string, seconds: number, patience = 0, options?: GuardCallOptions): Promise<GuardArmed[]> {
    return this.#call('arm', { snapshot, seconds, patience }, QUICK_MS, armedOf, options);
  }

  /** Disarms one snapshot, or all. Returns what is still armed. */
  disarm(snapshot: string | null, options?: GuardCallOptions): Promise<GuardArmed[]> {
    return this.#call('disarm', { snapshot }, QUICK_MS, armedOf, options);
  }

  /** Restores a snapshot. Refused as `updating` while WordPress is updating the item. */
  restore(snapshot: string, settings: RestoreSettings = {}, options?: GuardCallOptions): Promise<GuardRestored> {
    return this.#call('restore', { snapshot, ...settings }, SLOW_MS, restoredOf, options);
  }

  /** All snapshots, newest first. */
  list(options?: GuardCallOptions): Promise<GuardSnapshot[]> {
    return this.#call('list', {}, QUICK_MS, snapshotsOf, options);
  }

  /** Removes a snapshot; false if there was none with this id. */
  drop(snapshot: string, options?: GuardCallOptions): Promise<boolean> {
    return this.#call('drop', { snapshot }, QUICK_MS, (value) => flag(value, 'dropped'), options);
  }

  /** Fatal errors seen at or after this time (unix seconds). */
  faults(since: number, options?: GuardCallOptions): Promise<GuardFault[]> {
    return this.#call('faults', { since }, QUICK_MS, (value) => faultsOf(value, this.#hide), options);
  }

  /** The state of the site outside its plugins and themes. Guards of networks have none. */
  ledger(options?: GuardCallOptions): Promise<GuardLedger> {
    return this.#call('ledger', {}, QUICK_MS, ledgerOf, options);
  }

  /**
   * Restores what was named, as it was when the snapshot was armed, in as many requests as that takes, up to a limit.
   * Returns what is as it was.
   */
  async mend(snapshot: string, what: Mendable, options?: GuardCallOptions): Promise<Mendable> {
    const mended: Mendable = { files: [], options: [], events: [] };
    for (const part of partsOf(what)) {
      const done = await this.#call('mend', { snapshot, ...part }, QUICK_MS, mendedOf, options);
      for (const kind of MENDABLE) mended[kind].push(...done[kind]);
    }
    return mended;
  }

  /** Headers that mark a request for a page of the site as our own look at it. */
  look(): Record<string, string> {
    return lookHeaders(this.#site, this.#parts.now());
  }

  /**
   * Opens the sandbox for some seconds (at most 600). Returns what can be looked at in it: names as the guard has them.
   * Guards of networks have none.
   */
  sandbox(seconds: number, options?: GuardCallOptions): Promise<string[]> {
    return this.#call('sandbox', { seconds }, QUICK_MS, sandboxOf, options);
  }

  /**
   * Headers with which a page of the site is shown in the sandbox, once. An answer that was made there begins its
   * header `X-Sitefleet-Session` with the nonce.
   */
  session(address: URL): { headers: Record<string, string>; nonce: string } {
    return sessionHeaders(this.#site, address, this.#parts.now());
  }

  /** A URL that logs a browser in as this administrator, once, within 60 seconds. It is a secret. */
  async login(user: string, options?: GuardCallOptions): Promise<{ url: string; until: number }> {
    const { token, until } = await this.#call('login', { user }, QUICK_MS, tokenOf, options);
    return { url: `${this.#site.url}?sitefleet-login=${token}`, until };
  }

  /** What the plugin for backups does, which the guard answers for. */
  backups(): BackupClient {
    return new BackupClient((action, parameters, read, options) =>
      this.#call(action, parameters, SLOW_MS, read, options, LARGE),
    );
  }

  /** Removes the guard and everything it keeps; false if something was left. */
  uninstall(options?: GuardCallOptions): Promise<boolean> {
    return this.#call('uninstall', {}, QUICK_MS, (value) => flag(value, 'removed'), options);
  }

  async #call<T>(
    action: string,
    parameters: Record<string, unknown>,
    timeoutMs: number,
    read: (value: Record<string, unknown>) => T | Promise<T>,
    options: GuardCallOptions = {},
    room: Room = USUAL,
  ): Promise<T> {
    const began = performance.now();
    const statuses: number[] = [];
    const once = !REPEATABLE.has(action);
    let brokeOff = false;
    for (const address of ADDRESSES) {
      // Signed for each address: a nonce is valid once, and the first request may have reached the guard.
      const request = signedRequest(this.#site, action, parameters, this.#parts.now(), undefined, room.request);
      const left = (options.timeoutMs ?? timeoutMs) - (performance.now() - began);
      if (left <= 0) break;
      let answer: WireAnswer;
      try {
        answer = await this.#parts.exchange({
          ...this.#wire(address, request.headers, request.body, left, room.answer, options.signal),
          once,
        });
      } catch (error) {
        if (once || brokeOff || !(error instanceof ChildFailure && error.brokeOff)) throw error;
        brokeOff = true;
        continue;
      }
      statuses.push(answer.status);
      const reply = readReply(answer.body, request.nonce, this.#hide);
      if (reply === null) continue;
      if (!reply.ok) throw new GuardFailure(reply.code, reply.message, statuses, reply.time);
      try {
        return await read(reply.value);
      } catch (error) {
        if (error instanceof GuardShapeError) throw new GuardFailure('bad_answer', error.message, statuses);
        throw error;
      }
    }
    const seen = statuses.length === 0 ? 'no time was left' : `HTTP ${statuses.join(', ')}`;
    const why = 'It is not installed, does not know the key, or something in front of the site answers in its place.';
    throw new GuardFailure('no_guard', `The guard does not answer (${seen}). ${why}`, statuses);
  }

  #wire(
    address: string,
    headers: Record<string, string>,
    body: string,
    deadlineMs: number,
    maxBytes: number,
    signal?: AbortSignal,
  ): WireRequest {
    const { ssl_verify, ipv4_only, min_tls } = this.#site;
    const site = new URL(this.#site.url);
    const url = new URL(address, site);
    return {
      url,
      method: 'POST',
      headers: {
        accept: '*/*',
        // A page truncated at the limit could not be decompressed.
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'user-agent': this.#parts.userAgent,
        ...headers,
        ...loginHeader(this.#site, site, url),
      },
      body,
      verify: ssl_verify,
      ipv4Only: ipv4_only,
      minTls: min_tls,
      maxBytes,
      // A page of the site may be larger: it is not the guard's answer, and only its status is needed.
      atLimit: 'keep',
      bodyTimeoutMs: Math.max(deadlineMs, 1),
      deadlineMs: Math.max(deadlineMs, 1),
      signal,
    };
  }
}

/** Lists of names, split into such as fit into one request. */
function partsOf(what: Mendable): Mendable[] {
  const parts: Mendable[] = [];
  let room = 0;
  for (const kind of MENDABLE)
    for (const name of what[kind]) {
      const bytes = Buffer.byteLength(JSON.stringify(name)) + 1;
      if (bytes > room) {
        if (parts.length === MOST_PARTS) return parts;
        parts.push({ files: [], options: [], events: [] });
        room = PART_BYTES;
      }
      room -= bytes;
      parts.at(-1)?.[kind].push(name);
    }
  return parts;
}
