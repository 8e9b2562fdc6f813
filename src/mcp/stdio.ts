/** MCP over stdin and stdout. Nothing else may write to stdout while it runs. */

import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../context.js';

export interface StdioParts {
  server: Server;
  log: Log;
  /** Ends the service at once: calls in flight are cancelled. */
  signal: AbortSignal;
  stdin?: Readable;
  stdout?: Writable;
  /** After the end of stdin, calls in flight may still take this long. */
  drainMs?: number;
}

/** Serves until stdin ends, stdout breaks or the signal comes; then resolves. */
export async function serveStdio(parts: StdioParts): Promise<void> {
  const { server, log, signal, stdin = process.stdin, stdout = process.stdout } = parts;
  const transport = new CountingTransport(stdin, stdout);
  const ended = new Promise<'drain' | 'stop'>((resolve) => {
    stdin.once('end', () => resolve('drain'));
    stdin.once('close', () => resolve('drain'));
    // The client is gone: nobody reads what is still being made.
    stdout.on('error', () => resolve('stop'));
    if (signal.aborted) resolve('stop');
    signal.addEventListener('abort', () => resolve('stop'), { once: true });
    server.onclose = () => resolve('stop');
  });
  server.onerror = (error) => log.warn({ err: error }, 'mcp message not understood');
  await server.connect(transport);
  if ((await ended) === 'drain') await transport.idle(parts.drainMs ?? 10_000);
  await server.close();
}

/** Knows which requests are not answered yet, so that a script may write its calls, close stdin and read on. */
class CountingTransport extends StdioServerTransport {
  readonly #open = new Set<RequestId>();
  #whenIdle: (() => void) | undefined;

  /** The server has put its handler in place before it starts the transport. */
  override start(): Promise<void> {
    const handle = this.onmessage;
    this.onmessage = (message: JSONRPCMessage) => {
      if ('method' in message && 'id' in message) this.#open.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled') this.#cancelled(message.params);
      handle?.(message);
    };
    return super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!('method' in message) && 'id' in message && message.id !== undefined) this.#done(message.id);
  }

  /** Resolves when every request is answered, or after `ms`. */
  async idle(ms: number): Promise<void> {
    if (this.#open.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  /** A cancelled request gets no answer. */
  #cancelled(params: unknown): void {
    const id = (params as { requestId?: RequestId } | undefined)?.requestId;
    if (id !== undefined) this.#done(id);
  }

  #done(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenIdle?.();
  }
}
