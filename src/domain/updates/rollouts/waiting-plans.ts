/** Plans that were made and not started: what each comes to, and discarding one. */

import type { waitingPlan } from '../../../../schemas/rollout.js';
import type { z } from '../../../../schemas/zod.js';
import { ServiceError } from '../../../runtime/errors.js';
import { timestampOf } from '../../../runtime/iso-time.js';
import type { Ctx } from '../../context.js';
import { UPDATE_TYPES } from '../results.js';
import { ITEMS } from './plan.js';
import { wavesWords } from './plan-words.js';
import type { Rules } from './rules.js';
import { planNotFound } from './start.js';

type Waiting = z.input<ReturnType<typeof waitingPlan>>;

/** Newest first, one page. Those of policies are not among them: they start by themselves, or are requests for approval. */
export async function listWaitingPlans(ctx: Ctx, page: number, perPage: number) {
  const { plans, total, waves, versions } = await ctx.store.rolloutPlans.waiting(ctx.clock.now(), ITEMS, page, perPage);
  const items = plans.map((plan): Waiting => {
    const own = waves.filter(({ plan_id }) => plan_id === plan.id);
    const most = versions.filter(({ plan_id }) => plan_id === plan.id);
    const sum = (of: 'sites' | 'updates') => own.reduce((all, wave) => all + wave[of], 0);
    const [sites, updates] = [sum('sites'), sum('updates')];
    return {
      ...{ plan_id: plan.id, digest: plan.digest, made_by: plan.maker_name },
      made_at: timestampOf(plan.created_at),
      expires_at: timestampOf(plan.expires_at),
      summary: wavesWords(updates, sites, own, JSON.parse(plan.rules) as Rules),
      ...{ sites, updates },
      waves: own.map(({ wave, sites, updates }) => ({ wave, sites, updates })),
      by_item: most.map(({ type, slug, new_version, sites }) => {
        return { type: UPDATE_TYPES[type] ?? ('plugin' as const), slug, new_version, sites };
      }),
      more_items: Math.max(0, (most[0]?.versions ?? 0) - ITEMS),
    };
  });
  return { items, total };
}

/**
 * Throws `svc_plan_not_found` also for one that has started its rollout, or belongs to a policy, and `svc_rest_conflict`
 * while a person is asked to let it start, or has.
 */
export async function discardPlan(ctx: Ctx, plan_id: string) {
  const outcome = await ctx.store.rolloutPlans.discard(plan_id, ctx.clock.now());
  if (outcome === 'unknown') throw planNotFound();
  if (outcome === 'discarded') return { plan_id };
  throw new ServiceError('svc_rest_conflict', 'A person was asked to let this plan start. Nothing changed.', {
    field: 'plan_id',
    advice: 'Have the request refused first, or let the plan lapse.',
  });
}
