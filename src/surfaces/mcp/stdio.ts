/** MCP over stdin and stdout, for both eras. Nothing else may write to stdout while it runs. */

import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Transport as ModernTransport, Server } from '@modelcontextprotocol/server';
import type { Actor } from '../../runtime/actor.js';
import type { McpCore } from './core.js';
import { createMcpServer } from './server-2025.js';
import { MessageReader } from './stdio-lines.js';
import { refusedListen, subscribeAll, subscribedUris } from './subscriptions.js';

export interface StdioParts {
  core: McpCore;
  actor: Actor;
  /** Ends the service at once; running calls are cancelled. */
  signal: AbortSignal;
  stdin?: Readable;
  stdout?: Writable;
  /** Milliseconds that running calls may take after the client has disconnected. */
  drainMs?: number;
}

/** About the longest that a call on many sites takes: it is not interrupted when its client disconnects. */
const DRAIN_MS = 45_000;

/** Serves until stdin ends, stdout breaks or the signal is aborted; then resolves. The first message decides the era. */
export async function serveStdio(parts: StdioParts): Promise<void> {
  const { core, actor, signal, stdin = process.stdin, stdout = process.stdout } = parts;
  // Each response that waits for a slow reader listens for `drain`.
  stdout.setMaxListeners(0);
  const messages = stdin.pipe(new MessageReader((code, message, id) => stdout.write(errorLine(id, code, message))));
  // A pipe ends with its source, but not when the source is destroyed.
  stdin.once('close', () => messages.end());
  const transport = new StdioTransport(messages, stdout);
  const subscriptions = new Subscriptions(core, actor);
  transport.onIncoming = (message) => subscriptions.onIncomingMessage(message);
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const ended = new Promise<void>((resolve) => void messages.once('end', resolve));
  // stdout breaks when the client is gone: further responses have no reader.
  const broken = new Promise<void>((resolve) => stdout.on('error', () => resolve()));
  const first = await Promise.race([firstMessage(messages), ended, broken, stopped]);
  const server = await startServer(first, parts, transport, subscriptions);
  const drainMs = parts.drainMs ?? DRAIN_MS;
  await Promise.race([ended, broken, stopped]);
  await transport.idle(drainMs, Promise.race([broken, stopped]));
  await Promise.race([core.registry.runningCalls.idle(drainMs), stopped]);
  if (signal.aborted) await transport.cancelOpen();
  subscriptions.close();
  await server.close();
  stdin.unpipe(messages);
  stdin.pause();
}

/** Starts the server for the era of the first message. The new era's SDK loads slowly, so only its clients load it. */
async function startServer(
  first: unknown,
  { core, actor }: StdioParts,
  transport: StdioTransport,
  subscriptions: Subscriptions,
): Promise<{ close(): Promise<void> }> {
  const onerror = (error: Error) => core.log.warn({ err: error }, 'mcp message not understood');
  if (isInitializeRequest(first)) {
    const server = createMcpServer(core, () => actor);
    server.onerror = onerror;
    await server.connect(transport);
    return server;
  }
  const [{ serveStdio: serveEras }, { createModernServer }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./server-2026.js'),
  ]);
  return serveEras(
    ({ era }) => {
      if (era === 'modern') {
        const server = createModernServer(core, actor);
        subscriptions.server = server;
        return server;
      }
      // The entry only calls `connect` and `close` of a server of the old era, and these are the same in both SDKs.
      return createMcpServer(core, () => actor) as unknown as Server;
    },
    // The transports of both SDKs have the same interface.
    { transport: transport as unknown as ModernTransport, onerror },
  );
}

/** Reads the first message without consuming it; undefined when the stream ends without one. */
function firstMessage(messages: Readable): Promise<JSONRPCMessage | undefined> {
  return new Promise((resolve) => {
    const look = () => {
      const first = messages.read() as JSONRPCMessage | null;
      if (first === null && !messages.readableEnded) return;
      messages.off('readable', look);
      messages.off('end', look);
      if (first !== null) messages.unshift(first);
      resolve(first ?? undefined);
    };
    messages.on('readable', look);
    messages.on('end', look);
  });
}

/** Subscriptions of a client of 2026-07-28. The SDK answers `subscriptions/listen` itself, without calling a handler. */
class Subscriptions {
  server: Server | undefined;
  readonly #core: McpCore;
  readonly #actor: Actor;
  readonly #stops = new Map<RequestId, () => void>();

  constructor(core: McpCore, actor: Actor) {
    this.#core = core;
    this.#actor = actor;
  }

  onIncomingMessage(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    const uris = subscribedUris(message);
    if (uris.length > 0 && 'id' in message) {
      const notify = (uri: string) => void this.server?.sendResourceUpdated({ uri }).catch(() => undefined);
      this.#stops.set(message.id, subscribeAll(this.#core.jobs, uris, this.#actor, notify));
    }
    if (message.method !== 'notifications/cancelled') return;
    const id = (message.params as { requestId?: RequestId } | undefined)?.requestId;
    if (id !== undefined) this.#stops.get(id)?.();
  }

  close(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }
}

function errorLine(id: RequestId | null, code: number, message: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`;
}

/** Tracks unanswered requests, so that a script may write its calls, close stdin and read the responses. */
class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onIncoming: ((message: JSONRPCMessage) => void) | undefined;
  readonly #messages: Readable;
  readonly #stdout: Writable;
  /** Ids of requests without a response. */
  readonly #open = new Set<RequestId>();
  #whenIdle: (() => void) | undefined;

  /** @param messages of the client, parsed; @param stdout receives our messages, one per line */
  constructor(messages: Readable, stdout: Writable) {
    this.#messages = messages;
    this.#stdout = stdout;
  }

  async start(): Promise<void> {
    this.#messages.on('data', this.#receive);
  }

  readonly #receive = (message: JSONRPCMessage): void => {
    // A subscription has no response while it is open.
    if ('method' in message && 'id' in message && message.method !== 'subscriptions/listen') this.#open.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled') this.#cancelled(message.params);
    const refused = refusedListen(message);
    if (refused !== undefined) return void this.send(refused);
    this.onIncoming?.(message);
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  };

  /** Resolves when the message is written; with a slow reader, when the stream accepts more. */
  async send(message: JSONRPCMessage): Promise<void> {
    const isTaken = this.#stdout.write(`${JSON.stringify(message)}\n`);
    if (!isTaken) await new Promise<void>((resolve) => void this.#stdout.once('drain', resolve));
    if (!('method' in message) && message.id !== undefined) this.#done(message.id);
  }

  async close(): Promise<void> {
    this.#messages.off('data', this.#receive);
    this.#messages.pause();
    this.onclose?.();
  }

  /** Resolves when every request is answered, after `ms`, or when `over` resolves. */
  async idle(ms: number, over: Promise<void>): Promise<void> {
    if (this.#open.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([idle, over]);
    clearTimeout(timer);
  }

  /** Cancels all open requests as their client would: closing the connection alone does not stop calls. */
  async cancelOpen(): Promise<void> {
    for (const requestId of [...this.#open]) {
      this.#receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** A cancelled request gets no response. */
  #cancelled(params: unknown): void {
    const id = (params as { requestId?: RequestId } | undefined)?.requestId;
    if (id !== undefined) this.#done(id);
  }

  #done(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenIdle?.();
  }
}
