/**
 * Looks up abandoned plugins and themes: a plain sync only reads what the child found when it was last told to check
 * (child protocol §6.6).
 */

import type { ExtensionKind, Snapshot, SnapshotAbandoned } from '../../outbound/child/port.js';
import type { Ctx } from '../context.js';
import { installedExtensions } from '../sites/inventory.js';
import { type LoadedSite, loadSites, requireConnection } from '../sites/load.js';
import { storeSnapshot } from './sync.js';

const HOUR_MS = 3_600_000;
/** As long as the child keeps its findings. */
export const ABANDONED_EVERY_MS = 48 * HOUR_MS;
/** A site that was never checked is tried again after this. */
const RETRY_MS = HOUR_MS;
/** A run ends after this; the next one continues. */
const RUN_MS = 9 * 60_000;
/** Items that the child looks up in the public directory per call, and the maximum number of calls per site. */
const PER_CALL = 10;
const MAX_CALLS = 20;

/** Has the children of all due sites check, those that were never checked first. */
export async function refreshAbandoned(ctx: Ctx): Promise<string> {
  const started = ctx.clock.elapsed();
  let looked = 0;
  let failed = 0;
  while (!ctx.signal.aborted && ctx.clock.elapsed() - started < RUN_MS) {
    const now = ctx.clock.now();
    const ids = await ctx.store.dueSites.takeForAbandoned(
      now,
      now - ABANDONED_EVERY_MS,
      now - RETRY_MS,
      ctx.config.concurrency,
    );
    if (ids.length === 0) break;
    const targets = await loadSites(ctx, ids);
    const ends = await Promise.all([...targets.values()].map((target) => look(ctx, target)));
    looked += ends.length;
    failed += ends.filter((known) => !known).length;
  }
  return looked === 0 ? 'nothing due' : `${looked - failed} refreshed, ${failed} failed`;
}

/** Whether the site could be checked. */
async function look(ctx: Ctx, target: LoadedSite): Promise<boolean> {
  try {
    await ctx.locks.exclusive(target.site.id, ctx.signal, async () => {
      for (const kind of ['plugin', 'theme'] as const) await lookUp(ctx, target, kind);
    });
    await ctx.store.dueSites.abandonedKnown(target.site.id, ctx.clock.now());
    return true;
  } catch (error) {
    ctx.log.debug({ err: error, site_id: target.site.id }, 'abandoned items could not be looked up');
    return false;
  }
}

/**
 * The child checks ten items with each call, and when it is through starts over with an empty list. Its own timer runs
 * calls in between, so items named by any of the answers are kept.
 */
async function lookUp(ctx: Ctx, target: LoadedSite, kind: ExtensionKind): Promise<void> {
  const connection = requireConnection(target);
  const installed = await installedExtensions(ctx, target.site.id, kind);
  const calls = Math.min(MAX_CALLS, Math.max(1, Math.ceil(installed.length / PER_CALL)));
  const part = kind === 'plugin' ? 'abandoned_plugins' : 'abandoned_themes';
  const found = new Map<string, SnapshotAbandoned>();
  let last: Snapshot = {};
  for (let call = 0; call < calls; call++) {
    last = await ctx.child.checkAbandoned(connection, kind, { signal: ctx.signal });
    for (const item of last[part] ?? []) found.set(item.slug, item);
  }
  await storeSnapshot(ctx, target, { ...last, [part]: [...found.values()] });
}
