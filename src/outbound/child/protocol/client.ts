import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseUrl } from '../../../../schemas/url.js';
import type { SharedLimits } from '../../../runtime/cluster/limits.js';
import { loginHeader } from '../../http-login.js';
import type { ResolvedAddress } from '../../name-lookup.js';
import { MOST_REDIRECTS } from '../../redirects.js';
import { hiding } from '../../sent-secrets.js';
import { ChildFailure } from '../failure.js';
import type { Pacer } from '../pacing/pacer.js';
import type { ChildAddress, ChildParams, Door } from '../port.js';
import type { WireAnswer, WireRequest } from '../wire/exchange.js';
import { encodeForm } from '../wire/form.js';
import { readFrame } from '../wire/frame.js';
import type { Resolver } from '../wire/resolve.js';
import { newNonce, SIGN_ALGOS, type SignatureHash, type Signer } from '../wire/sign.js';
import { hostOf, siteUrl } from '../wire/site-url.js';
import type { Transport } from '../wire/transport.js';
import { type CallFacts, type ChildCall, unlessAborted } from './call.js';
import { unframedFailure, withWords } from './failure.js';
import type { Sessions } from './sessions.js';
import type { UnfinishedChanges } from './unfinished-changes.js';

export interface ChildClientSettings {
  hash: SignatureHash;
  verify: boolean;
  callTimeoutMs: number;
  bodyTimeoutMs: number;
  maxBodyBytes: number;
  userAgent: string;
}

export interface ChildClientParts {
  resolver: Resolver;
  pacer: Pacer;
  sharedLimits: SharedLimits;
  transport: Transport;
  signer: Signer;
  sessions: Sessions;
  unfinishedChanges: UnfinishedChanges;
  now: () => number;
  onCall: ((facts: CallFacts) => void) | undefined;
}

/** The dashboard version sent to children: below 5.3 the child falls back to old rules (child protocol §2.2). */
const DASHBOARD_VERSION = '6.1.2';
/** A first attempt that took longer than this is not repeated on the second URL (child protocol §1). */
const FALLBACK_WITHIN_MS = 30_000;
const VISIT_BYTES = 65_536;
const FORM_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip',
  'content-type': 'application/x-www-form-urlencoded',
  'x-requested-with': 'XMLHttpRequest',
};
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Trip {
  queued_ms: number;
  began: number;
  bytes: number;
}

/**
 * Makes calls to child sites: resolves, waits for its turn, signs, posts, finds the frame. Rejects with ChildFailure
 * only.
 */
export class ChildClient {
  settings: ChildClientSettings;
  readonly #parts: ChildClientParts;
  /** Settles when all started signatures have. */
  #signed: Promise<unknown> = Promise.resolve();

  constructor(settings: ChildClientSettings, parts: ChildClientParts) {
    this.settings = settings;
    this.#parts = parts;
  }

  /**
   * The decoded JSON of the answer, and which address gave it. The other address is tried where that is harmless: for a
   * read, for a call that may be repeated, or if a firewall lets nothing through at this one.
   */
  async run(call: ChildCall): Promise<{ value: unknown; door: Door }> {
    return this.#travel(call, async (url, trip) => {
      const body = await this.#body(call);
      const door: Door = call.door ?? 'ajax';
      const first = await this.#post(call, addressOf(door, url), body, trip);
      if ('value' in first) return { value: first.value, door };
      const mayRepeat = call.read || call.repeatable === true;
      if (mayRepeat && first.failure.brokeOff) {
        // It may have been a kept connection that was just being closed, which says nothing about the address.
        const same = await this.#post(call, addressOf(door, url), body, trip, true);
        if ('value' in same) return { value: same.value, door };
      }
      const again = mayRepeat ? first.again : first.refused && (await this.#isClosed(call, addressOf(door, url), trip));
      if (!again || this.#parts.now() - trip.began > FALLBACK_WITHIN_MS) throw first.failure;
      const other: Door = door === 'ajax' ? 'root' : 'ajax';
      const second = await this.#post(call, addressOf(other, url), body, trip);
      if ('value' in second) return { value: second.value, door: other };
      throw second.failure.kind === 'cancelled' ? second.failure : first.failure;
    });
  }

  /**
   * A GET of the site itself; any HTTP status is a result. Redirects within the site are followed, so that a language
   * prefix or HTTPS is not a failure; one that leads elsewhere, or never ends, is the result. `fn` of its facts is
   * `visit`.
   */
  visit(call: ChildCall, query = ''): Promise<WireAnswer> {
    return this.#travel(call, async (url, trip) => {
      let at = new URL(query, url);
      for (let hops = 0; ; hops++) {
        const before = this.#parts.now() - trip.began;
        const answer = await this.#look(call, at, trip);
        const next = targetOf(answer, at);
        const within = next !== null && isWithin(next, url);
        if (within && hops < MOST_REDIRECTS) {
          at = next;
          continue;
        }
        const redirect = within ? 'endless' : next === null ? undefined : 'elsewhere';
        return { ...answer, redirect, headersMs: before + answer.headersMs };
      }
    });
  }

  /**
   * Whether a firewall refuses whatever is sent to this address. One that judges what comes back refuses a change that was made; an empty
   * call gets past it.
   */
  async #isClosed(call: ChildCall, url: URL, trip: Trip): Promise<boolean> {
    const { headers, ...request } = this.#get(call, url, trip, VISIT_BYTES);
    const sent = { ...headers, ...FORM_HEADERS };
    try {
      const answer = await this.#parts.transport.exchange({ ...request, method: 'POST', headers: sent, body: '' });
      trip.bytes += answer.bytes;
      return isRefusedOutside(answer);
    } catch (error) {
      if (error instanceof ChildFailure) return false;
      throw error;
    }
  }

  async #look(call: ChildCall, url: URL, trip: Trip): Promise<WireAnswer> {
    const answer = await this.#parts.transport.exchangeAlone(this.#get(call, url, trip, VISIT_BYTES));
    trip.bytes += answer.bytes;
    return answer;
  }

  /**
   * A GET of a page of the site, once; any HTTP status is a result. A page that sometimes breaks off is broken, so it is not asked for
   * again; over a kept connection, a sound one could break off, too.
   */
  page(call: ChildCall, address: string, maxBytes: number): Promise<WireAnswer> {
    return this.#travel(call, async (url, trip) => {
      const request = this.#get(call, new URL(address, url), trip, maxBytes);
      const answer = await this.#parts.transport.exchange({ ...request, once: true });
      trip.bytes += answer.bytes;
      return answer;
    });
  }

  /** JSON to an address of the site, as its visitors send it; any HTTP status is a result. Sent once. */
  post(call: ChildCall, address: string, json: string, maxBytes: number): Promise<WireAnswer> {
    return this.#travel(call, async (url, trip) => {
      const { headers, ...request } = this.#get(call, new URL(address, url), trip, maxBytes);
      const sent = { ...headers, accept: 'application/json', 'content-type': 'application/json' };
      const answer = await this.#parts.transport.exchange({
        ...request,
        method: 'POST',
        headers: sent,
        body: json,
        once: true,
      });
      trip.bytes += answer.bytes;
      return answer;
    });
  }

  /** An exchange that is performed elsewhere, queued among the calls. */
  exchange(call: ChildCall, request: WireRequest): Promise<WireAnswer> {
    return this.#travel(call, async (_url, trip) => {
      const answer = await this.#parts.transport.exchange({
        ...request,
        headers: { ...request.headers, 'user-agent': this.settings.userAgent },
        verify: this.settings.verify && request.verify,
      });
      trip.bytes += answer.bytes;
      return answer;
    });
  }

  /**
   * Waits until the calls have been sent that took the slots of calls which just ended, so that their sites are at work
   * while answers are processed. Answers arrive in bursts: without this, the slots of a burst would be idle meanwhile.
   */
  async nextCallsLeft(): Promise<void> {
    // They start in the microtasks of this turn; then they are signed.
    await nextTurn();
    await this.#signed;
    // Connections to nearby sites are established within a turn, and their requests are sent in the next one. Distant
    // sites are not waited for.
    await nextTurn();
    await nextTurn();
  }

  async #travel<T>(call: ChildCall, go: (url: URL, trip: Trip) => Promise<T>): Promise<T> {
    const { resolver, pacer, sharedLimits, now } = this.#parts;
    const signal = call.options?.signal;
    // One signal often serves a run over thousands of sites.
    if (signal !== undefined) setMaxListeners(0, signal);
    const asked = now();
    const trip: Trip = { queued_ms: 0, began: asked, bytes: 0 };
    try {
      const url = siteUrl(call.at.url);
      const host = hostKey(await unlessAborted(resolver.resolve(hostOf(url), call.at.ipv4_only), signal));
      await unlessAborted(sharedLimits.join(), signal);
      const { kind, fn, site_id, turn } = call;
      const request = { host, site: `${fn} ${url.href}`, site_id, kind, turn, signal };
      const result = await pacer.run(request, () => {
        trip.began = now();
        trip.queued_ms = trip.began - asked;
        return go(url, trip);
      });
      this.#report(call, trip, 'ok');
      return result;
    } catch (error) {
      // Waiting for a slot shared among processes ends with the caller's own reason.
      const failure =
        signal?.aborted === true && error === signal.reason
          ? new ChildFailure('cancelled', 'The call was cancelled before it was sent.', { cause: error })
          : error;
      this.#report(call, trip, failure instanceof ChildFailure ? failure.kind : 'unreachable');
      throw failure;
    }
  }

  #report(call: ChildCall, trip: Trip, outcome: CallFacts['outcome']): void {
    const { onCall, now } = this.#parts;
    const ms = Math.round(now() - trip.began);
    const { site_id, fn } = call;
    onCall?.({ site_id, fn, ms, queued_ms: Math.round(trip.queued_ms), outcome, bytes: trip.bytes });
  }

  async #post(call: ChildCall, url: URL, body: string, trip: Trip, once = false): Promise<Posted> {
    const change = call.read ? null : this.#parts.unfinishedChanges.begin(call.site_id);
    let answer: WireAnswer;
    try {
      answer = await this.#parts.transport.exchange({
        method: 'POST',
        headers: {
          ...FORM_HEADERS,
          ...this.#headers(call.at, url),
          ...call.options?.headers,
          ...this.#parts.sessions.headerOf(call),
        },
        body,
        maxBytes: this.settings.maxBodyBytes,
        atLimit: 'fail',
        once,
        ...this.#wire(call, url, trip),
        // WordPress sends its headers when an update begins, is silent while it works, and aborts in the middle if its
        // client hangs up.
        ...(change === null ? {} : { bodyTimeoutMs: 0, finish: true, onOver: change.over }),
      });
    } catch (error) {
      if (!(error instanceof ChildFailure)) throw error;
      if (error.kind === 'cancelled' && error.mayHaveRun) change?.abandoned();
      // A connection cut in the middle is often a firewall's reaction to wp-admin.
      return { failure: error, again: error.brokeOff, refused: false };
    }
    trip.bytes += answer.bytes;
    const value = readFrame(answer.body);
    if (value !== undefined) {
      this.#parts.sessions.keep(call, answer.cookies ?? []);
      return { value: withWords(value, hidingSent(call)) };
    }
    const loginSent = call.at.http_user !== null && call.at.http_user !== '';
    const failure = unframedFailure(answer, url, loginSent, hidingSent(call));
    const elsewhere = failure.kind === 'redirected' && parseUrl(answer.location, url.href)?.origin !== url.origin;
    const again =
      (failure.kind === 'unframed' && answer.status !== 429) || (failure.kind === 'redirected' && !elsewhere);
    return { failure, again, refused: isRefusedOutside(answer) };
  }

  /** A visitor's GET. */
  #get(call: ChildCall, url: URL, trip: Trip, maxBytes: number): WireRequest {
    return {
      ...this.#wire(call, url, trip),
      method: call.visitBy ?? 'GET',
      headers: {
        ...this.#headers(call.at, url),
        'accept-encoding': 'identity',
        ...call.options?.headers,
        accept: 'text/html,*/*;q=0.8',
      },
      body: null,
      maxBytes,
      atLimit: 'keep',
    };
  }

  #wire(call: ChildCall, url: URL, trip: Trip) {
    const { verify, bodyTimeoutMs } = this.settings;
    const left = Math.max(call.timeoutMs - (this.#parts.now() - trip.began), 1);
    return {
      url,
      verify: verify && call.at.ssl_verify,
      ipv4Only: call.at.ipv4_only,
      minTls: call.at.min_tls,
      bodyTimeoutMs,
      deadlineMs: left,
      signal: call.options?.signal,
    };
  }

  #headers(at: ChildAddress, url: URL): Record<string, string> {
    return { 'user-agent': this.settings.userAgent, ...loginHeader(at, siteUrl(at.url), url) };
  }

  async #body({ fn, user, private_key, params }: ChildCall): Promise<string> {
    if (private_key === null) return encodeForm({ user, function: fn, mainwpver: DASHBOARD_VERSION, ...params });
    const { hash } = this.settings;
    const nonce = newNonce();
    const signing = this.#parts.signer.sign(private_key, fn, nonce, hash);
    const before = this.#signed;
    const settled = () => before;
    this.#signed = signing.then(settled, settled);
    const mainwpsignature = await signing;
    const fields: ChildParams = { user, function: fn, nonce, mainwpver: DASHBOARD_VERSION };
    return encodeForm(Object.assign(fields, params, { sign_algo: SIGN_ALGOS[hash], mainwpsignature }));
  }
}

/** `again` = worth one attempt on the other address, if the call may be repeated. `refused` = by a firewall's page. */
type Posted = { value: unknown } | { failure: ChildFailure; again: boolean; refused: boolean };

/** Hides what went out with a call: the login in front of the site, and secrets among its parameters. */
function hidingSent({ at, params: { uniqueId, userpwd, regverify } }: ChildCall): (text: string) => string {
  const password = typeof userpwd === 'string' ? decodeURIComponent(userpwd) : undefined;
  const others = [uniqueId, regverify].map((value) => (typeof value === 'string' ? value : undefined));
  return hiding(at.url, at, [password, ...others]);
}

function addressOf(door: Door, url: URL): URL {
  return door === 'ajax' ? new URL('wp-admin/admin-ajax.php', url) : url;
}

/** Statuses with which firewalls refuse. */
const REFUSED: ReadonlySet<number> = new Set([403, 406]);

/**
 * A firewall's web page: WordPress itself refuses an ajax call with a bare number, and the child's answers are framed.
 */
function isRefusedOutside({ status, body }: WireAnswer): boolean {
  return REFUSED.has(status) && /<(?:!doctype|html|head|body|h1|title)\b/i.test(body.toString('latin1', 0, 4_096));
}

/** The target of a redirect on the web; null = it is none. */
function targetOf(answer: WireAnswer, at: URL): URL | null {
  const next = REDIRECTS.has(answer.status) && answer.location !== '' ? parseUrl(answer.location, at.href) : null;
  return next !== null && (next.protocol === 'https:' || next.protocol === 'http:') ? next : null;
}

/** Whether it is the same site: the same host, with or without `www.`. */
function isWithin(next: URL, site: URL): boolean {
  const bare = ({ hostname }: URL) => hostname.replace(/^www\./, '');
  // A port that is not the scheme's default is another server.
  const samePort = next.port === site.port || (next.port === '' && next.protocol === 'https:');
  return samePort && bare(next) === bare(site);
}

/** Sites on one server share its limit, whatever their names; the order of a name's addresses is ignored. */
function hostKey(addresses: readonly ResolvedAddress[]): string {
  return (
    addresses
      .map((one) => one.address)
      .sort()
      .at(0) ?? ''
  );
}
