/** What can be told of a JSON-RPC message before any SDK looks at it. Never throws, whatever the message is. */

export function wantsProgress(message: unknown): boolean {
  const params = (message as { params?: { _meta?: { progressToken?: unknown } } } | null)?.params;
  return params?._meta?.progressToken !== undefined;
}

/** Name of the tool that a message calls. */
export function calledTool(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === 'tools/call' ? params?.name : undefined;
}

/** Whether a message may be an `initialize` at all. */
export function isInitialize(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === 'initialize';
}

export function cancelledRequest(message: unknown): string | number | undefined {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  if (method !== 'notifications/cancelled') return undefined;
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CLAIM = 'io.modelcontextprotocol/protocolVersion';
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

interface Evident {
  method: string;
  meta: Record<string, unknown> | undefined;
}

/** A request of JSON-RPC that leaves no doubt of it; undefined where the SDK has to look, which it does with whole schemas. */
function evident(message: unknown): Evident | undefined {
  if (!isRecord(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string') return undefined;
  const { id, method, params } = message;
  if (!isId(id)) return undefined;
  for (const name in message) if (!MEMBERS.has(name)) return undefined;
  if (params !== undefined && !isRecord(params)) return undefined;
  const meta = params?._meta;
  return meta === undefined || isRecord(meta) ? { method, meta } : undefined;
}

/** Whether a message is a request and could not be anything else. */
export function isEvidentRequest(message: unknown): boolean {
  const request = evident(message);
  if (request?.meta === undefined) return request !== undefined;
  const { progressToken: token, [RELATED_TASK]: task } = request.meta;
  return task === undefined && (token === undefined || isId(token));
}

/**
 * The era of a request that leaves no doubt of it; undefined where the SDK has to look. Its own look is at the whole
 * message, three times over, and takes longer than a small answer.
 * @param version as the header of the request has it
 */
export function evidentEra(message: unknown, version: string | null): 'legacy' | 'modern' | undefined {
  const request = evident(message);
  if (request === undefined) return undefined;
  const { method, meta } = request;
  if (meta !== undefined && Object.hasOwn(meta, CLAIM)) {
    const claimed = meta[CLAIM] === FIRST_MODERN && version === FIRST_MODERN;
    return claimed && method !== 'initialize' ? 'modern' : undefined;
  }
  return isTimeless(meta) && version !== null && LEGACY.has(version) ? 'legacy' : undefined;
}

/** Whether there is nothing in it but what every revision knows. */
function isTimeless(meta: Record<string, unknown> | undefined): boolean {
  if (meta === undefined) return true;
  const { progressToken: token, ...others } = meta;
  return Object.keys(others).length === 0 && (!('progressToken' in meta) || isId(token));
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

const FIRST_MODERN = '2026-07-28';
const LEGACY: ReadonlySet<string> = new Set(['2025-11-25', '2025-06-18', '2025-03-26']);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
