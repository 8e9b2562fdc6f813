/** Live changes in the fleet, for subscribers: made by any process, because they are read from the database. */

import type { LiveChanges, LiveCursor } from '../../store/fleet/live-changes.js';
import type { Ctx } from '../context.js';

/** Reads what changed since a cursor; without one, returns only the current cursor. */
export async function liveChanges(ctx: Ctx, cursor: LiveCursor | null): Promise<LiveChanges> {
  const now = ctx.clock.now();
  return ctx.store.liveChanges.since(cursor ?? (await ctx.store.liveChanges.cursor(now)), now);
}
