/** Which rights a caller may grant: only those they hold themselves. */

import { isPerson, type Right } from '../../runtime/actor.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

type Granting = Pick<Ctx, 'actor'> & { store: { users: Pick<Ctx['store']['users'], 'isAssistants'> } };

/** Throws `svc_rest_insufficient_permission` if the caller lacks one of the rights. */
export async function requireGrant({ actor, store }: Granting, rights: readonly Right[], field: string): Promise<void> {
  const who = actor.type === 'key' ? 'key' : 'login';
  const lacking = rights.find((right) => !actor.rights.includes(right));
  if (lacking !== undefined)
    throw new ServiceError('svc_rest_insufficient_permission', `This ${who} lacks the ${lacking} permission itself.`, {
      field,
      advice: `Grant only permissions that the calling ${who} has.`,
      data: { needed: lacking },
    });
  // Otherwise a program with the right could make itself a second login, to approve what it asked for with the first.
  if (
    rights.includes('approve') &&
    !(isPerson(actor) && (actor.id === null || !(await store.users.isAssistants(actor.id))))
  )
    throw new ServiceError(
      'svc_rest_insufficient_permission',
      'Only a person can grant the approve permission, or change who has it.',
      {
        field,
        advice: 'Log in on the page with a password that no assistant has used, or use the shell of the machine.',
        data: { needed: 'approve' },
      },
    );
}
