/** Who is behind a call: the user, whether logged in or through a key of the user's. */

import type { Ctx } from '../context.js';

/** The id of that user; null for a key of no user, the shell, and external access tokens. */
export async function userOfCaller({
  actor,
  store,
}: Pick<Ctx, 'actor'> & { store: { settings: Pick<Ctx['store']['settings'], 'ownerOfKey'> } }): Promise<number | null> {
  if (actor.type === 'user') return actor.id;
  return actor.type === 'key' && actor.id !== null ? store.settings.ownerOfKey(actor.id) : null;
}
