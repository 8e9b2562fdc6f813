/** Reads facts from JSON-RPC messages that are not validated yet. Never throws. */

/** Whether a request asks for progress notifications. */
export function wantsProgress(message: unknown): boolean {
  const params = (message as { params?: { _meta?: { progressToken?: unknown } } } | null)?.params;
  return params?._meta?.progressToken !== undefined;
}

/** Whether a message names this method. */
export function hasMethod(message: unknown, method: string): boolean {
  return (message as { method?: unknown } | null)?.method === method;
}

/** The tool that runs an operation by its name. */
export const RUN_OPERATION = 'run-operation';

/** Name of the tool that a message calls, directly or through `run-operation`; undefined for any other message. */
export function calledTool(message: unknown): unknown {
  const { method, params } = (message ?? {}) as {
    method?: unknown;
    params?: { name?: unknown; arguments?: { operation?: unknown } | null } | null;
  };
  if (method !== 'tools/call') return undefined;
  return params?.name === RUN_OPERATION ? params.arguments?.operation : params?.name;
}

/** Id of the request that a message cancels; undefined for any other message. */
export function cancelledRequest(message: unknown): string | number | undefined {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  if (method !== 'notifications/cancelled') return undefined;
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
