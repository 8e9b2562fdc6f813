/** What happens in the fleet, as it is told to who watches: by any process, because it is read from the database. */

import type { LiveChanges, LiveCursor } from '../../store/fleet/live-changes.js';
import type { Ctx } from '../context.js';

/** Reads what changed since a moment; without one, only what this moment is. */
export async function liveChanges(ctx: Ctx, cursor: LiveCursor | null): Promise<LiveChanges> {
  const now = ctx.clock.now();
  return ctx.store.liveChanges.since(cursor ?? (await ctx.store.liveChanges.cursor(now)), now);
}
