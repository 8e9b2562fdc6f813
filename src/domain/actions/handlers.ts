/**
 * Job handlers: what each kind of job does on one site. A direct call and the queue run the same handler
 * (operations §6, §11.20).
 */

import type { JobType } from '../../../schemas/job.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { JobItem } from '../../store/jobs/rows.js';
import type { SiteMarks } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { type CheckResult, checkSite } from '../connection/check.js';
import { reconnectSite } from '../connection/connection.js';
import { requestChildDisconnect } from '../connection/notify-child.js';
import { reconnectSuspended } from '../connection/suspension.js';
import { fetchSnapshot, syncSite } from '../connection/sync.js';
import type { Ctx } from '../context.js';
import { type ActionResult, actOnExtensions, type ExtensionParams, finishExtensions } from '../extensions/act.js';
import { type OfferLimits, withinLimits } from '../extensions/offer-filters.js';
import {
  type LoadedSite,
  requireContactable,
  requireNotOnTrial,
  requireNotSuspended,
  requireVersion,
  siteCallError,
} from '../sites/load.js';
import { withStorageError } from '../storage-messages.js';
import { applyOffers } from '../updates/apply.js';
import { finishInterrupted } from '../updates/interrupted.js';
import { outcomeOfUpdates } from '../updates/outcome.js';
import { type ApplyResult, failed } from '../updates/results.js';
import { type SafeUpdateSettings, safeUpdateHandler } from '../updates/safe/safe-update.js';
import { settleBeforeResume } from '../updates/safe/unsettled.js';
import { isCancelled } from '../updates/send.js';
import { outcomeOfItems } from './outcomes.js';

/** The work of one kind of job on one site. `P` are its parameters, stored with the job as JSON; `R` is its result. */
export interface JobHandler<P, R> {
  type: JobType;
  /** Error code for a failure that has none. */
  failure: ErrorCode;
  /** Throws ServiceError when the work failed as a whole. */
  run(ctx: Ctx, site: LoadedSite, params: P): Promise<R>;
  /** True for a partial result: the call ran out of time. */
  interrupted?(result: R): boolean;
  /**
   * Runs instead of `run` if a previous run was interrupted and may have taken effect: checks the site, then does the
   * rest.
   */
  resume?(ctx: Ctx, site: LoadedSite, params: P): Promise<R>;
  /** What a result means for a job; without it the site has succeeded. */
  outcomeOf?(result: R): SiteOutcome;
}

/** The outcome of a job on one site. */
export interface SiteOutcome {
  /** The site counts as failed. */
  failed: boolean;
  /** The error, possibly on a site that succeeded; '' = none. */
  code: ErrorCode | '';
  message: string;
  /** What was done and what was not, for the status of the job. */
  items: readonly JobItem[];
}

export type NoParams = Record<string, never>;

export interface UpdateParams {
  /** Numbers of the update types; empty = all. */
  types: number[];
  /** Exact slugs; empty = all. */
  specific_items: string[];
  /** Filters on the updates; absent in jobs of earlier versions. */
  limits?: OfferLimits;
  /** Includes updates on an ignore list, because the caller named them. */
  even_ignored?: boolean;
  /** Settings of a call of `safe-update-site` that this job continues. */
  safe?: SafeUpdateSettings;
}

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
  outcomeOf({ reachable, http_status, response_time_ms, maintenance }) {
    const items = [{ done: reachable, facts: { reachable, http_status, response_time_ms } }];
    if (reachable) return { failed: false, code: '', message: '', items };
    const message = maintenance
      ? "The front page shows WordPress' maintenance page."
      : http_status === 0
        ? 'The front page did not answer.'
        : `The front page answered with HTTP ${http_status}.`;
    return { failed: true, code: 'svc_site_offline', message, items };
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

/** Matching updates as currently stored: a job may have waited since it was queued, or have run before. */
async function offersOf(ctx: Ctx, { site }: LoadedSite, params: UpdateParams): Promise<FleetOffer[]> {
  const offers = await ctx.store.updates.ofSite(site.id, params.types, params.even_ignored === true);
  return offers.filter(
    (offer) =>
      (params.specific_items.length === 0 || params.specific_items.includes(offer.slug)) &&
      (params.limits === undefined || withinLimits(offer, params.limits)),
  );
}

/**
 * All matching updates of one site, after checking its state and version; core, plugins, themes, then translations
 * (operations §8.4 U2).
 */
export const updateHandler: JobHandler<UpdateParams, ApplyResult> = {
  type: 'update',
  failure: 'svc_update_failed',
  async run(ctx, target, { safe, ...params }) {
    if (safe !== undefined) {
      const result = await safeUpdateHandler.run(ctx, target, { ...params, safe });
      return { ...result, updated: result.updated.map(({ protection: _, ...item }) => item) };
    }
    requireNotOnTrial(target);
    requireContactable(target);
    requireVersion(target);
    const offers = await offersOf(ctx, target, params);
    if (offers.length === 0) return { updated: [], errors: [] };
    return applyOffers(ctx, target, offers);
  },
  interrupted: (result) => result.interrupted === true,
  async resume(ctx, target, params) {
    // As available when the run was interrupted: settling syncs the site, after which completed updates are no longer
    // available.
    const asked = await offersOf(ctx, target, params);
    // A site that an update has broken must be repaired before it can be synced.
    await settleBeforeResume(ctx, target);
    requireContactable(target);
    const before = asked.length === 0 ? null : await finishInterrupted(ctx, target, asked);
    if (before?.silent === true) return before;
    const rest = await this.run(ctx, target, params).catch((error: unknown) => {
      // Results of the previous run are still reported.
      if (before === null || before.updated.length === 0 || isCancelled(error)) throw error;
      const { code, message } = siteCallError(error, target.site.id, 'svc_update_failed');
      return { updated: [], errors: [failed(target, 'site', '', code, message)] };
    });
    if (before === null) return rest;
    return { ...rest, updated: [...before.updated, ...rest.updated], errors: [...before.errors, ...rest.errors] };
  },
  outcomeOf: outcomeOfUpdates,
};

/** Plugin or theme changes that a direct call had no time to finish. */
export const extensionHandler: JobHandler<ExtensionParams, ActionResult> = {
  type: 'extension',
  failure: 'svc_operation_failed',
  run: actOnExtensions,
  resume: finishExtensions,
  outcomeOf: ({ done, errors }) =>
    outcomeOfItems([
      ...done.map((slug) => ({ done: true, facts: { slug } })),
      ...errors.map(({ slug, code, message, unknown }) => ({
        done: unknown === true ? null : false,
        facts: { slug, code, message },
      })),
    ]),
};

/** The handler of each job type. A type without one is a compile error. */
const JOB_HANDLERS = {
  sync: syncHandler,
  update: updateHandler,
  reconnect: reconnectHandler,
  disconnect: disconnectHandler,
  check: checkHandler,
  suspend: suspendHandler,
  extension: extensionHandler,
  unsuspend: unsuspendHandler,
} as const satisfies Record<JobType, object>;

/** The handler of a stored job, whose parameters were written for this type. */
export function handlerOf(type: JobType): JobHandler<object, unknown> {
  return JOB_HANDLERS[type] as JobHandler<object, unknown>;
}
