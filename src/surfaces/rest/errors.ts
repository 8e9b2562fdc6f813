/** Answers to failed calls: the body and headers of every error, not found among them (REST §2). */

import { errorBody, type ServiceError } from '../../runtime/errors.js';
import type { HeaderFields } from './respond.js';
import { errorInRoutes } from './route-names.js';

/** The response to an error, with the headers of its status. @param headers those that are already set */
export function failed(error: ServiceError, headers: HeaderFields): Response {
  if (error.status === 401) headers['www-authenticate'] = 'Bearer realm="svc"';
  if (typeof error.data.retry_after === 'number') headers['retry-after'] = String(error.data.retry_after);
  if (Array.isArray(error.data.allow)) headers.allow = error.data.allow.join(', ');
  headers['content-type'] = 'application/json';
  return new Response(JSON.stringify({ success: 0, ...errorInRoutes(errorBody(error)) }), {
    status: error.status,
    headers,
  });
}

/** Wraps errors for requests that are refused before they reach this way in. */
export const restEnvelope = {
  owns: (path: string) => path.startsWith('/v2/'),
  wrap: (error: ServiceError) => failed(error, {}),
};
