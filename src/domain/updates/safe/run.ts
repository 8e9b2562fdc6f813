/**
 * Safe updates of one site: check, then for each item keep the old version, arm, update, check; at the end check
 * everything once more and settle. `apply` is the plain update without all this.
 */

import { randomUUID } from 'node:crypto';
import { siteWord } from '../../../../schemas/site-text.js';
import { type ErrorCode, ServiceError } from '../../../runtime/errors.js';
import type { Protection } from '../../../store/safety/changes.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import { installedExtensions } from '../../sites/inventory.js';
import type { LoadedSite } from '../../sites/load.js';
import type { SuspectPolicy } from '../params.js';
import { type ApplyError, type ApplyResult, failed, isUnseen, type Suspect, UPDATE_TYPES } from '../results.js';
import type { Sending } from '../send.js';
import { problemsOf } from './compare-health.js';
import { openGuard } from './find-guard.js';
import { inOrder } from './order.js';
import { lookBefore } from './probe.js';
import { isWeaker, protectionOf } from './protection.js';
import { holdBack } from './quarantine.js';
import { note, type SafeItem, type SafeRun, UNTRIED } from './safe-run.js';
import {
  close,
  failure,
  joined,
  lookAfter,
  NOTHING,
  type Settled,
  settleAll,
  settleBroken,
  settleFailed,
  switchedOff,
} from './settle.js';
import { disarm, keepOldVersion } from './snapshot.js';
import { isUnfinished, progressOf } from './unanswered-update.js';
import { settleOpen } from './unsettled.js';
import { isBad, type Verdict } from './verdict.js';

export interface SafeSettings {
  run_id: string;
  on_suspect: SuspectPolicy;
  /** Items with weaker protection are left unchanged. `core` is for WordPress itself and translations. */
  least: { extensions: Protection; core: Protection };
  paths: readonly string[];
}

export interface SafeResult extends ApplyResult {
  suspects: Suspect[];
}

export type Apply = (offers: readonly FleetOffer[], sending?: Partial<Sending>) => Promise<ApplyResult>;

/** The settings of the ordinary update operations. */
const BY_ITSELF: Omit<SafeSettings, 'run_id'> = {
  on_suspect: 'keep',
  least: { extensions: 'guard', core: 'none' },
  paths: [],
};

/**
 * The ordinary update of a site, made safe if it has a guard. Versions that broke another site are quarantined
 * everywhere. The caller holds the lock of the site.
 */
export async function applySafely(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  apply: Apply,
  runId: string,
): Promise<ApplyResult> {
  if (ctx.config.safe_updates === 'off') return apply(offers);
  const { passed, held, guarded } = await holdBack(ctx, target.site.id, offers);
  const refused = held.map(({ offer, reason }) => entry(target, offer, 'svc_version_quarantined', reason));
  const open = guarded && passed.length > 0 ? await openGuard(ctx, target) : null;
  if (open === null) {
    const result: ApplyResult = passed.length === 0 ? { updated: [], errors: [] } : await apply(passed);
    return { ...result, errors: [...result.errors, ...refused] };
  }
  const result = await runSafely(ctx, target, passed, apply, { ...BY_ITSELF, run_id: runId }, open.guard);
  return { ...result, errors: [...result.errors, ...refused] };
}

/**
 * A shorter wait for a site with a guard that is silent or in maintenance after the connection broke: half-finished
 * updates are rolled back.
 */
const GUARDED_WAIT_MS = 25_000;

/** Updates one item after the other, each protected. Throws if the site cannot be changed at all. */
export async function runSafely(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  apply: Apply,
  settings: SafeSettings,
  guard: SafeRun['guard'],
): Promise<SafeResult> {
  const wanted = (await settleOpen(ctx, target, guard)) > 0 ? await stillOffered(ctx, target, offers) : offers;
  const before = await lookBefore(ctx, target, settings.paths);
  const ill = [before.first, before.second].map(problemsOf);
  if (ill.every((findings) => findings.length > 0)) throw unhealthy(target, ill[1]?.map(({ what }) => what) ?? []);
  const { run_id: id, on_suspect, paths } = settings;
  const active = (await installedExtensions(ctx, target.site.id, 'plugin')).flatMap((one) =>
    one.active === 1 ? [one.slug] : [],
  );
  const run: SafeRun = { id, ctx, target, facts: { on_suspect, paths, before, active }, guard, open: [] };
  let result = NOTHING;
  try {
    // A second round is for items that were rolled back without being at fault.
    for (let round = inOrder(wanted), again = false; round.length > 0; again = true) {
      const part = await runRound(run, round, apply, settings);
      result = joined(result, part);
      round = again || !part.well ? [] : innocentOffers(wanted, part.innocent);
    }
  } catch (error) {
    return interrupted(run, result, error);
  }
  await ctx.store.safeChanges.forgetRuns();
  const { updated, errors, suspects } = result;
  return { updated, errors, suspects };
}

/** Those of the offers that still exist after an earlier run was settled. */
async function stillOffered(ctx: Ctx, target: LoadedSite, offers: readonly FleetOffer[]): Promise<FleetOffer[]> {
  const { offers: now } = await ctx.store.inventory.read(target.site.id);
  return offers.filter((offer) =>
    now.some(
      ({ type, slug, new_version }) => type === offer.type && slug === offer.slug && new_version === offer.new_version,
    ),
  );
}

async function runRound(
  run: SafeRun,
  offers: readonly FleetOffer[],
  apply: Apply,
  settings: SafeSettings,
): Promise<Settled> {
  let result = NOTHING;
  for (const [index, offer] of offers.entries()) {
    const part = await updateOne(run, offer, apply, settings);
    if (part === null) continue;
    result = joined(result, part);
    if (part.well) continue;
    const message = 'It was not tried: the site is unhealthy after the previous update.';
    for (const left of offers.slice(index + 1))
      result.errors.push(entry(run.target, left, 'svc_site_unhealthy', message));
    break;
  }
  return joined(result, await settleAll(run));
}

/** Null if the item stays open until the final check. */
async function updateOne(
  run: SafeRun,
  offer: FleetOffer,
  apply: Apply,
  settings: SafeSettings,
): Promise<Settled | null> {
  const { ctx, target } = run;
  const type = UPDATE_TYPES[offer.type] ?? 'plugin';
  const protection = await protectionOf(ctx, run.guard, offer);
  const least = type === 'plugin' || type === 'theme' ? settings.least.extensions : settings.least.core;
  if (isWeaker(protection, least)) return { ...NOTHING, errors: [unprotected(target, offer, protection)] };
  const item = await beginItem(run, offer, type, protection);
  const refusal = protection === 'guard' ? await protectedOrNot(run, item) : null;
  if (refusal !== null) return { ...NOTHING, errors: [refusal] };
  item.updated_at = ctx.clock.now();
  await note(run, item, { step: 'update', updated_at: item.updated_at });
  run.open.push(item);
  const seen: Promise<Verdict>[] = [];
  // The guard's snapshots are checked before the inventory is read: a hanging site would not return it for a minute.
  const isBroken = async () => {
    const look = lookAfter(run, item);
    seen.push(look);
    // A failed check says nothing about the update: it is reported below.
    return look.then(isBad, () => true);
  };
  const sending =
    protection === 'guard' ? { waitMs: GUARDED_WAIT_MS, isBroken, progress: () => progressOf(run, item) } : {};
  const { updated, errors, interrupted } = await apply([offer], sending);
  const early = await seen[0];
  if (interrupted === true) ctx.signal.throwIfAborted();
  item.unanswered = protection === 'guard' && early === undefined;
  item.applied = updated[0] ?? null;
  item.error = errors[0] ?? null;
  if (item.applied !== null && item.applied.new_version !== item.new_version) {
    item.new_version = item.applied.new_version;
    await note(run, item, { new_version: item.new_version });
  }
  if (item.error !== null && (!isUnseen(item.error.code) || (await isUnfinished(run)))) {
    const settled = await settleFailed(run, item);
    if (settled !== null) return settled;
  }
  return settleBroken(run, item, switchedOff(item) ?? early ?? (await lookAfter(run, item)));
}

/** An item whose turn has come, recorded before anything is done. */
async function beginItem(
  run: SafeRun,
  offer: FleetOffer,
  type: SafeItem['type'],
  protection: Protection,
): Promise<SafeItem> {
  const { ctx, target } = run;
  const { slug, name, current_version: old_version, new_version } = offer;
  const known = { slug, name, old_version, new_version, protection };
  const item: SafeItem = { ...UNTRIED, change: `change_${randomUUID()}`, type, ...known };
  const row = {
    id: item.change,
    run_id: run.id,
    site_id: target.site.id,
    position: await ctx.store.safeChanges.count(run.id),
    type: offer.type,
    ...known,
    step: 'snapshot' as const,
    started_at: ctx.clock.now(),
  };
  await ctx.store.safeChanges.add(row, JSON.stringify(run.facts));
  return item;
}

/** Null if the item is protected; otherwise the item is closed, with the site unchanged. */
async function protectedOrNot(run: SafeRun, item: SafeItem): Promise<ApplyError | null> {
  try {
    await keepOldVersion(run, item);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError) || run.ctx.signal.aborted || error.code === 'svc_cancelled') throw error;
    await disarm(run, item);
    await close(run, item, 'not_updated', [error.message]);
    return failure(run, item, error.code, error.message, []);
  }
}

/** Settled items are reported; open ones are settled by the job that continues, or by the schedule. */
function interrupted(run: SafeRun, result: Settled, error: unknown): SafeResult {
  const { ctx, target } = run;
  ctx.events.emit({ name: 'update.interrupted', site_id: target.site.id, facts: { run_id: run.id } });
  const cancelled = ctx.signal.aborted || (error instanceof ServiceError && error.code === 'svc_cancelled');
  if (!cancelled || result.updated.length + result.errors.length === 0) throw error;
  const { updated, errors, suspects } = result;
  return { updated, errors, suspects, interrupted: true };
}

function innocentOffers(offers: readonly FleetOffer[], items: readonly SafeItem[]): FleetOffer[] {
  return inOrder(
    offers.filter((offer) => items.some(({ type, slug }) => slug === offer.slug && type === UPDATE_TYPES[offer.type])),
  );
}

function unhealthy({ site }: LoadedSite, seen: readonly string[]): ServiceError {
  return new ServiceError(
    'svc_site_unhealthy',
    `Site ${site.id} is unhealthy, so it was not updated: it would be unclear what an update breaks. ${seen.join(' ')}`,
    {
      advice: 'Fix the site first; check-site-v1 shows its state.',
      data: { site_id: site.id, seen },
    },
  );
}

/** Why an item is left unchanged: its protection is too weak. */
export function unprotected(target: LoadedSite, offer: FleetOffer, protection: Protection): ApplyError {
  const what =
    protection === 'reinstall'
      ? 'could only be reinstalled from wordpress.org, while WordPress still starts'
      : 'could not be rolled back if it broke the site';
  return entry(
    target,
    offer,
    'svc_update_unprotected',
    `It was not updated: ${siteWord(offer.current_version)} ${what}. A lower least_protection updates it anyway.`,
  );
}

export function entry(
  target: LoadedSite,
  { type, slug }: Pick<FleetOffer, 'type' | 'slug'>,
  code: ErrorCode,
  message: string,
): ApplyError {
  return failed(target, UPDATE_TYPES[type] ?? 'plugin', slug, code, message);
}
