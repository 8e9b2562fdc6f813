/** Permission of a caller: the read-only mode of the server and the rights of the login, judged and worded once for all ways in. */

import type { Actor, Right } from './actor.js';
import { ServiceError } from './errors.js';

/** Why a server in read-only mode refuses; undefined when it does not. */
export function readOnlyError(needs: Right, readOnly: boolean): ServiceError | undefined {
  if (!readOnly || needs === 'read') return undefined;
  return new ServiceError('svc_permission_denied', 'This server is read-only, so nothing can be changed through it.', {
    advice: 'Ask the operator to unset SITEFLEET_READ_ONLY.',
  });
}

/** Why a caller may not do what needs this right; undefined when it may. The error is `svc_permission_denied`. */
export function permissionError(actor: Actor, needs: Right, readOnly: boolean): ServiceError | undefined {
  const refused = readOnlyError(needs, readOnly);
  if (refused !== undefined || actor.rights.includes(needs)) return refused;
  return new ServiceError('svc_permission_denied', `This login lacks the right to ${needs}.`, {
    advice: `Use a login or key with the ${needs} permission.`,
  });
}

/** Throws `svc_permission_denied` unless the caller may do what needs this right. */
export function requirePermission(actor: Actor, needs: Right, readOnly: boolean): void {
  const error = permissionError(actor, needs, readOnly);
  if (error !== undefined) throw error;
}
