/** MCP over HTTP at `/mcp`: streamable HTTP with sessions, for API keys and users. */

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Auth, HttpEnv } from '../auth.js';
import type { Actor, Clock, Log } from '../context.js';
import { asServiceError, errorBody, ServiceError } from '../errors.js';
import { type OriginRules, originProblem } from './origin.js';
import { type Session, Sessions } from './sessions.js';

export interface McpHttpParts {
  auth: Auth;
  createServer(actor: () => Actor): Server;
  origin: OriginRules;
  clock: Clock;
  log: Log;
  maxSessions?: number;
  sessionIdleMs?: number;
}

export interface McpHttp {
  app: Hono<HttpEnv>;
  sessions: Sessions;
  /** Ends all sessions and their streams. */
  close(): void;
}

type McpContext = Context<HttpEnv>;

const METHODS = ['GET', 'POST', 'DELETE'];

export function createMcpHttp(parts: McpHttpParts): McpHttp {
  const sessions = new Sessions({
    createServer: parts.createServer,
    clock: parts.clock,
    log: parts.log,
    max: parts.maxSessions ?? 200,
    idleMs: parts.sessionIdleMs ?? 30 * 60_000,
  });
  const app = new Hono<HttpEnv>();
  app.onError((error, c) => refusal(c, error, parts.log));
  app.all('/mcp', async (c) => {
    assertOrigin(c, parts.origin);
    if (!METHODS.includes(c.req.method)) throw methodRefused(c.req.method);
    const actor = await parts.auth.either(c.get('arrival'), 'mcp');
    return c.req.method === 'POST' ? post(c, sessions, actor) : followUp(c, sessions, actor);
  });
  return { app, sessions, close: () => sessions.close() };
}

/** One or more messages of a client. */
async function post(c: McpContext, sessions: Sessions, actor: Actor): Promise<Response> {
  const body = await readJson(c);
  if (body instanceof Response) return body;
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  const opens = messages.some((message) => isInitializeRequest(message));
  const session =
    opens && c.req.header('mcp-session-id') === undefined ? await begin(sessions, actor) : find(c, sessions, actor);
  if (session instanceof Response) return session;
  const response = await session.transport.answer(c.req.raw, body, messages.some(wantsProgress));
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

/** A refusal before any session: JSON-RPC for clients, with the facts of every other surface inside. */
function refusal(c: McpContext, error: unknown, log: Log): Response {
  const known = asServiceError(error);
  if (known.status >= 500) {
    log.error({ err: known.cause ?? known, request_id: c.get('arrival').request_id }, 'mcp endpoint failed');
  }
  if (known.status === 401) {
    c.header('WWW-Authenticate', 'Bearer realm="svc"');
    c.header('WWW-Authenticate', 'Basic realm="svc", charset="UTF-8"', { append: true });
  }
  if (known.status === 405) c.header('Allow', METHODS.join(', '));
  if (typeof known.data.retry_after === 'number') c.header('Retry-After', String(known.data.retry_after));
  const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message: known.message, data: errorBody(known) } };
  return c.json(body, known.status as ContentfulStatusCode);
}

function rpcError(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
