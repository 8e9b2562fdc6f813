/**
 * `/session`: reads the session of a browser, logs in by password or link, sets a password, logs out here or everywhere, and
 * reads several addresses for the page.
 */

import { type Context, Hono } from 'hono';
import { ServiceError } from '../../runtime/errors.js';
import { readOnlyError } from '../../runtime/permission.js';
import { isObject, parsedOrNull } from '../../runtime/plain-json.js';
import { sameText } from '../../runtime/same-text.js';
import type { Session, Sessions } from '../auth/sessions.js';
import { bodyTooLarge } from '../http/chunked-bodies.js';
import type { HttpEnv } from '../http/request-info.js';
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from '../http/session-cookie.js';
import { createUnreadAnswers } from '../http/unread-answers.js';
import { pathsOf, readsResponse } from './session-reads.js';

export interface SessionRouteParts {
  sessions: Sessions;
  /** The server is read-only, regardless of the user's right. */
  readOnly: boolean;
  /** Whether no site has been added yet. */
  isFirstStart(): Promise<boolean>;
  /** Answers a request that came with another one, as if it had been sent alone. */
  serve(request: Request, incoming: HttpEnv['Bindings']['incoming']): Response | Promise<Response>;
}

type SessionContext = Context<HttpEnv>;

/** Fields of a login by name; a login by link has only `link`. */
const BY_NAME = ['username', 'password'] as const;
/**
 * Fields of a password change: for users who have a password, and for those who logged in by link and have none yet.
 */
const CHANGED = ['current_password', 'password'] as const;
const CHOSEN = ['password'] as const;
/** Maximum length of a field, in characters. */
const MAX_FIELD = 1000;
/** Room for the longest name and password, escaped. A longer body is refused before it is parsed, as it comes before any login. */
const MAX_BODY = 16 * 1024;
/** Room for the addresses that a view reads. Read after the login. */
const MAX_READS = 128 * 1024;
/** Such requests of one user that may be under way or unread: more than the views that load at once. */
const MOST_READING = 12;
/** Headers that say something of a request with several reads, not of each of them. */
const OF_THE_WHOLE = ['accept-encoding', 'content-length', 'content-type', 'transfer-encoding', 'x-request-id'];

export function createSessionRoutes({ sessions, readOnly, isFirstStart, serve }: SessionRouteParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const unread = createUnreadAnswers(MOST_READING);

  const cookieOf = (c: SessionContext) => sessionCookieOf(c.req.raw.headers, c.env.info.https);

  /**
   * The session as the page gets it; sets the cookie if it changed. The token is given out at a login only, as every port
   * of the host is sent the cookie, and shown again to those who have it.
   */
  async function shown(c: SessionContext, session: Session, entered: boolean): Promise<Response> {
    const { identity, has_password, expires_at, cookie } = session;
    const knows = entered || sameText(c.req.header('x-sitefleet-csrf') ?? '', session.csrf);
    if (cookie !== undefined) c.header('Set-Cookie', setSessionCookie(cookie, c.env.info.https));
    const right = identity.rights.includes('write') && !readOnly ? 'write' : 'read';
    return c.json({
      authenticated: true,
      user: {
        name: identity.name,
        right,
        may_approve: identity.rights.includes('approve') && !readOnly,
        has_password,
      },
      ...(knows ? { csrf: session.csrf } : {}),
      expires_at: new Date(expires_at).toISOString(),
      first_start: await isFirstStart(),
    });
  }

  const admitted = (c: SessionContext, cookie: string) =>
    sessions.admit({
      cookie,
      method: c.req.method,
      info: c.env.info,
      csrf: c.req.header('x-sitefleet-csrf'),
    });

  app.get('/session', async (c) => {
    const cookie = cookieOf(c);
    const session = cookie === undefined ? undefined : await unlessEnded(admitted(c, cookie));
    return session === undefined ? c.json({ authenticated: false }) : shown(c, session, false);
  });

  app.post('/session', async (c) => {
    const { info } = c.env;
    // A foreign page could log the browser in to an account of its own and read what the user enters afterwards.
    if (c.req.header('origin') !== undefined && !info.own_origin) throw foreignLogin();
    c.env.most_before_login = MAX_BODY;
    const asked = loginOf(await bodyOf(c));
    const session = await ('link' in asked
      ? sessions.loginByLink(info, asked.link)
      : sessions.login(info, asked.username, asked.password));
    const before = cookieOf(c);
    const old = before === undefined ? undefined : await sessions.find(before);
    if (old !== undefined) await sessions.end(old.id);
    return shown(c, session, true);
  });

  // Reads only, so that it needs no CSRF token; a page of another origin can neither send JSON nor read the answers.
  app.post('/session/reads', async (c) => {
    const { raw } = c.req;
    const { info, incoming, outgoing } = c.env;
    const session = await sessions.admit({ cookie: cookieOf(c) ?? '', method: 'GET', info, csrf: undefined });
    const { cookie, identity } = session;
    const paths = pathsOf(await bodyOf(c, MAX_READS));
    unread.begin(String(identity.id), true, outgoing);
    const headers = new Headers(raw.headers);
    for (const name of OF_THE_WHOLE) headers.delete(name);
    const { origin } = new URL(raw.url);
    const response = readsResponse(paths, raw.headers.get('accept-encoding'), (path, signal) =>
      serve(new Request(`${origin}${path}`, { headers, signal: AbortSignal.any([signal, raw.signal]) }), incoming),
    );
    if (cookie !== undefined) response.headers.append('Set-Cookie', setSessionCookie(cookie, info.https));
    return response;
  });

  app.put('/session/password', async (c) => {
    const session = await admitted(c, cookieOf(c) ?? '');
    const refused = readOnlyError('write', readOnly);
    if (refused !== undefined) throw refused;
    const { current_password = '', password = '' } = fieldsOf(await bodyOf(c), session.has_password ? CHANGED : CHOSEN);
    return shown(c, await sessions.changePassword(c.env.info, session, current_password, password), true);
  });

  app.delete('/session', async (c) => {
    const cookie = cookieOf(c);
    const session = cookie === undefined ? undefined : await unlessEnded(admitted(c, cookie));
    if (session !== undefined) await sessions.end(session.id);
    c.header('Set-Cookie', clearSessionCookie(c.env.info.https));
    return c.body(null, 204);
  });

  app.delete('/session/everywhere', async (c) => {
    await sessions.endAll(await admitted(c, cookieOf(c) ?? ''));
    c.header('Set-Cookie', clearSessionCookie(c.env.info.https));
    return c.body(null, 204);
  });
  return app;
}

async function unlessEnded(session: Promise<Session>): Promise<Session | undefined> {
  try {
    return await session;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) return undefined;
    throw error;
  }
}

/** The JSON body. A form on another site cannot send this content type, so it cannot forge a login. */
async function bodyOf(c: SessionContext, most = MAX_BODY): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
    throw new ServiceError('invalid_content_type', 'The body is not sent as JSON.', {
      advice: 'Set Content-Type to application/json.',
    });
  if (Number(c.req.header('content-length') ?? 0) > most) throw bodyTooLarge(most);
  const text = await c.req.text();
  if (text.length > most) throw bodyTooLarge(most);
  const body = parsedOrNull(text);
  if (!isObject(body))
    throw new ServiceError('rest_invalid_json', 'The body is not a JSON object.', { advice: 'Send one object.' });
  return body;
}

function loginOf(body: Record<string, unknown>): { link: string } | { username: string; password: string } {
  const fields = fieldsOf(body, 'link' in body ? ['link'] : BY_NAME, 'Send {"username", "password"} or {"link"}.');
  return fields as { link: string } | { username: string; password: string };
}

/** Checks that the body has exactly these fields, each a non-empty text, and returns it. */
function fieldsOf(
  body: Record<string, unknown>,
  wanted: readonly string[],
  advice = `Send {${wanted.map((name) => JSON.stringify(name)).join(', ')}}.`,
): Partial<Record<string, string>> {
  const invalid = (field: string, message: string) =>
    new ServiceError('rest_invalid_param', message, { field, advice });
  const unknown = Object.keys(body).find((name) => !wanted.includes(name));
  if (unknown !== undefined)
    throw invalid(unknown.slice(0, 100), `${JSON.stringify(unknown.slice(0, 100))} is not a field of this call.`);
  for (const name of wanted) {
    const value = body[name];
    if (typeof value !== 'string' || value === '' || value.length > MAX_FIELD)
      throw invalid(name, `"${name}" is a text of 1 to ${MAX_FIELD} characters.`);
  }
  return body as Record<string, string>;
}

function foreignLogin(): ServiceError {
  return new ServiceError('svc_csrf_refused', 'A page from another origin may not log in here.', {
    advice: "Open this server's own page.",
  });
}
