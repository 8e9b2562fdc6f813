/**
 * Syncs one site: fetches a snapshot, checks the child's version, stores it. Direct calls and jobs use the same
 * functions.
 */

import type { ChildConnection, Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteConnection, SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { firstCertificateLook } from '../monitoring/certificates.js';
import { syncSettings } from '../settings/effects.js';
import {
  isLate,
  isOutdated,
  type LoadedSite,
  outdated,
  requireConnection,
  requireContactable,
  siteCallError,
} from '../sites/load.js';
import { nameByTitle } from '../sites/title.js';
import { withChildsWww } from '../sites/urls.js';
import { finishOpenChanges } from './open-changes.js';

/** Parts of a snapshot that are off by default but stored here: security findings are read from the last sync. */
export const STORED_PARTS = { securityStats: true } as const;

/** What a site's clock may be ahead, and BackWPup's by summer time. */
const CLOCKS_MS = 2 * 3_600_000;

/** The last sync attempt known to the caller: if another one has been stored since, this snapshot is not stored. */
export type Since = { last_attempt: number | null } | undefined;

/** Syncs a site that may be contacted. Throws ServiceError; the reason is stored as the site's sync error. */
export async function syncSite(ctx: Ctx, target: LoadedSite, since: Since): Promise<void> {
  requireContactable(target);
  await fetchSnapshot(ctx, target, since);
}

/** Requests everything from the child that is stored of a site. Throws ChildFailure. */
export async function askSnapshot(
  ctx: Ctx,
  connection: ChildConnection & Pick<SiteConnection, 'regverify'>,
  { changes_after: changesAfter, backup_plugin }: Pick<SiteRecord, 'changes_after' | 'backup_plugin'>,
  timeoutMs?: number,
): Promise<Snapshot> {
  const { abandonedAfterDays, parts } = await syncSettings(ctx);
  const snapshot = await ctx.child.stats(
    connection,
    {
      abandonedAfterDays,
      changesAfter,
      backupPlugin: backup_plugin,
      renewRegverify: connection.regverify === null,
      parts: { ...STORED_PARTS, ...parts },
    },
    { signal: ctx.signal, timeoutMs },
  );
  return withPastBackup(snapshot, ctx.clock.now());
}

/** What is yet to come says nothing: a site whose clock is ahead would always have the newest backup. */
function withPastBackup(snapshot: Snapshot, now: number): Snapshot {
  const { backup } = snapshot;
  if (backup === undefined || backup.last === null || backup.last * 1000 <= now + CLOCKS_MS) return snapshot;
  return { ...snapshot, backup: { ...backup, last: null } };
}

/**
 * Fetches and stores a snapshot, even of a disconnected site; see `Since` for the guard.
 * @param patienceMs time limit for a sync after a change, instead of a sync's own. Its failure is not stored: the site may
 * be at work on the change
 */
export async function fetchSnapshot(
  ctx: Ctx,
  target: LoadedSite,
  since?: Since,
  patienceMs?: number,
): Promise<Snapshot> {
  const { site } = target;
  try {
    const snapshot = await askSnapshot(ctx, requireConnection(target), site, patienceMs);
    await storeFetched(ctx, target, snapshot, since);
    // The call that made the change reports the sync that follows it.
    if (patienceMs === undefined) {
      await finishOpenChanges(ctx, site, snapshot).catch((err: unknown) =>
        ctx.log.warn({ err, site_id: site.id }, 'open changes could not be resolved; the next sync tries again'),
      );
    }
    return snapshot;
  } catch (error) {
    const failure = siteCallError(error, site.id, 'svc_sync_failed');
    if (failure.code === 'svc_storage_unavailable') throw failure;
    if (patienceMs === undefined) await storeFailure(ctx, site.id, failure, { since, own: false });
    ctx.events.emit({ name: 'site.sync_failed', site_id: site.id, facts: { code: failure.code } });
    throw failure;
  }
}

/**
 * Stores why a site could not be read. A cancelled call says nothing about the site.
 * @param how `own`: read by the call that changed it
 */
export async function storeFailure(
  ctx: Ctx,
  siteId: number,
  { code, message, cause }: ServiceError,
  { since, own }: { since?: Since; own: boolean },
): Promise<void> {
  if (code === 'svc_cancelled') return;
  await ctx.store.inventory.saveFailure(siteId, { code, message, late: isLate(cause), own }, ctx.clock.now(), since);
}

async function storeFetched(ctx: Ctx, target: LoadedSite, snapshot: Snapshot, since: Since): Promise<void> {
  const { site } = target;
  // The version is taken from the answer and checked then: checking the stored one could lock a site out permanently.
  const version = snapshot.child_version ?? '';
  const tooOld = isOutdated(version);
  // What arrived is kept either way, but only a success counts as a sync: otherwise its failure would come too late to be
  // stored.
  await ctx.store.inventory.save(site, snapshot, ctx.clock.now(), !tooOld, since);
  if (snapshot.regverify !== undefined) await ctx.store.sites.keepRegverify(site.id, snapshot.regverify);
  const moved = withChildsWww(site.url, snapshot.site_url);
  // The answer names the site as lists do from now on.
  if (moved !== null && (await ctx.store.sites.moveUrl(site.id, moved))) site.url = moved.url;
  if (tooOld) throw outdated(site.id, version);
  ctx.events.emit({ name: 'site.synced', site_id: site.id, facts: {} });
  await firstCertificateLook(ctx, site);
  await nameByTitle(ctx, target);
}

/** Failures of this service, which say nothing about the site. */
export const OURS: ReadonlySet<string> = new Set(['svc_internal_error', 'svc_storage_unavailable']);

/**
 * Stores an inventory that was returned with an action, or fetches one if there was none. Null if the site did not
 * answer.
 */
export async function storeSnapshot(ctx: Ctx, target: LoadedSite, brought: Snapshot | null): Promise<Snapshot | null> {
  if (brought !== null) {
    await ctx.store.inventory.save({ ...target.site, content_hash: '' }, brought, ctx.clock.now(), false);
    return brought;
  }
  try {
    return await fetchSnapshot(ctx, target);
  } catch (error) {
    if (error instanceof ServiceError && !OURS.has(error.code)) return null;
    throw error;
  }
}
