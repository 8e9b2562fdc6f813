/**
 * Encodes responses to `tools/list`. The list is 120 KB and the same for every client with the same rights, so its JSON is
 * encoded once: doing it for each response would be most of the cost.
 */

import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';

interface Encoded {
  elements: Buffer;
  /** The last response, and what it was made of: most clients ask under the same id. */
  json: string;
  response: Buffer<ArrayBuffer>;
}

/** By the list itself: the registry makes one for each set of rights. */
const encoded = new WeakMap<object, Encoded>();

/** Whether a message is the response to `tools/list`. */
export function isToolList(message: JSONRPCMessage): message is ToolListResponse {
  return 'result' in message && Array.isArray(message.result.tools);
}

type ToolListResponse = JSONRPCResultResponse & { result: { tools: object[] } };

const MEMBER = '"tools":[';

/** The response to `tools/list`, with `ending` after it. */
export function toolListBytes(response: ToolListResponse, ending = ''): Buffer<ArrayBuffer> {
  const { tools } = response.result;
  const json = JSON.stringify({ ...response, result: { ...response.result, tools: [] } }) + ending;
  const known = encoded.get(tools);
  if (known?.json === json) return known.response;
  const elements = known?.elements ?? Buffer.from(JSON.stringify(tools).slice(1, -1));
  // Quotes inside a string are escaped, so this can only be the member itself.
  const at = json.indexOf(MEMBER) + MEMBER.length;
  const bytes = Buffer.concat([Buffer.from(json.slice(0, at)), elements, Buffer.from(json.slice(at))]);
  encoded.set(tools, { elements, json, response: bytes });
  return bytes;
}
