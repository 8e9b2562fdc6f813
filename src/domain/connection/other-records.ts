/** Whether a WordPress is stored already, under whatever address: it answers at many, and calls itself by one. */

import type { Ctx } from '../context.js';
import { urlReference } from '../sites/urls.js';

/** The ids of the stored sites whose address, or whose own word for it, is what a child calls itself. */
export async function otherRecords(ctx: Ctx, ownUrl: string | undefined): Promise<number[]> {
  const named = ownUrl === undefined ? null : urlReference(ownUrl);
  if (ownUrl === undefined || named === null) return [];
  const [told, listed] = await Promise.all([
    ctx.store.sites.calling(ownUrl),
    ctx.store.sites.candidates([], [named.url_key]),
  ]);
  return [...new Set([...listed.map(({ id }) => id), ...told])];
}
