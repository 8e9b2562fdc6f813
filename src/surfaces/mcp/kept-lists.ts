/**
 * Keeps responses to `tools/list` for identical requests. Every conversation of a stateless client begins with the same
 * one, and a list of 120 KB takes milliseconds to serialize and compress.
 */

import { createHash } from 'node:crypto';
import { dropOldest } from '../../runtime/drop-oldest.js';

/** Responses kept per list; the oldest goes first. */
const MOST = 8;
/** What the caller may do is in the list already. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

interface Kept {
  headers: Headers;
  body: ArrayBuffer;
}

export class KeptLists {
  /** By list: the registry has one for each set of rights, so no client is sent a response made for other rights. */
  readonly #kept = new WeakMap<object, Map<string, Kept>>();

  /**
   * The response to a request for `list`: a kept one if all headers but the credentials, and the body, are as in an
   * earlier request, otherwise that of `answer`.
   */
  async respond(list: object, request: Request, body: unknown, answer: () => Promise<Response>): Promise<Response> {
    const responses = this.#kept.get(list) ?? new Map<string, Kept>();
    this.#kept.set(list, responses);
    const headers = [...request.headers].filter(([name]) => !CREDENTIALS.has(name));
    const key = createHash('sha256')
      .update(JSON.stringify([headers, body]))
      .digest('base64');
    const known = responses.get(key);
    if (known !== undefined) return responseOf(known);
    const response = await answer();
    if (!response.ok || response.headers.get('content-type')?.startsWith('application/json') !== true) return response;
    const made = { headers: response.headers, body: await response.arrayBuffer() };
    responses.set(key, made);
    dropOldest(responses, MOST);
    return responseOf(made);
  }
}

function responseOf({ headers, body }: Kept): Response {
  return new Response(body, { headers });
}
