/** What is done to one site, by kind of job: one function per kind, the same now and from the queue (operations §6, §11.20). */

import { siteWord } from '../../../schemas/site-words.js';
import type { ErrorCode } from '../../core/errors.js';
import { withStorageError } from '../common/storage-messages.js';
import type { Ctx } from '../context.js';
import { type CheckResult, checkSite } from '../sites/check.js';
import { reconnectSite } from '../sites/connection.js';
import { type LoadedSite, requireNotSuspended, requireReachable, requireVersion } from '../sites/load.js';
import { requestChildDisconnect } from '../sites/notify-child.js';
import { fetchSnapshot, syncSite } from '../sites/sync.js';
import { type ApplyResult, applyOffers } from '../updates/apply.js';

export const JOB_TYPES = ['sync', 'update', 'reconnect', 'disconnect', 'check', 'suspend'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export interface JobHandler<P, R> {
  type: JobType;
  /** Code of a failure that has none of its own. */
  failure: ErrorCode;
  /** Throws ServiceError when the site's work failed as a whole. */
  run(ctx: Ctx, target: LoadedSite, params: P): Promise<R>;
  /** The result is partial: the time of the call was up in the middle. */
  interrupted?(result: R): boolean;
  /** Before a run whose predecessor was cut off and may have been carried out: learn what is true now. */
  resume?(ctx: Ctx, target: LoadedSite): Promise<void>;
  /** Why a result that came back still counts as a failed site in a job; null = success. */
  complaint?(result: R): { code: ErrorCode; message: string } | null;
}

export type NoParams = Record<string, never>;

export interface UpdateParams {
  /** Numbers of the update types; empty = all. */
  types: number[];
  /** Exact slugs; empty = all. */
  specific_items: string[];
}

export interface SyncParams {
  /** REST looks at sites that are disconnected or down, too: an answer brings them back (REST §5). */
  even_disconnected?: boolean;
}

export interface DisconnectParams {
  /** REST tells the child to forget this dashboard; the operation only marks the site (REST §6.3 R29). */
  tell_child?: boolean;
}

export const syncHandler: JobHandler<SyncParams, void> = {
  type: 'sync',
  failure: 'svc_sync_failed',
  run: (ctx, target, { even_disconnected }) =>
    ctx.locks.local(target.site.id, ctx.signal, async (waited) => {
      // Whoever waited knows the record of before; what is looked at now is newer in any case.
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

/** A mark that could not be stored is a failure of its own, never a success (operations §11.12). */
function marking(code: ErrorCode, ctx: Ctx, siteId: number, marks: { suspended?: boolean; disconnected?: boolean }) {
  return withStorageError(code, `Site ${siteId} could not be marked. Nothing changed.`, () =>
    ctx.store.sites.mark([siteId], marks),
  );
}

/** Answers whether the child was told; the mark is set whatever the child says. */
export const disconnectHandler: JobHandler<DisconnectParams, boolean> = {
  type: 'disconnect',
  failure: 'svc_disconnect_failed',
  async run(ctx, target, { tell_child }) {
    const { site } = target;
    const told = tell_child === true && (await requestChildDisconnect(ctx, target));
    const changed = await marking('svc_disconnect_failed', ctx, site.id, { disconnected: true });
    if (changed.length > 0) ctx.events.emit({ name: 'site.disconnected', site_id: site.id, facts: {} });
    return told;
  },
};

export const suspendHandler: JobHandler<NoParams, void> = {
  type: 'suspend',
  failure: 'svc_suspend_failed',
  async run(ctx, { site }) {
    const changed = await marking('svc_suspend_failed', ctx, site.id, { suspended: true });
    if (changed.length > 0) ctx.events.emit({ name: 'site.suspended', site_id: site.id, facts: { suspended: 1 } });
  },
};

export const unsuspendHandler: JobHandler<NoParams, void> = {
  type: 'suspend',
  failure: 'svc_suspend_failed',
  async run(ctx, { site }) {
    const changed = await marking('svc_suspend_failed', ctx, site.id, { suspended: false });
    if (changed.length > 0) ctx.events.emit({ name: 'site.unsuspended', site_id: site.id, facts: { suspended: 0 } });
  },
};

/** All matching offers of one site: state, version, then core, plugins, themes, translations (operations §8.4 U2). */
export const updateHandler: JobHandler<UpdateParams, ApplyResult> = {
  type: 'update',
  failure: 'svc_update_failed',
  async run(ctx, target, params) {
    requireReachable(target);
    requireVersion(target);
    // Offers are read when the work starts, not when it was asked for: a job may have waited, or have been here before.
    const offers = (await ctx.store.updates.ofSites([target.site.id], params.types)).filter(
      (offer) => params.specific_items.length === 0 || params.specific_items.includes(offer.slug),
    );
    if (offers.length === 0) return { updated: [], errors: [] };
    return applyOffers(ctx, target, offers);
  },
  interrupted: (result) => result.interrupted === true,
  async resume(ctx, target) {
    requireReachable(target);
    await fetchSnapshot(ctx, { ...target, site: { ...target.site, content_hash: '' } });
  },
  complaint({ updated, errors }) {
    const [first] = errors;
    if (first === undefined) return null;
    // Not a failed update: the site was never reached, and a job has a code for that (operations §7.4).
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

/** The work of a job type. The type decides the parameters, which were stored as JSON. */
export const JOB_HANDLERS = {
  sync: syncHandler,
  update: updateHandler,
  reconnect: reconnectHandler,
  disconnect: disconnectHandler,
  check: checkHandler,
  suspend: suspendHandler,
} as const;
