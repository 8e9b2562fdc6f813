/** The official clients of both generations, over HTTP and over pipes, behind one interface. */

import { PassThrough } from 'node:stream';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator as ModernValidators } from '@modelcontextprotocol/client/validators/ajv';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport as LegacyPipe } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  type CallToolResult,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator as LegacyValidators } from '@modelcontextprotocol/sdk/validation/ajv';
import { StdioServerTransport as ModernPipe } from '@modelcontextprotocol/server/stdio';
import type { Actor } from '../../src/runtime/actor.js';
import { type HttpListener, listen } from '../../src/surfaces/http/server.js';
import type { McpCore } from '../../src/surfaces/mcp/core.js';
import { serveStdio } from '../../src/surfaces/mcp/stdio.js';
import { closing } from './cleanup.js';
import { type TestApp, type TestOptions, testApp } from './harness.js';
import { newKey } from './logins.js';

export type Era = '2025-11-25' | '2026-07-28';
export type Transport = 'http' | 'stdio';
export const WAYS: [Era, Transport][] = [
  ['2025-11-25', 'http'],
  ['2025-11-25', 'stdio'],
  ['2026-07-28', 'http'],
  ['2026-07-28', 'stdio'],
];

export const LOCAL: Actor = {
  type: 'local',
  id: null,
  name: 'local',
  rights: ['read', 'write'],
  via: 'mcp',
};

export interface CallOptions {
  /** `_meta` of the call. */
  meta?: Record<string, unknown>;
  signal?: AbortSignal;
  timeout?: number;
  onprogress?: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void;
}

/** The user's reply to the question; undefined = the client cannot ask. */
export type Answerer = (question: {
  message: string;
  /** The choice that its form has besides the box to tick. */
  which?: readonly string[];
}) => Promise<{
  action: 'accept' | 'decline' | 'cancel';
  content?: { confirm: boolean; which?: string };
}>;

/** Of a resource. */
export interface Content {
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Record<string, unknown>;
}

export interface Driver {
  version(): string | undefined;
  /** Icons of the server, as it introduced itself. */
  icons(): readonly { src: string; mimeType?: string | undefined }[] | undefined;
  listTools(): Promise<Tool[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  resources(): Promise<string[]>;
  templates(): Promise<string[]>;
  read(uri: string): Promise<string>;
  /** All contents of a resource. */
  contents(uri: string): Promise<Content[]>;
  prompts(): Promise<{ name: string; arguments?: { name: string; required?: boolean | undefined }[] | undefined }[]>;
  prompt(name: string, args?: Record<string, string>): Promise<string>;
  complete(
    ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string },
    argument: string,
    value: string,
    chosen?: Record<string, string>,
  ): Promise<string[]>;
  /** A completion with its metadata. */
  completed(
    ref: { type: 'ref/prompt'; name: string },
    argument: string,
    value: string,
    chosen: Record<string, string>,
  ): Promise<{ values: string[]; meta: unknown }>;
  /** Calls back at each update of a resource. */
  watch(uri: string, onUpdate: () => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const infoOf = (name = 'test') => ({ name, version: '1' });

interface Validators {
  getValidator<T>(schema: object): (input: unknown) => T;
}

/**
 * Wraps the client's own validators to share compiled schemas: each client compiles the output schemas of all tools.
 */
function shared<V>(own: V): V {
  const { getValidator } = own as Validators;
  const compiled = new Map<string, (input: unknown) => unknown>();
  const known: Pick<Validators, 'getValidator'> = {
    getValidator<T>(schema: object) {
      const text = JSON.stringify(schema);
      const validate = compiled.get(text) ?? getValidator.call(own, schema);
      compiled.set(text, validate);
      return validate as (input: unknown) => T;
    },
  };
  return known as V;
}
const legacyValidators = shared(new LegacyValidators());
const modernValidators = shared(new ModernValidators());

export function textOf(result: CallToolResult, index = 0): string {
  const block = result.content[index];
  return block?.type === 'text' ? block.text : '';
}

function contentOf(content: unknown): string {
  return String((content as { text?: unknown } | undefined)?.text);
}

/** Two pipes with a server at the other end, like a process for the client. */
function pipes(core: McpCore, actor: Actor) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stop = new AbortController();
  const served = serveStdio({ core, actor, stdin, stdout, signal: stop.signal });
  const end = () => {
    stop.abort();
    return served;
  };
  return { reads: stdout, writes: stdin, end };
}

export interface Target {
  url: string;
  core: McpCore;
  authorization?: string;
  actor?: Actor;
  answer?: Answerer | undefined;
  /** As the client calls itself. */
  name?: string;
  /** Further headers of each request. */
  headers?: Record<string, string>;
}

export async function connect([era, transport]: [Era, Transport], target: Target): Promise<Driver> {
  return closing(await (era === '2025-11-25' ? connectLegacy(transport, target) : connectModern(transport, target)));
}

function withMeta<T extends object>(params: T, _meta: Record<string, unknown> | undefined) {
  return _meta === undefined ? params : { ...params, _meta };
}

function questionOf(params: object): Parameters<Answerer>[0] {
  const { message, requestedSchema } = params as {
    message: string;
    requestedSchema?: { properties?: { which?: { enum: string[] } } };
  };
  const which = requestedSchema?.properties?.which?.enum;
  return { message, ...(which === undefined ? {} : { which }) };
}

/** The calls that are the same for clients of both generations. */
function sharedCalls(client: LegacyClient | ModernClient) {
  return {
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    read: async (uri) => contentOf((await client.readResource({ uri })).contents[0]),
    contents: async (uri) => (await client.readResource({ uri })).contents as Content[],
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args = {}) => {
      const [message] = (await client.getPrompt({ name, arguments: args })).messages;
      return message?.content.type === 'text' ? message.content.text : '';
    },
    complete: async (ref, name, value, chosen) =>
      (await client.complete({ ref, argument: { name, value }, ...(chosen ? { context: { arguments: chosen } } : {}) }))
        .completion.values,
    completed: async (ref, name, value, chosen) => {
      const request = { ref, argument: { name, value }, context: { arguments: chosen } };
      const { completion, _meta } = await client.complete(request);
      return { values: completion.values, meta: _meta };
    },
  } satisfies Partial<Driver>;
}

async function connectLegacy(
  transport: Transport,
  { url, core, authorization, actor, answer, headers, name }: Target,
): Promise<Driver> {
  const client = new LegacyClient(infoOf(name), {
    jsonSchemaValidator: legacyValidators,
    ...(answer === undefined ? {} : { capabilities: { elicitation: {} } }),
  });
  if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(questionOf(params)));
  const pipe = transport === 'stdio' ? pipes(core, actor ?? LOCAL) : undefined;
  const requestInit = { headers: { ...headers, authorization: authorization ?? '' } };
  const wire =
    pipe === undefined ? new LegacyHttp(new URL(url), { requestInit }) : new LegacyPipe(pipe.reads, pipe.writes);
  await client.connect(wire as never);
  return {
    version: () => client.getServerCapabilities() && '2025-11-25',
    icons: () => client.getServerVersion()?.icons,
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, { meta: _meta, ...options } = {}) =>
      (await client.callTool(
        withMeta({ name, arguments: args }, _meta),
        undefined,
        options as never,
      )) as CallToolResult,
    ...sharedCalls(client),
    watch: async (uri, onUpdate) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        if (params.uri === uri) onUpdate();
      });
      await client.subscribeResource({ uri });
      return async () => void (await client.unsubscribeResource({ uri }));
    },
    close: async () => {
      await client.close();
      await pipe?.end();
    },
  };
}

async function connectModern(
  transport: Transport,
  { url, core, authorization, actor, answer, headers, name }: Target,
): Promise<Driver> {
  const client = new ModernClient(infoOf(name), {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    jsonSchemaValidator: modernValidators,
    ...(answer === undefined ? {} : { capabilities: { elicitation: {} } }),
  });
  if (answer !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => answer(questionOf(params)));
  const pipe = transport === 'stdio' ? pipes(core, actor ?? LOCAL) : undefined;
  const requestInit = { headers: { ...headers, authorization: authorization ?? '' } };
  const wire =
    pipe === undefined ? new ModernHttp(new URL(url), { requestInit }) : new ModernPipe(pipe.reads, pipe.writes);
  await client.connect(wire);
  return {
    version: () => client.getNegotiatedProtocolVersion(),
    icons: () => client.getServerVersion()?.icons,
    listTools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' } as never)).tools as Tool[],
    call: async (name, args = {}, { meta: _meta, ...options } = {}) =>
      (await client.callTool(withMeta({ name, arguments: args }, _meta), options as never)) as CallToolResult,
    ...sharedCalls(client),
    watch: async (uri, onUpdate) => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        if (params.uri === uri) onUpdate();
      });
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
    close: async () => {
      await client.close();
      await pipe?.end();
    },
  };
}

export interface McpApp {
  app: TestApp;
  core: McpCore;
  readonly url: string;
  /** `Authorization` of a key with all rights, and of one that may only read. */
  all: string;
  read: string;
  target: Target;
  /** Restarts the server of the same service on the same port: sessions are lost. */
  restart(graceMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** A whole service over a simulated fleet, with `/mcp` on a socket. */
export async function mcpApp(options: TestOptions & { connected?: number } = {}): Promise<McpApp> {
  const app = await testApp({ realClock: true, ...options });
  // One after the other: site number i gets the id i + 1.
  for (let i = 0; i < (options.connected ?? 0); i += 1) await app.connect(i);
  const { service } = app;
  const key = async (scope: 'read' | 'read_write') => {
    const made = await newKey(service.store.keys, { scope, description: scope });
    return `Bearer ${made.token}`;
  };
  const [all, read] = [await key('read_write'), await key('read')];
  let listener: HttpListener = await listen(await service.http(), { host: '127.0.0.1', port: 0 });
  const core = await service.mcp();
  const url = `${listener.url}/mcp`;
  return closing({
    app,
    core,
    url,
    all,
    read,
    target: { url, core, authorization: all },
    async restart(graceMs = 50) {
      const { port } = listener;
      await listener.close(graceMs);
      listener = await listen(await service.http(), { host: '127.0.0.1', port });
    },
    async close() {
      await listener.close(50);
      await app.close();
    },
  });
}
