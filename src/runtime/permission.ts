/**
 * Permission of a caller: combines the server's read-only mode with the rights of the login, in one place for all ways
 * in.
 */

import type { Actor, Right } from './actor.js';
import { ServiceError } from './errors.js';

/** The error with which a server in read-only mode refuses; undefined if it does not refuse. */
export function readOnlyError(needs: Right, readOnly: boolean): ServiceError | undefined {
  if (!readOnly || needs === 'read') return undefined;
  return new ServiceError('svc_permission_denied', 'This server is read-only, so nothing can be changed through it.', {
    advice: 'Ask the operator to unset SITEFLEET_READ_ONLY.',
  });
}

/** The error for a caller who lacks this right, `svc_permission_denied`; undefined if they have it. */
export function permissionError(actor: Actor, needs: Right, readOnly: boolean): ServiceError | undefined {
  const refused = readOnlyError(needs, readOnly);
  if (refused !== undefined || actor.rights.includes(needs)) return refused;
  return new ServiceError('svc_permission_denied', `This login lacks the right to ${needs}.`, {
    advice: `Use a login or key with the ${needs} permission.`,
  });
}

/** Throws `svc_permission_denied` unless the caller has this right. */
export function requirePermission(actor: Actor, needs: Right, readOnly: boolean): void {
  const error = permissionError(actor, needs, readOnly);
  if (error !== undefined) throw error;
}
