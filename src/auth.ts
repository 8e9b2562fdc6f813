/** Who is calling: HTTP Basic for users, Bearer for API keys (REST §1, operations §3). */

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  disabledKey,
  loginNeeded,
  plainHttp,
  tokenIncomplete,
  tokenNeeded,
  tooManyRequests,
  wrongLogin,
  wrongToken,
} from './auth-refusals.js';
import type { Actor, Clock, Log, WayIn } from './context.js';
import { ServiceError } from './errors.js';
import { Throttle } from './throttle.js';

/** What is known of one HTTP request before anything of ours looks at it. `http.ts` makes it, once per request. */
export interface Arrival {
  request_id: string;
  authorization: string | undefined;
  /** Of the client; behind a trusted proxy the one the proxy names. */
  address: string;
  /** HTTPS, or loopback: nobody in between can read along. */
  secure: boolean;
  /** Public base URL without a trailing slash. */
  base_url: string;
}

/** Variables of the Hono apps. */
export type HttpEnv = { Variables: { arrival: Arrival } };

export type Identity = Omit<Actor, 'via'>;

/** Answers who an access token of an external authorization server stands for. Rejects with ServiceError. */
export type VerifyAccessToken = (token: string) => Promise<Identity>;

/** A stored login, as the stores answer it. */
export interface Login {
  identity: Identity;
  /** Hash that proves the secret. Another hash means another password: what was verified before no longer counts. */
  proof: string;
  enabled: boolean;
  last_access: number | null;
}

export interface AuthParts {
  findUser(name: string): Promise<Login | undefined>;
  findKey(keyHash: string): Promise<Login | undefined>;
  verifyPassword(password: string, stored: string): Promise<boolean>;
  hashPassword(password: string): Promise<string>;
  hashToken(part: string): string;
  /** Notes the use of a key. Not waited for; called at most once a minute per key. */
  touchKey(id: number, at: number): Promise<void>;
  /** Checks access tokens of an external authorization server; absent = none are accepted. */
  verifyAccessToken?: VerifyAccessToken;
  clock: Clock;
  log: Log;
}

export interface Auth {
  /** HTTP Basic only. Rejects with svc_permission_denied 401. */
  basic(arrival: Arrival, via: WayIn): Promise<Actor>;
  /** Bearer only. Rejects with the codes of REST §1.4. */
  bearer(arrival: Arrival, via: WayIn): Promise<Actor>;
  /** Whichever of the two the request carries, or an access token over MCP, which is what such tokens are for. */
  either(arrival: Arrival, via: WayIn): Promise<Actor>;
  /** Forgets every verified login: a user or key was changed. */
  invalidate(): void;
}

interface Verified {
  login: Login;
  reload: () => Promise<Login | undefined>;
  expires: number;
  checked: number;
}

/** A password is hashed slowly once; after that its header is recognised for this long. */
const VERIFIED_FOR_MS = 5 * 60_000;
/** A recognised login is read again this often, so that a change by another process acts at once. */
const RECHECK_AFTER_MS = 1000;
const MAX_VERIFIED = 1000;
const TOUCH_EVERY_MS = 60_000;
const TOKEN = /^([0-9a-f]{40})==([0-9a-f]{40})$/;

export function createAuth(parts: AuthParts): Auth {
  const cacheKey = randomBytes(32);
  const cachePrefix = cacheKey.toString('hex');
  const verified = new Map<string, Verified>();
  const running = new Map<string, Promise<Login>>();
  const touched = new Map<number, number>();
  const throttle = new Throttle({ now: () => parts.clock.now() });
  let decoy: Promise<string> | undefined;
  let generation = 0;

  async function authenticate(header: string, address: string, verify: () => Promise<Verified | ServiceError>) {
    // Every request passes here: one call of a keyed digest costs a tenth of an HMAC object, and finds a header as well.
    const digest = hash('sha256', cachePrefix + header, 'base64');
    const known = await recall(digest);
    if (known !== undefined) return known;
    const wait = throttle.waitMs(address);
    if (wait > 0) throw tooManyRequests(wait);
    // Equal headers that arrive together are verified once: each verification costs about 50 ms of a core.
    const same = running.get(digest);
    if (same !== undefined) return same;
    const fresh = attempt(digest, address, verify).finally(() => running.delete(digest));
    running.set(digest, fresh);
    return fresh;
  }

  async function attempt(digest: string, address: string, verify: () => Promise<Verified | ServiceError>) {
    throttle.begin(address);
    const began = generation;
    let outcome: 'good' | 'bad' | 'unknown' = 'unknown';
    try {
      const result = await verify();
      if (result instanceof ServiceError) {
        outcome = 'bad';
        throw result;
      }
      outcome = 'good';
      // What was read before a change must not be remembered after it.
      if (began === generation) keep(digest, result);
      return result.login;
    } finally {
      throttle.end(address, outcome);
    }
  }

  function keep(digest: string, result: Verified): void {
    const oldest = verified.size >= MAX_VERIFIED ? verified.keys().next().value : undefined;
    if (oldest !== undefined) verified.delete(oldest);
    verified.set(digest, result);
  }

  async function recall(digest: string): Promise<Login | undefined> {
    const entry = verified.get(digest);
    const now = parts.clock.now();
    if (entry === undefined || entry.expires <= now) return undefined;
    if (now - entry.checked < RECHECK_AFTER_MS) return entry.login;
    const current = await entry.reload();
    if (current?.enabled && current.proof === entry.login.proof) {
      entry.login = current;
      entry.checked = now;
      return current;
    }
    verified.delete(digest);
    return undefined;
  }

  function remember(login: Login, reload: Verified['reload']): Verified {
    const now = parts.clock.now();
    return { login, reload, expires: now + VERIFIED_FOR_MS, checked: now };
  }

  async function verifyUser(name: string, password: string): Promise<Verified | ServiceError> {
    const login = await parts.findUser(name);
    // An unknown name costs the same time as a wrong password, or names could be told apart by the clock.
    decoy ??= parts.hashPassword(randomBytes(16).toString('hex'));
    const stored = login?.proof ?? (await decoy);
    const good =
      (await parts.verifyPassword(password, stored)) ||
      // WordPress shows its application passwords in groups of four; people paste them with the blanks.
      (/\s/.test(password) && (await parts.verifyPassword(password.replace(/\s+/g, ''), stored)));
    if (!good || !login?.enabled) return wrongLogin();
    return remember(login, () => parts.findUser(name));
  }

  async function verifyToken(secret: string, key: string): Promise<Verified | ServiceError> {
    const hash = parts.hashToken(key);
    const login = await parts.findKey(hash);
    const secretHash = parts.hashToken(secret);
    if (login === undefined || !sameText(secretHash, login.proof, cacheKey)) return wrongToken();
    if (!login.enabled) return disabledKey();
    return remember(login, () => parts.findKey(hash));
  }

  function touch(login: Login): void {
    const id = login.identity.id;
    const now = parts.clock.now();
    if (id === null || now - (touched.get(id) ?? login.last_access ?? 0) < TOUCH_EVERY_MS) return;
    touched.set(id, now);
    parts.touchKey(id, now).catch((error: unknown) => parts.log.warn({ err: error, key_id: id }, 'key use not noted'));
  }

  const auth: Auth = {
    async basic(arrival, via) {
      const header = arrival.authorization ?? '';
      const pair = basicPair(header);
      if (pair === undefined) throw loginNeeded();
      const login = await authenticate(header, arrival.address, () => verifyUser(pair.name, pair.password));
      return { ...login.identity, via };
    },
    async bearer(arrival, via) {
      const header = arrival.authorization ?? '';
      const token = /^\s*bearer[ \t]+(\S+)\s*$/i.exec(header)?.[1];
      if (!arrival.secure && header !== '') throw plainHttp();
      if (token === undefined) throw tokenNeeded();
      const sides = token.split('==');
      if (sides.length < 2 || sides.includes('')) throw tokenIncomplete();
      const match = TOKEN.exec(token);
      if (match?.[1] === undefined || match[2] === undefined) throw wrongToken();
      const [, secret, key] = match;
      const login = await authenticate(header, arrival.address, () => verifyToken(secret, key));
      touch(login);
      return { ...login.identity, via };
    },
    async either(arrival, via) {
      const token = /^\s*bearer[ \t]+(\S+)\s*$/i.exec(arrival.authorization ?? '')?.[1];
      if (parts.verifyAccessToken !== undefined && via === 'mcp' && token !== undefined && looksLikeJwt(token)) {
        if (!arrival.secure) throw plainHttp();
        return { ...(await parts.verifyAccessToken(token)), via };
      }
      return /^\s*basic\s/i.test(arrival.authorization ?? '') ? auth.basic(arrival, via) : auth.bearer(arrival, via);
    },
    invalidate() {
      generation += 1;
      verified.clear();
    },
  };
  return auth;
}

/** Three parts of base64url with a dot between them; our own keys never look like that. */
function looksLikeJwt(token: string): boolean {
  return token.length <= 8192 && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** Name up to the first colon, the rest is the password, blanks and colons included (RFC 7617). */
function basicPair(header: string): { name: string; password: string } | undefined {
  const encoded = /^\s*basic\s+([A-Za-z0-9+/_-]+={0,2})\s*$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Compares keyed digests: equal length and no early end, whatever the texts are. */
function sameText(a: string, b: string, key: Buffer): boolean {
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
