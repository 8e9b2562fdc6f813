/** Answers of the run endpoint and of discovery: JSON, and errors as `{code, message, data: {status, …}}`. */

import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asServiceError, errorBody, ServiceError } from '../core/errors.js';
import type { HttpEnv } from '../http/request-info.js';

export type RunContext = Context<HttpEnv>;

/**
 * The error as an answer, with the headers that belong to its status. A missing login is not asked for by `WWW-Authenticate`
 * unless that is wanted, as in WordPress: a browser would prompt for one and send it along with what foreign pages ask.
 */
export function errorResponse(c: RunContext, error: unknown, challenge: boolean): Response {
  const known = asServiceError(error);
  if (challenge && known.status === 401) c.header('WWW-Authenticate', 'Basic realm="svc", charset="UTF-8"');
  if (typeof known.data.retry_after === 'number') c.header('Retry-After', String(known.data.retry_after));
  if (Array.isArray(known.data.allow)) c.header('Allow', known.data.allow.join(', '));
  return c.json(errorBody(known), known.status as ContentfulStatusCode);
}

/** No route of ours. `rest_no_route` is said without asking for a login: the shape of the API is no secret. */
export function noRoute(): ServiceError {
  return new ServiceError('rest_no_route', 'There is nothing at this address.', {
    advice: 'The list of operations is at /wp-json/wp-abilities/v1/abilities.',
  });
}

export function wrongMethod(sent: string, allowed: readonly string[]): ServiceError {
  return new ServiceError('rest_ability_invalid_method', `${sent} is not a method of this address.`, {
    advice: `Use ${allowed.join(' or ')}.`,
    data: { allow: allowed },
  });
}

export function invalidParam(name: string, reason: string): ServiceError {
  return new ServiceError('rest_invalid_param', `${name} ${reason}.`, {
    field: name,
    advice: `Change ${name} to fit.`,
    data: { params: { [name]: reason } },
  });
}

/** What an OPTIONS asks for: the methods of the address, the same whether or not the operation exists. */
export function routeDescription(c: RunContext, methods: readonly string[]): Response {
  c.header('Allow', [...methods, 'OPTIONS'].join(', '));
  return c.json({ namespace: 'wp-abilities/v1', methods, endpoints: [{ methods, args: {} }] });
}
