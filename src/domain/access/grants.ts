/** Which rights a caller may grant: only those they hold themselves. */

import { isPerson, type Right } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

/** Throws `svc_rest_insufficient_permission` if the caller lacks one of the rights. */
export function requireGrant({ actor }: Pick<Ctx, 'actor'>, rights: readonly Right[], field: string): void {
  const who = actor.type === 'key' ? 'key' : 'login';
  const lacking = rights.find((right) => !actor.rights.includes(right));
  if (lacking !== undefined)
    throw new ServiceError('svc_rest_insufficient_permission', `This ${who} lacks the ${lacking} permission itself.`, {
      field,
      advice: `Grant only permissions that the calling ${who} has.`,
      data: { needed: lacking },
    });
  // Otherwise a program with the right could make itself a second login, to approve what it asked for with the first.
  if (rights.includes('approve') && !isPerson(actor))
    throw new ServiceError('svc_rest_insufficient_permission', 'Only a person can grant the approve permission.', {
      field,
      advice: 'Log in on the page, or use the shell of the machine.',
      data: { needed: 'approve' },
    });
}
