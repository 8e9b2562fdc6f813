/** The job handler of updates. */

import type { Earlier } from '../actions/handler.js';
import type { Ctx } from '../context.js';
import {
  type LoadedSite,
  requireContactable,
  requireNotOnTrial,
  requireVersion,
  siteCallError,
} from '../sites/load.js';
import { applyOffers } from './apply.js';
import { finishInterrupted } from './interrupted.js';
import { outcomeOfUpdates } from './outcome.js';
import type { BegunUpdates, UpdateParams } from './params.js';
import { type ApplyResult, failed, isHarm, UPDATE_TYPES } from './results.js';
import { isItsTurn, type plannedOffers } from './rollouts/turn.js';
import { onlyFailed } from './runs/failed-items.js';
import { recorded } from './runs/record.js';
import { finishedRun, leftToTry } from './safe/finished-run.js';
import { updateSafely } from './safe/safe-update-site.js';
import { finishBeforeResume } from './safe/unfinished.js';
import { isCancelled } from './send.js';
import { isNamed, onlyShown } from './shown-offers.js';

/** Matching updates as currently stored: a job may have waited since it was queued, or have run before. */
async function offersOf(ctx: Ctx, target: LoadedSite, params: UpdateParams): ReturnType<typeof plannedOffers> {
  const { id } = target.site;
  const offers = await ctx.store.updates.ofSite(id, params.types, params.even_ignored === true);
  const wanted = offers.filter((offer) => isNamed(offer, params));
  const shown = onlyShown(target, params, await onlyFailed(ctx, params, wanted, id));
  const left = leftToTry(target, params, shown.offers);
  return { offers: left.offers, refused: [...left.refused, ...shown.refused] };
}

/**
 * All matching updates of one site, after checking its state and version; core, plugins, themes, then translations
 * (operations §8.4 U2).
 */
export const updateHandler = recorded<UpdateParams, ApplyResult>({
  type: 'update',
  failure: 'svc_update_failed',
  // Copies, checks and pauses take their time on healthy sites, too.
  waitsAfterMs: 60_000,
  async run(ctx, target, { safe, ...params }, begin) {
    if (params.rollout !== undefined && !(await isItsTurn(ctx, target.site.id, params.rollout))) return NOTHING;
    if (safe !== undefined) {
      const result = await updateSafely(ctx, target, { ...params, safe }, begin);
      return { ...result, updated: result.updated.map(({ protection: _, ...item }) => item) };
    }
    requireNotOnTrial(target);
    requireContactable(target);
    requireVersion(target);
    const { offers, refused } = await offersOf(ctx, target, params);
    if (offers.length === 0) return { updated: [], errors: refused };
    const result = await applyOffers(ctx, target, offers, begin);
    return refused.length === 0 ? result : { ...result, errors: [...result.errors, ...refused] };
  },
  interrupted: (result) => result.interrupted === true,
  async resume(ctx, target, params, { begun, items }) {
    const { rollout } = params;
    if (rollout !== undefined && !(await isItsTurn(ctx, target.site.id, rollout))) return NOTHING;
    const work = begun === null ? null : (JSON.parse(begun) as BegunUpdates);
    // As available when the run was interrupted: finishing syncs the site, and another sync may have come first, after
    // which completed updates are no longer available.
    // A rollout writes each step down before it is taken: what it has begun needs no guess.
    const offers = rollout === undefined ? (work?.offers ?? (await offersOf(ctx, target, params)).offers) : [];
    const asked = offers.filter(({ type, slug }) => !isTold(items, UPDATE_TYPES[type], slug));
    // A site that an update has broken must be repaired before it can be synced.
    await finishBeforeResume(ctx, target);
    requireContactable(target);
    const finished = await finishedRun(ctx, target);
    const seen = finished === null && asked.length > 0 ? await finishInterrupted(ctx, target, asked) : null;
    if (seen?.silent === true) return seen;
    const before = finished ?? seen;
    const rest = await this.run(ctx, target, { ...params, past: before?.errors ?? [] }).catch((error: unknown) => {
      // Results of the previous run are still reported.
      if (before === null || before.updated.length + before.errors.length === 0 || isCancelled(error)) throw error;
      const { code, message } = siteCallError(error, target.site.id, 'svc_update_failed');
      return { updated: [], errors: [failed(target, 'site', '', code, message)] };
    });
    return before === null ? rest : joined(before, rest, items);
  },
  outcomeOf: outcomeOfUpdates,
});

/** Its turn in the rollout comes another time, or in another run. */
const NOTHING: ApplyResult = { updated: [], errors: [] };

function isTold(told: Earlier['items'], type: string | undefined, slug: string): boolean {
  return slug !== '' && told.some(({ facts }) => facts.type === type && facts.slug === slug);
}

/**
 * The results of an interrupted run and of the rest. What the call has reported is not repeated, and the harm of a version is
 * reported instead of why it is not tried since.
 * @param told what the call itself had reported
 */
function joined(before: ApplyResult, rest: ApplyResult, told: Earlier['items']): ApplyResult {
  const updated = before.updated.filter(({ type, slug }) => !isTold(told, type, slug));
  const errors = before.errors.filter(({ type, slug }) => !isTold(told, type, slug));
  const harmful = new Set(
    [...errors, ...told.map(({ facts }) => facts)].flatMap(({ type, slug, code }) =>
      isHarm(String(code)) ? [`${type} ${slug}`] : [],
    ),
  );
  const { look = before.look } = rest;
  return {
    ...rest,
    ...(look && { look }),
    updated: [...updated, ...rest.updated],
    errors: [...errors, ...rest.errors.filter(({ type, slug }) => !harmful.has(`${type} ${slug}`))],
    suspects: [...(before.suspects ?? []), ...(rest.suspects ?? [])],
  };
}
