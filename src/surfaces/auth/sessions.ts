/**
 * Browser sessions of users: a random cookie, hashed at rest, that is replaced at each login and every hour of use, and
 * expires after twelve hours without use, and 30 days after the login at the latest. Every request reads the session and its user from the database, so a logout,
 * a new password and a changed right take effect at once in every process.
 */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../runtime/clock.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { requirePassword } from '../../runtime/password.js';
import { sameText } from '../../runtime/same-text.js';
import type { NewWebSession, SessionLimits, WebSessionRow } from '../../store/access/web-sessions.js';
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

/** A change to stored sessions: plain data, because it is applied in the engine thread. */
export type SessionChange =
  | { step: 'open'; session: NewWebSession; user_id: number; proof: string }
  | { step: 'open_by_link'; session: NewWebSession; link_hash: string }
  | { step: 'rotate'; id: string; from: string; to: string; rotated_at: number; now: number }
  | { step: 'use'; id: string; now: number; previous_until: number | null }
  | { step: 'password'; user_id: number; name: string; proof: string; password: string }
  | { step: 'end'; id: string }
  | { step: 'end_all'; user_id: number; name: string };

export interface SessionParts {
  find(tokenHash: string, now: number, limits: SessionLimits): Promise<WebSessionRow | undefined>;
  identity(id: string, limits: SessionLimits): Promise<Identity | undefined>;
  /** Returns whether anything changed. */
  change(change: SessionChange): Promise<boolean>;
  auth: Pick<Auth, 'login' | 'guess' | 'invalidate'>;
  hashToken(token: string): string;
  clock: Clock;
  log: Log;
}

/** The parts of a request that concern its session. */
export interface SessionRequest {
  /** The cookie. */
  cookie: string;
  method: string;
  info: Pick<RequestInfo, 'own_origin'>;
  /** The X-Sitefleet-CSRF header. */
  csrf: string | undefined;
}

export interface Session extends Pick<WebSessionRow, 'id' | 'identity' | 'has_password' | 'csrf'> {
  /** When the session expires if it is not used before, or at all; in milliseconds since the epoch. */
  expires_at: number;
  /** The cookie to set, if it changed. */
  cookie: string | undefined;
}

export interface Sessions {
  /** The session of a cookie; undefined if there is none. Changes nothing. */
  find(cookie: string): Promise<Session | undefined>;
  /**
   * The session of a request, which counts as its use. Rejects with svc_rest_authentication_error (401), or with
   * svc_csrf_refused if the request may be forged.
   */
  admit(request: SessionRequest): Promise<Session>;
  /** Whose session it is, while it lasts; for work that outlives a request. Does not count as use. */
  identity(id: string): Promise<Identity | undefined>;
  /** Opens a session. Rejects with svc_permission_denied (401) and svc_rest_too_many_requests. */
  login(info: RequestInfo, name: string, password: string): Promise<Session>;
  /** Opens a session with a one-time link. */
  loginByLink(info: RequestInfo, link: string): Promise<Session>;
  /**
   * Changes the password of the session's user. Ends all sessions of that user and returns a new one. Rejects with
   * svc_permission_denied (403) if the current password is wrong, and with svc_invalid_input.
   * @param current ignored if the user has no password yet
   */
  changePassword(info: RequestInfo, session: Session, current: string, next: string): Promise<Session>;
  end(id: string): Promise<void>;
  /** Ends all sessions of the session's user, this one too, and the links that would open one. */
  endAll(session: Session): Promise<void>;
}

const IDLE_MS = 12 * 3600_000;
/** A stolen cookie that is used every day must not last for ever. */
const LONGEST_MS = 30 * 24 * 3600_000;
const ROTATE_AFTER_MS = 3600_000;
/** Requests that were already sent when the new cookie was first used may still carry the previous one. */
const GRACE_MS = 60_000;
/** A cookie that has not been used this long after it was sent is considered lost in transit. */
const LOST_AFTER_MS = 10_000;
/** How often a use is recorded. */
const NOTE_EVERY_MS = 60_000;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** 256 random bits, in characters that every header accepts: a cookie. */
function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function limitsAt(now: number): SessionLimits {
  return { idle_since: now - IDLE_MS, opened_since: now - LONGEST_MS };
}

export function createSessions({ find, identity, change, auth, hashToken, clock, log }: SessionParts): Sessions {
  async function stored(cookie: string): Promise<WebSessionRow | undefined> {
    if (!TOKEN.test(cookie)) return undefined;
    const now = clock.now();
    return find(hashToken(cookie), now, limitsAt(now));
  }

  const sessionOf = (
    { id, identity, has_password, csrf, created_at }: WebSessionRow,
    usedAt: number,
    cookie?: string,
  ): Session => ({
    id,
    identity,
    has_password,
    csrf,
    expires_at: Math.min(usedAt + IDLE_MS, created_at + LONGEST_MS),
    cookie,
  });

  /** Replaces the cookie; undefined if another request just did, or if it cannot be stored now. */
  async function rotated(session: WebSessionRow, from: string, now: number): Promise<string | undefined> {
    const to = newToken();
    const { id, rotated_at } = session;
    try {
      const done = await change({ step: 'rotate', id, from: hashToken(from), to: hashToken(to), rotated_at, now });
      return done ? to : undefined;
    } catch (error) {
      log.warn({ err: error }, "a session's cookie will be replaced later");
      return undefined;
    }
  }

  function noteUse(session: WebSessionRow, now: number): void {
    const first = session.current && session.unconfirmed;
    if (!first && Math.abs(now - session.used_at) < NOTE_EVERY_MS) return;
    const previous_until = first ? now + GRACE_MS : null;
    change({ step: 'use', id: session.id, now, previous_until }).catch((error: unknown) =>
      log.warn({ err: error }, 'the use of a session could not be recorded'),
    );
  }

  async function open(attempt: (session: NewWebSession) => Promise<boolean>): Promise<Session | undefined> {
    const now = clock.now();
    const cookie = newToken();
    const id = randomBytes(16).toString('hex');
    const opened = await attempt({ id, token_hash: hashToken(cookie), now, ...limitsAt(now) });
    const session = opened ? await stored(cookie) : undefined;
    if (session === undefined) return undefined;
    log.info({ user: session.identity.name }, 'login');
    return sessionOf(session, now, cookie);
  }

  /** The session is valid even if the password is wrong. */
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
    // The password was changed while it was being checked.
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

    identity: (id) => identity(id, limitsAt(clock.now())),

    login,

    async changePassword(info, { identity, has_password }, current, next) {
      if (!info.secure) throw plainLogin();
      requirePassword(next);
      const { id: user_id, name } = identity;
      const proof = has_password ? (await verified(info, name, current)).proof : '';
      if (user_id === null || !(await change({ step: 'password', user_id, name, proof, password: next })))
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

    async endAll({ id, identity }) {
      // Every session has a user; of one that lost it, at least this one ends.
      await change(
        identity.id === null ? { step: 'end', id } : { step: 'end_all', user_id: identity.id, name: identity.name },
      );
    },
  };
}
