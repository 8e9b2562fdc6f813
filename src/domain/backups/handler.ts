/** The job handler of backups: what a direct call had no time for goes on in a job. */

import type { JobHandler, NoParams } from '../actions/handler.js';
import { type BackedUp, backUpSite, leftAlone } from './back-up-site.js';

export const backupHandler: JobHandler<NoParams, BackedUp> = {
  type: 'backup',
  failure: 'svc_backup_failed',
  run: (ctx, target) => backUpSite(ctx, target),
  async resume(ctx, target) {
    // Of a process that was killed it is not known at once that it is gone.
    await leftAlone(ctx, target.site.id);
    return backUpSite(ctx, target);
  },
};
