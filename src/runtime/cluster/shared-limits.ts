/**
 * Limits on calls to child sites that hold across processes. Each process registers in the database every few seconds
 * and counts the others. A limit for all calls is divided among them. Each place of a host belongs to one process; a
 * process without one shares a single spare place with others by a lease. So a host sees its limit, plus one.
 *
 * Limitation: a process that was paused in the middle of its calls still has those calls open when it wakes, and the
 * others, having considered it dead, have taken over its places. It starts no further calls until it has registered
 * again.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { Leases } from './leases.js';
import type { SharedLimits } from './limits.js';

export interface ClusterLimitsParts {
  /** Records that this process lives, and returns the living processes in a fixed order. */
  heartbeat(owner: string, now: number, until: number): Promise<string[]>;
  leave(owner: string): Promise<void>;
  owner: string;
  leases: Leases;
  clock: Clock;
  log: Log;
  heartbeatMs?: number | undefined;
}

/** How many heartbeats may be missed before the others consider a process dead. */
const MISSED = 3;
/** How often the spare place of a host passes to another process, if several want it. */
const SPARE = { idleMs: 30, mostMs: 500 };

export interface ClusterLimits extends SharedLimits {
  /**
   * Which of how many equal parts of some work belongs to this process; null while the others may not have counted it.
   */
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
  /** Until this value of `elapsed`, the others may not have counted this process yet, and may use its places. */
  let newUntil = 0;
  /** By both readings of the clock: one detects a step back, the other a sleep of the machine. */
  let seenUntil = { now: 0, elapsed: 0 };
  const isSeen = () => clock.now() <= seenUntil.now && clock.elapsed() <= seenUntil.elapsed;

  const beat = async () => {
    const now = clock.now();
    const elapsed = clock.elapsed();
    const keptMs = MISSED * heartbeatMs;
    const found = await heartbeat(owner, now - clock.steps(keptMs).forward, now + keptMs);
    const before = living.join();
    // Back from a pause during which the others gave this process up: treat it as new.
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
