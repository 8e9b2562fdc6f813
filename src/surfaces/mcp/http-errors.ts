/** Error responses of `/mcp` outside of the protocol: authentication, methods, unreadable bodies. */

import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asServiceError, errorBody, isOurFault, ServiceError } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import type { HttpEnv } from '../http/request-info.js';
import { challenges, type MetadataRules } from './challenge.js';

type McpContext = Context<HttpEnv>;

export const METHODS = ['GET', 'POST', 'DELETE'];

/** Error responses for requests that were refused before they reached `/mcp`, in the form that MCP clients understand. */
export const mcpEnvelope = {
  owns: (path: string) => path === '/mcp',
  wrap: (error: ServiceError) => Response.json(errorEnvelope(error), { status: error.status }),
};

function errorEnvelope(known: ServiceError): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32000, message: known.message, data: errorBody(known) } };
}

export function methodNotAllowed(method: string): ServiceError {
  return new ServiceError('rest_method_not_allowed', `${method} is not a method of /mcp.`, {
    advice: 'Use POST.',
    data: { allow: METHODS },
  });
}

/** An error as a JSON-RPC response, with the same error body as REST and the run endpoint in `data`. */
export function errorResponse(
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
  return c.json(errorEnvelope(known), known.status as ContentfulStatusCode);
}

export function rpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
