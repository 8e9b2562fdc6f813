/**
 * MCP over HTTP at `/mcp`, for API keys, users and access tokens. One address serves both streamable HTTP with sessions
 * (revisions up to 2025-11-25) and stateless requests (2026-07-28).
 */

import type { Server as LegacyServer } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, isLegacyRequest, type McpHttpHandler, type Server } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { type Actor, credentialOf } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import { readJson } from '../../runtime/json.js';
import type { Auth } from '../auth/auth.js';
import { compressedJson } from '../http/compression.js';
import { foreignPage } from '../http/gate.js';
import type { HttpEnv } from '../http/request-info.js';
import { createUnreadAnswers, type UnreadAnswers } from '../http/unread-answers.js';
import { utf8 } from '../http/utf8.js';
import { type MetadataRules, metadataOf, WELL_KNOWN } from './challenge.js';
import type { McpCore } from './core.js';
import { EndlessStreams } from './endless-streams.js';
import { errorResponse, METHODS, methodNotAllowed, rpcError } from './http-errors.js';
import { KeptLists } from './kept-lists.js';
import { holdsLongLists, LISTS_TOO_LONG } from './long-lists.js';
import { calledTool, cancelledRequest, hasMethod, wantsProgress } from './messages.js';
import { createMcpServer } from './server-2025.js';
import { createModernServer } from './server-2026.js';
import { CARD_CORS, CARD_PATHS, CARD_TYPE, serverCard } from './server-card.js';
import { type SessionFacts, type SessionSeal, sessionFacts } from './session-ids.js';
import { type Session, Sessions } from './sessions.js';
import { isListenRequest, refusedListen, subscribeAll, subscribedUris } from './subscriptions.js';
import { requestedTools, withToolChoice } from './toolsets-header.js';

export interface McpHttpParts {
  core: McpCore;
  auth: Pick<Auth, 'either'>;
  /** The authorization server, if there is one. */
  metadata: MetadataRules;
  /** The public address is configured, so no response depends on the requested host name. */
  publicUrl?: boolean;
  /** Seals session ids, so that sessions survive a restart; without it they end with the process. */
  sessionSeal?: SessionSeal;
  maxSessions?: number;
  /** Replacement servers over the same core, for tests. */
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

const MAX_LISTENERS = 1000;
/** Of one principal, so that others always find room. */
const MAX_LISTENERS_OF_ONE = 100;

/** Bodies of several calls of one login whose answers are under way or unread. */
const MOST_BATCHES = 4;
/** What an answer that comes as a stream counts for: how long it gets is not known before. */
const STREAM_BYTES = 256 * 1024;

interface PostParts {
  writeScope: string;
  unread: UnreadAnswers;
  sessions: Sessions;
  modern: McpHttpHandler;
  lists: KeptLists;
  core: McpCore;
  listening: Listening;
}

interface Listening {
  streams: EndlessStreams;
  admitted(c: McpContext): Promise<Actor>;
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
    idleMs: 30 * 60_000,
    seal: parts.sessionSeal,
  });
  const modern = createMcpHandler(({ authInfo }) => servers.modern(authInfo?.extra?.actor as Actor), {
    legacy: 'reject',
    maxSubscriptions: MAX_LISTENERS,
    onerror: (error) => log.debug({ err: error }, 'mcp request'),
  });
  const streams = new EndlessStreams();
  const listening = { streams, admitted: (c: McpContext) => auth.either(c.env.info, 'mcp') };
  const lists = new KeptLists();
  const unread = createUnreadAnswers(MOST_BATCHES);
  const postParts = { sessions, modern, lists, core, listening, unread, writeScope: parts.metadata.write_scope };
  const app = new Hono<HttpEnv>();
  for (const path of WELL_KNOWN) {
    app.get(path, (c) => {
      const document = metadataOf(parts.metadata, c.env.info.base_url);
      if (document === undefined) return c.notFound();
      c.header('Access-Control-Allow-Origin', '*');
      // Without a configured public address the document names the requested host, so it must not be cached for others.
      c.header('Cache-Control', parts.publicUrl ? 'public, max-age=300' : 'no-store');
      return c.json(document);
    });
  }
  for (const path of CARD_PATHS) {
    app.use(path, etag({ retainedHeaders: [...RETAINED_304_HEADERS, ...Object.keys(CARD_CORS)] }));
    app.options(path, () => new Response(null, { status: 204, headers: CARD_CORS }));
    app.get(path, (c) => {
      const caching = parts.publicUrl ? 'public, max-age=3600' : 'no-store';
      const headers = { ...CARD_CORS, 'Content-Type': CARD_TYPE, 'Cache-Control': caching };
      return c.body(JSON.stringify(serverCard(core.info, parts.metadata, c.env.info.base_url)), 200, headers);
    });
  }
  app.all('/mcp', async (c) => {
    try {
      // The protocol requires the origin to be checked on every request, including a GET that only listens.
      if (c.env.info.foreign) throw foreignPage();
      if (!METHODS.includes(c.req.method)) throw methodNotAllowed(c.req.method);
      const actor = withToolChoice(await auth.either(c.env.info, 'mcp'), requestedTools(c.req));
      if (c.req.method !== 'POST') return await getOrDelete(c, sessions, actor, listening);
      return await compressed(c, await post(c, postParts, actor));
    } catch (error) {
      return errorResponse(c, error, parts);
    }
  });
  const close = () => {
    streams.close();
    sessions.close();
    core.close();
    modern.close().catch((error: unknown) => log.debug({ err: error }, 'mcp close'));
  };
  return { app, sessions, close };
}

function compressed(c: McpContext, response: Response): Promise<Response> {
  return compressedJson(response, c.req.header('accept-encoding') ?? null);
}

async function post(c: McpContext, postParts: PostParts, actor: Actor): Promise<Response> {
  const body = await messagesOf(c);
  if (body instanceof Response) return body;
  requireScope(body, actor, postParts);
  const isBatch = Array.isArray(body) && body.length > 1;
  const built = postParts.unread.begin(credentialOf(actor), isBatch, c.env.outgoing);
  const answer = async () => {
    const legacy = await isLegacyRequest(c.req.raw, body);
    return counted(c, await (legacy ? postToSession : postStateless)(c, postParts, actor, body), built);
  };
  if (!hasMethod(body, 'tools/list') || c.req.header('mcp-session-id') !== undefined) return answer();
  const { lists, core } = postParts;
  return lists.respond(core.registry.listTools(actor), c.req.raw, body, async () => compressed(c, await answer()));
}

/** An answer whose bytes are counted until its caller has read them. */
async function counted(c: McpContext, response: Response, built: (bytes: number) => void): Promise<Response> {
  if (response.body === null || c.env.endless === true) return response;
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) {
    built(STREAM_BYTES);
    return response;
  }
  const text = await response.text();
  built(text.length);
  return new Response(text, response);
}

/** Refuses a write with a read-only access token and names the scope it needs: its client can obtain a token with more rights. */
function requireScope(body: unknown, actor: Actor, { core, writeScope }: PostParts): void {
  if (actor.type !== 'token' || actor.rights.includes('write')) return;
  const needsWrite = [body]
    .flat()
    .some((message) => hasMethod(message, 'tasks/cancel') || core.registry.rightFor(calledTool(message)) === 'write');
  if (!needsWrite) return;
  throw new ServiceError('svc_rest_insufficient_permission', 'This access token may only read.', {
    advice: `Ask the authorization server for ${writeScope}.`,
    data: { needed_scope: writeScope },
  });
}

/** Handles a request of 2026-07-28. A listen request is subscribed to the jobs it names while it is open. */
async function postStateless(
  c: McpContext,
  { modern, core, listening: { streams, admitted } }: PostParts,
  actor: Actor,
  body: unknown,
): Promise<Response> {
  if (isListenRequest(body) && streams.countOf(actor) >= MAX_LISTENERS_OF_ONE)
    return rpcError(429, -32000, `This login listens on ${MAX_LISTENERS_OF_ONE} streams. Close some first.`);
  const refused = refusedListen(body);
  if (refused !== undefined) return Response.json(refused, { status: 400 });
  const authInfo = { token: '', clientId: actor.name, scopes: [], extra: { actor } };
  const request = c.req.raw;
  const response = await modern.fetch(request, { authInfo, parsedBody: body });
  if (!isListenRequest(body) || !response.ok) return response;
  c.env.endless = true;
  const stop = subscribeAll(core.jobs, subscribedUris(body), actor, (uri) => modern.notify.resourceUpdated(uri));
  return streams.watch(response, { actor, admitted: () => admitted(c) }, stop);
}

/** Handles one or more messages of a client with a session. */
async function postToSession(c: McpContext, postParts: PostParts, actor: Actor, body: unknown): Promise<Response> {
  const { sessions, core } = postParts;
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  // The method first: a failed validation is costly.
  const initialize = messages.find((message) => hasMethod(message, 'initialize') && isInitializeRequest(message));
  const opens = initialize !== undefined;
  const named = c.req.header('mcp-session-id') !== undefined;
  const session =
    opens && !named
      ? await openSession(sessions, actor, sessionFacts(initialize))
      : await findSession(c, sessions, actor);
  if (session instanceof Response) return session;
  if (opens && named) return rpcError(400, -32600, 'Invalid Request: Server already initialized');
  // An elicitation is sent on the stream of its call, as progress is.
  const asks = session.canAsk();
  const stream = messages.some(
    (message) => wantsProgress(message) || (asks && core.registry.mayElicit(calledTool(message))),
  );
  const response = await session.transport.post(c.req.raw, body, stream);
  if (opens && !response.ok) sessions.discard(session);
  for (const message of messages) {
    const id = cancelledRequest(message);
    if (id !== undefined) await session.transport.release(id);
  }
  return response;
}

/** GET listens to a session; DELETE ends it. */
async function getOrDelete(
  c: McpContext,
  sessions: Sessions,
  actor: Actor,
  { streams, admitted }: Listening,
): Promise<Response> {
  const session = await findSession(c, sessions, actor);
  if (session instanceof Response) return session;
  const { transport } = session;
  if (c.req.method === 'GET') {
    const stream = await transport.listen(c.req.raw);
    if (!stream.ok) return stream;
    c.env.endless = true;
    return streams.watch(stream, { actor, admitted: () => admitted(c) }, (cut) => cut && sessions.discard(session));
  }
  const response = await transport.end(c.req.raw);
  if (response.ok) sessions.forget(transport.sessionId);
  return response;
}

/** Maximum number of messages per body: the calls among them start in one turn of the event loop. */
const MAX_MESSAGES = 50;

async function messagesOf(c: McpContext): Promise<unknown> {
  const text = utf8(await c.req.raw.arrayBuffer());
  if (text === undefined) return rpcError(400, -32700, 'The body is not valid JSON in UTF-8.');
  const json = readJson(text);
  if (json.problem !== undefined) return rpcError(400, -32700, `The body ${json.problem}.`);
  if (Array.isArray(json.value) && json.value.length > MAX_MESSAGES)
    return rpcError(400, -32600, `The body has more than ${MAX_MESSAGES} messages.`);
  if (holdsLongLists(json.value)) return rpcError(400, -32600, `The body ${LISTS_TOO_LONG}.`);
  return json.value;
}

async function openSession(sessions: Sessions, actor: Actor, facts: SessionFacts): Promise<Session | Response> {
  const session = await sessions.open(actor, facts);
  if (session !== undefined) return session;
  return rpcError(503, -32000, 'All sessions are busy. Try again in a few seconds.', { 'Retry-After': '5' });
}

async function findSession(c: McpContext, sessions: Sessions, actor: Actor): Promise<Session | Response> {
  const id = c.req.header('mcp-session-id');
  if (id === undefined)
    return rpcError(
      400,
      -32000,
      'There is no session: send initialize first, then its Mcp-Session-Id with every request.',
    );
  const session = await sessions.use(id, actor);
  // This status tells clients to initialize again.
  return session ?? rpcError(404, -32001, 'The session is unknown or has ended. Send initialize again.');
}
