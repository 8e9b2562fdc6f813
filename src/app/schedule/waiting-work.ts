/** Whether this process has to run the schedule: no other process does, and some work is waiting whose turn comes. */

import { ABANDONED_EVERY_MS } from '../../domain/connection/abandoned.js';
import type { Ctx } from '../../domain/context.js';
import { isScheduleOn, monitoringDefaults, syncDueSince } from '../../domain/settings/effects.js';
import { nextTime } from '../../runtime/clock.js';
import type { DueWork } from '../../store/jobs/waiting-work.js';
import { TURNS } from './turns.js';

const DUE = Object.keys(TURNS) as (keyof DueWork)[];

/**
 * Read-only. Counts work left by a stopped process, jobs of this process, and due scheduled work, but not housekeeping.
 * @param withinMs what is due counts from this long before the timetable has its turn
 */
export async function isScheduleNeeded(ctx: Ctx, withinMs: number): Promise<boolean> {
  const { store, clock } = ctx;
  const now = clock.now();
  if ((await store.leases.owner('schedule', now)) !== null) return false;
  if (await store.waitingWork.asked(now)) return true;
  const turns = DUE.filter((name) => nextTime(TURNS[name], now) <= now + withinMs);
  if (turns.length === 0 || !(await isScheduleOn(ctx))) return false;
  const { since } = await syncDueSince(ctx, now);
  const { active } = await monitoringDefaults(ctx);
  const due = await store.waitingWork.due(now, { synced: since, looked: now - ABANDONED_EVERY_MS }, active);
  return turns.some((name) => due[name]);
}
