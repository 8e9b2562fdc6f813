/** Ensures that a site has a backup before it is changed: uses a recent one, waits for one in progress, or makes one. */

import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { loadSite } from '../sites/load.js';
import { backUpSite, leftAlone } from './back-up-site.js';
import { SOUND } from './backups.js';

/** How often another process may be faster before its error is the answer. */
const TRIES = 3;

/**
 * As `backUp` of the context. A backup that damage was found in does not count; one that was left unfinished is continued.
 * @throws ServiceError of `backUpSite`
 */
export async function backUpBeforeChange(ctx: Ctx, siteId: number, since: number): Promise<string> {
  const { siteBackups } = ctx.store;
  for (let tries = 1; ; tries++) {
    await leftAlone(ctx, siteId);
    const recent = (await siteBackups.done(siteId)).find(({ checked }) => checked === null || checked === SOUND);
    if (recent !== undefined && recent.started_at >= since) return recent.id;
    try {
      // What a job counts are the updates.
      const own: Ctx = { ...ctx, progress: () => undefined };
      return (await backUpSite(own, await loadSite(ctx, siteId))).backup_id;
    } catch (error) {
      const isTaken = error instanceof ServiceError && error.code === 'svc_backup_running';
      // A restore that has not ended is waiting for a person.
      if (!isTaken || tries === TRIES || (await siteBackups.restore(siteId)) !== undefined) throw error;
    }
  }
}
