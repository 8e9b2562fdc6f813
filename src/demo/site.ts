import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Faults } from './faults.js';
import { generateSite } from './generate.js';
import type { GuardState } from './guard/types.js';
import { BUSINESSES, FAMILIES, GIVEN } from './names.js';
import type { CompleteOptions } from './options.js';
import type { Params } from './params.js';
import { CHILD_SLUG, CHILD_VERSION } from './plugins.js';
import { mixSeed, Random } from './random.js';
import type { SiteState } from './state.js';

/** One protocol call received by a site. Keys, signatures and passwords are left out of `params`. */
export interface RecordedCall {
  function: string;
  params: Params;
  /** Milliseconds since 1970. */
  at: number;
}

type SharedOptions = 'seed' | 'admin' | 'password' | 'plugins' | 'now' | 'keepCalls' | 'cache';

export interface SiteOptions extends Pick<CompleteOptions, SharedOptions> {
  index: number;
  /** With trailing slash. */
  url: string;
  /** The host name a client sees, without the port. */
  host: string;
}

const OLD_CHILD = '3.5.4';
const MAX_CALLS = 2000;
const SECRETS = new Set(['mainwpsignature', 'userpwd', 'regverify', 'pubkey']);

/** Cached answers of all fleets of this process together stay below this many bytes. */
const CACHE_BYTES = 384 * 1024 * 1024;
let cachedBytes = 0;

/** One child site: its identity, its faults, and its actual content. */
export class DemoSite {
  readonly index: number;
  readonly url: string;
  readonly host: string;
  readonly name: string;
  readonly admin: string;
  readonly password: string;
  faults: Faults = {};
  /** The guard on the site; null = it has none. */
  guard: GuardState | null = null;
  readonly calls: RecordedCall[] = [];
  readonly random: Random;
  /** Requests of any kind received by the site. */
  requests = 0;
  inFlight = 0;
  maxInFlight = 0;

  private readonly options: SiteOptions;
  private readonly initialUniqueId: string;
  private readonly changes = new Map<string, number>();
  private lazy: SiteState | undefined;
  private exposed = false;
  private cached: { key: string; body: Buffer } | undefined;
  private delayed: { left: number; work: () => void }[] = [];
  private verifier: { pem: string; key: KeyObject | null } | undefined;

  constructor(options: SiteOptions) {
    const random = new Random(mixSeed(options.seed, options.index));
    this.options = options;
    this.random = random;
    this.index = options.index;
    this.url = options.url;
    this.host = options.host;
    this.name = `${random.pick(FAMILIES)} ${random.pick(BUSINESSES)}`;
    const given = random.pick(GIVEN);
    const code = random.hex(10);
    // Characters that only survive the double encoding of `userpwd`, on a third of the sites (child protocol §3.2).
    const signs = random.chance(0.33) ? '\'+%"\\é' : '-';
    this.admin = options.admin ?? given;
    this.password = options.password ?? `${code.slice(0, 5)}${signs}${code.slice(5)}`;
    this.initialUniqueId = options.index % 8 === 5 ? `id-${random.hex(12)}` : '';
  }

  /**
   * The site's actual content, live: tests read it and may change it. Once it was handed out, no cached answer is used
   * for this site any more, because a change could not be detected.
   */
  get state(): SiteState {
    this.exposed = true;
    this.touch();
    return this.inner;
  }

  get uniqueId(): string {
    return this.lazy?.uniqueId ?? this.initialUniqueId;
  }

  set uniqueId(value: string) {
    this.state.uniqueId = value;
  }

  /** For the simulator itself: the state without giving up cached answers. */
  get inner(): SiteState {
    this.lazy ??= generateSite({
      index: this.index,
      seed: this.options.seed,
      admin: this.admin,
      password: this.password,
      title: this.name,
      uniqueId: this.initialUniqueId,
      plugins: this.options.plugins,
      now: this.options.now(),
    });
    return this.lazy;
  }

  /** Records that an item has other files now. */
  changed(slug: string): void {
    this.changes.set(slug, this.now());
  }

  /** When that last happened, in milliseconds. */
  changedAt(slug: string): number {
    return this.changes.get(slug) ?? 0;
  }

  /** The URL as WordPress spells it, without trailing slash. */
  get siteUrl(): string {
    return this.url.slice(0, -1);
  }

  now(): number {
    return this.options.now();
  }

  /** Version the child plugin reports about itself. */
  get childVersion(): string {
    const { outdated } = this.faults;
    if (typeof outdated === 'string') return outdated;
    if (outdated === true) return OLD_CHILD;
    return this.inner.plugins.find((plugin) => plugin.slug === CHILD_SLUG)?.version ?? CHILD_VERSION;
  }

  /** Some sites print notices around the frame (child protocol §1.1). */
  get noise(): { before: string; after: string } {
    if (this.index % 6 !== 4) return { before: '', after: '' };
    return {
      before: '\n<b>Warning</b>: Undefined array key "x" in <b>/srv/www/wp-content/themes/t/functions.php</b><br />\n',
      after: '\n<!-- cached by nobody -->',
    };
  }

  record(name: string, params: Params): void {
    if (!this.options.keepCalls) return;
    if (this.calls.length >= MAX_CALLS) this.calls.shift();
    const shown: Params = Object.create(null);
    for (const [key, value] of Object.entries(params)) if (!SECRETS.has(key)) shown[key] = value;
    this.calls.push({ function: name, params: shown, at: this.now() });
  }

  /** A cached answer for the same request, if nothing has changed since. */
  remembered(key: string): Buffer | undefined {
    return this.cached?.key === key ? this.cached.body : undefined;
  }

  remember(key: string, body: Buffer): void {
    if (!this.options.cache || this.exposed) return;
    this.touch();
    if (cachedBytes + body.length > CACHE_BYTES) return;
    cachedBytes += body.length;
    this.cached = { key, body };
  }

  /** Something may have changed: drops the cached answer. */
  touch(): void {
    if (this.cached === undefined) return;
    cachedBytes -= this.cached.body.length;
    this.cached = undefined;
  }

  /** Runs `work` after this many further requests. */
  afterRequests(count: number, work: () => void): void {
    this.delayed.push({ left: count, work });
  }

  /** A request comes in. */
  arrive(): void {
    const due = this.delayed.filter((each) => --each.left <= 0);
    this.delayed = this.delayed.filter((each) => each.left > 0);
    for (const { work } of due) work();
  }

  /** The stored public key, parsed once; null when what was stored is no key. */
  verifyingKey(): KeyObject | null {
    const pem = this.inner.connection?.publicKey;
    if (pem === undefined) return null;
    if (this.verifier?.pem !== pem) this.verifier = { pem, key: parseKey(pem) };
    return this.verifier.key;
  }
}

function parseKey(pem: string): KeyObject | null {
  try {
    return createPublicKey(pem);
  } catch {
    return null;
  }
}
