/** Whether a WordPress is stored already, under whatever address: it answers at many, and calls itself by one. */

import type { Ctx } from '../context.js';
import { urlReference } from '../sites/urls.js';

/**
 * The ids of the stored sites whose address is what a child calls itself. What stored sites call themselves does not
 * count: a hostile one may call itself as any other, and would be sent calls signed with the key of that one.
 */
export async function otherRecords(ctx: Ctx, ownUrl: string | undefined): Promise<number[]> {
  const named = ownUrl === undefined ? null : urlReference(ownUrl);
  if (named === null) return [];
  const listed = await ctx.store.sites.candidates([], [named.url_key]);
  return listed.map(({ id }) => id);
}
