/**
 * Messages as JSON. The list of tools is 90 KB and the same for every client with the same rights, so it is serialized once: for
 * each response anew, it would be most of what `tools/list` costs.
 */

import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';

/** By the list itself: the registry makes one for each set of rights. */
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
