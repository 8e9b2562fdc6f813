/**
 * The job runner: works through queued jobs for as long as the process lives, a few jobs at once, each under its own
 * lease. A job that only waits for its sites does not keep others from their turn.
 */

import { isProcessGone, type ProcessLocation } from '../../runtime/cluster/process-id.js';
import { asServiceError } from '../../runtime/errors.js';
import type { ClockWork } from '../clock-steps.js';
import type { Ctx } from '../context.js';
import { LEASE_MS, releaseOrphans, runNextChunk } from './chunk.js';
import type { HandlerOf } from './handler.js';

/** How many jobs this process works on at once: jobs are done in their order, and other processes get some of them. */
const AT_ONCE = 4;
/**
 * How many it has begun at most, with those that wait for silent sites: each keeps the sites of a chunk in memory, and
 * renews its lease.
 */
const MOST = 40;
/** How often the queue is polled for jobs of other processes. */
const POLL_MS = 1000;

export interface JobRunner {
  start(): void;
  /** A job was queued: polls at once. */
  kick(): void;
  /** Starts no more chunks and waits for the running ones, which the context's signal aborts. */
  stop(): Promise<void>;
}

interface Lane {
  /** Its job only waits for sites. */
  waits: boolean;
  /** It did, in this turn: another may have its place. */
  waited: boolean;
  ended: Promise<void>;
}

export function createJobRunner(
  parts: ClockWork & { handlerOf: HandlerOf; location?: ProcessLocation | undefined; leaseMs?: number | undefined },
): JobRunner {
  const leaseMs = parts.leaseMs ?? LEASE_MS;
  const lanes = new Set<Lane>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  /** One lane looks for work, and starts the next lane if it found some: an empty queue is read once. */
  const fill = () => {
    const atWork = [...lanes].filter((lane) => !lane.waits).length;
    if (stopped || atWork >= AT_ONCE || lanes.size >= MOST) return;
    const lane: Lane = { waits: false, waited: false, ended: Promise.resolve() };
    lanes.add(lane);
    lane.ended = work(lane).finally(() => {
      lanes.delete(lane);
      if (lane.waited) fill();
    });
  };
  /** One lane: takes turns until nothing is due, or until one has only waited: others have got its place. */
  const work = async (lane: Lane): Promise<void> => {
    const ctx = parts.ctx();
    const waits = (only: boolean) => {
      lane.waits = only;
      lane.waited ||= only;
      if (only) fill();
    };
    const turn = (own: Ctx) => runNextChunk(own, parts.handlerOf, parts.owner, leaseMs, { claimed: fill, waits });
    try {
      await parts.clockSteps.settle();
      while (!stopped && !ctx.signal.aborted && !lane.waited && (await parts.withCtx(turn)));
    } catch (error) {
      // An unavailable storage is logged once elsewhere, not by every lane each second.
      if (!ctx.signal.aborted && asServiceError(error).code !== 'svc_storage_unavailable')
        ctx.log.error({ err: error }, 'the job runner failed and will try again');
    }
  };
  return {
    start() {
      if (timer !== null) return;
      timer = setInterval(fill, POLL_MS);
      timer.unref();
      const ctx = parts.ctx();
      // A killed process left its jobs leased: no need to wait for the leases to lapse.
      releaseOrphans(ctx, (owner) => isProcessGone(owner, parts.location))
        .catch((error: unknown) => ctx.log.warn({ err: error }, 'jobs claimed by dead processes could not be released'))
        .finally(fill);
    },
    kick: fill,
    async stop() {
      stopped = true;
      if (timer !== null) clearInterval(timer);
      await Promise.allSettled([...lanes].map((lane) => lane.ended));
    },
  };
}
