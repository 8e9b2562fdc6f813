/** Working a job off, one chunk at a time, under a lease that others can see. */

import { asServiceError, ServiceError } from '../../core/errors.js';
import type { JobRow } from '../../store/jobs/jobs.js';
import { retryWhileUnavailable } from '../common/storage-messages.js';
import type { Ctx } from '../context.js';
import { type LoadedSite, loadSites, siteCallError } from '../sites/load.js';
import { JOB_HANDLERS, type JobHandler, type JobType } from './handlers.js';

/** A process that says nothing for this long has lost its job to the next one. */
export const LEASE_MS = 60_000;
/** Beats within one lease: two may be missed. */
const BEATS = 4;

/** Takes one due job and works one chunk of it off. False when nothing was due. */
export async function runNextChunk(ctx: Ctx, owner: string, leaseMs = LEASE_MS): Promise<boolean> {
  const now = ctx.clock.now();
  const job = await ctx.store.jobs.claim(owner, now, leaseMs, now - ctx.clock.steps(leaseMs).forward);
  if (job === undefined) return false;
  const lost = new AbortController();
  const beat = setInterval(() => void keepLease(ctx, job, leaseMs, lost), leaseMs / BEATS);
  try {
    await workChunk({ ...ctx, signal: AbortSignal.any([ctx.signal, lost.signal]) }, job);
  } finally {
    clearInterval(beat);
    const now = ctx.clock.now();
    const nextRun = ctx.signal.aborted ? now : now + job.delay_ms;
    const status = await retryWhileUnavailable(ctx, () => ctx.store.jobs.release(job, now, nextRun));
    if (status === 'completed' || status === 'failed')
      ctx.events.emit({ name: `job.${status}`, facts: { job_id: job.id, type: job.type } });
  }
  return true;
}

async function keepLease(ctx: Ctx, job: JobRow, leaseMs: number, lost: AbortController): Promise<void> {
  try {
    if (!(await ctx.store.jobs.heartbeat(job, ctx.clock.now() + leaseMs))) lost.abort();
  } catch (error) {
    // A missed beat is survivable: the lease is long enough for the next.
    ctx.log.warn({ err: error, job_id: job.id }, 'the lease of a job could not be renewed');
  }
}

async function workChunk(ctx: Ctx, job: JobRow): Promise<void> {
  const entries = await ctx.store.jobs.startChunk(job);
  const targets = await loadSites(
    ctx,
    entries.map((entry) => entry.site_id),
  );
  const work = JOB_HANDLERS[job.type as JobType] as JobHandler<object, unknown>;
  const params = JSON.parse(job.params) as object;
  // All of them end before the lease is given up, also when one cannot be stored.
  const ends = await Promise.allSettled(
    entries.map(async (entry) => {
      const outcome = await workSite(ctx, work, targets.get(entry.site_id), params, entry);
      // A cut-off site stays "started": the next chunk finds it and looks first.
      if (outcome === null) return;
      await retryWhileUnavailable(ctx, () =>
        ctx.store.jobs.finishSite(job, { position: entry.position, ...outcome }, ctx.clock.now()),
      );
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function workSite(
  ctx: Ctx,
  work: JobHandler<object, unknown>,
  target: LoadedSite | undefined,
  params: object,
  entry: { site_id: number; resumed: boolean },
): Promise<{ code: string; message: string } | null> {
  if (target === undefined)
    return { code: 'svc_site_not_found', message: 'The site was removed before its turn came.' };
  try {
    if (entry.resumed) await work.resume?.(ctx, target);
    const result = await work.run(ctx, target, params);
    return work.complaint?.(result) ?? { code: '', message: '' };
  } catch (error) {
    if (ctx.signal.aborted) return null;
    const failure =
      error instanceof ServiceError ? error : asServiceError(siteCallError(error, entry.site_id, work.failure));
    // It says nothing about the site, which stays "started" and has its turn again.
    if (failure.code === 'svc_storage_unavailable') throw failure;
    if (failure.code === 'svc_internal_error')
      ctx.log.error(
        { err: failure.cause ?? error, site_id: entry.site_id, work: work.type },
        'unexpected failure in a job',
      );
    return { code: failure.code, message: failure.message };
  }
}

/** Ends what ran too long, forgets what ended long ago (operations §7.1). */
export async function reapJobs(ctx: Ctx): Promise<{ timed_out: number; expired: number }> {
  const now = ctx.clock.now();
  const timedOut = await ctx.store.jobs.reap(now);
  for (const id of timedOut) ctx.events.emit({ name: 'job.timed_out', facts: { job_id: id } });
  return { timed_out: timedOut.length, expired: await ctx.store.jobs.expire(now - ctx.config.job_ttl_ms) };
}

/** Gives back what processes held that `isGone` knows to be dead: nobody needs to wait for their leases to lapse. */
export async function releaseOrphans(ctx: Ctx, isGone: (owner: string) => boolean): Promise<number> {
  const owners = await ctx.store.jobs.owners();
  const gone = owners.filter(isGone);
  return gone.length === 0 ? 0 : ctx.store.jobs.dropLeases(gone);
}
