/** Refusals of `/mcp` before any protocol is spoken. */

import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asServiceError, errorBody, isOurFault, ServiceError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { HttpEnv } from '../http/request-info.js';
import { challenges, type MetadataRules } from './challenge.js';

type McpContext = Context<HttpEnv>;

export const METHODS = ['GET', 'POST', 'DELETE'];

/** A refusal that comes before the way in, as MCP clients understand it. */
export const mcpEnvelope = {
  owns: (path: string) => path === '/mcp',
  wrap: (error: ServiceError) => Response.json(refusalBody(error), { status: error.status }),
};

function refusalBody(known: ServiceError): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32000, message: known.message, data: errorBody(known) } };
}

export function methodRefused(method: string): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not a method of /mcp.`, {
    advice: 'Use POST.',
    data: { allow: METHODS },
  });
}

/** A refusal before any protocol: JSON-RPC for clients, with the facts of every other surface inside. */
export function refusal(
  c: McpContext,
  error: unknown,
  { core, metadata }: { core: { log: Log }; metadata: MetadataRules },
): Response {
  const known = asServiceError(error);
  const { request_id, base_url, authorization } = c.env.info;
  if (isOurFault(known)) core.log.error({ err: known.cause ?? known, request_id }, 'mcp endpoint failed');
  for (const challenge of challenges(known, metadata, base_url, authorization !== undefined))
    c.header('WWW-Authenticate', challenge, { append: true });
  if (known.status === 405) c.header('Allow', METHODS.join(', '));
  if (typeof known.data.retry_after === 'number') c.header('Retry-After', String(known.data.retry_after));
  return c.json(refusalBody(known), known.status as ContentfulStatusCode);
}

export function rpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
