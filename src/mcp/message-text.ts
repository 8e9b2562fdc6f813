/**
 * Serializes messages to JSON. The list of tools is 90 KB and the same for every client with the same rights, so it is
 * serialized once: doing it for each response would be most of the cost of `tools/list`.
 */

import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';

/** Keyed by the list itself: the registry creates one for each set of rights. */
const texts = new WeakMap<object, string>();

/** Whether a message is the response to `tools/list`. */
export function isToolList(
  message: JSONRPCMessage,
): message is JSONRPCResultResponse & { result: { tools: object[] } } {
  return 'result' in message && Array.isArray(message.result.tools);
}

/** A message as JSON. */
export function messageText(message: JSONRPCMessage): string {
  if (!isToolList(message)) return JSON.stringify(message);
  const { tools } = message.result;
  let text = texts.get(tools);
  if (text === undefined) {
    text = JSON.stringify(tools);
    texts.set(tools, text);
  }
  const json = JSON.stringify({ ...message, result: { ...message.result, tools: [] } });
  // Quotes inside a string are escaped, so this can only be the member itself.
  return json.replace('"tools":[]', () => `"tools":${text}`);
}
