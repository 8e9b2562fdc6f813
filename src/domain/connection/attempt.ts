/** Sends one change to a site and reads back its outcome, even if the connection broke in the middle. */

import { ChildFailure, GATEWAY_LOST, type Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { fetchSnapshot, OURS, storeFailure, storeSnapshot } from './sync.js';

/** The answer to a change, or a failure after which it may still have happened. */
export interface Attempt<T> {
  answer: T | null;
  failure: unknown;
}

/**
 * Runs a write once. A failure after the request was sent is kept: the site is read again before it is reported as a
 * failure.
 */
export async function attempt<T>(ctx: Ctx, call: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { answer: await call(), failure: null };
  } catch (error) {
    if (!mayHaveRun(error) || ctx.signal.aborted) throw error;
    return { answer: null, failure: error };
  }
}

export function mayHaveRun(error: unknown): boolean {
  return error instanceof ChildFailure && error.mayHaveRun;
}

/** The connection broke, so the site may still be at work; otherwise the site itself reported an error. */
export function connectionBroke(failure: unknown): failure is ChildFailure {
  if (!(failure instanceof ChildFailure)) return false;
  const { kind, httpStatus } = failure;
  return kind === 'unreachable' || kind === 'timed_out' || (kind === 'unframed' && GATEWAY_LOST.has(httpStatus));
}

/** The state of a site after a change. */
export interface Seen {
  /** Null if it could not be read. */
  snapshot: Snapshot | null;
  /** Why it could not be read; `svc_cancelled` if the call ran out of time. */
  silence: ServiceError | null;
}

export function inMaintenance(silence: ServiceError | null): boolean {
  return silence?.cause instanceof ChildFailure && silence.cause.kind === 'maintenance';
}

/** The HTTP status of a response without an answer; 0 = no response. */
export function statusOf(silence: ServiceError | null): number {
  return silence?.cause instanceof ChildFailure ? silence.cause.httpStatus : 0;
}

/** `has answered HTTP 500 since`. */
export function sinceThen(httpStatus: number): string {
  return httpStatus === 0 ? 'has not answered since' : `has answered HTTP ${httpStatus} since`;
}

const PATIENCE = 4;

/**
 * Time limit for reading a site after a change: a site that needs a minute for the change may need one for this, too.
 */
export function patienceMs(ctx: Ctx): number {
  return PATIENCE * ctx.config.site_timeout_ms;
}

/**
 * Stores the inventory that was returned with an answer; otherwise asks the site for it.
 * @param patient wait for a slow site; otherwise the time limit of a sync applies
 */
async function readSite(ctx: Ctx, target: LoadedSite, brought: Snapshot | null, patient = true): Promise<Seen> {
  if (brought !== null) return { snapshot: await storeSnapshot(ctx, target, brought), silence: null };
  try {
    const timeMs = patient ? patienceMs(ctx) : ctx.config.site_timeout_ms;
    return { snapshot: await fetchSnapshot(ctx, target, undefined, timeMs), silence: null };
  } catch (error) {
    if (error instanceof ServiceError && !OURS.has(error.code)) return { snapshot: null, silence: error };
    throw error;
  }
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 5000;
/** Pause between reads of a site that is known to be at work. */
const WORKING_PAUSE_MS = 20_000;
/** An update that is known to be running is waited for, but not forever. */
const RUNNING_MS = 5 * 60_000;

/** What is known of a change whose answer was lost. */
export type UpdateProgress = 'running' | 'killed' | 'unknown';

/**
 * Reads a site until it shows the expected state, retrying for up to `longest` (default `update_wait_ms`) while it is
 * silent, in maintenance, or `expected` says that it may still be at work. Returns the last read. If this process sent
 * the change, it waits for as long as the call is running, and no longer once the site has answered it. A change that
 * `progressOf` knows to be running gets more time; one that was twice seen to be killed gets none.
 * @param longest also limits a single read to the time of a sync
 */
export async function readUntil(
  ctx: Ctx,
  target: LoadedSite,
  expected: (seen: Snapshot) => boolean,
  longest?: number,
  progressOf: () => Promise<UpdateProgress> = async () => 'unknown',
): Promise<Seen> {
  const seen = await pollUntil(ctx, target, expected, longest, progressOf);
  // While the site was waited for, silence was part of the change; now it is its state.
  if (seen.silence !== null) await storeFailure(ctx, target.site.id, seen.silence, { own: true });
  return seen;
}

async function pollUntil(
  ctx: Ctx,
  target: LoadedSite,
  expected: (seen: Snapshot) => boolean,
  longest: number | undefined,
  progressOf: () => Promise<UpdateProgress>,
): Promise<Seen> {
  const began = ctx.clock.elapsed();
  const wait = Math.min(longest ?? Number.POSITIVE_INFINITY, ctx.config.update_wait_ms);
  let end = began + wait;
  let last: UpdateProgress = 'unknown';
  for (let pause = FIRST_PAUSE_MS; ; ) {
    const left = ctx.child.leftRunning(target.site.id);
    const seen = await readSite(ctx, target, null, longest === undefined);
    const isOver = seen.snapshot === null ? !mayComeBack(seen.silence) : left === 'answered' || expected(seen.snapshot);
    if (isOver) return seen;
    if (left === 'running') {
      end = ctx.clock.elapsed() + wait;
    } else {
      const progress = await progressOf();
      const limit = progress === 'running' ? began + RUNNING_MS : end;
      // One that has just ended is read once more.
      const over = ctx.clock.elapsed() + pause > limit && (last !== 'running' || progress === 'running');
      if (over || (progress === 'killed' && last === 'killed')) return seen;
      last = progress;
    }
    try {
      await ctx.clock.sleep(pause, ctx.signal);
    } catch {
      const message = 'The call ended before it was known whether the update took effect.';
      return { ...seen, silence: new ServiceError('svc_cancelled', message) };
    }
    pause = Math.min(2 * pause, left === 'running' ? WORKING_PAUSE_MS : LONGEST_PAUSE_MS);
  }
}

function mayComeBack(silence: ServiceError | null): boolean {
  return inMaintenance(silence) || connectionBroke(silence?.cause);
}

/**
 * The site after a change. An inventory returned with the answer may come from WordPress' cache before the change, so
 * it counts only if it shows the change; otherwise the site is asked.
 * @param patience as of `readUntil`, for a site that does not show the change
 */
export async function seenAfter(
  ctx: Ctx,
  target: LoadedSite,
  call: Attempt<unknown>,
  came: Snapshot | null,
  changed: (snapshot: Snapshot) => boolean,
  patience: { waitMs?: number; progress?: () => Promise<UpdateProgress> } = {},
): Promise<Seen> {
  if (came !== null) {
    const seen = await readSite(ctx, target, came);
    if (changed(came)) return seen;
  }
  // Behind a gateway that gave up, PHP may still be at work: then an unchanged site is read again.
  return connectionBroke(call.failure)
    ? readUntil(ctx, target, changed, patience.waitMs, patience.progress)
    : readUntil(ctx, target, () => true, undefined, patience.progress);
}
