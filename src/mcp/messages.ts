/** Facts about JSON-RPC messages that were not validated yet. Never throws, whatever the message is. */

/** Whether a request asks for progress notifications. */
export function wantsProgress(message: unknown): boolean {
  const params = (message as { params?: { _meta?: { progressToken?: unknown } } } | null)?.params;
  return params?._meta?.progressToken !== undefined;
}

/** Name of the tool that a message calls; undefined for any other message. */
export function calledTool(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === 'tools/call' ? params?.name : undefined;
}

/** Id of the request that a message cancels; undefined for any other message. */
export function cancelledRequest(message: unknown): string | number | undefined {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  if (method !== 'notifications/cancelled') return undefined;
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
