/** Retention: deletes records past their age. */

import { pruneLog } from '../action-log/verify.js';
import type { Ctx } from '../context.js';

const DAY_MS = 24 * 3_600_000;
/** Of runs of updates, with their receipts. */
export const RUN_DAYS = 180;
const KEPT_DAYS = { audits: 400, mail: 90, update_runs: RUN_DAYS, marks: 180 } as const;

/** Deletes old audits, mails, action log entries and changes made on sites; the latest result of each site stays regardless of age. */
export async function deleteExpired(ctx: Ctx): Promise<string> {
  const before = (days: number) => ctx.clock.now() - days * DAY_MS;
  const audits = await ctx.store.audits.prune(before(KEPT_DAYS.audits));
  const mails = await ctx.store.mail.prune(before(KEPT_DAYS.mail));
  const logged = before(ctx.config.log_days);
  const actions = (await pruneLog(ctx, logged)) + (await ctx.store.actionLog.pruneSiteChanges(logged));
  // With their evidence.
  await ctx.store.updateRuns.expire(before(KEPT_DAYS.update_runs));
  await ctx.store.safeChanges.expire(before(KEPT_DAYS.update_runs));
  await ctx.store.rollouts.expire(before(KEPT_DAYS.update_runs));
  await ctx.store.rolloutPlans.forgetVersions(before(KEPT_DAYS.update_runs));
  await ctx.store.marks.prune(before(KEPT_DAYS.marks));
  await ctx.store.inventory.forgetGone();
  await ctx.store.safeChanges.forgetRuns();
  return `${audits} audits, ${mails} mails, ${actions} actions deleted`;
}
