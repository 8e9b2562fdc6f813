/** Finishes the records of runs that a call or job left behind: its process died, or its caller gave up. */

import { isProcessGone } from '../../../runtime/cluster/process-id.js';
import type { Origin } from '../../../runtime/events.js';
import { FINISHED_LATER, keepOpen } from '../../connection/open-changes.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES } from '../results.js';

/** A call has ended this long after its time was up. */
const GRACE_MS = 60_000;

const MESSAGES = {
  skipped: 'It was not tried: the work was interrupted before its turn.',
  kept: 'It was installed; the work was interrupted before the site was checked.',
  unknown: `The work was interrupted during the update, so whether it took effect is unknown. ${FINISHED_LATER}`,
};

/** Run by the schedule. What a job is to finish, and the items of safe updates, are left to those who do. */
export async function finishAbandonedRuns(ctx: Ctx): Promise<number> {
  const { store, clock, config } = ctx;
  const now = clock.now();
  const longest = config.direct_call_ms + GRACE_MS;
  const before = now - longest - clock.steps(longest).forward;
  for (const { id, owner, started_at } of await store.updateRuns.openCalls())
    if (started_at < before || isProcessGone(owner)) await store.updateRuns.end(id, now);
  const left = await store.updateRuns.settle(now, MESSAGES);
  for (const { run_id, site_id, type, slug, name, old_version, new_version, state } of left) {
    const context = UPDATE_TYPES[type];
    if (state !== 'unknown' || context === undefined) continue;
    const run = await store.updateRuns.find(run_id);
    const events = run === undefined ? ctx.events : ctx.events.from(JSON.parse(run.origin) as Origin);
    const change = { context, action: 'updated' as const, slug, name, old_version, new_version };
    await keepOpen({ ...ctx, events }, site_id, [change]);
  }
  return left.length;
}
