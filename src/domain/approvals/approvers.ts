/** Decides who may approve: people, and keys that no assistant has used. */

import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';

type Who = Pick<Ctx, 'actor' | 'store'>;

/** Whether a caller may approve what others ask for. */
export async function isApprover(ctx: Who): Promise<boolean> {
  return (await whyNot(ctx)) === null;
}

/** Throws `svc_rest_insufficient_permission` unless the caller may approve. */
export async function requireApprover(ctx: Who): Promise<void> {
  const reason = await whyNot(ctx);
  if (reason === null) return;
  throw new ServiceError('svc_rest_insufficient_permission', reason, {
    advice: 'A person with the right to approve can do this on the page, or in the shell with "sitefleet approvals".',
    data: { needed: 'approve' },
  });
}

async function whyNot({ actor, store }: Who): Promise<string | null> {
  const { type, id, rights, via } = actor;
  if (!rights.includes('approve')) return 'This caller lacks the approve permission.';
  if (type === 'local' && via === 'cli') return null;
  // Over MCP and the run endpoint callers are programs, whatever they carry.
  if (via !== 'rest' || id === null) return 'Nothing can be approved through this way in.';
  if (type === 'user' && actor.session !== true)
    return 'A password sent by a program cannot approve: log in on the page.';
  if (type !== 'user' && type !== 'key') return 'This login cannot approve.';
  const { users, keys } = store;
  if (await (type === 'user' ? users : keys).isAssistants(id))
    return type === 'user'
      ? 'An assistant has logged in with the password of this user, or may have, so this user cannot approve until somebody else sets a new one.'
      : 'An assistant has used this key over MCP, so it can never approve.';
  return null;
}
