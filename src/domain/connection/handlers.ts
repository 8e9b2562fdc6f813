/** Job handlers of the connection to a site: sync, reconnect, check, disconnect, suspend. */

import type { ErrorCode } from '../../runtime/errors.js';
import type { SiteMarks } from '../../store/sites/sites.js';
import type { JobHandler, NoParams } from '../actions/handler.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, requireNotSuspended } from '../sites/load.js';
import { withStorageError } from '../storage-messages.js';
import { type CheckResult, checkSite, whyUnreachable } from './check.js';
import { reconnectSite } from './connection.js';
import { requestChildDisconnect } from './notify-child.js';
import { reconnectSuspended } from './suspension.js';
import { fetchSnapshot, syncSite } from './sync.js';

export interface SyncParams {
  /** Also syncs a site that is disconnected or down: an answer brings it back (REST §5). */
  even_disconnected?: boolean;
}

export interface DisconnectParams {
  /** Also asks the child to forget this dashboard, as REST does; the operation only marks the site (REST §6.3 R29). */
  tell_child?: boolean;
}

export const syncHandler: JobHandler<SyncParams, void> = {
  type: 'sync',
  failure: 'svc_sync_failed',
  run: (ctx, target, { even_disconnected }) =>
    ctx.locks.local(target.site.id, ctx.signal, async (waited) => {
      // After waiting for another sync the loaded record is outdated, and this snapshot is newer in any case.
      const since = waited ? undefined : { last_attempt: target.site.last_attempt };
      if (even_disconnected !== true) return syncSite(ctx, target, since);
      requireNotSuspended(target);
      await fetchSnapshot(ctx, target, since);
    }),
};

export const reconnectHandler: JobHandler<NoParams, void> = {
  type: 'reconnect',
  failure: 'svc_reconnect_failed',
  run: (ctx, target) => ctx.locks.exclusive(target.site.id, ctx.signal, () => reconnectSite(ctx, target)),
};

export const checkHandler: JobHandler<NoParams, CheckResult> = {
  type: 'check',
  failure: 'svc_check_failed',
  run: (ctx, target) => checkSite(ctx, target),
  outcomeOf(result) {
    const { reachable, http_status, response_time_ms, late } = result;
    const items = [{ done: reachable, facts: { reachable, http_status, response_time_ms } }];
    if (reachable) return { failed: false, code: '', message: '', items };
    return {
      failed: true,
      code: late ? 'svc_still_running' : 'svc_site_offline',
      message: whyUnreachable(result),
      items,
    };
  },
};

/** Sets the state of a site. A state that could not be stored is a failure, never a success (operations §11.12). */
function mark(code: ErrorCode, ctx: Ctx, siteId: number, marks: SiteMarks) {
  return withStorageError(code, `Site ${siteId} could not be marked. Nothing changed.`, () =>
    ctx.store.sites.mark([siteId], marks, ctx.clock.now()),
  );
}

/** True if the child was asked and confirmed. The site is marked regardless of the child's answer. */
export const disconnectHandler: JobHandler<DisconnectParams, boolean> = {
  type: 'disconnect',
  failure: 'svc_disconnect_failed',
  async run(ctx, target, { tell_child }) {
    const { site } = target;
    const confirmed = tell_child === true && (await requestChildDisconnect(ctx, target));
    const changed = await mark('svc_disconnect_failed', ctx, site.id, { disconnected: true });
    if (changed.length > 0) ctx.events.emit({ name: 'site.disconnected', site_id: site.id, facts: {} });
    return confirmed;
  },
};

async function setSuspension(ctx: Ctx, { site }: LoadedSite, suspended: boolean): Promise<void> {
  const changed = await mark('svc_suspend_failed', ctx, site.id, { suspended });
  const name = suspended ? 'site.suspended' : 'site.unsuspended';
  if (changed.length > 0) ctx.events.emit({ name, site_id: site.id, facts: {} });
}

export const suspendHandler: JobHandler<NoParams, void> = {
  type: 'suspend',
  failure: 'svc_suspend_failed',
  run: (ctx, target) => setSuspension(ctx, target, true),
};

/** The suspension is lifted even if the connection cannot be restored; that is then the error. */
export const unsuspendHandler: JobHandler<NoParams, void> = {
  type: 'unsuspend',
  failure: 'svc_suspend_failed',
  async run(ctx, target) {
    const failure = await reconnectSuspended(ctx, target);
    await setSuspension(ctx, target, false);
    if (failure !== null) throw failure;
  },
};
