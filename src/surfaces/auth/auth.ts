/** Authentication: HTTP Basic for users, Bearer for API keys (REST §1, operations §3). */

import type { Actor, WayIn } from '../../runtime/actor.js';
import type { Clock } from '../../runtime/clock.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { sameText } from '../../runtime/same-text.js';
import { networkOf, siteOf } from '../http/networks.js';
import type { RequestInfo } from '../http/request-info.js';
import { HashQueue } from './hash-queue.js';
import { LoginCache, type Verified } from './login-cache.js';
import {
  accessTokenMisplaced,
  disabledKey,
  loginNeeded,
  plainHttp,
  tokenIncomplete,
  tokenNeeded,
  tooManyRequests,
  unmarked,
  wrongLogin,
  wrongToken,
} from './login-errors.js';
import { LoginThrottle, type Outcome } from './login-throttle.js';

export type Identity = Omit<Actor, 'via'>;

/** Returns whom an access token of an external authorization server stands for. Rejects with ServiceError. */
export type VerifyAccessToken = (token: string) => Promise<Identity>;

/** A stored login, as the stores return it. */
export interface Login {
  identity: Identity;
  /**
   * Hash of the secret; '' if none is set. A different hash means a different password: earlier verifications no longer
   * count.
   */
  proof: string;
  enabled: boolean;
  last_access: number | null;
}

export interface AuthParts {
  findUser(name: string): Promise<Login | undefined>;
  findKey(keyHash: string): Promise<Login | undefined>;
  verifyPassword(password: string, stored: string): Promise<boolean>;
  /** A stored hash that matches no password. */
  unmatchableHash(): string;
  hashToken(part: string): string;
  /** Records the use of a key. Not awaited; called at most once a minute per key. */
  touchKey(id: number, at: number): Promise<void>;
  /** Records that an assistant holds a login, which then cannot approve; called once per login, until it succeeds. */
  markAssistant?(login: Pick<Identity, 'type' | 'id'>): Promise<void>;
  /** Checks access tokens of an external authorization server; absent = none are accepted. */
  verifyAccessToken?: VerifyAccessToken;
  clock: Clock;
  log: Log;
}

export interface Auth {
  /** HTTP Basic only. Rejects with svc_permission_denied 401. */
  basic(info: RequestInfo, via: WayIn): Promise<Actor>;
  /** Bearer only. Rejects with the codes of REST §1.4. */
  bearer(info: RequestInfo, via: WayIn): Promise<Actor>;
  /** Accepts either of the two, or over MCP an access token, which is meant for MCP only. */
  either(info: RequestInfo, via: WayIn): Promise<Actor>;
  /** The user for a name and a password that were not sent in a header. Rejects with svc_permission_denied 401. */
  login(info: RequestInfo, name: string, password: string): Promise<Login>;
  /** Looks up something that only its holder can know, such as a link. Misses count as failed logins of the network. */
  guess<T>(info: RequestInfo, look: () => Promise<T | undefined>, miss: () => ServiceError): Promise<T>;
  /** Forgets every verified login, because a user or key changed. */
  invalidate(): void;
}

const TOUCH_EVERY_MS = 60_000;
/** Failed logins of one network without a pause, for all names together: it may be a whole office. */
const NETWORK_BURST = 50;
/** A /48 may be that of a company, or of many homes. */
const SITE_BURST = 200;
const TOKEN = /^([0-9a-f]{40})==([0-9a-f]{40})$/;

export function createAuth(parts: AuthParts): Auth {
  const known = new LoginCache<Login>(parts.clock);
  const running = new Map<string, Promise<Login>>();
  const touched = new Map<number, number>();
  /** Of each login the hash of the secret that an assistant holds, and whether that is stored yet. */
  const assistants = new Map<string, { proof: string; marked: Promise<void> }>();
  const elapsed = () => parts.clock.elapsed();
  /** By name and network; all keys of a network count as one name. */
  const byName = new LoginThrottle({ elapsed });
  /** By network alone, against guessing at many names. */
  const byNetwork = new LoginThrottle({ elapsed, burst: NETWORK_BURST });
  /** By the IPv6 network of a whole site: one has 65,536 of the others. */
  const bySite = new LoginThrottle({ elapsed, burst: SITE_BURST });
  const hashing = new HashQueue();
  const decoy = parts.unmatchableHash();

  /**
   * Equal logins that arrive together are verified once, however their headers are spelled: it costs a quarter second
   * of a core.
   */
  async function authenticate(digest: string, verify: () => Promise<Login>): Promise<Login> {
    const remembered = await known.recall(digest);
    if (remembered !== undefined) return remembered;
    const same = running.get(digest);
    if (same !== undefined) return same;
    const fresh = verify().finally(() => running.delete(digest));
    running.set(digest, fresh);
    return fresh;
  }

  /** A password is checked only while neither its name nor its network is blocked. */
  async function attemptUser(info: RequestInfo, name: string, password: string, digests: string[]): Promise<Login> {
    const network = networkOf(info.address);
    const key = `${network} user ${folded(name)}`;
    const site = siteOf(network);
    const wait = Math.max(byName.waitMs(key), byNetwork.waitMs(network), bySite.waitMs(site));
    if (wait > 0) throw tooManyRequests(wait);
    byName.begin(key);
    byNetwork.begin(network);
    bySite.begin(site);
    let outcome: Outcome = 'unknown';
    try {
      const began = known.generation;
      const result = await verifyUser(network, name, password);
      outcome = result instanceof ServiceError ? 'bad' : 'good';
      return remember(began, digests, result);
    } finally {
      byName.end(key, outcome);
      // One good login does not clear the guesses at other names.
      const guessed = outcome === 'good' ? 'unknown' : outcome;
      byNetwork.end(network, guessed);
      bySite.end(site, guessed);
    }
  }

  /**
   * A key is always looked up: 160 bits cannot be guessed, and a valid key must not suffer from the guesses of others.
   */
  async function attemptToken(info: RequestInfo, secret: string, key: string, digests: string[]): Promise<Login> {
    const began = known.generation;
    const result = await verifyToken(secret, key);
    if (result instanceof ServiceError && result.code !== disabledKey().code) missed(info);
    return remember(began, digests, result);
  }

  /** Counts a wrong key or link as a failed login. */
  function missed(info: RequestInfo): void {
    const guesses = `${networkOf(info.address)} keys`;
    const wait = byName.waitMs(guesses);
    if (wait > 0) throw tooManyRequests(wait);
    byName.begin(guesses);
    byName.end(guesses, 'bad');
  }

  function remember(began: number, digests: string[], result: Verified<Login> | ServiceError): Login {
    if (result instanceof ServiceError) throw result;
    // What was read before a change must not be cached after it.
    if (began === known.generation) known.keep(digests, result);
    return result.login;
  }

  async function verifyUser(network: string, name: string, password: string): Promise<Verified<Login> | ServiceError> {
    const login = await parts.findUser(name);
    // An unknown name, or one without a password, takes as long as a wrong password: otherwise known names would show.
    const stored = login?.proof || decoy;
    const good = await hashing.run(
      network,
      async () =>
        (await parts.verifyPassword(password, stored)) ||
        // WordPress shows application passwords in groups of four; users paste them with the blanks.
        (/\s/.test(password) && (await parts.verifyPassword(password.replace(/\s+/g, ''), stored))),
    );
    if (!good || !login?.enabled) return wrongLogin();
    return { scheme: 'basic', login, reload: () => parts.findUser(name) };
  }

  async function verifyToken(secret: string, key: string): Promise<Verified<Login> | ServiceError> {
    const hash = parts.hashToken(key);
    const login = await parts.findKey(hash);
    const secretHash = parts.hashToken(secret);
    if (login === undefined || !sameText(secretHash, login.proof)) return wrongToken();
    if (!login.enabled) return disabledKey();
    return { scheme: 'bearer', login, reload: () => parts.findKey(hash) };
  }

  function touch(login: Login): void {
    const id = login.identity.id;
    if (id === null) return;
    const last = touched.get(id);
    if (last !== undefined && elapsed() - last < TOUCH_EVERY_MS) return;
    touched.set(id, elapsed());
    const at = parts.clock.now();
    // Recorded by another process a moment ago, or before a restart. A time in the future was recorded before the clock
    // was set back.
    const age = at - (login.last_access ?? 0);
    if (last === undefined && age >= 0 && age < TOUCH_EVERY_MS) return;
    parts
      .touchKey(id, at)
      .catch((error: unknown) => parts.log.warn({ err: error, key_id: id }, 'the use of a key could not be recorded'));
  }

  /** What logs in over MCP is held by an assistant. If that cannot be stored, what may approve is not let in. */
  async function noteAssistant({ identity: { type, id, rights }, proof }: Login): Promise<void> {
    if (parts.markAssistant === undefined || id === null) return;
    const login = `${type}:${id}`;
    let note = assistants.get(login);
    // A new password is one that no assistant has used yet, also if another process has set it.
    if (note?.proof !== proof) {
      note = { proof, marked: parts.markAssistant({ type, id }) };
      assistants.set(login, note);
    }
    try {
      await note.marked;
    } catch (error) {
      if (assistants.get(login) === note) assistants.delete(login);
      parts.log.warn({ err: error, login }, 'the login of an assistant could not be recorded as such');
      if (rights.includes('approve')) throw unmarked(error);
    }
  }

  /** Synchronous if the header is known, as it nearly always is. */
  function basic(info: RequestInfo, digest: string): Login | Promise<Login> {
    return known.recognised(digest, 'basic')?.login ?? verifiedBasic(info, digest);
  }

  function bearer(info: RequestInfo, digest: string): Login | Promise<Login> {
    if (!info.secure && info.authorization) throw plainHttp();
    return known.recognised(digest, 'bearer')?.login ?? verifiedBearer(info, digest);
  }

  async function verifiedBasic(info: RequestInfo, digest: string): Promise<Login> {
    const header = info.authorization ?? '';
    const pair = basicPair(header);
    if (pair === undefined) throw loginNeeded();
    const { name, password } = pair;
    // Also by its header in the usual form: if every spelling were cached, one login could push out all the others.
    const plain = `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
    return verifiedUser(info, name, password, header === plain ? [digest] : []);
  }

  /** @param headers digests of further headers to remember the login by */
  function verifiedUser(info: RequestInfo, name: string, password: string, headers: string[]): Promise<Login> {
    const login = known.digestOf(`login\n${folded(name)}\n${password.normalize('NFC')}`);
    return authenticate(login, () => attemptUser(info, name, password, [login, ...headers]));
  }

  async function verifiedBearer(info: RequestInfo, digest: string): Promise<Login> {
    const header = info.authorization ?? '';
    const token = /^\s*bearer[ \t]+(\S+)\s*$/i.exec(header)?.[1];
    if (token === undefined) throw tokenNeeded();
    if (looksLikeJwt(token)) throw accessTokenMisplaced();
    const sides = token.split('==');
    if (sides.length < 2 || sides.includes('')) throw tokenIncomplete();
    const match = TOKEN.exec(token);
    if (match?.[1] === undefined || match[2] === undefined) throw wrongToken();
    const [, secret, key] = match;
    const login = known.digestOf(`key\n${token}`);
    return authenticate(login, () =>
      attemptToken(info, secret, key, [login, ...(header === `Bearer ${token}` ? [digest] : [])]),
    );
  }

  return {
    async basic(info, via) {
      const login = await basic(info, known.digestOf(info.authorization ?? ''));
      return { ...login.identity, via };
    },
    async bearer(info, via) {
      const login = await bearer(info, known.digestOf(info.authorization ?? ''));
      touch(login);
      return { ...login.identity, via };
    },
    async either(info, via) {
      const header = info.authorization ?? '';
      const digest = known.digestOf(header);
      const scheme = known.recognised(digest)?.scheme;
      const token = scheme === undefined ? /^\s*bearer[ \t]+(\S+)\s*$/i.exec(header)?.[1] : undefined;
      if (parts.verifyAccessToken !== undefined && via === 'mcp' && token !== undefined && looksLikeJwt(token)) {
        if (!info.secure) throw plainHttp();
        return { ...(await parts.verifyAccessToken(token)), via };
      }
      const isBasic = (scheme ?? (/^\s*basic\s/i.test(header) ? 'basic' : 'bearer')) === 'basic';
      const login = await (isBasic ? basic(info, digest) : bearer(info, digest));
      if (!isBasic) touch(login);
      if (via === 'mcp') await noteAssistant(login);
      return { ...login.identity, via };
    },
    login: (info, name, password) => verifiedUser(info, name, password, []),
    async guess(info, look, miss) {
      const found = await look();
      if (found !== undefined) return found;
      missed(info);
      throw miss();
    },
    invalidate: () => known.forget(),
  };
}

/** Normalizes a name as the store compares names. */
function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Base64url parts separated by dots, the signature possibly missing; API keys of this service never look like that. */
function looksLikeJwt(token: string): boolean {
  return /^[\w-]+(?:\.[\w-]*){2,4}$/.test(token);
}

/** The name up to the first colon; the rest is the password, blanks and colons included (RFC 7617). */
function basicPair(header: string): { name: string; password: string } | undefined {
  const encoded = /^\s*basic\s+([A-Za-z0-9+/_-]+={0,2})\s*$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
