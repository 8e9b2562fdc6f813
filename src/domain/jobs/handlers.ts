/** Job handlers: what each kind of job does to one site. A direct call and the queue run the same one (operations §6, §11.20). */

import type { JobType } from '../../../schemas/job.js';
import { siteWord } from '../../../schemas/site-text.js';
import type { ErrorCode } from '../../core/errors.js';
import { withStorageError } from '../common/storage-messages.js';
import type { Ctx } from '../context.js';
import { settleBeforeResume } from '../safety/unsettled.js';
import { type CheckResult, checkSite } from '../sites/check.js';
import { reconnectSite } from '../sites/connection.js';
import {
  type LoadedSite,
  requireNotOnTrial,
  requireNotSuspended,
  requireReachable,
  requireVersion,
} from '../sites/load.js';
import { requestChildDisconnect } from '../sites/notify-child.js';
import { fetchSnapshot, syncSite } from '../sites/sync.js';
import { type ApplyResult, applyOffers } from '../updates/apply.js';

/** The work of one kind of job on one site. `P` are its parameters, stored with the job as JSON; `R` is its result. */
export interface JobHandler<P, R> {
  type: JobType;
  /** Error code of a failure that has none of its own. */
  failure: ErrorCode;
  /** Throws ServiceError when the work failed as a whole. */
  run(ctx: Ctx, site: LoadedSite, params: P): Promise<R>;
  /** True for a partial result: the call's time ran out in the middle. */
  interrupted?(result: R): boolean;
  /** Called before a run whose predecessor was cut off and may have taken effect: reads the site's present state. */
  resume?(ctx: Ctx, site: LoadedSite): Promise<void>;
  /** The error with which a site with this result counts as failed in a job; null = it succeeded. */
  failureOf?(result: R): { code: ErrorCode; message: string } | null;
}

export type NoParams = Record<string, never>;

export interface UpdateParams {
  /** Numbers of the update types; empty = all. */
  types: number[];
  /** Exact slugs; empty = all. */
  specific_items: string[];
}

export interface SyncParams {
  /** Also sync a site that is disconnected or down: an answer brings it back (REST §5). */
  even_disconnected?: boolean;
}

export interface DisconnectParams {
  /** Also ask the child to forget this dashboard, as REST does; the operation only marks the site (REST §6.3 R29). */
  tell_child?: boolean;
}

export const syncHandler: JobHandler<SyncParams, void> = {
  type: 'sync',
  failure: 'svc_sync_failed',
  run: (ctx, target, { even_disconnected }) =>
    ctx.locks.local(target.site.id, ctx.signal, async (waited) => {
      // After a wait for another sync the loaded record is outdated, and this snapshot is newer in any case.
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
};

/** Sets marks of a site. A mark that could not be stored is a failure of its own, never a success (operations §11.12). */
function mark(code: ErrorCode, ctx: Ctx, siteId: number, marks: { suspended?: boolean; disconnected?: boolean }) {
  return withStorageError(code, `Site ${siteId} could not be marked. Nothing changed.`, () =>
    ctx.store.sites.mark([siteId], marks),
  );
}

/** True when the child was asked and confirmed. The mark is set whatever the child answers. */
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

export const suspendHandler: JobHandler<NoParams, void> = {
  type: 'suspend',
  failure: 'svc_suspend_failed',
  async run(ctx, { site }) {
    const changed = await mark('svc_suspend_failed', ctx, site.id, { suspended: true });
    if (changed.length > 0) ctx.events.emit({ name: 'site.suspended', site_id: site.id, facts: {} });
  },
};

export const unsuspendHandler: JobHandler<NoParams, void> = {
  type: 'suspend',
  failure: 'svc_suspend_failed',
  async run(ctx, { site }) {
    const changed = await mark('svc_suspend_failed', ctx, site.id, { suspended: false });
    if (changed.length > 0) ctx.events.emit({ name: 'site.unsuspended', site_id: site.id, facts: {} });
  },
};

/** All matching offers of one site: state, version, then core, plugins, themes, translations (operations §8.4 U2). */
export const updateHandler: JobHandler<UpdateParams, ApplyResult> = {
  type: 'update',
  failure: 'svc_update_failed',
  async run(ctx, target, params) {
    requireNotOnTrial(target);
    requireReachable(target);
    requireVersion(target);
    // Offers are read when the work starts, not when it was requested: a job may have waited, or have run before.
    const offers = (await ctx.store.updates.ofSites([target.site.id], params.types)).filter(
      (offer) => params.specific_items.length === 0 || params.specific_items.includes(offer.slug),
    );
    if (offers.length === 0) return { updated: [], errors: [] };
    return applyOffers(ctx, target, offers);
  },
  interrupted: (result) => result.interrupted === true,
  async resume(ctx, target) {
    // A site that an update has broken must be put right before it can be read.
    await settleBeforeResume(ctx, target);
    requireReachable(target);
    await fetchSnapshot(ctx, { ...target, site: { ...target.site, content_hash: '' } });
  },
  failureOf({ updated, errors }) {
    const [first] = errors;
    if (first === undefined) return null;
    // A site that was never reached is offline, not a failed update (operations §7.4).
    if (updated.length === 0 && errors.every(({ code }) => code === 'svc_site_offline'))
      return { code: 'svc_site_offline', message: first.message };
    return {
      code: 'svc_update_failed',
      message: errors
        .map((error) => `${error.type}: ${siteWord(error.slug)}: ${error.message}`)
        .join('; ')
        .slice(0, 2000),
    };
  },
};

/** The handler of each job type. A type without one is a compile error. */
const JOB_HANDLERS = {
  sync: syncHandler,
  update: updateHandler,
  reconnect: reconnectHandler,
  disconnect: disconnectHandler,
  check: checkHandler,
  suspend: suspendHandler,
} as const satisfies Record<JobType, object>;

/** The handler of a stored job, whose parameters were written for this type. */
export function handlerOf(type: JobType): JobHandler<object, unknown> {
  return JOB_HANDLERS[type] as JobHandler<object, unknown>;
}
