/** Finishes items of a safe run: keeps what works, rolls back what broke the site, and records how each ended. */

import { siteSays, siteWord } from '../../../../schemas/site-text.js';
import type { Snapshot } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { ErrorCode } from '../../../runtime/errors.js';
import type { ChangeOutcome } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import { listOf } from '../../sites/inventory.js';
import type { LoadedSite } from '../../sites/load.js';
import { emitHarmful, emitUpdated } from '../finish.js';
import { type Applied, type ApplyError, BROKE, failed, isUnseen, type Suspect } from '../results.js';
import { clearBrokenCopies, clearCaches } from './clear-caches.js';
import type { Finding } from './compare-health.js';
import type { LedgerFinding } from './compare-ledgers.js';
import { keepPictures, lookAfter } from './look-at-pages.js';
import { lookOutsideAtEnd, mendOutside, type OutsideChange } from './outside.js';
import type { Depth } from './probe.js';
import { quarantine } from './quarantine.js';
import { type HowToRollBack, type Rollbacks, rollBackItem, rollBackUntilHealthy } from './roll-back-items.js';
import { type Evidence, nextLook, note, type SafeItem, type SafeRun } from './run-state.js';
import { shopAfter } from './shop.js';
import { disarm } from './snapshot.js';
import { syncAfterRollBack } from './sync-after-roll-back.js';
import { isBad, isBroken, type Rumour, type Verification, verificationOf, verify } from './verify.js';

export interface Finished {
  updated: Applied[];
  errors: ApplyError[];
  suspects: Suspect[];
  /** Items that were rolled back without being at fault: they may be updated again. */
  innocent: SafeItem[];
  /** False = the site does not work, whatever was tried: nothing more should be changed on it. */
  healthy: boolean;
}

/** Nothing was finished, and nothing speaks against the site. */
export const NOTHING: Finished = { updated: [], errors: [], suspects: [], innocent: [], healthy: true };

/** The quick check after one item. */
export async function verifyQuickly(run: SafeRun, item: SafeItem): Promise<Verification> {
  await note(run, item, { step: 'probe' });
  return verify(run, 'quick');
}

/**
 * A plugin that its update deactivated is broken, however well the pages look; null if it is active. One whose main
 * file was renamed is still there, and a user can activate it: that is reported, not rolled back.
 */
export function switchedOff({ protection, slug, error }: SafeItem): Verification | null {
  if (protection !== 'guard' || error?.code !== 'svc_activation_failed') return null;
  if (error.slug !== slug && (!slug.includes('/') || folderOf(error.slug) === folderOf(slug))) return null;
  return verificationOf([{ severity: 'broken', path: null, what: error.message }]);
}

/** `shop/` of `shop/shop.php`; the file of a plugin without a folder. */
function folderOf(slug: string): string {
  return slug.slice(0, slug.indexOf('/') + 1) || slug;
}

/** Plugins that were on after their update and have been deactivated since, by themselves or by what they scheduled. */
async function finishSwitchedOff(run: SafeRun): Promise<Finished> {
  let result = NOTHING;
  for (const item of run.open) {
    const { slug, protection, applied, error, ledger } = item;
    const was = protection === 'guard' && applied !== null && error === null && ledger?.active.includes(slug) === true;
    if (!was || run.ledger?.active.some((one) => folderOf(one) === folderOf(slug)) !== false) continue;
    const what = `The plugin ${siteWord(slug)} was deactivated some time after its update.`;
    const seen = verificationOf([{ severity: 'broken', path: null, what }]);
    result = joined(result, await rollBackBroken(run, item, { ...seen, seen: false }, { depth: 'full', only: true }));
  }
  return result;
}

/**
 * On a site whose pages work: null if what was changed besides the files of items is no harm, and what is open stays open.
 * Harm may show some time after the update that did it: of several open items, any may have.
 * @param item the newest one
 */
export async function finishHarmful(
  run: SafeRun,
  item: SafeItem,
  outside: readonly LedgerFinding[],
  depth: Depth = 'quick',
): Promise<Finished | null> {
  const harm = outside.filter(isBroken);
  const doubts = undoesDoubt(run, [item]) ? outside.filter(({ hearsay }) => hearsay !== true) : [];
  const reasons = harm.length > 0 ? harm : doubts;
  if (reasons.length === 0) return null;
  for (const one of run.open) one.outside = [...new Set([...one.outside, ...harm])];
  const restorable = run.open.filter(({ protection }) => protection !== 'none');
  const all = harm.length > 0 && restorable.length > 1 && (depth === 'full' || restorable.includes(item));
  const broken = reasons.map(({ what }): Finding => ({ severity: 'broken', path: null, what }));
  // The word of one site: it can hold the version back for itself only.
  return rollBackBroken(
    run,
    item,
    { ...verificationOf(broken), seen: false },
    { depth, suspect: harm.length === 0, all },
  );
}

/**
 * A failed update may have left nothing, or half of a version: anything but the old version is replaced by it. Null if
 * the site has the old version, and the item stays open; otherwise how it ended.
 */
export async function finishFailed(run: SafeRun, item: SafeItem): Promise<Finished | null> {
  const { guard, open } = run;
  if (guard === null || item.snapshot === null || item.applied !== null || item.error === null) return null;
  const result = await rollBackItem(run, item);
  if (result === 'already') return null;
  run.open = open.filter((one) => one !== item);
  await clearCaches(run.ctx, run.target);
  await syncAfterRollBack(run.ctx, run.target);
  const { error } = item;
  const old = siteWord(item.old_version);
  if (result === 'done') {
    const message = `${error.message} What it had installed was not ${old}: Sitefleet rolled back to that version.`;
    await close(run, item, 'rolled_back', [message], { by: 'sitefleet' });
    return { ...NOTHING, errors: [{ ...error, code: 'svc_update_failed', message, change_id: item.change }] };
  }
  const message =
    `${error.message} ${old} could not be restored: a person needs to look at it. ${siteSays(result.failed)}`.trim();
  await close(run, item, 'broken', [message]);
  return { ...NOTHING, errors: [failure(run, item, 'svc_update_broke_site', message, [message])] };
}

/** What cannot be rolled back is no broken site because something about it is doubtful. */
function undoesDoubt({ facts }: SafeRun, items: readonly SafeItem[]): boolean {
  return facts.on_suspect === 'roll_back' && items.some(({ protection }) => protection !== 'none');
}

/** The final check of a site: everything still open is kept or rolled back. */
export async function finishAll(run: SafeRun): Promise<Finished> {
  const newest = run.open.at(-1);
  if (newest === undefined) return NOTHING;
  const verification = await verifyAndLook(run);
  if (verification.broken.length + verification.restored.length > 0) {
    const part = await rollBackBroken(run, newest, verification, { depth: 'full' });
    await lookOutsideAtEnd(run);
    return joined(part, await keepAll(run, part.healthy ? [] : verification.broken, verification.rumours));
  }
  const doubtful = verification.suspect.filter(({ hearsay }) => hearsay !== true);
  if (doubtful.length > 0 && undoesDoubt(run, run.open)) {
    const part = await rollBackBroken(
      run,
      newest,
      { ...verification, broken: doubtful },
      { depth: 'full', suspect: true },
    );
    await lookOutsideAtEnd(run);
    return joined(part, await keepAll(run, [], verification.rumours));
  }
  const late = await lookOutsideAtEnd(run);
  // With several items open, a doubtful change is reported for each of them, and only harm is rolled back.
  const grave = run.open.length === 1 ? late : late.filter(isBroken);
  const harmed = joined((await finishHarmful(run, newest, grave, 'full')) ?? NOTHING, await finishSwitchedOff(run));
  return joined(harmed, await keepAll(run, verification.suspect, verification.rumours));
}

/** The final check, and meanwhile a look at the pages in a browser. */
async function verifyAndLook(run: SafeRun): Promise<Verification> {
  const unneeded = new AbortController();
  const looking = lookAfter(run, unneeded.signal);
  // Whether it is needed is known later.
  looking.catch(() => undefined);
  const verification = await verify(run, 'full').finally(() => run.ctx.signal.aborted && unneeded.abort());
  if (isBad(verification)) {
    unneeded.abort();
    return verification;
  }
  const again = run.seenAfter !== undefined;
  const [seenAfter, inShop] = await Promise.all([looking, shopAfter(run)]);
  run.seenAfter = seenAfter;
  run.shopDoubtful = inShop.first.length > 0;
  run.doubtful = seenAfter.doubtful;
  await keepPictures(run, again);
  if (run.shopDoubtful) {
    const now = await verify(run, 'full');
    const met = inShop.first.filter(isBroken);
    if (isBad(now)) return { ...now, broken: [...now.broken, ...met], seen: now.seen || met.length > 0 };
  }
  const findings = [...seenAfter.findings, ...inShop.findings];
  const broken = findings.filter(isBroken);
  const suspect = [...verification.suspect, ...findings.filter((finding) => !isBroken(finding))];
  return { ...verification, broken, suspect };
}

export function joined(a: Finished, b: Finished): Finished {
  return {
    updated: [...a.updated, ...b.updated],
    errors: [...a.errors, ...b.errors],
    suspects: [...a.suspects, ...b.suspects],
    innocent: [...a.innocent, ...b.innocent],
    healthy: a.healthy && b.healthy,
  };
}

/**
 * Rolls items back, newest first, until the site is healthy, and quarantines the one at fault; or all of them, if any may be.
 * @param item the one after which the site was seen to be broken
 */
export async function rollBackBroken(
  run: SafeRun,
  item: SafeItem,
  verification: Verification,
  how: HowToRollBack,
): Promise<Finished> {
  const { depth, suspect = false, all = false, only = false } = how;
  // If this item cannot be rolled back, rolling back others does not help.
  const candidates = only ? [item] : depth === 'quick' && item.protection === 'none' ? [] : run.open.toReversed();
  const rollbacks = await rollBackUntilHealthy(run, candidates, verification.restored, how);
  const copies = rollbacks.guilty === null ? [] : await clearBrokenCopies(run);
  // The updates are available again with the old versions. The site reports which ones.
  const inventory = await syncAfterRollBack(run.ctx, run.target);
  const told = toldOf(rollbacks.outside);
  const known = verification.broken.flatMap(({ what }) =>
    rollbacks.outside.some((one) => one.what === what) ? [] : what,
  );
  const seen = [...new Set([...known.slice(0, 10), ...copies, ...told])].slice(0, 20);
  if (all) seen[0] = `One of ${rollbacks.items.length + rollbacks.failures.length} updates did this: ${seen[0]}`;
  const result: Finished = { ...NOTHING, updated: [], errors: [], innocent: [], healthy: rollbacks.guilty !== null };
  const at = rollbacks.guilty ?? (all ? rollbacks.failures[0]?.item : null) ?? item;
  // Before finishing: a process that dies in between must not leave the version released.
  const proof = { seen: verification.seen, in_its_file: verification.seen && verification.blamed.includes(at) };
  const held = all ? rollbacks.items : rollbacks.guilty === null || suspect ? [] : [rollbacks.guilty];
  for (const one of held) await quarantine(run, one, seen.length > 0 ? seen : [GUARD_ACTED], proof);
  for (const one of rollbacks.items) {
    if (one === at) continue;
    if (rollbacks.guilty === null || all) result.errors.push(await rolledBack(run, one, rollbacks, seen, inventory));
    else {
      if (one.applied !== null) emitUpdated(run.ctx, [one.applied]);
      await close(run, one, 'rolled_back', [WITHOUT_FAULT], { by: 'sitefleet', without_fault: true });
      result.innocent.push(one);
    }
  }
  if (rollbacks.guilty === null) result.errors.push(await brokeSite(run, at, rollbacks, seen));
  else result.errors.push(await rolledBack(run, at, rollbacks, seen, inventory));
  run.open = run.open.filter((one) => one !== at && !rollbacks.items.includes(one));
  return result;
}

/** What became of each change besides the files of an item that was rolled back. */
function toldOf(changes: readonly OutsideChange[]): string[] {
  return changes.map(({ what, undone }) => `${what} That was ${undone ? '' : 'not '}undone.`);
}

const WITHOUT_FAULT = 'It was rolled back together with another item, without being at fault.';
const STOPPED = 'It broke a site. Its roll-back was interrupted, and finished later.';
const STOPPED_BEFORE = 'The update was interrupted before it took effect.';
const GUARD_ACTED = "The site's guard recorded a fatal error in it.";

async function rolledBack(
  run: SafeRun,
  item: SafeItem,
  rollbacks: Rollbacks,
  seen: readonly string[],
  inventory: Snapshot | null,
): Promise<ApplyError> {
  const by = rollbacks.by_guard.includes(item) ? 'guard' : 'sitefleet';
  const healthyAfter =
    rollbacks.guilty === null ? null : run.ctx.clock.now() - (item.updated_at ?? run.ctx.clock.now());
  const reported = item.protection === 'reinstall' ? versionIn(inventory, item) : item.old_version;
  const back =
    reported === item.old_version
      ? `${by === 'guard' ? "The site's guard rolled back to" : 'Sitefleet rolled back to'} ${siteWord(item.old_version)}`
      : `Sitefleet had ${siteWord(item.old_version)} reinstalled, but the site reports ${siteWord(reported ?? 'none')}`;
  const state =
    healthyAfter === null
      ? 'the site is still unhealthy.'
      : `the site was healthy again ${seconds(healthyAfter)} after the update.`;
  emitInstalled(run, item, 'svc_update_rolled_back');
  await close(run, item, 'rolled_back', seen, { by, well_after_ms: healthyAfter });
  const or = rollbacks.all ? ', or another that came with it,' : '';
  const message =
    `Version ${siteWord(item.new_version)}${or} broke the site. ${back}; ${state} ${seen.join(' ')}`.trim();
  return failure(run, item, 'svc_update_rolled_back', message, seen);
}

async function brokeSite(
  run: SafeRun,
  item: SafeItem,
  rollbacks: Rollbacks,
  seen: readonly string[],
): Promise<ApplyError> {
  const reasons = rollbacks.failures.map(
    ({ item: one, message }) => `${siteWord(one.slug)} could not be rolled back. ${siteSays(message)}`,
  );
  const tried =
    rollbacks.items.length > 0
      ? `Rolling back ${rollbacks.items.map(({ slug }) => siteWord(slug)).join(', ')} did not help.`
      : item.protection === 'none'
        ? 'There is nothing to roll back to.'
        : '';
  const sentences = [...seen, ...reasons];
  await close(run, item, 'broken', sentences);
  emitInstalled(run, item, BROKE);
  emitHarm(run, 'update.broke_site', item, sentences);
  const message = `After the update to ${siteWord(item.new_version)} the site is unhealthy. ${tried} A person needs to look at it. ${sentences.join(' ')}`;
  return failure(run, item, 'svc_update_broke_site', message.replace(/\s+/g, ' ').trim(), sentences);
}

/** Keeps everything that is open. */
async function keepAll(run: SafeRun, suspect: readonly Finding[], rumours: readonly Rumour[]): Promise<Finished> {
  const result: Finished = { ...NOTHING, updated: [], errors: [], suspects: [] };
  const unknown = run.open.some(isUnclear);
  const inventory = unknown ? await syncAfterRollBack(run.ctx, run.target) : null;
  const restoring = run.open.filter((item) => item.restoring);
  // One request for a site with many.
  const together = run.open.length > 1 && run.open.every(({ applied }) => applied !== null);
  if (together) {
    for (const item of run.open) await note(run, item, { step: 'disarm' });
    await disarm(run, 'all');
  }
  for (const item of [...run.open]) {
    if (item.restoring && versionIn(inventory, item) === item.old_version) {
      // If several were being restored, it is unknown which one was at fault; if doubts are undone, whether it was.
      if (restoring.length === 1 && !undoesDoubt(run, [item]))
        await quarantine(run, item, [STOPPED], { seen: false, in_its_file: false });
      const told = toldOf(await mendOutside(run, item));
      await close(run, item, 'rolled_back', [STOPPED, ...told], { by: 'sitefleet' });
      continue;
    }
    // Unclear until now: the site reports by now that the new version is not installed.
    if (isUnclear(item) && inventory !== null && [null, item.old_version].includes(versionIn(inventory, item))) {
      item.error ??= failure(run, item, 'svc_update_failed', STOPPED_BEFORE, []);
      const part = await finishFailed(run, item);
      result.errors.push(...(part?.errors ?? []));
      if (part !== null) continue;
      if (isUnseen(item.error.code) && run.guard !== null && item.snapshot !== null)
        item.error = failure(run, item, 'svc_update_failed', unchanged(item), []);
    }
    if (!together) {
      await note(run, item, { step: 'disarm' });
      await disarm(run, item);
    }
    const now = item.applied?.new_version ?? (isUnclear(item) ? versionIn(inventory, item) : item.old_version);
    const updated = now !== null && now !== item.old_version;
    const told = rumours.filter((rumour) => rumour.item === item);
    const findings = updated ? [...suspect, ...told, ...item.outside].map(({ what }) => what) : [];
    const seen = item.error === null ? [] : [item.error.message];
    await close(run, item, updated ? 'kept' : 'not_updated', seen, { suspect: findings });
    if (item.applied !== null) result.updated.push(item.applied);
    if (item.error !== null) result.errors.push({ ...item.error, change_id: item.change });
    if (findings.length === 0) continue;
    result.suspects.push({ site_id: run.target.site.id, change_id: item.change, slug: item.slug, findings });
    emitHarm(run, 'update.suspect', item, findings);
  }
  run.open = [];
  return result;
}

/** The guard's findings at the end, if the site could not be read after the update. */
function unchanged({ old_version }: SafeItem): string {
  return `The connection broke during the update. The site has ${siteWord(old_version)} unchanged, byte for byte, so the update did not take effect.`;
}

/** Items of a dead process have no result, nor do those after which the site could not be read. */
function isUnclear({ applied, error }: SafeItem): boolean {
  return applied === null && (error === null || isUnseen(error.code));
}

/** The version that the site reports; null if it does not report one. */
export function versionIn(inventory: Snapshot | null, item: SafeItem): string | null {
  if (item.type === 'core') return inventory?.wp_version ?? null;
  if (item.type === 'translation') return null;
  return listOf(inventory, item.type)?.find(({ slug }) => slug === item.slug)?.version ?? null;
}

/** The version of a plugin or theme, which the guard knows where the site cannot be read; null = unknown, or gone. */
export async function versionNow(
  { ctx, guard }: Pick<SafeRun, 'ctx' | 'guard'>,
  inventory: Snapshot | null,
  item: SafeItem,
): Promise<string | null> {
  const { type, slug } = item;
  if (type !== 'plugin' && type !== 'theme') return null;
  if (inventory !== null || guard === null) return versionIn(inventory, item);
  try {
    return (await guard.snapshot(type, slug, { signal: ctx.signal })).version;
  } catch (error) {
    if (error instanceof GuardFailure) return null;
    throw error;
  }
}

/** Records how an item ended. */
export async function close(
  run: SafeRun,
  item: SafeItem,
  outcome: ChangeOutcome,
  seen: readonly string[],
  known: Partial<Evidence> = {},
): Promise<void> {
  const evidence: Evidence = { seen: [...seen], by: null, well_after_ms: null, suspect: [], ...known };
  const settled_at = run.ctx.clock.now();
  const watched = outcome === 'kept' && item.protection === 'guard' && item.faults_since !== null;
  const watch_at = watched ? nextLook(settled_at, settled_at) : null;
  await note(run, item, { outcome, evidence: JSON.stringify(evidence), settled_at, watch_at });
  if (outcome === 'rolled_back') emitRolledBack(run.ctx, run.target, item, evidence.by);
}

/** For the action log, regardless of who restored the old version. */
export function emitRolledBack(ctx: Ctx, { site }: LoadedSite, item: SafeItem, by: Evidence['by']): void {
  const { type, slug, old_version, new_version, change } = item;
  const facts = { slug, old_version, new_version, change_id: change, by };
  ctx.events.emit({ name: `${type}.rolled_back`, site_id: site.id, facts });
}

/** For the action log: it was installed, and is no success. */
function emitInstalled({ ctx, target }: SafeRun, item: SafeItem, code: ErrorCode): void {
  if (item.applied !== null) emitHarmful(ctx, [{ ...item, site_id: target.site.id }], code);
}

/** For the alerts: an update has broken its site, or may have. */
export function emitHarm(
  { ctx, target }: Pick<SafeRun, 'ctx' | 'target'>,
  name: 'update.broke_site' | 'update.suspect',
  { slug, change: change_id, name: item, old_version, new_version }: SafeItem,
  findings: readonly string[],
): void {
  const versions = { old_version: siteWord(old_version), new_version: siteWord(new_version) };
  const facts = { slug, change_id, item: siteWord(item), ...versions, findings: findings.join(' ') };
  ctx.events.emit({ name, site_id: target.site.id, facts });
}

/** An error entry for an item of the run. */
export function failure(
  run: SafeRun,
  item: Pick<SafeItem, 'type' | 'slug' | 'change'>,
  code: ErrorCode,
  message: string,
  evidence: readonly string[],
): ApplyError {
  const entry = failed(run.target, item.type, item.slug, code, message);
  return { ...entry, change_id: item.change, evidence: [...evidence] };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
