/**
 * The transport of one MCP session over HTTP (revisions up to 2025-11-25). The SDK's transport chooses between JSON and
 * an event stream once, but the choice belongs to each request: JSON costs a fifth less but cannot carry progress. So
 * every HTTP request gets its own SDK transport, as the SDK's stateless mode intends, and this class connects them to
 * one server.
 */

import { randomUUID } from 'node:crypto';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { rpcError } from './http-errors.js';

/** One HTTP request of the session. */
class Exchange {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** JSON-RPC requests in its body that have no response yet. */
  readonly unanswered = new Set<RequestId>();

  constructor(sessionId: string, enableJsonResponse: boolean) {
    this.transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse });
    this.transport.sessionId = sessionId;
  }
}

/** Id of the `initialize` request that restores a session; its response goes to no client. */
const RESTORING = 'sitefleet-restores-this-session';

export class SessionTransport implements Transport {
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  /** HTTP requests whose response is still open. */
  readonly #open = new Set<Exchange>();
  readonly #byRequest = new Map<RequestId, Exchange>();
  /** The GET that listens for messages outside of calls. */
  #listener: Exchange | undefined;
  #isClosed = false;
  /** Called when the server has answered the `initialize` request that restores the session. */
  #restored: (() => void) | undefined;
  /** The SDK counts its requests from 0 in every session, also in one that is restored. */
  readonly #asker = randomUUID();

  constructor(readonly sessionId: string) {}

  async start(): Promise<void> {}

  /** Restores the session: sends the server the `initialize` params of its client. */
  async restore(params: Record<string, unknown>): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#restored = resolve;
      this.onmessage?.({ jsonrpc: '2.0', id: RESTORING, method: 'initialize', params });
    });
    this.#restored = undefined;
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  /** Number of requests that wait for their response. */
  get pending(): number {
    return this.#byRequest.size;
  }

  /** Whether a client is connected now, even if only to listen. */
  get connected(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Handles a POST whose body is already parsed.
   * @param stream whether to respond with an event stream instead of JSON
   */
  async post(request: Request, body: unknown, stream: boolean): Promise<Response> {
    const exchange = this.#begin(!stream);
    exchange.transport.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message)) {
        exchange.unanswered.add(message.id);
        this.#byRequest.set(message.id, exchange);
      }
      const known = this.#ownAnswer(message);
      if (known !== undefined) this.onmessage?.(known, extra);
    };
    // This is how handlers learn that a client hung up: the SDK passes on nothing else of the request.
    const authInfo = { token: '', clientId: '', scopes: [], extra: { hangup: () => request.signal } };
    const response = await exchange.transport.handleRequest(request, { parsedBody: body, authInfo });
    return this.#deliver(exchange, response);
  }

  /** Handles the GET that listens to the session; one at a time. */
  async listen(request: Request): Promise<Response> {
    if (this.#listener !== undefined)
      return rpcError(409, -32000, 'Conflict: Only one SSE stream is allowed per session');
    const exchange = this.#begin(false);
    this.#listener = exchange;
    const response = await exchange.transport.handleRequest(request);
    return this.#deliver(exchange, response);
  }

  /** Handles the DELETE that ends the session. */
  async end(request: Request): Promise<Response> {
    const exchange = this.#begin(true);
    const response = await exchange.transport.handleRequest(request);
    this.#finish(exchange);
    if (!response.ok) return response;
    // Pending calls get an error, so that their clients stop waiting.
    for (const id of [...this.#byRequest.keys()]) await this.#answerInstead(id, 'The session was ended by its client.');
    await this.close();
    return response;
  }

  async #answerInstead(id: RequestId, message: string): Promise<void> {
    const refusal = { jsonrpc: '2.0' as const, id, error: { code: -32800, message } };
    await this.send(refusal).catch((error: unknown) => this.onerror?.(error as Error));
  }

  /** The message as the server expects it; undefined for an answer to a question that this transport did not put. */
  #ownAnswer(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return message;
    const [asker, id] = String(message.id).split(' ');
    if (asker === this.#asker) return { ...message, id: Number(id) };
    this.onerror?.(new Error('an answer to a question that this server has not asked'));
    return undefined;
  }

  /** An answer that comes late must not be one to another question: ids are those of this transport only. */
  #question(message: JSONRPCMessage): JSONRPCMessage {
    if (isJSONRPCRequest(message)) return { ...message, id: `${this.#asker} ${message.id}` };
    if (!('method' in message) || message.method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...message.params, requestId: `${this.#asker} ${message.params?.requestId}` } };
  }

  async send(sent: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
    const message = this.#question(sent);
    const isResponse = !('method' in message);
    if (isResponse && message.id === RESTORING && this.#restored !== undefined) return this.#restored();
    const id = isResponse ? message.id : relatedRequestId;
    if (id === undefined) {
      await this.#listener?.transport.send(message);
      return;
    }
    const exchange = this.#byRequest.get(id);
    if (exchange === undefined) throw new Error(`No connection established for request ID: ${String(id)}`);
    try {
      await exchange.transport.send(message, isResponse ? undefined : { relatedRequestId: id });
    } finally {
      if (isResponse) this.#answered(id, exchange);
    }
  }

  #answered(id: RequestId, exchange: Exchange): void {
    if (this.#byRequest.get(id) === exchange) this.#byRequest.delete(id);
    exchange.unanswered.delete(id);
    if (exchange.unanswered.size === 0) this.#finish(exchange);
  }

  /**
   * Ends the HTTP response of a cancelled request. The protocol sends no result for it, which would leave the
   * request hanging until its client closes the connection.
   */
  async release(id: RequestId): Promise<void> {
    if (!this.#byRequest.has(id)) return;
    await this.#answerInstead(id, 'The request was cancelled.');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { transport } of [...this.#open]) await transport.close();
    this.#open.clear();
    this.#byRequest.clear();
    this.#listener = undefined;
    this.onclose?.();
  }

  #begin(asJson: boolean): Exchange {
    const exchange = new Exchange(this.sessionId, asJson);
    exchange.transport.onerror = (error) => this.onerror?.(error);
    this.#open.add(exchange);
    return exchange;
  }

  #finish(exchange: Exchange): void {
    this.#open.delete(exchange);
    if (this.#listener === exchange) this.#listener = undefined;
  }

  /** Adds the session id to the response. An event stream counts as open until it ends or its client stops reading. */
  #deliver(exchange: Exchange, response: Response): Response {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (response.ok) response.headers.set('mcp-session-id', this.sessionId);
    if (!isStream || response.body === null) {
      this.#finish(exchange);
      return response;
    }
    return new Response(
      onEnd(response.body, () => this.#finish(exchange)),
      response,
    );
  }
}

/** The same stream; calls `ended` when it ends or its reader cancels. */
function onEnd(source: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      ended();
      controller.close();
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
}
