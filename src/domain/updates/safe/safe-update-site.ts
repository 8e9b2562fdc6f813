/** Plans or carries out safe updates of one site, with any level of protection (the operation safe-update-site). */

import type { safeUpdate } from '../../../../schemas/safety.js';
import type { z } from '../../../../schemas/zod.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { Protection } from '../../../store/safety/changes.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Begin } from '../../actions/handler.js';
import type { Ctx } from '../../context.js';
import { guidanceFor } from '../../guidance/guidance.js';
import { type LoadedSite, loadWritable, requireWritable } from '../../sites/load.js';
import type { SiteRef } from '../../sites/resolve.js';
import { inspectSite } from '../after-update.js';
import { allowedBy, type BackupFirst, backUpFirst, backupAhead, backupNotice } from '../backup-first.js';
import { checkedOf } from '../checked.js';
import { emitDeactivated, emitUpdated } from '../finish.js';
import { outcomeOfUpdates } from '../outcome.js';
import type { BegunUpdates, SafeUpdateSettings, UpdateParams } from '../params.js';
import { type Plan, planUpdates, refusal } from '../plan.js';
import {
  type Applied,
  type ApplyError,
  failed,
  isGuardable,
  type Look,
  TYPE_GROUPS,
  type TypeGroup,
} from '../results.js';
import { plannedOffers } from '../rollouts/turn.js';
import { runMember, updateOn } from '../runs/call.js';
import { onlyFailed } from '../runs/failed-items.js';
import { recorded, recordPlan } from '../runs/record.js';
import { isNamed, onlyShown } from '../shown-offers.js';
import { leftToTry } from './finished-run.js';
import { isBelow } from './looked-pages.js';
import { runSafely } from './update-items.js';

export interface SafeUpdateInput extends SafeUpdateSettings {
  types: readonly TypeGroup[];
  specific_items: readonly string[];
  dry_run: boolean;
}

export interface SafeUpdateAnswer extends z.output<ReturnType<typeof safeUpdate>> {
  errors: ApplyError[];
}

/**
 * Applies the available updates of a site. Items with less than `least_protection` are left unchanged and reported.
 * What is not done within the time of a direct call continues as a job, which the same call finds: reported in
 * `errors`, or thrown as `svc_still_running` if there is no partial result. A plan that is not finished in time is
 * given up.
 */
export async function safeUpdateSite(ctx: Ctx, ref: SiteRef, input: SafeUpdateInput): Promise<SafeUpdateAnswer> {
  const { types, specific_items, on_suspect, least_protection, dry_run } = input;
  const paths = input.paths.map(pathBelow);
  const target = await loadWritable(ctx, ref);
  const params: SafeUpdateParams = {
    types: types.map((group) => TYPE_GROUPS.indexOf(group)),
    specific_items: [...new Set(specific_items)].sort(),
    safe: { on_suspect, least_protection, paths },
  };
  if (dry_run) return planInTime(ctx, target, params);
  const { result, unfinished, run_id } = await updateOn(ctx, safeUpdateHandler, target.site, params);
  const { interrupted: _, look, ...done } = result;
  const answer = { ...done, ...checkedOf([look]), ...runMember({ run_id }) };
  if (unfinished === undefined) return answer;
  const open = failed(target, 'site', '', unfinished.code, unfinished.message);
  return { ...answer, errors: [...answer.errors, open] };
}

type SafeUpdateParams = UpdateParams & { safe: SafeUpdateSettings };

interface SafeUpdateResult extends SafeUpdateAnswer {
  interrupted?: boolean;
  look?: Look;
}

/** Runs the update; the handler of update jobs continues it. */
const safeUpdateHandler = recorded<SafeUpdateParams, SafeUpdateResult>({
  type: 'update',
  failure: 'svc_update_failed',
  run: updateSafely,
  interrupted: (result) => result.interrupted === true,
  outcomeOf: outcomeOfUpdates,
});

/** Updates a site under its lock. */
export async function updateSafely(
  ctx: Ctx,
  target: LoadedSite,
  params: SafeUpdateParams,
  begin?: Begin,
): Promise<SafeUpdateResult> {
  requireWritable(target);
  const { offers } = await offersOf(ctx, target, params);
  // What is never rolled back is left as it is anyway where more is asked for.
  const least = params.safe.least_protection;
  const meant = least === 'none' ? offers : offers.filter(({ type }) => isGuardable(type));
  const backup = await backUpFirst(ctx, target, meant, begin);
  return ctx.locks.exclusive(target.site.id, ctx.signal, (held) =>
    update({ ...ctx, signal: AbortSignal.any([ctx.signal, held]) }, target, params, { backup, begin }),
  );
}

/** A plan changes nothing, so there is nothing to continue when its time is up. */
async function planInTime(ctx: Ctx, target: LoadedSite, params: SafeUpdateParams): Promise<SafeUpdateAnswer> {
  const limit = ctx.clock.deadline(ctx.config.direct_call_ms);
  const signal = AbortSignal.any([ctx.signal, limit.signal]);
  try {
    return await ctx.locks.exclusive(target.site.id, signal, (held) =>
      update({ ...ctx, signal: AbortSignal.any([signal, held]) }, target, params, { backup: null }),
    );
  } catch (error) {
    if (!limit.signal.aborted || ctx.signal.aborted) throw error;
    throw new ServiceError(
      'svc_still_running',
      `The plan for site ${target.site.id} was not finished within the time limit of a call.`,
      {
        advice: 'Nothing was changed. Plan fewer items with specific_items, or try again later.',
        data: { site_id: target.site.id },
        cause: error,
      },
    );
  } finally {
    limit.clear();
  }
}

/** @param backup what was seen to first; null = only plan */
async function update(
  ctx: Ctx,
  target: LoadedSite,
  params: SafeUpdateParams,
  { backup: seenTo, begin }: { backup: BackupFirst | null; begin?: Begin | undefined },
): Promise<SafeUpdateResult> {
  const { on_suspect, paths } = params.safe;
  const dryRun = seenTo === null;
  const whole = await planOf(ctx, target, params);
  const backup = seenTo ?? (await backupAhead(ctx, target, whole));
  const plan = allowedBy(backup, target, whole);
  // A guard that could not be asked in time would look like no protection.
  ctx.signal.throwIfAborted();
  const planned = plan.steps.map(({ offer, type, protection }) => ({
    type,
    slug: offer.slug,
    name: offer.name,
    old_version: offer.current_version,
    new_version: offer.new_version,
    protection,
  }));
  const answer: SafeUpdateAnswer = {
    site_id: target.site.id,
    site_url: target.site.url,
    dry_run: dryRun,
    planned,
    updated: [],
    suspects: [],
    errors: plan.refused,
    notices: [...noticesOf(planned, plan.open?.hello.multisite === true), ...backupNotice(backup, plan)],
  };
  if (dryRun) return guided(ctx, answer);
  if (plan.steps.length === 0) return answer;
  const work: BegunUpdates = { offers: plan.steps.map(({ offer }) => offer) };
  begin?.(work);
  await recordPlan(ctx, target, plan, { backup });
  const result = await runSafely(ctx, target, plan.steps, { on_suspect, paths }, plan.open?.guard ?? null);
  const interrupted = result.interrupted === true;
  if (interrupted) emitUpdated(ctx, result.updated);
  const found = interrupted
    ? { updated: result.updated, errors: [] }
    : await inspectSite(ctx, target, result.updated, null);
  emitDeactivated(ctx, result.errors);
  const protectionFor = ({ type, slug }: Applied) =>
    planned.find((item) => item.type === type && item.slug === slug)?.protection ?? 'none';
  return {
    ...answer,
    updated: found.updated.map((item) => ({ ...item, protection: protectionFor(item) })),
    suspects: result.suspects,
    errors: [...plan.refused, ...result.errors, ...found.errors],
    ...(interrupted ? { interrupted } : {}),
    ...(result.look && { look: result.look }),
  };
}

/** With what to watch out for on the site. */
async function guided(ctx: Ctx, answer: SafeUpdateAnswer): Promise<SafeUpdateAnswer> {
  const guidance = await guidanceFor(ctx, [answer.site_id]);
  return guidance === undefined ? answer : { ...answer, guidance: guidance.lines };
}

/** Plans the update. Asks the guard and the archive, changes nothing. */
async function planOf(ctx: Ctx, target: LoadedSite, params: SafeUpdateParams): Promise<Plan> {
  const { offers, refused } = await offersOf(ctx, target, params);
  const plan = await planUpdates(ctx, target, offers, params.safe.least_protection);
  return { ...plan, refused: [...plan.refused, ...refused] };
}

/** The updates that are meant, and why what was named is not among them. */
async function offersOf(
  ctx: Ctx,
  target: LoadedSite,
  params: SafeUpdateParams,
): Promise<{ offers: FleetOffer[]; refused: ApplyError[] }> {
  const { types, specific_items: named, rollout } = params;
  if (rollout !== undefined) {
    const planned = await plannedOffers(ctx, target, rollout);
    const left = leftToTry(target, params, planned.offers);
    return { offers: left.offers, refused: [...planned.refused, ...left.refused] };
  }
  const wanted = (await ctx.store.updates.ofSites([target.site.id], types)).filter((offer) => isNamed(offer, params));
  const offers = await onlyFailed(ctx, params, wanted, target.site.id);
  const missing = named.filter((slug) => !offers.some((offer) => offer.slug === slug));
  const nothing = 'No update with this slug is on offer: it is up to date, ignored, or not installed.';
  const unknown = missing.map((slug) => refusal(target, { type: 1, slug }, 'svc_no_updates', nothing));
  const { offers: shown, refused } = onlyShown(target, params, offers);
  const left = leftToTry(target, params, shown);
  return { offers: left.offers, refused: [...left.refused, ...refused, ...unknown] };
}

function noticesOf(planned: readonly { protection: Protection }[], network: boolean): string[] {
  const has = (protection: Protection) => planned.some((item) => item.protection === protection);
  return [
    ...(has('reinstall')
      ? [
          'Items with protection "reinstall" can only be rolled back while WordPress still starts, to the copy on wordpress.org: changes made to their files are lost. A guard protects better: install-site-guard-v1.',
        ]
      : []),
    ...(has('none') ? ['Items with protection "none" cannot be rolled back; the site is only checked.'] : []),
    ...(network ? ['This site belongs to a network: changes affect all its sites, but only this one is checked.'] : []),
    ...(planned.length > 0 ? ['Changes that a new version makes in the database are not rolled back.'] : []),
  ];
}

/** A path below the site's own address, without the slash that it may begin with. */
function pathBelow(given: string, index: number): string {
  const path = given.replace(/^\/(?!\/)/, '');
  if (path !== '' && !/#|\\|\.\./.test(path) && isBelow(path)) return path;
  throw new ServiceError('svc_invalid_input', `paths[${index}] must be a path below the site's URL.`, {
    field: `paths[${index}]`,
    advice: 'Write "shop/cart/" for https://example.com/shop/cart/.',
  });
}
