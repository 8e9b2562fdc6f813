/**
 * The REST way in, below `/v2`. Every row is checked in the same order: transport, login, path, method, right, module,
 * parameters, then the row itself (REST §1.4). A caller without a key can see nothing but the interface itself.
 */

import { Hono } from 'hono';
import { fingerprintOf, type IdempotencyKey, idempotencyKey } from '../../domain/access/idempotency.js';
import type { Archive, OpenArchive } from '../../domain/backups/archive.js';
import { requireModule } from '../../domain/settings/modules.js';
import type { Call } from '../../operation/operation.js';
import { UNINTERRUPTED } from '../../runtime/abort-signals.js';
import { type Actor, credentialOf, type Right } from '../../runtime/actor.js';
import type { Clock } from '../../runtime/clock.js';
import type { Config } from '../../runtime/config/types.js';
import { asServiceError, isOurFault, ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { readOnlyError } from '../../runtime/permission.js';
import type { Auth } from '../auth/auth.js';
import type { Session, Sessions } from '../auth/sessions.js';
import { keptText } from '../http/compression.js';
import { foreignPage } from '../http/gate.js';
import type { HttpEnv } from '../http/request-info.js';
import { pathOf, queryOf } from '../http/request-url.js';
import { sessionCookieOf, setSessionCookie } from '../http/session-cookie.js';
import { createUnreadAnswers } from '../http/unread-answers.js';
import { utf8 } from '../http/utf8.js';
import { failed } from './errors.js';
import { askedDigest, heldRevisions } from './etag.js';
import { membersOf } from './fields.js';
import { readInput } from './input.js';
import { createLiveEvents } from './live-events.js';
import { createMatcher, type Match, type Matcher } from './match.js';
import { openApi } from './openapi.js';
import { routeCall } from './perform.js';
import { createRateLimit, type RateLimit } from './rate-limit.js';
import { answered, type HeaderFields, type RestContext } from './respond.js';
import type { Route } from './route.js';
import { parseParams } from './validate.js';

export interface RestParts {
  routes: readonly Route[];
  call: Call;
  auth: Auth;
  /** Browser sessions of users: a session cookie counts like a key with the user's right. */
  sessions: Sessions;
  clock: Clock;
  log: Log;
  config: Config;
  version: string;
  openArchive: OpenArchive;
}

const BASE = '/v2';
/** Answers of many megabytes of one login that wait to be read. */
const MOST_LARGE = 3;
/** Addresses that are read without a row; this app has them before all others. */
const OUTSIDE_ROWS: ReadonlySet<string> = new Set(['/events', '/openapi.json']);
const ONLY_GET: Match = { kind: 'method', allow: ['GET'] };

export function createRestApp(parts: RestParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  const rows = createMatcher(parts.routes);
  const match: Matcher = (method, path) => (OUTSIDE_ROWS.has(path) ? ONLY_GET : rows(method, path));
  const limit = createRateLimit(parts.config.rest_rate_limit, () => parts.clock.elapsed());
  const unread = createUnreadAnswers(MOST_LARGE);
  const live = createLiveEvents(parts);
  const description = keptText(async () => JSON.stringify(await openApi(parts.routes, parts.version)));

  app.get(`${BASE}/openapi.json`, async (c) => {
    return description(c.req.header('accept-encoding') ?? null, {
      'cache-control': 'public, max-age=300',
      'content-type': 'application/json; charset=UTF-8',
    });
  });

  async function answer(c: RestContext, headers: HeaderFields): Promise<Response> {
    const rawPath = pathOf(c.req.url).slice(BASE.length);
    const query = queryOf(c.req.url);
    if (c.req.method === 'OPTIONS') return describe(parts.routes, match, rawPath);
    const found = match(c.req.method, rawPath);
    const actor = await admit(c, parts, found, query, headers);
    spend(limit, actor, headers);
    const { route, path } = known(c, found);
    // Browsers add the cookie to what other pages of the same host, or of a sibling of it, ask for.
    if (actor.session === true && c.env.info.foreign && route.engine) throw foreignPage();
    for (const right of route.rights) requireRight(actor, right, parts.config.read_only && route.change !== null);
    if (route.module !== undefined) requireModule(parts, route.module);
    const body = route.on.includes('GET') ? '' : textOf(await c.req.arrayBuffer());
    const input = readInput({ query, body, contentType: c.req.header('content-type') });
    const params = parseParams(route, input, path);
    const { request_id } = c.env.info;
    // A change that has started runs to its end even if its caller hangs up.
    const signal = route.change === null && route.live ? c.req.raw.signal : UNINTERRUPTED;
    const built = unread.begin(credentialOf(actor), route.large, c.env.outgoing);
    const idempotency = idempotencyOf(c, route, rawPath, query, body);
    const asked = route.revision && askedDigest(c.req.url, parts.version);
    const held = asked === undefined ? [] : heldRevisions(c.req.raw.headers.get('if-none-match'), asked);
    const { answer, replayed, unchanged } = await parts.call(
      routeCall(route),
      { params, idempotency, fields: membersOf(query), held },
      { actor, request_id, signal, client: c.req.header('user-agent') },
    );
    if (replayed) headers['idempotency-replayed'] = 'true';
    if (route.changesLogins) parts.auth.invalidate();
    if (route.streams !== undefined) {
      const archive = await parts.openArchive(answer as never, signal);
      // After a HEAD, or when the caller has hung up, nobody reads the archive: left open, it would count as a running download.
      const isRead = c.req.method !== 'HEAD' && !signal.aborted;
      if (!isRead) await archive.stream.cancel();
      return streamed(route.streams, archive.name, isRead ? archive.stream : null, headers);
    }
    return answered(c, route, answer, { query, headers, asked, built, unchanged: unchanged === true });
  }

  /** Opens the stream of fleet events. */
  async function stream(c: RestContext, headers: HeaderFields): Promise<Response> {
    const [extra] = queryOf(c.req.url).keys();
    if (extra !== undefined)
      throw new ServiceError('rest_invalid_param', 'The event stream takes no parameters.', {
        field: extra.slice(0, 100),
        advice: 'Remove it.',
      });
    const { info, outgoing } = c.env;
    const session = await sessionOf(c, parts.sessions, headers);
    const actor: Actor =
      session === undefined ? await parts.auth.bearer(info, 'rest') : { ...session.identity, via: 'rest' };
    spend(limit, actor, headers);
    requireRight(actor, 'read', false);
    Object.assign(headers, { 'content-type': 'text/event-stream; charset=UTF-8', 'x-accel-buffering': 'no' });
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const body = await live.open({
      principal: credentialOf(actor),
      lastEventId: c.req.header('last-event-id'),
      admitted: async () => {
        const now = session ? await parts.sessions.identity(session.id) : await parts.auth.bearer(info, 'rest');
        if (now === undefined) return false;
        requireRight(now, 'read', false);
        return true;
      },
      drop: () => outgoing?.destroy(),
    });
    c.env.endless = true;
    return new Response(body, { headers });
  }

  const caught = (answering: typeof answer) => async (c: RestContext) => {
    const headers: HeaderFields = {};
    try {
      return await answering(c, headers);
    } catch (error) {
      const known = asServiceError(error);
      if (isOurFault(known)) {
        const { request_id } = c.env.info;
        parts.log.error({ err: known.cause ?? known, request_id, path: c.req.path }, 'REST call failed');
      }
      return known.status === 401 && opensReport(c.req) ? toLogin(c.req.url) : failed(known, headers);
    }
  };
  app.get(`${BASE}/events`, caught(stream));
  app.all(`${BASE}/*`, caught(answer));
  return app;
}

/** A file that is made while it is sent. */
function streamed(type: string, name: string, stream: Archive['stream'] | null, headers: HeaderFields): Response {
  Object.assign(headers, {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  return new Response(stream, { headers });
}

/** A browser that opens the link of a printable report. */
function opensReport(request: RestContext['req']): boolean {
  const asked = request.method === 'GET' && /^\/v2\/pro-reports\/[^/]+\/report$/.test(request.path);
  return (
    asked && request.header('authorization') === undefined && request.header('accept')?.includes('text/html') === true
  );
}

/** The page's login, which goes on to this address after it. */
function toLogin(url: string): Response {
  const { pathname, search } = new URL(url);
  const location = `/login?to=${encodeURIComponent(pathname + search)}`;
  return new Response(null, { status: 303, headers: { location, vary: 'Accept', 'cache-control': 'no-store' } });
}

/** The body as text. Form fields are percent-encoded, so both kinds of body are UTF-8. */
function textOf(bytes: ArrayBuffer): string {
  const text = utf8(bytes);
  if (text !== undefined) return text;
  throw new ServiceError('rest_invalid_json', 'The body is not UTF-8.', { advice: 'Send one JSON object in UTF-8.' });
}

/** Credentials in an address end up in logs and histories. */
const URL_CREDENTIALS = ['consumer_key', 'consumer_secret', 'oauth_consumer_key', 'access_token'];

async function admit(
  c: RestContext,
  { auth, sessions }: RestParts,
  found: Match,
  query: URLSearchParams,
  headers: HeaderFields,
): Promise<Actor> {
  const leaked = query.size === 0 ? undefined : URL_CREDENTIALS.find((name) => query.has(name));
  if (leaked !== undefined) {
    throw new ServiceError('svc_rest_authentication_bad_request', `Credentials do not belong in the URL.`, {
      field: leaked,
      advice: 'Send the header "Authorization: Bearer <token>", and treat the key as leaked.',
    });
  }
  const { info } = c.env;
  const session = await sessionOf(c, sessions, headers);
  if (session !== undefined) return { ...session.identity, via: 'rest', session: true };
  const either = found.kind === 'row' && found.route.login === 'either';
  return either ? auth.either(info, 'rest') : auth.bearer(info, 'rest');
}

/**
 * The session of a request with a session cookie and no key; sets the cookie if it changed. A Basic login next to the
 * cookie is ignored: it is one that the browser remembers and sends automatically.
 */
async function sessionOf(c: RestContext, sessions: Sessions, headers: HeaderFields): Promise<Session | undefined> {
  const { info } = c.env;
  const other = info.authorization !== undefined && !/^\s*basic\s/i.test(info.authorization);
  const cookie = other ? undefined : sessionCookieOf(c.req.raw.headers, info.https);
  if (cookie === undefined) return undefined;
  const csrf = c.req.header('x-sitefleet-csrf');
  const session = await sessions.admit({ cookie, method: c.req.method, info, csrf });
  if (session.cookie !== undefined) headers['set-cookie'] = setSessionCookie(session.cookie, info.https);
  return session;
}

function spend(limit: RateLimit, actor: Actor, headers: HeaderFields): void {
  if (limit.policy === undefined) return;
  headers['ratelimit-policy'] = limit.policy;
  try {
    const allowance = limit.take(credentialOf(actor));
    if (allowance !== undefined) headers.ratelimit = `"default";r=${allowance.remaining};t=${allowance.reset}`;
  } catch (error) {
    const wait = error instanceof ServiceError ? error.data.retry_after : 0;
    headers.ratelimit = `"default";r=0;t=${wait}`;
    throw error;
  }
}

function known(c: RestContext, found: Match): Extract<Match, { kind: 'row' }> {
  if (found.kind === 'row') return found;
  if (found.kind === 'method') {
    throw new ServiceError('rest_method_not_allowed', `${c.req.method} is not supported here.`, {
      advice: `Use ${found.allow.join(' or ')}.`,
      data: { allow: allowOf(found.allow) },
    });
  }
  throw new ServiceError('rest_no_route', 'Nothing exists at this path.', {
    advice: 'GET /v2/openapi.json lists every path.',
  });
}

function allowOf(methods: readonly string[]): string[] {
  const head = methods.includes('GET') ? ['HEAD'] : [];
  return [...new Set([...methods, ...head, 'OPTIONS'])];
}

function requireRight(actor: Pick<Actor, 'type' | 'rights'>, needs: Right, readOnly: boolean): void {
  const refused = readOnlyError(needs, readOnly);
  if (refused !== undefined) throw refused;
  if (actor.rights.includes(needs)) return;
  const who = actor.type === 'key' ? 'key' : 'login';
  throw new ServiceError('svc_rest_insufficient_permission', `This ${who} lacks the ${needs} permission.`, {
    advice: `Use a key with the ${needs} permission.`,
    data: { needed: needs },
  });
}

/** The idempotency key of a write that sends one. Its fingerprint covers method, path, query and body. */
function idempotencyOf(
  c: RestContext,
  route: Route,
  path: string,
  query: URLSearchParams,
  body: string,
): IdempotencyKey | undefined {
  const header = c.req.header('idempotency-key');
  if (header === undefined || route.change === null) return undefined;
  const fingerprint = fingerprintOf([c.req.method, path, query.toString(), body]);
  return { key: idempotencyKey(header), fingerprint };
}

/** The response to OPTIONS: the methods of the address. The shape of the interface is not secret. */
function describe(routes: readonly Route[], match: Matcher, path: string): Response {
  const known = [...new Set(routes.flatMap((route) => route.on))];
  const methods = OUTSIDE_ROWS.has(path) ? ['GET'] : known.filter((on) => match(on, path).kind === 'row');
  if (methods.length === 0) throw new ServiceError('rest_no_route', 'Nothing exists at this path.');
  return Response.json({ success: 1, methods }, { headers: { allow: allowOf(methods).join(', ') } });
}
