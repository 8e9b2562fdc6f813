/** Restores old versions, newest update first, until the site works. */

import { siteWord } from '../../../../schemas/site-text.js';
import { ChildFailure } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardRestored, SiteGuard } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import { installedExtensions } from '../../sites/inventory.js';
import { requireConnection } from '../../sites/load.js';
import { mendOutside, type OutsideChange } from './outside.js';
import type { Depth } from './probe.js';
import { packageAddress } from './protection.js';
import { note, type SafeItem, type SafeRun } from './run-state.js';
import { isHealthy } from './verify.js';

export interface Rollbacks {
  /** Items whose old version was restored, in that order. */
  items: SafeItem[];
  /** Items that the guard had restored on its own. */
  by_guard: SafeItem[];
  /** The item after whose restore the site worked, or the last of those that may have done it; null = none helped. */
  guilty: SafeItem | null;
  /** Why an item could not be restored. */
  failures: { item: SafeItem; message: string }[];
  /** What these items had changed besides their own files. */
  outside: OutsideChange[];
  /** Any of them may have harmed the site. */
  all: boolean;
}

const ATTEMPTS = 3;
const RETRY_MS = 2_000;
/** How long a restore waits for a running update. */
const HANGS_MS = 60_000;
/** When a restored version is compared again, if the update was never answered. */
const LATE_MS = 10_000;
/** How long an unanswered update is prevented from starting. */
const REFUSED_SECONDS = 1_800;

export interface HowToRollBack {
  depth: Depth;
  /** Suspicious findings count against the site, too. */
  suspect?: boolean;
  /** The site works, and which item harmed it is not known: all are restored. */
  all?: boolean;
  /** It is known which item it was: no other is restored. */
  only?: boolean;
}

/**
 * @param candidates items that may be restored, newest first
 * @param restored items that the guard has restored already
 */
export async function rollBackUntilHealthy(
  run: SafeRun,
  candidates: readonly SafeItem[],
  restored: readonly SafeItem[],
  { depth, suspect = false, all = false }: HowToRollBack,
): Promise<Rollbacks> {
  const rollbacks: Rollbacks = {
    items: [...restored],
    by_guard: [...restored],
    guilty: null,
    failures: [],
    outside: [],
    all,
  };
  for (const item of restored) rollbacks.outside.push(...(await mendOutside(run, item)));
  const last = restored.at(-1);
  if (last !== undefined && (await isHealthy(run, depth, suspect))) return { ...rollbacks, guilty: last };
  for (const item of candidates) {
    if (restored.includes(item) || item.protection === 'none') continue;
    await note(run, item, { step: 'restore' });
    const result = await rollBackItem(run, item);
    if (typeof result === 'object') {
      rollbacks.failures.push({ item, message: result.failed });
      continue;
    }
    rollbacks.items.push(item);
    rollbacks.outside.push(...(await mendOutside(run, item)));
    if (!all && (await isHealthy(run, depth, suspect))) return { ...rollbacks, guilty: item };
  }
  const newest = all && rollbacks.failures.length === 0 ? rollbacks.items[0] : undefined;
  return newest !== undefined && (await isHealthy(run, depth, suspect)) ? { ...rollbacks, guilty: newest } : rollbacks;
}

/** `already` = the old version was present, byte for byte. */
export type ItemRollback = 'done' | 'already' | { failed: string };

export async function rollBackItem(run: SafeRun, item: SafeItem): Promise<ItemRollback> {
  const { ctx, guard } = run;
  for (let attempt = 1; ; attempt++) {
    try {
      if (item.protection === 'reinstall') await rollBackByPackage(run, item);
      else if (guard === null || item.snapshot === null)
        return { failed: "The site's guard is gone, and the copy with it." };
      // A killed update leaves WordPress' maintenance page behind.
      else {
        const { active, already } = await rollBackByGuard(run, item, guard, item.snapshot);
        if (!active) await switchOn(run, item);
        if (already) return 'already';
        if (item.unanswered) await rollBackAgain(run, item, guard, item.snapshot);
      }
      return 'done';
    } catch (error) {
      const known = error instanceof GuardFailure || error instanceof ChildFailure || error instanceof ServiceError;
      if (ctx.signal.aborted || !known) throw error;
      if (attempt === ATTEMPTS) return { failed: error.message };
      await ctx.clock.sleep(RETRY_MS, ctx.signal);
    }
  }
}

/** Waits for a running update, up to a limit: a restore in the middle of it would mix two versions. */
async function rollBackByGuard(
  { ctx }: SafeRun,
  item: SafeItem,
  guard: SiteGuard,
  snapshot: string,
): Promise<GuardRestored> {
  const began = ctx.clock.elapsed();
  const settings = { end_maintenance: true, ...(item.unanswered ? { refuse_updates: REFUSED_SECONDS } : {}) };
  for (;;) {
    const hangs = ctx.clock.elapsed() - began >= HANGS_MS;
    try {
      return await guard.restore(snapshot, hangs ? { ...settings, while_updating: true } : settings, {
        signal: ctx.signal,
      });
    } catch (error) {
      if (!(error instanceof GuardFailure) || error.code !== 'updating' || hangs) throw error;
      await ctx.clock.sleep(RETRY_MS, ctx.signal);
    }
  }
}

/** Replaces what a late process wrote over the restored version. */
async function rollBackAgain(run: SafeRun, item: SafeItem, guard: SiteGuard, snapshot: string): Promise<void> {
  for (let again = 0; again < ATTEMPTS; again++) {
    await run.ctx.clock.sleep(LATE_MS, run.ctx.signal);
    if ((await rollBackByGuard(run, item, guard, snapshot)).already) return;
    run.ctx.log.warn({ site_id: run.target.site.id, change: item.change }, 'a late update was rolled back once more');
  }
}

/** Reactivates a plugin that was active and was deactivated by its update or by WordPress. */
async function switchOn({ ctx, target, facts }: SafeRun, { type, slug, change }: SafeItem): Promise<void> {
  if (type !== 'plugin' || facts.active?.includes(slug) !== true) return;
  try {
    await ctx.child.pluginAction(requireConnection(target), 'activate', [slug], { signal: ctx.signal });
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof ChildFailure)) throw error;
    // Its files are restored; that it is inactive shows in the inventory.
    ctx.log.warn({ err: error, site_id: target.site.id, change }, 'a plugin could not be activated again');
  }
}

/** Has the child install the old package again; the version that the site reports shows whether it worked. */
async function rollBackByPackage(run: SafeRun, item: SafeItem): Promise<void> {
  const { ctx, target } = run;
  if (item.type !== 'plugin' && item.type !== 'theme') return;
  const installed = await installedExtensions(ctx, target.site.id, item.type);
  const active = installed.find(({ slug }) => slug === item.slug)?.active === 1;
  const address = packageAddress(item.type, item.slug, item.old_version);
  const answer = await ctx.child.installPackage(requireConnection(target), item.type, address, active, {
    signal: ctx.signal,
  });
  if (!answer.claimed)
    throw new ServiceError(
      'svc_update_failed',
      `The site did not reinstall ${siteWord(item.old_version)}. ${answer.message}`.trim(),
    );
}
