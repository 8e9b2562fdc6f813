/**
 * When a policy acts once more before its next time: where one site kept its updates from all others. A day later, that site's
 * word holds for that site alone, and another one is the first.
 */

import type { PolicyRow } from '../../store/policies/policies.js';
import type { Ctx } from '../context.js';
import { ONE_SITE_MS } from '../updates/safe/quarantine.js';
import { definitionOf } from './definition.js';
import { isDueAt } from './due.js';

/** What was quarantined everywhere for a day is released within the minute. */
const AFTER_MS = ONE_SITE_MS + 5 * 60_000;

/** Null: it does not. Once for each of its times: whatever keeps its updates a second time is not one site's word. */
export async function onceMoreAt(ctx: Ctx, policy: PolicyRow, zone: string): Promise<number | null> {
  const { state, plan_id, due_at } = policy;
  if ((state !== 'started' && state !== 'asked') || plan_id === null) return null;
  if (!isDueAt(definitionOf(policy).schedule, zone, due_at)) return null;
  const rollout = await ctx.store.rollouts.ofPlan(plan_id);
  if (rollout === undefined || rollout.settled_at === null || rollout.state === 'aborted') return null;
  return (await ctx.store.rollouts.isLeftForOneSite(rollout.id)) ? rollout.settled_at + AFTER_MS : null;
}
