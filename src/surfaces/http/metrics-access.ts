/** Access to the metrics: with the token, or without a configured token from this machine only. */

import { ServiceError } from '../../runtime/errors.js';
import { sameText } from '../../runtime/same-text.js';
import { isLoopbackAddress, isLoopbackName } from './gate.js';

export interface MetricsRequest {
  authorization: string | undefined;
  /** Address at the other end of the connection. */
  peer: string;
  /** Host name of the request, without port. */
  host: string;
  /** A proxy forwarded the request, so the peer's address is not the client's. */
  forwarded: boolean;
}

/** Throws `svc_rest_authentication_error` or `svc_permission_denied`. */
export function requireMetricsAccess(token: string | null, request: MetricsRequest): void {
  if (token !== null) {
    const given = /^bearer\s+(.+)$/i.exec(request.authorization ?? '')?.[1] ?? '';
    if (sameText(given, token)) return;
    throw new ServiceError('svc_rest_authentication_error', 'The metrics require their own token.', {
      advice: 'Send the value of SITEFLEET_METRICS_TOKEN as a bearer token.',
    });
  }
  if (isLoopbackAddress(request.peer) && isLoopbackName(request.host) && !request.forwarded) return;
  throw new ServiceError('svc_permission_denied', 'Without a token, only this machine may read the metrics.', {
    advice: 'Set SITEFLEET_METRICS_TOKEN, and send it as a bearer token.',
  });
}
