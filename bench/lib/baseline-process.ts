/** The HTTP and MCP baseline on this machine: `node:http` and the bare SDKs, each on its own port. */

import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, type ListToolsResult, Server as ModernServer } from '@modelcontextprotocol/server';
import { STANDARD_HEADERS } from '../../src/http/response-headers.js';
import { openBare } from './native.js';
import { cpuMs, serveCommands } from './process.js';

export interface BaselineSpec {
  /** Database for the statements of a site list. */
  db: string | null;
  /** Result of the trivial tool. */
  toolResult: Record<string, unknown>;
}

export interface BaselineReady {
  hello: string;
  sites: string;
  bytes: string;
  legacy: string;
  modern: string;
}

const servers: HttpServer[] = [];
let cachedBytes = Buffer.from('{}');
/** Result of `tools/list` of the bare servers: the list contained in the cached bytes. */
let list: { tools: Tool[] } = { tools: [] };

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.keepAliveTimeout = 65_000;
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const answering = (body: () => string | Buffer): RequestListener => {
  return (request, response) => {
    request.resume();
    const content = body();
    // The same headers as our responses, so that both sides send the same bytes.
    for (const [name, value] of STANDARD_HEADERS) response.setHeader(name, value);
    response.setHeader('x-request-id', randomUUID());
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) });
    response.end(content);
  };
};

/** A page of 20 and the count, straight from prepared statements. */
function siteList(db: string): () => string {
  const bare = openBare(db);
  const page = bare.prepare(
    'SELECT s.id, s.url, s.name, s.status, s.client_id FROM site s ORDER BY s.name COLLATE NOCASE, s.url_key, s.id LIMIT 20',
  );
  const count = bare.prepare('SELECT sum(n) FROM site_count');
  return () => {
    const items = page.all().map(([id, url, name, status, client_id]) => ({ id, url, name, status, client_id }));
    return JSON.stringify({ items, page: 1, per_page: 20, total: count.all()[0]?.[0] });
  };
}

function trivial<T>(result: T) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result };
}

/** The SDK's low-level server with one tool, as in its documentation. */
function legacyListener(result: Record<string, unknown>): RequestListener {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const begin = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = new Server({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, () => trivial(result));
    server.setRequestHandler(ListToolsRequestSchema, () => list);
    // The SDK's own class does not match its own interface under exact optional properties.
    await server.connect(transport as unknown as Parameters<Server['connect']>[0]);
    return transport;
  };
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''));
      const transport = known ?? (isInitializeRequest(body) ? await begin() : undefined);
      await transport?.handleRequest(request, response, body);
    });
  };
}

/** The same for protocol 2026-07-28. */
function modernListener(result: Record<string, unknown>): RequestListener {
  const handler = createMcpHandler(
    () => {
      const server = new ModernServer({ name: 'bare', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/call', () => trivial(result));
      server.setRequestHandler('tools/list', () => list as ListToolsResult);
      return server;
    },
    { legacy: 'reject' },
  );
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const asked = new Request(`http://127.0.0.1${request.url}`, { method: 'POST', headers, body: text });
      const answer = await handler.fetch(asked, { parsedBody: JSON.parse(text) as unknown });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  };
}

async function start({ db, toolResult }: BaselineSpec): Promise<BaselineReady> {
  return {
    hello: await listening(answering(() => '{"status":"ok"}')),
    sites: db === null ? '' : await listening(answering(siteList(db))),
    bytes: await listening(answering(() => cachedBytes)),
    legacy: await listening(legacyListener(toolResult)),
    modern: await listening(modernListener(toolResult)),
  };
}

/** @param bytes a response to `tools/list` */
function setBytes(bytes: Uint8Array): void {
  cachedBytes = Buffer.from(bytes);
  list = (JSON.parse(cachedBytes.toString('utf8')) as { result: typeof list }).result;
}

serveCommands({ start, setBytes, cpu: cpuMs }, async () => {
  for (const server of servers) server.closeAllConnections();
});
