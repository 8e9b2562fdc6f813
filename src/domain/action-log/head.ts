/** The end of the action log. */

import type { ChainHead } from '../../store/action-log/chain.js';
import type { Ctx } from '../context.js';

/** Who notes it elsewhere can tell later that nothing before it was cut off or changed. */
export async function logHead(ctx: Ctx): Promise<ChainHead | null> {
  const head = await ctx.store.actionLog.head();
  return head.id === 0 ? null : head;
}
