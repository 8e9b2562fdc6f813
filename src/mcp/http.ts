/**
 * MCP over HTTP at `/mcp`, for API keys, users and access tokens: streamable HTTP with sessions up to 2025-11-25, and
 * 2026-07-28, where every request stands alone, at the same address.
 */

import type { Server as LegacyServer } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, isLegacyRequest, type McpHttpHandler, type Server } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Auth, HttpEnv } from '../auth.js';
import type { Actor, Log } from '../context.js';
import { asServiceError, errorBody, ServiceError } from '../errors.js';
import { challenges, type MetadataRules, metadataOf, WELL_KNOWN } from './challenge.js';
import type { McpCore } from './core.js';
import { createModernServer } from './modern.js';
import { type OriginRules, originProblem } from './origin.js';
import { createMcpServer } from './server.js';
import { type Session, Sessions } from './sessions.js';
import { LISTENS } from './streams.js';
import { isListening, listenedUris, watchAll } from './subscriptions.js';

export interface McpHttpParts {
  core: McpCore;
  auth: Pick<Auth, 'either'>;
  origin: OriginRules;
  /** The authorization server, where there is one. */
  metadata: MetadataRules;
  maxSessions?: number;
  sessionIdleMs?: number;
  /** Other servers over the same core, for tests. */
  servers?: {
    legacy(actor: () => Actor): LegacyServer;
    modern(actor: Actor): Server;
  };
}

export interface McpHttp {
  app: Hono<HttpEnv>;
  sessions: Sessions;
  /** Ends all sessions and streams. */
  close(): void;
}

type McpContext = Context<HttpEnv>;

const METHODS = ['GET', 'POST', 'DELETE'];
const MAX_LISTENERS = 1000;

interface Eras {
  sessions: Sessions;
  modern: McpHttpHandler;
  core: McpCore;
}

export function createMcpHttp(parts: McpHttpParts): McpHttp {
  const { core, auth } = parts;
  const { log, clock } = core;
  const servers = parts.servers ?? {
    legacy: (actor: () => Actor) => createMcpServer(core, actor),
    modern: (actor: Actor) => createModernServer(core, actor),
  };
  const sessions = new Sessions({
    createServer: servers.legacy,
    clock,
    log,
    max: parts.maxSessions ?? 200,
    idleMs: parts.sessionIdleMs ?? 30 * 60_000,
  });
  const modern = createMcpHandler(({ authInfo }) => servers.modern(authInfo?.extra?.actor as Actor), {
    legacy: 'reject',
    maxSubscriptions: MAX_LISTENERS,
    onerror: (error) => log.debug({ err: error }, 'mcp request'),
  });
  const eras = { sessions, modern, core };
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => refusal(c, error, parts));
  for (const path of WELL_KNOWN) {
    app.get(path, (c) => {
      c.header('Access-Control-Allow-Origin', '*');
      c.header('Cache-Control', 'public, max-age=300');
      return c.json(metadataOf(parts.metadata, c.get('arrival').base_url));
    });
  }
  app.all('/mcp', async (c) => {
    assertOrigin(c, parts.origin);
    if (!METHODS.includes(c.req.method)) throw methodRefused(c.req.method);
    const actor = await auth.either(c.get('arrival'), 'mcp');
    return c.req.method === 'POST' ? post(c, eras, actor) : followUp(c, sessions, actor);
  });
  const close = () => {
    sessions.close();
    core.close();
    modern.close().catch((error: unknown) => log.debug({ err: error }, 'mcp close'));
  };
  return { app, sessions, close };
}

async function post(c: McpContext, eras: Eras, actor: Actor): Promise<Response> {
  const body = await readJson(c);
  if (body instanceof Response) return body;
  return (await isLegacyRequest(c.req.raw, body))
    ? postToSession(c, eras, actor, body)
    : postAlone(c, eras, actor, body);
}

/** A request of 2026-07-28. Where it listens, the jobs it names are watched for as long as it does. */
async function postAlone(c: McpContext, { modern, core }: Eras, actor: Actor, body: unknown): Promise<Response> {
  const authInfo = { token: '', clientId: actor.name, scopes: [], extra: { actor } };
  const request = c.req.raw;
  const response = await modern.fetch(request, { authInfo, parsedBody: body });
  if (isListening(body)) response.headers.set(LISTENS, 'subscriptions');
  const uris = response.ok ? listenedUris(body) : [];
  if (uris.length > 0) {
    const stop = watchAll(core.jobs, uris, actor, (uri) => modern.notify.resourceUpdated(uri));
    request.signal.addEventListener('abort', stop, { once: true });
  }
  return response;
}

/** One or more messages of a client with a session. */
async function postToSession(c: McpContext, eras: Eras, actor: Actor, body: unknown): Promise<Response> {
  const { sessions, core } = eras;
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  const opens = messages.some((message) => isInitializeRequest(message));
  const session =
    opens && c.req.header('mcp-session-id') === undefined ? await begin(sessions, actor) : find(c, sessions, actor);
  if (session instanceof Response) return session;
  const stream = messages.some((message) => wantsProgress(message) || mayAsk(core, message));
  const response = await session.transport.answer(c.req.raw, body, stream);
  if (opens && !response.ok) sessions.end(session);
  for (const message of messages) {
    const id = cancelledRequest(message);
    if (id !== undefined) await session.transport.release(id);
  }
  return response;
}

/** GET listens to a session, DELETE ends it. */
async function followUp(c: McpContext, sessions: Sessions, actor: Actor): Promise<Response> {
  const session = find(c, sessions, actor);
  return session instanceof Response ? session : session.transport.handleRequest(c.req.raw);
}

async function readJson(c: McpContext): Promise<unknown> {
  const text = await c.req.text();
  try {
    return JSON.parse(text);
  } catch {
    return rpcError(400, -32700, 'The body is not valid JSON.');
  }
}

async function begin(sessions: Sessions, actor: Actor): Promise<Session | Response> {
  const session = await sessions.begin(actor);
  if (session !== undefined) return session;
  return rpcError(503, -32000, 'All sessions are at work. Try again in a few seconds.', { 'Retry-After': '5' });
}

function find(c: McpContext, sessions: Sessions, actor: Actor): Session | Response {
  const id = c.req.header('mcp-session-id');
  if (id === undefined)
    return rpcError(
      400,
      -32000,
      'There is no session: send initialize first, then its Mcp-Session-Id with every request.',
    );
  const session = sessions.use(id, actor);
  // The code by which clients know that they have to initialize anew.
  return session ?? rpcError(404, -32001, 'The session is unknown or has ended. Send initialize again.');
}

function wantsProgress(message: unknown): boolean {
  const params = (message as { params?: { _meta?: { progressToken?: unknown } } } | null)?.params;
  return params?._meta?.progressToken !== undefined;
}

/** A question to the user travels on the stream of the call that asks it. */
function mayAsk(core: McpCore, message: unknown): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === 'tools/call' && core.registry.mayAsk(params?.name);
}

function cancelledRequest(message: unknown): string | number | undefined {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  if (method !== 'notifications/cancelled') return undefined;
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function assertOrigin(c: McpContext, rules: OriginRules): void {
  const problem = originProblem(rules, c.req.header('host') ?? new URL(c.req.url).host, c.req.header('origin'));
  if (problem === undefined) return;
  throw new ServiceError(
    'svc_forbidden_origin',
    `The ${problem === 'host' ? 'Host' : 'Origin'} header names a place this server does not answer to.`,
    {
      advice: 'Call it by localhost, or set SITEFLEET_BASE_URL to the address you use.',
    },
  );
}

function methodRefused(method: string): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not a method of /mcp.`, {
    advice: 'Use POST.',
    data: { allow: METHODS },
  });
}

/** A refusal before any protocol: JSON-RPC for clients, with the facts of every other surface inside. */
function refusal(c: McpContext, error: unknown, { core, metadata }: { core: { log: Log }; metadata: MetadataRules }) {
  const known = asServiceError(error);
  const { request_id, base_url, authorization } = c.get('arrival');
  if (known.status >= 500) core.log.error({ err: known.cause ?? known, request_id }, 'mcp endpoint failed');
  for (const challenge of challenges(known, metadata, base_url, authorization !== undefined))
    c.header('WWW-Authenticate', challenge, { append: true });
  if (known.status === 405) c.header('Allow', METHODS.join(', '));
  if (typeof known.data.retry_after === 'number') c.header('Retry-After', String(known.data.retry_after));
  const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message: known.message, data: errorBody(known) } };
  return c.json(body, known.status as ContentfulStatusCode);
}

function rpcError(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
