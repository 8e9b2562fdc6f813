/** One MCP session over HTTP: the SDK's transport, with the form of the answer chosen per request. */

import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** What the SDK keeps per open answer; `resolveJson` only where the answer is plain JSON. */
type OpenStream = { resolveJson?: unknown };

/** Members of the SDK's class that it declares private, as of the pinned version. */
interface Internals {
  _enableJsonResponse: boolean;
  _requestToStreamMapping: Map<RequestId, string>;
  _streamMapping: Map<string, OpenStream>;
}

/**
 * The SDK decides once per session between JSON and an event stream. JSON costs a fifth less, but cannot carry progress,
 * so the choice belongs to the request. The SDK has no setting for that: its flag is set before each of the two places
 * that read it, both of which read it before they first wait. A test runs both forms at once in one session.
 */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  /** Handles a request whose body was parsed already; `stream` for an answer as events. */
  answer(request: Request, body: unknown, stream: boolean): Promise<Response> {
    this.#sdk._enableJsonResponse = !stream;
    // The SDK does not tell handlers that a client hung up: it hands on nothing of the request but this.
    const authInfo = { token: '', clientId: '', scopes: [], extra: { hangup: () => request.signal } };
    return this.handleRequest(request, { parsedBody: body, authInfo });
  }

  override async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const { relatedRequestId } = options;
    const id = 'method' in message ? relatedRequestId : message.id;
    const stream = id === undefined ? undefined : this.#sdk._requestToStreamMapping.get(id);
    const asJson = stream !== undefined && this.#sdk._streamMapping.get(stream)?.resolveJson !== undefined;
    this.#sdk._enableJsonResponse = asJson;
    await super.send(message, relatedRequestId === undefined ? undefined : { relatedRequestId });
    // The SDK forgets a finished event stream, but keeps a finished JSON answer until the session ends.
    const finished = id !== undefined && !this.#sdk._requestToStreamMapping.has(id);
    if (asJson && finished) this.#sdk._streamMapping.delete(stream);
  }

  /**
   * Ends the HTTP answer of a cancelled request. The protocol sends no result for it, which would leave the
   * request hanging until its client closes the connection.
   */
  async release(id: RequestId): Promise<void> {
    if (!this.#sdk._requestToStreamMapping.has(id)) return;
    await this.send({ jsonrpc: '2.0', id, error: { code: -32800, message: 'The request was cancelled.' } });
  }

  /** Requests that wait for their answer. */
  get pending(): number {
    return this.#sdk._requestToStreamMapping.size;
  }

  /** Whether a client is connected now, be it only to listen. */
  get connected(): boolean {
    return this.#sdk._streamMapping.size > 0;
  }

  get #sdk(): Internals {
    return this as unknown as Internals;
  }
}
