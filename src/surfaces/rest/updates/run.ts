/** Runs all updates of many sites, with the answers of the update routes (REST §6.13.2). */

import type { Ctx } from '../../../domain/context.js';
import { limitsOf } from '../../../domain/extensions/offer-filters.js';
import { type Selection, selectionOf } from '../../../domain/sites/resolve.js';
import { REQUIRED } from '../../../domain/updates/backup-first.js';
import { aboutOf } from '../../../domain/updates/checked.js';
import { updateHandler } from '../../../domain/updates/handler.js';
import type { UpdateParams } from '../../../domain/updates/params.js';
import { BROKE, mainError } from '../../../domain/updates/results.js';
import { RUN_ID, runMember, runUpdatesOn, unusedRun } from '../../../domain/updates/runs/call.js';
import { type ErrorCode, ServiceError } from '../../../runtime/errors.js';
import { isoTime } from '../../../runtime/iso-time.js';
import { once } from '../../../runtime/once.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import type { Narrowing } from '../../../store/updates/filters.js';
import type { ItemError } from '../parameter-errors.js';
import { text } from '../params.js';
import type { RouteAnswer } from '../route.js';

/** The id that a caller chose for a run, so that it can be read while the call is at work. */
export const runId = once(() =>
  text(40)
    .refine((id) => RUN_ID.test(id), 'must be run_ and a random UUID')
    .optional()
    .describe('An id for the new run, if you want to read it meanwhile: run_ and a random UUID. Default: one is made.'),
);

/** The context of a call that makes a run with this id. Throws `svc_rest_conflict` if there is such a run. */
export async function asRun(ctx: Ctx, id: string | undefined): Promise<Ctx> {
  return id === undefined ? ctx : { ...ctx, run_id: await unusedRun(ctx, id) };
}

/** Runs every matching update of the sites, now or as a job. `typeNumbers` empty = all types. */
export async function runOn(
  ctx: Ctx,
  selection: Selection,
  typeNumbers: number[],
  narrowing?: Narrowing,
): Promise<RouteAnswer> {
  const began = isoTime(ctx.clock.now());
  const params: UpdateParams = { types: typeNumbers, specific_items: [] };
  if (narrowing !== undefined) params.limits = limitsOf(narrowing);
  const unknown = selection.errors.map(({ site_id, code, message }) => ({ site_id: site_id ?? 0, code, message }));
  const answer = await runUpdatesOn(ctx, updateHandler, selection, params);
  if (answer.queued) {
    const { errors: _none, total_errors: _zero, ...job } = answer;
    return {
      message: `${job.sites_queued} sites are updated in the background.`,
      ...job,
      queued_count: job.sites_queued,
      total: job.sites_queued,
      last_time_start_batch_updates: began,
      errors: unknown,
    };
  }
  const updated = answer.done.flatMap(({ result }) => result.updated);
  const failed = answer.done.flatMap(({ result }) => result.errors);
  const errors: ItemError[] = [
    ...unknown,
    ...answer.failures.map(({ site, error }) => ({ site_id: site.id, code: error.code, message: error.message })),
    ...failed.map(({ site_id, slug, code, message }) => ({ site_id, slug, code, message })),
  ];
  const total_updated = updated.length;
  return {
    message:
      total_updated + errors.length === 0
        ? 'No update is on offer.'
        : `${total_updated} updates were applied, ${errors.length} failed.`,
    summary: {
      total_updated,
      total_errors: errors.length,
      sites_updated: new Set(updated.map(({ site_id }) => site_id)).size,
    },
    data: updated,
    errors,
    ...aboutOf(answer.done.map(({ result }) => result)),
    ...answer.continued,
    ...runMember(answer),
    last_time_start_batch_updates: began,
  };
}

/**
 * Runs every matching update of one site. Throws `svc_update_broke_site`, `svc_site_offline` or `svc_backup_required` if
 * that is why none was applied (REST §2.3).
 */
export async function runOnOneSite(ctx: Ctx, site: SiteRow, narrowing?: Narrowing): Promise<RouteAnswer> {
  const answer = await runOn(ctx, selectionOf([site]), [], narrowing);
  const { data, errors = [] } = answer;
  const main = mainError(errors as ItemError[]);
  const whole =
    main?.code === 'svc_site_offline' || main?.code === BROKE || (main?.code === REQUIRED && main.slug === undefined);
  if (main === undefined || !whole || (data as unknown[]).length > 0) return answer;
  throw new ServiceError(main.code as ErrorCode, main.message, {
    ...(main.code !== REQUIRED && { advice: 'data.errors has the reason for each update.' }),
    data: { site_id: site.id, ...runMember({ run_id: answer.run_id as string | undefined }), errors },
  });
}

/** The answer when a job is already running the updates: it names that job. */
export function alreadyRunning(ctx: Ctx, job: { id: string; run_id: string; created_at: number }): RouteAnswer {
  return {
    message: 'Updates are already running.',
    already_running: true,
    run_id: job.run_id,
    job_id: job.id,
    status_url: `${ctx.base_url}/v2/jobs/${job.id}`,
    last_time_start_batch_updates: isoTime(job.created_at),
  };
}

/** The error for a suspended site: `svc_rest_updates_site_error`. */
export function suspended(site: SiteRow): ServiceError {
  return new ServiceError('svc_rest_updates_site_error', `Site ${site.id} is suspended, so it is not updated.`, {
    field: 'id_or_domain',
    advice: `Lift the suspension first: POST /v2/sites/${site.id}/unsuspend.`,
    data: { site_id: site.id },
  });
}
