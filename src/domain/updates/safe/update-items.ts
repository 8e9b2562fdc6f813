/**
 * Safe updates of one site: check it, then for each item keep the old version, arm, send, verify, read back and
 * classify; at the end verify once more and finish what is open.
 */

import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../../runtime/errors.js';
import type { Ctx } from '../../context.js';
import { installedExtensions } from '../../sites/inventory.js';
import type { LoadedSite } from '../../sites/load.js';
import { classify } from '../classify.js';
import { emitUpdated, finish, type TypeResult } from '../finish.js';
import { emitStarted, stopped } from '../install.js';
import type { SuspectPolicy } from '../params.js';
import { refusal, type Step } from '../plan.js';
import { readBack, UNREAD } from '../read-back.js';
import { type ApplyError, type ApplyResult, BROKE, isUnseen, type Suspect } from '../results.js';
import { send } from '../send.js';
import { problemsOf } from './compare-health.js';
import { forgetGone, pagesOfSite } from './find-pages.js';
import {
  close,
  type Finished,
  failure,
  finishAll,
  finishFailed,
  finishHarmful,
  joined,
  NOTHING,
  rollBackBroken,
  switchedOff,
  verifyQuickly,
} from './finish-items.js';
import { filesOfItems } from './item-files.js';
import { lookBefore, seenIn } from './look-at-pages.js';
import { isInside, plainPages } from './looked-pages.js';
import { ledgerBefore, lookOutside, takeLedger } from './outside.js';
import { checkBefore, checkMore, loadAdmin } from './probe.js';
import { furtherPages, note, type SafeItem, type SafeRun, UNTRIED, UNTRIED_ON_BROKEN } from './run-state.js';
import { isCovered, openSandbox, type Sandbox, unseenIn, workingOf } from './sandbox.js';
import { findShop, pagesOfShop, shopBefore } from './shop.js';
import { disarm, keepOldVersion } from './snapshot.js';
import { isUnfinished, progressOf } from './unanswered-update.js';
import { finishOpen } from './unfinished.js';
import { isBad, type Verification } from './verify.js';

export interface SafeSettings {
  on_suspect: SuspectPolicy;
  /** Further pages of the site to check. */
  paths: readonly string[];
}

export interface SafeResult extends ApplyResult {
  suspects: Suspect[];
}

/**
 * A shorter wait for a site with a guard that is silent or in maintenance after the connection broke: half-finished
 * updates are rolled back.
 */
const GUARDED_WAIT_MS = 25_000;

/**
 * Updates one item after the other, each protected as planned. Throws if the site cannot be changed at all. The caller
 * holds the lock of the site.
 */
export async function runSafely(
  ctx: Ctx,
  target: LoadedSite,
  steps: readonly Step[],
  { on_suspect, paths }: SafeSettings,
  guard: SafeRun['guard'],
): Promise<SafeResult> {
  const earlier = await finishOpen(ctx, target, guard);
  // How the site is now would pass for how it was before.
  const broke = earlier.errors.flatMap(({ code, message }) => (code === BROKE ? message : []));
  if (broke.length > 0) throw unhealthy(target, broke);
  const wanted = earlier.items > 0 ? await stillOffered(ctx, target, steps) : steps;
  const active = (await installedExtensions(ctx, target.site.id, 'plugin')).flatMap((one) =>
    one.active === 1 ? [one.slug] : [],
  );
  const sandbox = await openSandbox({ ctx, guard });
  const [pagesFound, shopFound] = await Promise.all([pagesOfSite(ctx, target), findShop(ctx, target, active)]);
  const others = [...pagesFound, ...pagesOfShop(shopFound)];
  const found = [...others, ...plainPages(others)];
  const outsideOf = (looks: Pick<Sandbox, 'pages'>) => found.filter((page) => !isCovered(page, looks));
  const pages = furtherPages({ paths, pages: [...outsideOf(sandbox), ...sandbox.pages] });
  const [checked, seen, { shop, unseen }] = await Promise.all([
    checkBefore(ctx, target, pages, guard),
    lookBefore(ctx, target, pages),
    shopBefore(ctx, target, shopFound),
  ]);
  await forgetGone(ctx, target, checked);
  const ill = [checked.first, checked.second].map((check) => problemsOf(check, pages));
  if (ill.every((findings) => findings.length > 0)) throw unhealthy(target, ill[1]?.map(({ what }) => what) ?? []);
  const ledger = await takeLedger({ ctx, guard });
  const inside = workingOf(sandbox, checked);
  const outside = outsideOf(inside);
  const compared = await checkMore(ctx, target, checked, outside);
  const items = wanted.map(({ type, offer: { slug } }) => ({ type, slug }));
  const before = { ...compared, files: await filesOfItems(ctx, target, compared, items) };
  const run: SafeRun = {
    id: ctx.run_id,
    ctx,
    target,
    facts: { on_suspect, paths, pages: [...outside, ...inside.pages], before, active, ledger, shop },
    guard,
    open: [],
    looked: new Set(),
    long: new Set(),
    ledger,
    outside: false,
    unseen: [...inside.unseen, ...unseen],
    openUntil: sandbox.openUntil,
    seen,
  };
  let result = NOTHING;
  try {
    // A second round is for items that were rolled back without being at fault.
    for (let round = wanted, again = false; round.length > 0; again = true) {
      const part = await runRound(run, round);
      result = joined(result, part);
      round = again || !part.healthy ? [] : innocentSteps(wanted, part.innocent);
    }
  } catch (error) {
    return interrupted(run, result, error);
  }
  await ctx.store.safeChanges.forgetRuns();
  const { updated, errors, suspects } = result;
  const looked = [...run.looked];
  return {
    updated,
    errors,
    suspects,
    ...(looked.length > 0 && {
      look: { pages: looked, compared: true, outside: run.outside, unseen: unseenIn(run), ...seenIn(run) },
    }),
  };
}

/** Those whose offers still exist after an earlier run was finished. */
async function stillOffered(ctx: Ctx, target: LoadedSite, steps: readonly Step[]): Promise<Step[]> {
  const { offers: now } = await ctx.store.inventory.read(target.site.id);
  return steps.filter(({ offer }) =>
    now.some(
      ({ type, slug, new_version }) => type === offer.type && slug === offer.slug && new_version === offer.new_version,
    ),
  );
}

async function runRound(run: SafeRun, steps: readonly Step[]): Promise<Finished> {
  let result = NOTHING;
  for (const [index, step] of steps.entries()) {
    run.ctx.progress({ done: index, total: steps.length, message: run.target.site.url });
    const part = await updateOne(run, step);
    if (part === null) continue;
    result = joined(result, part);
    if (part.healthy) continue;
    for (const { offer } of steps.slice(index + 1))
      result.errors.push(refusal(run.target, offer, 'svc_site_unhealthy', UNTRIED_ON_BROKEN));
    break;
  }
  run.ctx.progress({ done: steps.length, total: steps.length, message: run.target.site.url });
  return joined(result, await finishAll(run));
}

/** Null if the item stays open until the final check. */
async function updateOne(run: SafeRun, step: Step): Promise<Finished | null> {
  run.quick = undefined;
  const item = await beginItem(run, step);
  const refused = item.protection === 'guard' ? await protectedOrNot(run, item) : null;
  if (refused !== null) return { ...NOTHING, errors: [refused] };
  item.updated_at = run.ctx.clock.now();
  await note(run, item, { step: 'update', updated_at: item.updated_at });
  run.open.push(item);
  const { result, early } = await installOne(run, step, item);
  if (result.interrupted === true) run.ctx.signal.throwIfAborted();
  item.unanswered = item.protection === 'guard' && early === null;
  item.applied = result.updated[0] ?? null;
  item.error = result.errors[0] ?? null;
  if (item.applied !== null && item.applied.new_version !== item.new_version) {
    item.new_version = item.applied.new_version;
    await note(run, item, { new_version: item.new_version });
  }
  if (item.error !== null && (!isUnseen(item.error.code) || (await isUnfinished(run)))) {
    const finished = await finishFailed(run, item);
    if (finished !== null) return finished;
  }
  const seen = switchedOff(item) ?? early ?? (await verifyQuickly(run, item));
  return isBad(seen)
    ? rollBackBroken(run, item, seen, { depth: 'quick' })
    : finishHarmful(run, item, await lookOutside(run, item));
}

/** @returns `early`: what the site looked like once it had answered; null if it did not, or has no guard */
async function installOne(
  run: SafeRun,
  { offer, type }: Step,
  item: SafeItem,
): Promise<{ result: TypeResult; early: Verification | null }> {
  const { ctx, target } = run;
  const guarded = item.protection === 'guard';
  emitStarted(ctx, target, type, [offer]);
  const sent = await send(ctx, target, type, [offer]).catch((error: unknown) =>
    stopped(ctx, target, type, [offer], error),
  );
  if ('outcomes' in sent) return { result: await finish(ctx, target, type, sent, guarded), early: null };
  // Before the inventory is read: a broken site would not return it for a minute.
  const early = guarded && sent.call.failure === null ? await verifyQuickly(run, item) : null;
  const patience = guarded ? { waitMs: GUARDED_WAIT_MS, progress: () => progressOf(run, item) } : {};
  const bad = early !== null && isBad(early);
  const loaded = early !== null && !bad && run.facts.pages?.some(isInside) ? loadAdmin(ctx, target, run.guard) : null;
  const read = bad ? Promise.resolve(UNREAD) : readBack(ctx, target, sent, patience);
  const classified = await Promise.all([read, loaded])
    .then(([seen]) => classify(sent, seen))
    .catch((error: unknown) => stopped(ctx, target, type, [offer], error));
  return { result: await finish(ctx, target, type, classified, guarded), early };
}

/** An item whose turn has come, recorded before anything is done. */
async function beginItem(run: SafeRun, { offer, type, protection }: Step): Promise<SafeItem> {
  const { ctx, target } = run;
  const { slug, name, current_version: old_version, new_version } = offer;
  const known = { slug, name, old_version, new_version, protection };
  const item: SafeItem = { ...UNTRIED, change: `change_${randomUUID()}`, type, ...known, ledger: ledgerBefore(run) };
  const row = {
    id: item.change,
    run_id: run.id,
    site_id: target.site.id,
    position: await ctx.store.safeChanges.count(run.id, target.site.id),
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

/** Finished items are reported; open ones are finished by the job that continues, or by the schedule. */
function interrupted(run: SafeRun, result: Finished, error: unknown): SafeResult {
  const { ctx, target } = run;
  ctx.events.emit({ name: 'update.interrupted', site_id: target.site.id, facts: { run_id: run.id } });
  const cancelled = ctx.signal.aborted || (error instanceof ServiceError && error.code === 'svc_cancelled');
  if (!cancelled || result.updated.length + result.errors.length === 0) {
    emitUpdated(ctx, result.updated);
    throw error;
  }
  const { updated, errors, suspects } = result;
  return { updated, errors, suspects, interrupted: true };
}

function innocentSteps(steps: readonly Step[], items: readonly SafeItem[]): Step[] {
  return steps.filter((step) => items.some(({ type, slug }) => slug === step.offer.slug && type === step.type));
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
