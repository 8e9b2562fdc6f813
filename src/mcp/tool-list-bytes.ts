/**
 * Encodes responses to `tools/list`. The list is 90 KB and the same for every client with the same rights, so its JSON is
 * encoded once: doing it for each response would be most of the cost.
 */

import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';

/** The elements of a list, keyed by the list itself: the registry makes one for each set of rights. */
const encoded = new WeakMap<object, Buffer>();

/** Whether a message is the response to `tools/list`. */
export function isToolList(message: JSONRPCMessage): message is ToolListResponse {
  return 'result' in message && Array.isArray(message.result.tools);
}

type ToolListResponse = JSONRPCResultResponse & { result: { tools: object[] } };

/** The response to `tools/list`, with `ending` after it. */
export function toolListBytes({ result, ...message }: ToolListResponse, ending = ''): Buffer<ArrayBuffer> {
  return withTools(JSON.stringify({ ...message, result: { ...result, tools: [] } }) + ending, result.tools);
}

const MEMBER = '"tools":[';

/** A response with `tools` put at the start of its list of tools. */
function withTools(json: string, tools: readonly object[]): Buffer<ArrayBuffer> {
  let bytes = encoded.get(tools);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(tools).slice(1, -1));
    encoded.set(tools, bytes);
  }
  // Quotes inside a string are escaped, so this can only be the member itself.
  const at = json.indexOf(MEMBER) + MEMBER.length;
  const rest = json.slice(at);
  const separator = rest.startsWith(']') || tools.length === 0 ? '' : ',';
  return Buffer.concat([Buffer.from(json.slice(0, at)), bytes, Buffer.from(separator + rest)]);
}

/** Lets an HTTP request put the list of tools into its response after the SDK has serialized the rest. */
export class DeferredTools {
  #tools: readonly object[] | undefined;
  #isOver = false;

  /** The list for the SDK to serialize: an empty one while the response can still be completed. */
  defer<T extends object>(tools: T[]): T[] {
    if (this.#isOver) return tools;
    this.#tools = tools;
    return [];
  }

  /** The response with the deferred list; unchanged when there is none. */
  async complete(response: Response): Promise<Response> {
    this.#isOver = true;
    if (this.#tools === undefined || !response.ok) return response;
    const { status, headers } = response;
    return new Response(withTools(await response.text(), this.#tools), { status, headers });
  }
}
