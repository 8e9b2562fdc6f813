/**
 * Watches updates that were kept, for a day: reads a few times what the guard of the site has recorded since. What a
 * check of ours confirms is rolled back as in the run itself; what only visitors have met is reported.
 */

import type { GuardFault, SiteGuard } from '../../../outbound/guard/guards.js';
import { ALONE, type Members } from '../../../runtime/cluster/members.js';
import { pooled } from '../../../runtime/pool.js';
import type { WatchedRow } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import { installedExtensions } from '../../sites/inventory.js';
import { type LoadedSite, loadSite, requireConnection } from '../../sites/load.js';
import { type Finding, NO_BASELINE } from './compare-health.js';
import { GUARD_FILE } from './find-guard.js';
import { close, emitHarm, rollBackBroken, versionNow } from './finish-items.js';
import { lookOnce } from './probe.js';
import { type Evidence, itemOf, nextLook, note, type SafeItem, type SafeRun } from './run-state.js';
import { syncAfterRollBack } from './sync-after-roll-back.js';
import { unlessBusy } from './unfinished.js';
import { findingOf, rumour } from './verify.js';

/** A call takes on no more sites after this. */
const LONGEST_RUN_MS = 60_000;
const AT_ONCE = 10;
/** Sites in sequence per slot before more are claimed. */
const STEPS = 5;
/** Longer than a roll-back takes: such a claim needs no renewal. */
const CLAIM_MS = 15 * 60_000;
/** Items of a site that are due within this time are looked at together. */
const TOGETHER_MS = 45_000;
/** When a site that is being worked on is looked at instead. */
const BUSY_MS = 60_000;
/** The guard records a repetition only this long after the error before. */
const REPEAT_MS = 11_000;
/** A slow import is not a broken plugin. While nothing is armed the guard does not tell these apart. */
const RESOURCES = /^(Allowed memory size|Out of memory|Maximum execution time)/;
const MAX_SUSPICIONS = 10;

/** A watched item with what was recorded about it since. */
interface Watched {
  row: WatchedRow;
  item: SafeItem;
  faults: GuardFault[];
}

/** Reads the records that are due, or this process's share of them. */
export async function watchUpdates(ctx: Ctx, members: Members = ALONE): Promise<string> {
  await members.join();
  const endsAt = ctx.clock.elapsed() + LONGEST_RUN_MS;
  let sites = 0;
  while (ctx.clock.elapsed() < endsAt) {
    ctx.signal.throwIfAborted();
    const slots = members.slots(AT_ONCE);
    if (slots === 0) break;
    const now = ctx.clock.now();
    const claim = now + CLAIM_MS;
    const rows = await ctx.store.safeChanges.claimWatched(claim, {
      lapsed: now - ctx.clock.steps(CLAIM_MS).forward,
      together: TOGETHER_MS,
      most: STEPS * slots,
      members: members.count(),
    });
    if (rows.length === 0) break;
    const ids = [...new Set(rows.map(({ site_id }) => site_id))];
    await pooled(ids, slots, (id) =>
      lookAtSite(
        ctx,
        id,
        rows.filter(({ site_id }) => site_id === id),
        claim,
      ),
    );
    sites += ids.length;
  }
  return `${sites} sites checked`;
}

async function lookAtSite(ctx: Ctx, siteId: number, rows: readonly WatchedRow[], claim: number): Promise<void> {
  // What a person has updated, rolled back or deleted is watched no longer.
  const present = rows.filter((row) => row.present === 1);
  let busy = false;
  if (present.length > 0)
    try {
      busy = !(await lookAt(ctx, await loadSite(ctx, siteId), present));
    } catch (error) {
      ctx.signal.throwIfAborted();
      ctx.log.info({ err: error, site_id: siteId }, 'updates of a site could not be looked at');
    }
  const now = ctx.clock.now();
  for (const row of rows) {
    const next = busy ? now + BUSY_MS : nextLook(row.settled_at ?? 0, now + TOGETHER_MS);
    await ctx.store.safeChanges.watchNext([row.id], claim, row.present === 1 ? next : null);
  }
}

/** False if the site is being worked on, and has to be looked at once more. */
async function lookAt(ctx: Ctx, target: LoadedSite, rows: readonly WatchedRow[]): Promise<boolean> {
  const { site } = target;
  if (site.suspended === 1 || site.disconnected === 1) return true;
  if (!(await ctx.store.guards.expected(site.id, GUARD_FILE))) return true;
  const guard = ctx.guards.of(requireConnection(target));
  const faults = await guard.faults(Math.min(...rows.map(keptSince)), { signal: ctx.signal });
  const late = faults.filter((fault) => rows.some((row) => isLate(fault, row)));
  if (late.length === 0) return true;
  const watched = rows.map((row) => ({
    row,
    item: itemOf(row, null),
    faults: late.filter((fault) => isItsOwn(fault, row)),
  }));
  const done = await unlessBusy(ctx, site.id, async (held) => {
    if ((await ctx.store.safeChanges.open(site.id)).length > 0) return null;
    return finishLook({ ...ctx, signal: AbortSignal.any([ctx.signal, held]) }, target, guard, watched, late);
  });
  return done !== null;
}

/** When the item was kept, in unix seconds of the site's clock. */
function keptSince(row: WatchedRow): number {
  const { settled_at, updated_at } = row;
  // It was armed right before it was updated.
  return (itemOf(row, null).faults_since ?? 0) + Math.floor(((settled_at ?? 0) - (updated_at ?? 0)) / 1000);
}

/** An error that did not occur before the update of an item, and occurred after that was kept. */
function isLate({ time, first, message, restored, waited }: GuardFault, row: WatchedRow): boolean {
  if (restored === row.snapshot) return true;
  // A look of another run may have met it for what it was refused.
  if (waited === 'refused') return false;
  return time >= keptSince(row) && first >= (itemOf(row, null).faults_since ?? 0) && !RESOURCES.test(message);
}

/** Such an error that lies in the item; for those of our looks, a frame of its stack may, too. */
function isItsOwn(fault: GuardFault, row: WatchedRow): boolean {
  const { kind, item, blames, restored } = fault;
  const { type, slug } = itemOf(row, null);
  const concerns = [restored, blames].includes(row.snapshot) || (kind === type && item === slug.split('/')[0]);
  return concerns && isLate(fault, row);
}

/** Looks at the site itself, twice if need be: what is met again is rolled back, the rest is told. */
async function finishLook(
  ctx: Ctx,
  target: LoadedSite,
  guard: SiteGuard,
  found: readonly Watched[],
  late: readonly GuardFault[],
): Promise<void> {
  const { met, findings } = await meetAgain(ctx, target, guard, found, late);
  const concerned = found.filter(({ item, faults }) => faults.length > 0 || met.has(item));
  const watched = await stillInstalled(ctx, target, guard, concerned);
  const [oldest] = watched;
  if (oldest === undefined) return;
  const active = (await installedExtensions(ctx, target.site.id, 'plugin')).filter((one) => one.active === 1);
  const facts = { on_suspect: 'keep' as const, paths: [], before: NO_BASELINE, active: active.map(({ slug }) => slug) };
  const unknown = { open: [], looked: new Set<string>(), ledger: null, outside: false };
  const run: SafeRun = { id: oldest.row.run_id, ctx, target, facts, guard, ...unknown };
  const restored = watched.filter(isRestored).map(({ item }) => item);
  const guilty = watched.filter(({ item }) => met.has(item) || restored.includes(item));
  for (const one of watched) if (!guilty.includes(one)) await tell(run, one);
  const newest = guilty.at(-1);
  if (newest === undefined) return;
  for (const { row } of guilty) await ctx.store.safeChanges.reopen(row, JSON.stringify(facts));
  run.open = guilty.map(({ item }) => item);
  const errors = guilty.flatMap(({ item, faults }) => met.get(item) ?? faults).map(findingOf);
  await rollBackBroken(
    run,
    newest.item,
    {
      ...{ broken: [...findings, ...errors], suspect: [], restored, rumours: [] },
      ...{ seen: findings.length > 0, blamed: [...met.keys()] },
    },
    { depth: 'full' },
  );
  // The site is healthy without them being rolled back.
  for (const item of run.open) await close(run, item, 'kept', []);
  await ctx.store.safeChanges.forgetRuns();
  ctx.log.info({ site_id: target.site.id, items: guilty.length }, 'a late failure of an update was rolled back');
}

const isRestored = ({ row, faults }: Watched) => faults.some((fault) => fault.restored === row.snapshot);

/**
 * Those that the site still has in this version: it may have been changed by hand since the last sync. A site that is
 * down cannot be synced; then the guard says it.
 */
async function stillInstalled(ctx: Ctx, target: LoadedSite, guard: SiteGuard, found: readonly Watched[]) {
  const inventory = await syncAfterRollBack(ctx, target);
  const installed: Watched[] = [];
  for (const one of found) {
    const version = await versionNow({ ctx, guard }, inventory, one.item);
    if (version === one.item.new_version || isRestored(one)) installed.push(one);
  }
  return installed;
}

/**
 * The errors of each item that our own looks have met: on pages twice, some seconds apart. A task of WordPress that has
 * run is not due at once again: there, the record and one look of ours are two.
 */
async function meetAgain(
  ctx: Ctx,
  target: LoadedSite,
  guard: SiteGuard,
  watched: readonly Watched[],
  late: readonly GuardFault[],
): Promise<{ met: Map<SafeItem, GuardFault[]>; findings: Finding[] }> {
  const since = Math.min(...watched.map(({ row }) => keptSince(row)));
  const tasks = late.some(({ cron }) => cron);
  const look = async (before: readonly GuardFault[]) => {
    const findings = await lookOnce(ctx, target, guard, tasks);
    const record = await guard.faults(since, { signal: ctx.signal });
    const ours = record.filter((fault) => isNewlyOurs(fault, before));
    return { findings, record, ours };
  };
  const ofItem = (faults: readonly GuardFault[], { row }: Watched) => faults.filter((fault) => isItsOwn(fault, row));
  const first = await look(late);
  const met = new Map<SafeItem, GuardFault[]>();
  if (!watched.some((one) => ofItem(first.ours, one).length > 0)) return { met, findings: [] };
  await ctx.clock.sleep(REPEAT_MS, ctx.signal);
  const second = await look(first.record);
  for (const one of watched) {
    const once = ofItem(first.ours, one);
    const again = once.filter(
      (fault) => fault.cron || ofItem(second.ours, one).some((repeated) => isSame(fault, repeated)),
    );
    if (again.length > 0) met.set(one.item, again);
  }
  return { met, findings: first.findings.length > 0 ? second.findings : [] };
}

/** Messages may name what differs from request to request. */
function isSame(a: GuardFault, b: GuardFault): boolean {
  return a.file === b.file && a.line === b.line;
}

/** It has ended a request of ours since it was recorded before. */
function isNewlyOurs(fault: GuardFault, before: readonly GuardFault[]): boolean {
  const { ours } = fault;
  return ours !== null && !before.some((known) => isSame(known, fault) && (known.ours ?? 0) >= ours);
}

/** Adds what only visitors have met to the suspicions about an update, and raises an alert for what is new. */
async function tell(run: SafeRun, { row, item, faults }: Watched): Promise<void> {
  const evidence = JSON.parse(row.evidence ?? '{}') as Evidence;
  const { suspect: known = [] } = evidence;
  const all = faults.map((fault) => (fault.ours === null ? rumour(fault) : findingOf(fault).what));
  const news = [...new Set(all)].filter((sentence) => !known.includes(sentence)).slice(0, MAX_SUSPICIONS);
  if (news.length === 0 || known.length >= MAX_SUSPICIONS) return;
  await note(run, item, { evidence: JSON.stringify({ ...evidence, suspect: [...known, ...news] }) });
  emitHarm(run, 'update.suspect', item, news);
}
