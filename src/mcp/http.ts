/**
 * MCP over HTTP at `/mcp`, for API keys, users and access tokens: streamable HTTP with sessions up to 2025-11-25, and
 * 2026-07-28, where every request stands alone, at the same address.
 */

import type { Server as LegacyServer } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, isLegacyRequest, type McpHttpHandler, type Server } from '@modelcontextprotocol/server';
import { type Context, Hono } from 'hono';
import type { Auth } from '../auth/auth.js';
import type { Actor } from '../core/actor.js';
import { ServiceError } from '../core/errors.js';
import { readJson } from '../core/json.js';
import { ENDLESS_STREAM_HEADER } from '../http/endless-streams.js';
import { foreignPage } from '../http/gate.js';
import type { HttpEnv } from '../http/request-info.js';
import { utf8 } from '../http/utf8.js';
import { type MetadataRules, metadataOf, WELL_KNOWN } from './challenge.js';
import type { McpCore } from './core.js';
import { METHODS, methodRefused, refusal, rpcError } from './http-errors.js';
import { Listed, type ListRequest, listRequest } from './listed.js';
import { holdsLongLists, LISTS_TOO_LONG } from './long-lists.js';
import { calledTool, cancelledRequest, evidentEra, isInitialize, wantsProgress } from './messages.js';
import { createMcpServer } from './server-2025.js';
import { createModernServer } from './server-2026.js';
import { type Session, Sessions } from './sessions.js';
import { isListening, listenedUris, watchAll } from './subscriptions.js';

export interface McpHttpParts {
  core: McpCore;
  auth: Pick<Auth, 'either'>;
  /** The authorization server, where there is one. */
  metadata: MetadataRules;
  /** The public address is configured, so that no answer depends on the name that was called. */
  publicUrl?: boolean;
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

const MAX_LISTENERS = 1000;
const JSON_TYPE = { 'content-type': 'application/json' };

interface Eras {
  writeScope: string;
  sessions: Sessions;
  modern: McpHttpHandler;
  core: McpCore;
  lists: Listed;
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
  const eras = { sessions, modern, core, lists: new Listed(), writeScope: parts.metadata.write_scope };
  const app = new Hono<HttpEnv>();
  for (const path of WELL_KNOWN) {
    app.get(path, (c) => {
      const document = metadataOf(parts.metadata, c.env.info.base_url);
      if (document === undefined) return c.notFound();
      c.header('Access-Control-Allow-Origin', '*');
      // Without a public address of our own the document names the host that was called, which no cache may hand to others.
      c.header('Cache-Control', parts.publicUrl ? 'public, max-age=300' : 'no-store');
      return c.json(document);
    });
  }
  app.all('/mcp', async (c) => {
    // Caught here and not by `onError`: with one of its own, Hono would send each request through a chain of handlers.
    try {
      // The protocol wants the origin of every request judged, of one that only listens, too.
      if (c.env.info.foreign) throw foreignPage();
      if (!METHODS.includes(c.req.method)) throw methodRefused(c.req.method);
      const actor = await auth.either(c.env.info, 'mcp');
      return await (c.req.method === 'POST' ? post(c, eras, actor) : followUp(c, sessions, actor));
    } catch (error) {
      return refusal(c, error, parts);
    }
  });
  const close = () => {
    sessions.close();
    core.close();
    modern.close().catch((error: unknown) => log.debug({ err: error }, 'mcp close'));
  };
  return { app, sessions, close };
}

async function post(c: McpContext, eras: Eras, actor: Actor): Promise<Response> {
  const body = await messagesOf(c);
  if (body instanceof Response) return body;
  requireScope(body, actor, eras);
  const list = listOf(c, actor, body);
  const known = list === undefined ? undefined : listAgain(c, eras, actor, list);
  if (known !== undefined) return known;
  const era = evidentEra(body, c.req.raw.headers.get('mcp-protocol-version'));
  const response = (era === undefined ? await isLegacyRequest(c.req.raw, body) : era === 'legacy')
    ? await postToSession(c, eras, actor, body)
    : await postAlone(c, eras, actor, body);
  return list === undefined ? response : keepList(eras.lists, list, response);
}

/** An access token can be exchanged for one with more rights, so its client is told which, before the call is looked at. */
function requireScope(body: unknown, actor: Actor, { core, writeScope }: Eras): void {
  if (actor.type !== 'token' || actor.rights.includes('write')) return;
  const needing = [body].flat().some((message) => core.registry.rightFor(calledTool(message)) === 'write');
  if (!needing) return;
  throw new ServiceError('svc_rest_insufficient_permission', 'This access token may only read.', {
    advice: `Ask the authorization server for ${writeScope}.`,
    data: { needed_scope: writeScope },
  });
}

/** The same list for the same rights, as far as headers and message say. */
function listOf(c: McpContext, actor: Actor, body: unknown): ListRequest | undefined {
  const asked = listRequest(body);
  if (asked === undefined) return undefined;
  let headers = '';
  for (const [name, value] of headersOf(c)) {
    // Whose session it is matters not, but whether it is one.
    if (name === 'mcp-session-id') headers += 'session\n';
    else if (name === 'accept' || name === 'content-type' || name.startsWith('mcp-')) headers += `${name}: ${value}\n`;
  }
  return { id: asked.id, key: `${actor.rights.join()}\n${headers}\n${asked.key}` };
}

/** As Node took them apart, where it did: web headers are made of them name by name. */
function headersOf(c: McpContext): Iterable<[string, unknown]> {
  const { incoming } = c.env;
  return incoming === undefined ? c.req.raw.headers : Object.entries(incoming.headers);
}

/** The text of an earlier answer. A session that has ended is told so all the same. */
function listAgain(c: McpContext, { lists, sessions }: Eras, actor: Actor, list: ListRequest): Response | undefined {
  const text = lists.answer(list);
  if (text === undefined) return undefined;
  const id = c.req.header('mcp-session-id');
  if (id === undefined) return new Response(text, { headers: JSON_TYPE });
  const session = find(c, sessions, actor);
  return session instanceof Response
    ? session
    : new Response(text, { headers: { ...JSON_TYPE, 'mcp-session-id': id } });
}

async function keepList(lists: Listed, list: ListRequest, response: Response): Promise<Response> {
  if (response.status !== 200 || response.headers.get('content-type')?.startsWith('application/json') !== true)
    return response;
  const text = await response.text();
  const message: unknown = JSON.parse(text);
  if (typeof message === 'object' && message !== null && 'result' in message) lists.keep(list, message.result);
  return new Response(text, { status: 200, headers: response.headers });
}

/** A request of 2026-07-28. Where it listens, the jobs it names are watched for as long as it does. */
async function postAlone(c: McpContext, { modern, core }: Eras, actor: Actor, body: unknown): Promise<Response> {
  const authInfo = { token: '', clientId: actor.name, scopes: [], extra: { actor } };
  const request = c.req.raw;
  const response = await modern.fetch(request, { authInfo, parsedBody: body });
  if (isListening(body)) response.headers.set(ENDLESS_STREAM_HEADER, 'subscriptions');
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
  const opens = messages.some((message) => isInitialize(message) && isInitializeRequest(message));
  const session =
    opens && c.req.header('mcp-session-id') === undefined ? await begin(sessions, actor) : find(c, sessions, actor);
  if (session instanceof Response) return session;
  // A question to the user travels on the stream of the call that asks it, as progress does.
  const stream = messages.some((message) => wantsProgress(message) || core.registry.mayAsk(calledTool(message)));
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

/** Messages of one body at most: the calls among them begin in one turn of the event loop. */
const MAX_MESSAGES = 50;

async function messagesOf(c: McpContext): Promise<unknown> {
  const text = utf8(await c.req.raw.arrayBuffer());
  if (text === undefined) return rpcError(400, -32700, 'The body is not valid JSON in UTF-8.');
  const json = readJson(text);
  if (json.problem !== undefined) return rpcError(400, -32700, `The body ${json.problem}.`);
  if (Array.isArray(json.value) && json.value.length > MAX_MESSAGES)
    return rpcError(400, -32600, `The body holds more than ${MAX_MESSAGES} messages.`);
  if (holdsLongLists(json.value)) return rpcError(400, -32600, `The body ${LISTS_TOO_LONG}.`);
  return json.value;
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
