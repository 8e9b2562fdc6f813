/** Ensures that a site has a backup before it is changed: uses a recent one, waits for one in progress, or makes one. */

import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { loadSite } from '../sites/load.js';
import { backUpSite, leftAlone } from './back-up-site.js';
import { SOUND } from './backups.js';

/** How often another process may be faster before its error is the answer. */
const TRIES = 3;
/** For all tries: other sites wait for this one in a rollout. */
const LONGEST_MS = 12 * 3_600_000;

/**
 * As `backUp` of the context. A backup that damage was found in does not count; one that was left unfinished is continued.
 * @throws ServiceError of `backUpSite`; `svc_backup_failed` if it takes too long
 */
export async function backUpBeforeChange(ctx: Ctx, siteId: number, since: number): Promise<string> {
  const limit = ctx.clock.deadline(LONGEST_MS);
  // What a job counts are the updates.
  const own: Ctx = { ...ctx, progress: () => undefined, signal: AbortSignal.any([ctx.signal, limit.signal]) };
  try {
    return await backUp(own, siteId, since);
  } catch (error) {
    if (ctx.signal.aborted || !limit.signal.aborted) throw error;
    throw new ServiceError(
      'svc_backup_failed',
      `The backup took longer than ${LONGEST_MS / 3_600_000} hours, and goes on next time.`,
    );
  } finally {
    limit.clear();
  }
}

async function backUp(ctx: Ctx, siteId: number, since: number): Promise<string> {
  const { siteBackups } = ctx.store;
  for (let tries = 1; ; tries++) {
    await leftAlone(ctx, siteId);
    const recent = (await siteBackups.done(siteId)).find(({ checked }) => checked === null || checked === SOUND);
    if (recent !== undefined && recent.started_at >= since) return recent.id;
    try {
      return (await backUpSite(ctx, await loadSite(ctx, siteId))).backup_id;
    } catch (error) {
      const isTaken = error instanceof ServiceError && error.code === 'svc_backup_running';
      // A restore that has not ended is waiting for a person.
      if (!isTaken || tries === TRIES || (await siteBackups.restore(siteId)) !== undefined) throw error;
    }
  }
}
