/**
 * Error responses (`{code, message, data: {status, …}}`) and OPTIONS responses of the run endpoint and of discovery.
 */

import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { asServiceError, errorBody, ServiceError } from '../../runtime/errors.js';
import type { HttpEnv } from '../http/request-info.js';

export type RunContext = Context<HttpEnv>;

/**
 * The response to an error, with the headers of its status. `WWW-Authenticate` is sent only with `challenge`, as in
 * WordPress: a browser would prompt for a login and then also send it with requests from pages of other sites.
 */
export function errorResponse(c: RunContext, error: unknown, challenge: boolean): Response {
  const known = asServiceError(error);
  if (challenge && known.status === 401) c.header('WWW-Authenticate', 'Basic realm="svc", charset="UTF-8"');
  if (typeof known.data.retry_after === 'number') c.header('Retry-After', String(known.data.retry_after));
  if (Array.isArray(known.data.allow)) c.header('Allow', known.data.allow.join(', '));
  return c.json(errorBody(known), known.status as ContentfulStatusCode);
}

/** The error for an unknown route. Also returned without a login: the paths of the API are not secret. */
export function noRoute(): ServiceError {
  return new ServiceError('rest_no_route', 'Nothing exists at this path.', {
    advice: 'The list of operations is at /wp-json/wp-abilities/v1/abilities.',
  });
}

/** 405 with the allowed methods. */
export function wrongMethod(sent: string, allowed: readonly string[]): ServiceError {
  return new ServiceError('rest_ability_invalid_method', `${sent} is not supported here.`, {
    advice: `Use ${allowed.join(' or ')}.`,
    data: { allow: allowed },
  });
}

/** 400 that names a query parameter and the reason it is invalid. */
export function invalidParam(name: string, reason: string): ServiceError {
  return new ServiceError('rest_invalid_param', `${name} ${reason}.`, {
    field: name,
    advice: `Change ${name} to fit.`,
    data: { params: { [name]: reason } },
  });
}

/** The response to OPTIONS: the methods of the address. */
export function routeDescription(c: RunContext, methods: readonly string[]): Response {
  c.header('Allow', [...methods, 'OPTIONS'].join(', '));
  return c.json({ namespace: 'wp-abilities/v1', methods, endpoints: [{ methods, args: {} }] });
}
