/** Whether this process has to run the schedule: no other process does, and some work is waiting. */

import { ABANDONED_EVERY_MS } from '../../domain/connection/abandoned.js';
import type { Ctx } from '../../domain/context.js';
import { isScheduleOn, syncDueSince } from '../../domain/settings/effects.js';

/**
 * Read-only. Counts work left by a stopped process, jobs of this process, and due scheduled work, but not housekeeping.
 */
export async function isScheduleNeeded(ctx: Ctx): Promise<boolean> {
  const { store, clock } = ctx;
  const now = clock.now();
  if ((await store.leases.owner('schedule', now)) !== null) return false;
  if (!(await isScheduleOn(ctx))) return store.waitingWork.any(now, null);
  const { since } = await syncDueSince(ctx, now);
  return store.waitingWork.any(now, { synced: since, looked: now - ABANDONED_EVERY_MS });
}
