/**
 * Limits towards child sites that hold across processes. Each process shows itself in the database every few seconds and
 * counts the others. A limit for all calls is divided among them. Of the places of one host, each belongs to one process;
 * who has none takes turns, by a lease, on one spare place. So a host sees its limit, plus one.
 *
 * What it cannot do: a process that was paused in the middle of its calls has those calls open still when it wakes, and the
 * others, who took it for dead, have taken over its places. It starts no more until it has shown itself again.
 */

import { createHash } from 'node:crypto';
import type { SharedLimits } from '../child/shared-limits.js';
import type { Clock } from '../core/clock.js';
import type { Log } from '../core/log.js';
import type { Leases } from './leases.js';

export interface ClusterLimitsParts {
  /** Notes that this process lives and answers who else does, in a fixed order. */
  heartbeat(owner: string, now: number, until: number): Promise<string[]>;
  leave(owner: string): Promise<void>;
  owner: string;
  leases: Leases;
  clock: Clock;
  log: Log;
  heartbeatMs?: number | undefined;
}

/** Beats that may be missed before the others take a process for dead. */
const MISSED = 3;
/** How often the spare place of a host goes to another process, when several want it. */
const SPARE = { idleMs: 30, mostMs: 500 };

export interface ClusterLimits extends SharedLimits {
  /** Which of how many equal parts of some work is this process's; null while the others may not have counted it. */
  part(): { index: number; of: number } | null;
  close(): Promise<void>;
}

export function createClusterLimits({
  heartbeat,
  leave,
  owner,
  leases,
  clock,
  log,
  heartbeatMs = 5_000,
}: ClusterLimitsParts): ClusterLimits {
  const listeners: (() => void)[] = [];
  let living: readonly string[] = [owner];
  let joined: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** Until then, of `elapsed`, the others may not have counted us, and use our places. */
  let newUntil = 0;
  /** By both readings of the clock: one shows a step back, the other a sleep of the machine. */
  let seenUntil = { now: 0, elapsed: 0 };
  const isSeen = () => clock.now() <= seenUntil.now && clock.elapsed() <= seenUntil.elapsed;

  const beat = async () => {
    const now = clock.now();
    const elapsed = clock.elapsed();
    const keptMs = MISSED * heartbeatMs;
    const found = await heartbeat(owner, now - clock.steps(keptMs).forward, now + keptMs);
    const before = living.join();
    // Back from a pause in which the others gave us up: as good as new.
    if (!isSeen()) newUntil = clock.elapsed() + 2 * heartbeatMs;
    seenUntil = { now: now + keptMs, elapsed: elapsed + keptMs };
    living = found.includes(owner) ? found : [...found, owner];
    if (living.join() !== before) for (const listener of listeners) listener();
  };
  let beating: Promise<void> | null = null;
  const beatOnce = () => {
    beating ??= beat().finally(() => {
      beating = null;
    });
    return beating;
  };
  const join = async () => {
    await beatOnce();
    timer = setInterval(() => {
      beatOnce().catch((error: unknown) => log.warn({ err: error }, 'the other processes could not be counted'));
    }, heartbeatMs);
    timer.unref();
  };
  const isCounted = () => isSeen() && (living.length === 1 || clock.elapsed() >= newUntil);
  const slots = (host: string, limit: number): number => {
    const members = living.length;
    if (!isCounted()) return 0;
    if (members === 1) return limit;
    const turn = (living.indexOf(owner) + numberOf(host)) % members;
    return Math.floor(limit / members) + (turn < limit % members ? 1 : 0);
  };
  return {
    async join() {
      joined ??= join().catch((error: unknown) => {
        joined = null;
        throw error;
      });
      await joined;
      if (!isSeen()) await beatOnce();
    },
    members: () => living.length,
    part: () => (isCounted() ? { index: living.indexOf(owner), of: living.length } : null),
    slots,
    within: (host, limit, signal, call) =>
      slots(host, limit) > 0
        ? call()
        : leases.exclusive(`host:${numberOf(host)}`, signal ?? new AbortController().signal, call, {
            retention: { ...SPARE, leaseMs: MISSED * heartbeatMs },
          }),
    onChange: (listener) => {
      listeners.push(listener);
    },
    async close() {
      if (joined === null) return;
      if (timer !== null) clearInterval(timer);
      await joined.then(() => leave(owner)).catch(() => undefined);
    },
  };
}

/** The same number for a host in every process. */
function numberOf(host: string): number {
  return createHash('sha256').update(host).digest().readUIntBE(0, 6);
}
