/** The job handlers of backups and restores: what a direct call had no time for continues as a job. */

import type { RestoreResult } from '../../../schemas/backup.js';
import type { JobHandler, NoParams } from '../actions/handler.js';
import { runOnOne } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { type BackedUp, backUpSite, leftAlone } from './back-up-site.js';
import type { Selection } from './restore-plan.js';
import { restorableSite, restoreBackup } from './restore-site.js';

export const backupHandler: JobHandler<NoParams, BackedUp> = {
  type: 'backup',
  failure: 'svc_backup_failed',
  waitsAfterMs: null,
  run: (ctx, target) => backUpSite(ctx, target),
  async resume(ctx, target) {
    // Of a process that was killed it is not known at once that it is gone.
    await leftAlone(ctx, target.site.id);
    return backUpSite(ctx, target);
  },
};

interface RestoreParams extends Selection {
  backup_id: string;
}

export const restoreHandler: JobHandler<RestoreParams, RestoreResult> = {
  type: 'restore',
  failure: 'svc_restore_failed',
  waitsAfterMs: null,
  run: (ctx, _target, { backup_id, ...selection }) => restoreBackup(ctx, backup_id, selection),
  outcomeOf: ({ outcome, findings }) =>
    outcome === 'taken_back'
      ? { failed: true, code: 'svc_restore_failed', message: `It was rolled back: ${findings.join(' ')}`, items: [] }
      : { failed: false, code: '', message: '', items: [] },
};

/** Restores, within the time of a direct call; a long restore goes on as a job. @throws ServiceError, also `svc_still_running` */
export async function restoreNow(ctx: Ctx, backup_id: string, selection: Selection): Promise<RestoreResult> {
  const { site } = await restorableSite(ctx, backup_id, selection);
  return (await runOnOne(ctx, restoreHandler, site, { backup_id, ...selection })).result;
}
