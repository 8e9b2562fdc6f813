/** Starts the rollout of a plan: only with the digest that was shown, in its time, and once. */

import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../runtime/errors.js';
import type { PlanItem } from '../../../store/rollouts/plans.js';
import { loggedStep } from '../../action-log/step.js';
import { sentences } from '../../common/question.js';
import { type CoveredSites, type Ctx, originOf, withOperation } from '../../context.js';
import { guidanceFor, guidanceWords } from '../../guidance/guidance.js';
import { releasedAmong, releasedWords } from '../released.js';
import { UPDATE_TYPES } from '../results.js';
import { advance } from './advance.js';
import { protectionWords, risksWords, wavesWords } from './plan-words.js';
import { keysOf, protectionCounts, protectionOf, riskCounts, withRisks } from './risks.js';
import type { Rules } from './rules.js';

interface StartInput {
  plan_id: string;
  digest: string;
}

/** The operation that starts a plan. */
const START = 'svc/start-rollout-v1';
/** What a start changes. */
export const STARTING = { kind: 'rollouts', sites: 'planned' } as const;

/** What a start would do, with its risks, and what to watch out for, now. Throws as `startRollout`. */
export async function previewStart(ctx: Ctx, input: StartInput) {
  return (await withRisksNow(ctx, input)).view;
}

/** The same with the first updates, for a person who decides. */
export async function previewUpdates(ctx: Ctx, input: StartInput) {
  const { items, view } = await withRisksNow(ctx, input);
  return { ...view, ...firstUpdates(items) };
}

async function withRisksNow(ctx: Ctx, input: StartInput) {
  const { items, ...view } = await withProtection(ctx, input);
  const sites = [...new Set(items.map(({ site_id }) => site_id))];
  const { rolloutPlans } = ctx.store;
  const [down, held, released, guidance] = await Promise.all([
    rolloutPlans.down(sites),
    rolloutPlans.quarantined(),
    releasedAmong(ctx, items),
    guidanceFor(ctx, sites),
  ]);
  const risks = riskCounts(withRisks(items, { down, elsewhere: keysOf(held), before: keysOf(released) }));
  const words = [view.summary, protectionWords(view.protection), risksWords(risks), ...releasedWords(released)];
  if (guidance === undefined) return { items, view: { ...view, summary: sentences(...words), risks } };
  const summary = sentences(...words, ...guidanceWords(guidance));
  return { items, view: { ...view, summary, risks, guidance: guidance.lines } };
}

/** Updates that a person who decides is shown. */
const SHOWN = 200;

/**
 * The same as far as an approval is bound to it, with its first updates: which sites are down comes and goes. Throws as
 * `startRollout`.
 */
export async function plannedStart(ctx: Ctx, input: StartInput) {
  const { items, ...view } = await withProtection(ctx, input);
  const summary = sentences(view.summary, protectionWords(view.protection));
  return { ...view, summary, ...firstUpdates(items) };
}

/** The first updates of a plan, and how many more there are. */
function firstUpdates(items: readonly PlanItem[]): { would_update: object[]; more_updates?: number } {
  const would_update = items.slice(0, SHOWN).map(({ wave, site_id, type, slug, old_version, new_version }) => ({
    ...{ wave, site_id, type: UPDATE_TYPES[type] ?? '', slug, old_version, new_version },
  }));
  const more = items.length - would_update.length;
  return { would_update, ...(more > 0 && { more_updates: more }) };
}

/** Why a start would wait for a person; null: it would begin. */
export function startAhead(ctx: Ctx, { plan_id, digest }: StartInput): Promise<string | null> {
  const input = { plan_id, digest, confirm: true, dry_run: false };
  return ctx.foretell(withOperation(ctx, START), {
    ...{ title: 'Start a rollout', input, change: STARTING },
    plan: () => plannedStart(ctx, { plan_id, digest }),
    covers: () => sitesOfPlan(ctx, plan_id),
  });
}

/** The sites that a plan covers: all, if it was made of every site, even where some of them have nothing to be updated. */
export async function sitesOfPlan(ctx: Ctx, id: string): Promise<CoveredSites> {
  const { rolloutPlans } = ctx.store;
  const plan = await rolloutPlans.find(id);
  if (plan !== undefined && (JSON.parse(plan.rules) as Rules).every_site) return 'all';
  return [...new Set((await rolloutPlans.items(id)).map(({ site_id }) => site_id))];
}

/** With what protects each update now: a guard may have come or gone since it was planned. */
async function withProtection(ctx: Ctx, input: StartInput) {
  const { rollout_id, items: planned, ...view } = await viewOf(ctx, input);
  const guarded = await ctx.store.updatePlans.guarded();
  const items = planned.map((item) => ({ ...item, protection: protectionOf(item.type, item.site_id, guarded) }));
  const already_started = rollout_id !== undefined;
  const protection = protectionCounts(items);
  const bare = new Set(items.flatMap(({ site_id }) => (guarded.has(site_id) ? [] : [site_id])));
  return { ...view, items, dry_run: true, already_started, protection, unguarded_sites: bare.size };
}

/**
 * Starts the rollout; of several that start the same plan, all get the same one. Throws `svc_plan_not_found`,
 * `svc_plan_changed` and `svc_no_updates`.
 */
export async function startRollout(ctx: Ctx, input: StartInput) {
  const { items: _, ...view } = await viewOf(ctx, input);
  const id = `rollout_${randomUUID()}`;
  const { plan_id, digest } = input;
  const started_at = ctx.clock.now();
  const origin = JSON.stringify(originOf(ctx));
  const detail = `${view.updates} updates on ${view.sites} sites in ${view.waves} waves, plan ${digest}.`;
  const rollout = await loggedStep(
    ctx,
    { name: 'rollout.started', facts: { rollout_id: id, detail } },
    () => ctx.store.rollouts.start({ id, plan_id, digest, actor: ctx.actor.name, origin, started_at }),
    (started) => started?.id === id,
  );
  if (rollout === undefined || rollout.digest !== digest) throw planChanged();
  const ours = rollout.id === id;
  if (ours) {
    // It has started: what cannot be done at once is done by the schedule.
    await advance(ctx, id).catch((error: unknown) =>
      ctx.log.error({ err: error, rollout: id }, 'a rollout could not be advanced and will be tried again'),
    );
  }
  const { state } = (await ctx.store.rollouts.find(rollout.id)) ?? rollout;
  return { ...view, rollout_id: rollout.id, already_started: !ours, state };
}

async function viewOf(ctx: Ctx, { plan_id, digest }: StartInput) {
  const { rolloutPlans, rollouts } = ctx.store;
  const plan = await rolloutPlans.find(plan_id);
  if (plan === undefined) throw planNotFound();
  const known = await rollouts.ofPlan(plan_id);
  if (plan.digest !== digest || (known === undefined && plan.expires_at <= ctx.clock.now())) throw planChanged();
  const items = await rolloutPlans.items(plan_id);
  if (items.length === 0)
    throw new ServiceError('svc_no_updates', 'The plan has no updates. Nothing was started.', {
      field: 'plan_id',
      advice: 'Its left_out says why; plan again with other filters.',
    });
  const waves = new Map<number, Set<number>>();
  for (const { wave, site_id } of items) waves.set(wave, (waves.get(wave) ?? new Set()).add(site_id));
  const sizes = [...waves.values()].map((ids) => ({ sites: ids.size }));
  const sites = sizes.reduce((sum, wave) => sum + wave.sites, 0);
  const summary = wavesWords(items.length, sites, sizes, JSON.parse(plan.rules) as Rules);
  return { rollout_id: known?.id, items, summary, waves: sizes.length, sites, updates: items.length };
}

/** No plan that can be started has the id. */
export function planNotFound(): ServiceError {
  return new ServiceError('svc_plan_not_found', 'There is no plan with this id.', {
    field: 'plan_id',
    advice: 'Make it again with plan-updates-v1: plans are kept for a day.',
  });
}

function planChanged(): ServiceError {
  return new ServiceError(
    'svc_plan_changed',
    'The digest does not match the plan, or the plan has lapsed. Nothing was started.',
    { field: 'digest', advice: 'Make the plan again with plan-updates-v1, show it, and start it with its digest.' },
  );
}
