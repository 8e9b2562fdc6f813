/** Finishes safe updates that a process left open because it died, or because its caller gave up. */

import { siteWord } from '../../../../schemas/site-text.js';
import { ChildFailure } from '../../../outbound/child/port.js';
import type { SiteGuard } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { ChangeRow } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, loadSite } from '../../sites/load.js';
import { emitUpdated } from '../finish.js';
import { type ApplyError, UPDATE_TYPES } from '../results.js';
import { finishAbandonedRuns } from '../runs/abandoned.js';
import { NO_BASELINE } from './compare-health.js';
import { openGuard } from './find-guard.js';
import { close, finishAll, versionNow } from './finish-items.js';
import { ARMED_SECONDS, itemOf, type RunFacts, type SafeItem, type SafeRun } from './run-state.js';
import { disarm } from './snapshot.js';
import { syncAfterRollBack } from './sync-after-roll-back.js';
import { updateEnded } from './unanswered-update.js';

/** Maximum number of sites per run. */
const SITES = 200;
/** A site that is being worked on is left alone. */
const WAIT_MS = 1_000;
/** A site whose guard has not responded for this long is finished without it. */
const GIVE_UP_MS = 24 * 3_600_000;
/** So is one that answers, and gets nowhere: a rollout waits for it, and with it all other sites. */
const LONGEST_MS = 2 * 3_600_000;
/** After this time the guard acts no more, and a site differs from how it was before for other reasons than an update. */
const STALE_MS = ARMED_SECONDS * 1_000;
/** Steps before the update was sent: nothing was changed. */
const UNSENT: readonly string[] = ['snapshot', 'arm'];

/**
 * Finishes every open item of a site. The caller holds the lock of the site.
 * @returns how many there were, and the errors of those that failed
 */
export async function finishOpen(
  ctx: Ctx,
  target: LoadedSite,
  guard: SiteGuard | null,
): Promise<{ items: number; errors: ApplyError[] }> {
  const rows = await ctx.store.safeChanges.open(target.site.id);
  const errors: ApplyError[] = [];
  for (const runId of new Set(rows.map(({ run_id }) => run_id))) {
    const ofRun = rows.filter(({ run_id }) => run_id === runId);
    errors.push(...(await finishRun(ctx, target, guard, runId, ofRun)));
  }
  if (rows.length > 0) await ctx.store.safeChanges.forgetRuns();
  return { items: rows.length, errors };
}

async function finishRun(
  ctx: Ctx,
  target: LoadedSite,
  guard: SiteGuard | null,
  id: string,
  rows: readonly ChangeRow[],
): Promise<ApplyError[]> {
  const facts = await ctx.store.safeChanges.runFacts(id, target.site.id);
  if (facts === null) throw new Error(`The facts of run ${id} are missing.`);
  const stored = JSON.parse(facts) as RunFacts;
  const last = Math.max(...rows.map(({ started_at, updated_at }) => updated_at ?? started_at));
  const isStale = ctx.clock.now() - ctx.clock.steps(STALE_MS).forward - last > STALE_MS;
  const known = isStale ? { ...stored, before: NO_BASELINE, ledger: null } : stored;
  const { ledger = null } = known;
  const run: SafeRun = { id, ctx, target, facts: known, guard, open: [], looked: new Set(), ledger, outside: false };
  const unsent: SafeItem[] = [];
  for (const row of rows) (UNSENT.includes(row.step) ? unsent : run.open).push(itemOf(row, ledger));
  for (const item of unsent) {
    await disarm(run, item);
    await close(run, item, 'not_updated', ['The update was not sent: the work on it was interrupted before that.']);
  }
  for (const item of run.open) if (item.unanswered && item.protection === 'guard') await updateEnded(run, item);
  if (isStale) await leaveReplaced(run);
  const { errors } = await finishAll(run);
  const kept = (await ctx.store.safeChanges.ofRun(id, target.site.id)).filter(
    ({ id: change, outcome }) => outcome === 'kept' && rows.some((row) => row.id === change),
  );
  emitUpdated(
    ctx,
    kept.map((row) => ({ ...row, site_id: target.site.id, type: UPDATE_TYPES[row.type] ?? 'plugin' })),
  );
  ctx.log.info(
    { site_id: target.site.id, run: id, items: rows.length, rolled_back: errors.length },
    'an interrupted safe update was finished',
  );
  return errors;
}

/** What a person has installed since is not rolled back, whatever the site looks like. */
async function leaveReplaced(run: SafeRun): Promise<void> {
  const inventory = await syncAfterRollBack(run.ctx, run.target);
  for (const item of [...run.open]) {
    const version = await versionNow(run, inventory, item).catch((error: unknown) => {
      // A site that answers the greeting and nothing else must not keep its update open for ever.
      if (run.ctx.signal.aborted || !(error instanceof ChildFailure)) throw error;
      return null;
    });
    if (version === null || ['', item.old_version, item.new_version].includes(version)) continue;
    await disarm(run, item);
    await close(run, item, 'kept', [`${siteWord(version)} has been installed since the work was interrupted.`]);
    run.open = run.open.filter((one) => one !== item);
  }
}

/** Finishes what is open on a site before its work is resumed. */
export async function finishBeforeResume(ctx: Ctx, target: LoadedSite): Promise<void> {
  if ((await ctx.store.safeChanges.open(target.site.id)).length > 0)
    await ctx.locks.exclusive(target.site.id, ctx.signal, (held) => finishLocked(ctx, target, held));
}

async function finishLocked(ctx: Ctx, target: LoadedSite, held: AbortSignal): Promise<number> {
  const own: Ctx = { ...ctx, signal: AbortSignal.any([ctx.signal, held]) };
  // Such sites are not contacted. What was armed there expires.
  if (target.site.suspended === 1 || target.site.disconnected === 1) return 0;
  const [oldest] = await own.store.safeChanges.open(target.site.id);
  if (oldest === undefined) return 0;
  const givenUp = own.clock.now() - oldest.started_at > GIVE_UP_MS;
  const limit = own.clock.deadline(LONGEST_MS);
  const timed: Ctx = { ...own, signal: AbortSignal.any([own.signal, limit.signal]) };
  try {
    const open = await openGuard(timed, target).catch((error: unknown) => {
      // A guard that was removed manually does not come back.
      if (!givenUp || !(error instanceof ServiceError)) throw error;
      return null;
    });
    return (await finishOpen(timed, target, open?.guard ?? null)).items;
  } catch (error) {
    if (own.signal.aborted || !limit.signal.aborted) throw error;
    return (await finishOpen(own, target, null)).items;
  } finally {
    limit.clear();
  }
}

/**
 * Finishes what is open on any site, except those being worked on. Run by the schedule, and when a call is interrupted.
 */
export async function finishInterruptedRuns(ctx: Ctx): Promise<string> {
  const sites = await ctx.store.safeChanges.openSites(SITES);
  const ends = await Promise.all(sites.map((id) => finishSite(ctx, id)));
  await finishAbandonedRuns(ctx);
  return `${ends.filter((done) => done).length} of ${sites.length} finished`;
}

/** Works on a site under its lock; null if it is being worked on. */
export async function unlessBusy<T>(
  ctx: Ctx,
  siteId: number,
  work: (held: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const busy = ctx.clock.deadline(WAIT_MS);
  try {
    return await ctx.locks.exclusive(siteId, AbortSignal.any([ctx.signal, busy.signal]), (held) => {
      busy.clear();
      return work(held);
    });
  } catch (error) {
    if (busy.signal.aborted && !ctx.signal.aborted) return null;
    throw error;
  } finally {
    busy.clear();
  }
}

async function finishSite(ctx: Ctx, siteId: number): Promise<boolean> {
  try {
    const finished = await unlessBusy(ctx, siteId, async (held) =>
      finishLocked(ctx, await loadSite(ctx, siteId), held),
    );
    return finished !== null && finished > 0;
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!(error instanceof ServiceError && error.code === 'svc_cancelled'))
      ctx.log.warn({ err: error, site_id: siteId }, 'an interrupted safe update could not be finished yet');
    return false;
  }
}
