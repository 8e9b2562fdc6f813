/** Runs jobs, chunk by chunk, under a lease that other processes respect. */

import { asServiceError, type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { Origin } from '../../runtime/events.js';
import type { ChunkSite } from '../../store/jobs/queue.js';
import type { JobRow } from '../../store/jobs/rows.js';
import type { Ctx } from '../context.js';
import { callsAtOnce } from '../settings/effects.js';
import { type LoadedSite, loadSites, siteCallError } from '../sites/load.js';
import { retryWhileUnavailable } from '../storage-messages.js';
import type { HandlerOf, JobHandler, SiteOutcome } from './handler.js';
import { withEarlier } from './outcomes.js';

/** A process that does not renew its lease for this long loses the job to another one. */
export const LEASE_MS = 60_000;
/** Renewals per lease time: two may be missed. */
const BEATS = 4;

/** A job without a pause is released after this long, so that other due jobs need not wait for its end. */
const TURN_MS = 15_000;

/** A job none of whose sites has ended for this long only waits for them, unless its kind takes longer. */
const WAITS_AFTER_MS = 5_000;

/** What others may do meanwhile. */
export interface TurnEvents {
  /** A job was claimed. */
  claimed(): void;
  /** Whether it only waits for its sites now. */
  waits(only: boolean): void;
}

/**
 * Claims one due job and runs its next chunk; without a pause between chunks, also the following ones, for one turn.
 * False if nothing was due.
 * @param handlerOf the table of job handlers
 */
export async function runNextChunk(
  ctx: Ctx,
  handlerOf: HandlerOf,
  owner: string,
  leaseMs = LEASE_MS,
  on?: TurnEvents,
): Promise<boolean> {
  const now = ctx.clock.now();
  const job = await ctx.store.jobs.claim(owner, now, leaseMs, now - ctx.clock.steps(leaseMs).forward);
  if (job === undefined) return false;
  on?.claimed();
  const lost = new AbortController();
  const beat = setInterval(() => void keepLease(ctx, job, leaseMs, lost), leaseMs / BEATS);
  try {
    const events = job.origin === '' ? ctx.events : ctx.events.from(JSON.parse(job.origin) as Origin);
    const own = { events, run_id: job.run_id, signal: AbortSignal.any([ctx.signal, lost.signal]) };
    await runChunks({ ...ctx, ...own }, handlerOf, job, on?.waits);
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
    // A missed renewal is survivable: the lease lasts until the next ones.
    ctx.log.warn({ err: error, job_id: job.id }, 'the lease of a job could not be renewed');
  }
}

/**
 * Each chunk is stored as started before its sites are called. Without a pause between chunks, the next one begins while the
 * last sites of this one are still running: as soon as fewer of the job's sites are running than calls are allowed at once.
 * With one, it begins in a turn of its own, or here where sites that take long would hold up the others.
 */
async function runChunks(ctx: Ctx, handlerOf: HandlerOf, job: JobRow, waits?: TurnEvents['waits']): Promise<void> {
  const handler = handlerOf(job.type);
  const params = JSON.parse(job.params) as object;
  const { clock, store } = ctx;
  const atOnce = await callsAtOnce(ctx, job.type);
  const isPaced = job.delay_ms > 0;
  const turnEnds = clock.elapsed() + TURN_MS;
  const failures: unknown[] = [];
  const goesOn = () => !failures.length && !ctx.signal.aborted && (isPaced || clock.elapsed() < turnEnds);
  const under = new Set<Promise<void>>();
  let isLast = false;
  let onlyWaits = false;
  let wake = () => {};
  let watch = () => {};
  const setWaits = (only: boolean) => {
    onlyWaits = only;
    waits?.(only);
    wake();
  };
  const watchSites = () => {
    watch();
    const after = handler.waitsAfterMs === undefined ? WAITS_AFTER_MS : handler.waitsAfterMs;
    // Whether it only waits matters to other jobs, and to a next chunk of a job with pauses.
    if (after === null || (waits === undefined && (isLast || !isPaced))) return;
    setWaits(false);
    watch = under.size === 0 ? () => {} : clock.after(after, () => setWaits(true));
  };
  const begin = (entry: ChunkSite, site: LoadedSite | undefined) => {
    const work = runAndStore(ctx, job, handler, params, entry, site)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        under.delete(work);
        watchSites();
        wake();
      });
    under.add(work);
  };
  const waitWhile = async (isSo: () => boolean) => {
    while (isSo() && goesOn())
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  /** Until all sites have ended, or the time between two chunks has passed. */
  const pause = async () => {
    let isOver = false;
    const stop = clock.after(job.delay_ms, () => {
      isOver = true;
      wake();
    });
    await waitWhile(() => under.size > 0 && !isOver);
    stop();
  };
  try {
    let last = -1;
    do {
      const entries = await store.jobs.startChunk(job, last);
      if (entries.length === 0) break;
      last = entries.at(-1)?.position ?? last;
      isLast = entries.length < job.chunk;
      const sites = await loadSites(
        ctx,
        entries.map((entry) => entry.site_id),
      );
      for (const entry of entries) begin(entry, sites.get(entry.site_id));
      watchSites();
      if (isLast) break;
      await waitWhile(() => under.size >= atOnce || (isPaced && under.size > 0 && !onlyWaits));
      if (!isPaced) continue;
      await pause();
      if (under.size === 0) break;
    } while (goesOn());
  } finally {
    // All sites finish before the lease is released, even if a result cannot be stored.
    await Promise.all(under);
  }
  if (failures.length > 0) throw failures[0];
}

async function runAndStore(
  ctx: Ctx,
  job: JobRow,
  handler: JobHandler<object, unknown>,
  params: object,
  entry: ChunkSite,
  site: LoadedSite | undefined,
): Promise<void> {
  const outcome = await runSite(ctx, job, handler, site, params, entry);
  // An interrupted site stays "started": the next turn resumes it.
  if (outcome === null) return;
  await retryWhileUnavailable(ctx, async () => {
    const { position, resumed } = entry;
    const whole = resumed ? withEarlier(await ctx.store.jobs.itemsAt(job.id, position), outcome) : outcome;
    await ctx.store.jobs.finishSite(job, { position, ...whole }, ctx.clock.now());
  });
}

async function runSite(
  whole: Ctx,
  job: JobRow,
  handler: JobHandler<object, unknown>,
  site: LoadedSite | undefined,
  params: object,
  entry: ChunkSite,
): Promise<(SiteOutcome & { unfinished?: boolean }) | null> {
  if (site === undefined) return failedWith('svc_site_not_found', 'The site was removed before its turn came.');
  const ctx: Ctx = {
    ...whole,
    progress: ({ done, total }) =>
      void whole.store.jobs
        .itemsDone(job, entry.position, done, total)
        .catch((err: unknown) => whole.log.warn({ err, job_id: job.id }, 'the progress of a job could not be stored')),
  };
  try {
    const result =
      entry.resumed && handler.resume !== undefined
        ? await handler.resume(ctx, site, params, {
            begun: entry.begun,
            items: await ctx.store.jobs.itemsAt(job.id, entry.position),
          })
        : await handler.run(ctx, site, params);
    const outcome = handler.outcomeOf?.(result) ?? { failed: false, code: '', message: '', items: [] };
    return handler.interrupted?.(result) === true ? { ...outcome, unfinished: true } : outcome;
  } catch (error) {
    if (ctx.signal.aborted) return null;
    const failure =
      error instanceof ServiceError ? error : asServiceError(siteCallError(error, entry.site_id, handler.failure));
    // Storage failures say nothing about the site, which stays "started" and is run again.
    if (failure.code === 'svc_storage_unavailable') throw failure;
    if (failure.code === 'svc_internal_error')
      ctx.log.error(
        { err: failure.cause ?? error, site_id: entry.site_id, work: handler.type },
        'unexpected failure in a job',
      );
    return failedWith(failure.code, failure.message);
  }
}

function failedWith(code: ErrorCode, message: string): SiteOutcome {
  return { failed: true, code, message, items: [] };
}

/** Ends jobs past their time limit and deletes jobs that ended long ago (operations §7.1). */
export async function reapJobs(ctx: Ctx): Promise<{ timed_out: number; expired: number }> {
  const now = ctx.clock.now();
  const timedOut = await ctx.store.jobs.reap(now);
  for (const id of timedOut) ctx.events.emit({ name: 'job.timed_out', facts: { job_id: id } });
  return { timed_out: timedOut.length, expired: await ctx.store.jobs.expire(now - ctx.config.job_ttl_ms) };
}

/** Releases the jobs of processes that `isGone` knows to be dead, so that their leases need not lapse first. */
export async function releaseOrphans(ctx: Ctx, isGone: (owner: string) => boolean): Promise<number> {
  const owners = await ctx.store.jobs.owners();
  const gone = owners.filter(isGone);
  return gone.length === 0 ? 0 : ctx.store.jobs.dropLeases(gone);
}
