/**
 * Sessions of people in a browser: a random cookie, hashed at rest, that is replaced at each login and every hour of use, and
 * ends after twelve hours without use. Every request reads the session and its user from the database, so an end, another
 * password and another right act at once in every process.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { ServiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { requirePassword } from '../core/password.js';
import type { RequestInfo } from '../http/request-info.js';
import type { Auth, Identity, Login } from './auth.js';
import {
  changedMeanwhile,
  deadLink,
  forgeable,
  plainLogin,
  sessionEnded,
  wrongLogin,
  wrongPassword,
} from './login-errors.js';

/** A session as the store answers it. Times are milliseconds since the epoch. */
export interface StoredSession {
  id: string;
  identity: Identity;
  /** False: the person has not chosen a password yet. */
  has_password: boolean;
  csrf: string;
  /** The request carries the newest cookie; false: the one before it. */
  current: boolean;
  /** The newest cookie was never used yet, so its answer may have been lost. */
  unconfirmed: boolean;
  rotated_at: number;
  used_at: number;
}

interface Opening {
  id: string;
  token_hash: string;
  now: number;
  idle_since: number;
}

/** What changes stored sessions: plain data, because it happens in the engine thread. */
export type SessionChange =
  | { step: 'open'; session: Opening; user_id: number; proof: string }
  | { step: 'open_by_link'; session: Opening; link_hash: string }
  | { step: 'rotate'; id: string; from: string; to: string; rotated_at: number; now: number }
  | { step: 'use'; id: string; now: number; previous_until: number | null }
  | { step: 'password'; user_id: number; proof: string; password: string }
  | { step: 'end'; id: string };

export interface SessionParts {
  find(tokenHash: string, now: number, idleSince: number): Promise<StoredSession | undefined>;
  identity(id: string, idleSince: number): Promise<Identity | undefined>;
  /** Answers whether anything changed. */
  change(change: SessionChange): Promise<boolean>;
  auth: Pick<Auth, 'login' | 'guess' | 'invalidate'>;
  hashToken(token: string): string;
  clock: Clock;
  log: Log;
}

/** What a request says about its session. */
export interface SessionRequest {
  /** The cookie. */
  cookie: string;
  method: string;
  info: Pick<RequestInfo, 'own_origin'>;
  /** The X-Sitefleet-CSRF header. */
  csrf: string | undefined;
}

export interface Session {
  id: string;
  identity: Identity;
  /** False: the person came by a link, and has not chosen a password yet. */
  has_password: boolean;
  /** What requests that change something must carry in X-Sitefleet-CSRF. The same as long as the session lasts. */
  csrf: string;
  /** Milliseconds since the epoch: when it ends, if it is not used until then. */
  expires_at: number;
  /** The cookie to set from now on, when it changed. */
  cookie: string | undefined;
}

export interface Sessions {
  /** The session of a cookie; undefined when it has none. Changes nothing. */
  find(cookie: string): Promise<Session | undefined>;
  /**
   * The session of a request, which counts as its use. Rejects with svc_rest_authentication_error (401), or with
   * svc_csrf_refused where it may be forged.
   */
  admit(request: SessionRequest): Promise<Session>;
  /** Whose session it is, as long as it lasts; for what goes on after a request. Not a use of it. */
  identity(id: string): Promise<Identity | undefined>;
  /** Opens a session. Rejects with svc_permission_denied (401) and svc_rest_too_many_requests. */
  login(info: RequestInfo, name: string, password: string): Promise<Session>;
  /** The same by a link that is good for one login. */
  loginByLink(info: RequestInfo, link: string): Promise<Session>;
  /**
   * Gives the person of the session another password. All sessions of theirs end, and a new one is answered. Rejects with
   * svc_permission_denied (403) where the current password is wrong, and with svc_invalid_input.
   * @param current ignored while there is none
   */
  changePassword(info: RequestInfo, session: Session, current: string, next: string): Promise<Session>;
  end(id: string): Promise<void>;
}

const IDLE_MS = 12 * 3600_000;
const ROTATE_AFTER_MS = 3600_000;
/** Requests that were under way when the new cookie was used first may still carry the one before. */
const GRACE_MS = 60_000;
/** A cookie that was not used for so long after it was sent is taken as lost on the way. */
const LOST_AFTER_MS = 10_000;
/** A use is noted this often. */
const NOTE_EVERY_MS = 60_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** 256 random bits that survive any header: a cookie. */
function newToken(): string {
  return randomBytes(32).toString('base64url');
}

export function createSessions({ find, identity, change, auth, hashToken, clock, log }: SessionParts): Sessions {
  async function stored(cookie: string): Promise<StoredSession | undefined> {
    if (!TOKEN.test(cookie)) return undefined;
    const now = clock.now();
    return find(hashToken(cookie), now, now - IDLE_MS);
  }

  const sessionOf = (
    { id, identity, has_password, csrf }: StoredSession,
    usedAt: number,
    cookie?: string,
  ): Session => ({
    id,
    identity,
    has_password,
    csrf,
    expires_at: usedAt + IDLE_MS,
    cookie,
  });

  /** Replaces the cookie; undefined when another request just did, or when it cannot be stored now. */
  async function rotated(session: StoredSession, from: string, now: number): Promise<string | undefined> {
    const to = newToken();
    const { id, rotated_at } = session;
    try {
      const done = await change({ step: 'rotate', id, from: hashToken(from), to: hashToken(to), rotated_at, now });
      return done ? to : undefined;
    } catch (error) {
      log.warn({ err: error }, 'the cookie of a session is replaced later');
      return undefined;
    }
  }

  function noteUse(session: StoredSession, now: number): void {
    const first = session.current && session.unconfirmed;
    if (!first && Math.abs(now - session.used_at) < NOTE_EVERY_MS) return;
    const previous_until = first ? now + GRACE_MS : null;
    change({ step: 'use', id: session.id, now, previous_until }).catch((error: unknown) =>
      log.warn({ err: error }, 'the use of a session is not noted'),
    );
  }

  async function open(attempt: (session: Opening) => Promise<boolean>): Promise<Session | undefined> {
    const now = clock.now();
    const cookie = newToken();
    const id = randomBytes(16).toString('hex');
    const opened = await attempt({ id, token_hash: hashToken(cookie), now, idle_since: now - IDLE_MS });
    const session = opened ? await stored(cookie) : undefined;
    if (session === undefined) return undefined;
    log.info({ user: session.identity.name }, 'login');
    return sessionOf(session, now, cookie);
  }

  /** The session is good even when the password is not. */
  async function verified(info: RequestInfo, name: string, password: string): Promise<Login> {
    try {
      return await auth.login(info, name, password);
    } catch (error) {
      throw error instanceof ServiceError && error.status === 401 ? wrongPassword() : error;
    }
  }

  async function login(info: RequestInfo, name: string, password: string): Promise<Session> {
    if (!info.secure) throw plainLogin();
    const { identity, proof } = await auth.login(info, name, password);
    const user_id = identity.id;
    if (user_id === null) throw wrongLogin();
    const session = await open((made) => change({ step: 'open', session: made, user_id, proof }));
    // The password was changed while it was looked at.
    if (session === undefined) throw wrongLogin();
    return session;
  }

  return {
    async find(cookie) {
      const session = await stored(cookie);
      return session && sessionOf(session, session.used_at);
    },

    async admit({ cookie, method, info, csrf }) {
      const session = await stored(cookie);
      if (session === undefined) throw sessionEnded();
      if (!SAFE_METHODS.has(method)) {
        if (!info.own_origin) throw forgeable('Origin');
        if (csrf === undefined || !sameText(csrf, session.csrf)) throw forgeable('X-Sitefleet-CSRF');
      }
      const now = clock.now();
      const age = now - session.rotated_at;
      const due = session.current ? age >= ROTATE_AFTER_MS : session.unconfirmed && age >= LOST_AFTER_MS;
      const replaced = due ? await rotated(session, cookie, now) : undefined;
      if (replaced === undefined) noteUse(session, now);
      return sessionOf(session, now, replaced);
    },

    identity: (id) => identity(id, clock.now() - IDLE_MS),

    login,

    async changePassword(info, { identity, has_password }, current, next) {
      if (!info.secure) throw plainLogin();
      requirePassword(next);
      const { id: user_id, name } = identity;
      const proof = has_password ? (await verified(info, name, current)).proof : '';
      if (user_id === null || !(await change({ step: 'password', user_id, proof, password: next })))
        throw changedMeanwhile();
      auth.invalidate();
      return login(info, name, next);
    },

    async loginByLink(info, link) {
      if (!info.secure) throw plainLogin();
      const look = () => open((made) => change({ step: 'open_by_link', session: made, link_hash: hashToken(link) }));
      return auth.guess(info, async () => (TOKEN.test(link) ? look() : undefined), deadLink);
    },

    async end(id) {
      await change({ step: 'end', id });
    },
  };
}

/** Compares digests: equal length and no early end, whatever the texts are. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
