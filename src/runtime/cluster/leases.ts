/**
 * Leases: mutual exclusion by name. Within a process by a queue in memory; across processes by a database row, which is
 * renewed while its holder lives and lapses when it dies.
 */

import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.js';
import type { Log } from '../log.js';
import type { SiteLocks } from '../site-locks.js';

/** Storage of leases; `acquire` takes, renews or refuses in one statement: leases that end by `lapsed` are over. */
export interface LeaseRows {
  acquire(name: string, owner: string, lapsed: number, until: number): Promise<number | null>;
  release(name: string, owner: string): Promise<void>;
}

export interface SharedLeases {
  rows: LeaseRows;
  owner: string;
  clock: Clock;
  log: Log;
  /** How long a lease lasts without renewal. Default 30 s. */
  leaseMs?: number | undefined;
}

/** Called if the name is taken within this process. @returns a function that is called when the wait is over */
type OnWait = () => () => void;

/** Runs work while holding a name. `held` is aborted if the lease was lost: another process may hold it by now. */
export interface Leases {
  exclusive<T>(
    name: string,
    signal: AbortSignal,
    work: (held: AbortSignal) => Promise<T>,
    options?: { retention?: LeaseRetention; onWait?: OnWait | undefined },
  ): Promise<T>;
  /** Uses only the queue in memory. `waited`: the name was taken within this process. */
  local<T>(name: string, signal: AbortSignal, work: (waited: boolean) => Promise<T>, onWait?: OnWait): Promise<T>;
  /**
   * To be awaited before anything is sent under a lease. After a pause of this process, whose timers have not run yet, each
   * lease that may have lapsed is renewed first, and the `held` of one that another process had meanwhile is aborted.
   */
  confirm(): Promise<void> | undefined;
  /** Gives back the leases that are kept for more work. Before the database is closed. */
  close(): Promise<void>;
}

/** For series of short work: the lease is kept until no work has come for `idleMs`, but at most for `mostMs`. */
export interface LeaseRetention {
  idleMs: number;
  mostMs: number;
  /** How long the lease of a dead process blocks others. */
  leaseMs: number;
}

const LEASE_MS = 30_000;
/** Renewals per lease time: two may be missed. */
const BEATS = 4;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 200;
const NEVER = new AbortController().signal;

/** `shared` is omitted if no other process can exist: a database in memory. */
export function createLeases(shared?: SharedLeases): Leases {
  const tails = new Map<string, Promise<void>>();
  const leases = shared === undefined ? null : new HeldLeases(shared);
  const local: Leases['local'] = async (name, signal, work, onWait) => {
    const before = tails.get(name);
    let release = () => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tail = before === undefined ? mine : before.then(() => mine);
    tails.set(name, tail);
    const forget = () => {
      if (tails.get(name) === tail) tails.delete(name);
    };
    let itsTurn = before === undefined;
    try {
      if (before !== undefined) {
        const waitEnded = onWait?.();
        await orAborted(before, signal).finally(waitEnded);
        itsTurn = true;
      }
      return await work(before !== undefined);
    } finally {
      release();
      // A caller that gave up waiting leaves others at work: the next one must still wait for those.
      if (itsTurn) forget();
      else void tail.then(forget);
    }
  };
  return {
    local,
    exclusive: (name, signal, work, { retention, onWait } = {}) => {
      const leased = async () => {
        if (leases === null) return work(NEVER);
        const lease = await leases.take(name, signal, retention?.leaseMs);
        try {
          return await work(lease.lost.signal);
        } finally {
          await leases.giveBack(lease, retention);
        }
      };
      return local(name, signal, leased, onWait);
    },
    confirm: () => leases?.confirm(),
    close: async () => leases?.endKept(),
  };
}

/**
 * One piece of work at a time per site.
 * @param expedite called while work waits for other work of this process on the site; returns a function that ends it
 */
export function createSiteLocks(leases: Leases = createLeases(), expedite?: (siteId: number) => () => void): SiteLocks {
  const nameOf = (siteId: number) => `site:${siteId}`;
  const onWait = (siteId: number) => (expedite === undefined ? undefined : () => expedite(siteId));
  return {
    exclusive: (siteId, signal, work) => leases.exclusive(nameOf(siteId), signal, work, { onWait: onWait(siteId) }),
    local: (siteId, signal, work) => leases.local(nameOf(siteId), signal, work, onWait(siteId)),
  };
}

interface Lease {
  name: string;
  leaseMs: number;
  /** Grows when another process takes it. */
  fence: number;
  since: number;
  /** When it was renewed last, by both clocks: one stands still while the machine sleeps, the other may be set. */
  renewed: { elapsed: number; now: number };
  lost: AbortController;
  beat: NodeJS.Timeout;
  /** The renewal that several wait for. */
  confirming: Promise<void> | undefined;
}

/** This process's leases. The caller ensures that acquiring and releasing a name alternate. */
class HeldLeases {
  readonly #shared: SharedLeases;
  readonly #held = new Set<Lease>();
  /** Kept for the next piece of work, with the timer that ends it. */
  readonly #kept = new Map<string, { lease: Lease; idle: NodeJS.Timeout }>();
  /** Being released: acquiring it again before the release has ended would be undone by it. */
  readonly #ending = new Map<string, Promise<void>>();

  constructor(shared: SharedLeases) {
    this.#shared = shared;
  }

  async take(name: string, signal: AbortSignal, wanted?: number): Promise<Lease> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) {
      clearTimeout(kept.idle);
      this.#kept.delete(name);
      if (!kept.lease.lost.signal.aborted) return kept.lease;
      await this.#end(kept.lease);
    }
    await this.#ending.get(name);
    const { clock } = this.#shared;
    const leaseMs = wanted ?? this.#shared.leaseMs ?? LEASE_MS;
    let held = await this.#hold(name, leaseMs);
    for (let pause = FIRST_PAUSE_MS; held === null; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      await clock.sleep(pause, signal);
      held = await this.#hold(name, leaseMs);
    }
    const lost = new AbortController();
    const beat = setInterval(() => void this.#renew(lease), leaseMs / BEATS);
    const lease: Lease = { name, leaseMs, ...held, since: clock.elapsed(), lost, beat, confirming: undefined };
    this.#held.add(lease);
    return lease;
  }

  confirm(): Promise<void> | undefined {
    const late = [...this.#held].filter((lease) => this.#isOver(lease));
    return late.length === 0 ? undefined : Promise.all(late.map((one) => this.#confirmed(one))).then(() => undefined);
  }

  #isOver({ renewed, leaseMs }: Lease): boolean {
    const { elapsed, now } = this.#times();
    return elapsed - renewed.elapsed >= leaseMs || now - renewed.now >= leaseMs;
  }

  #confirmed(lease: Lease): Promise<void> {
    lease.confirming ??= this.#renew(lease).then(() => {
      lease.confirming = undefined;
      // Where storage cannot be reached, another process may reach it.
      if (this.#isOver(lease)) lease.lost.abort();
    });
    return lease.confirming;
  }

  async #renew(lease: Lease): Promise<void> {
    try {
      const held = await this.#hold(lease.name, lease.leaseMs);
      if (held?.fence === lease.fence) lease.renewed = held.renewed;
      else lease.lost.abort();
    } catch (error) {
      // A missed renewal is survivable: the lease lasts until the next ones.
      this.#shared.log.warn({ err: error, lease: lease.name }, 'a lease could not be renewed');
    }
  }

  #times(): Lease['renewed'] {
    const { clock } = this.#shared;
    return { elapsed: clock.elapsed(), now: clock.now() };
  }

  async giveBack(lease: Lease, retention: LeaseRetention | undefined): Promise<void> {
    const usable = retention !== undefined && this.#shared.clock.elapsed() - lease.since < retention.mostMs;
    if (!usable || lease.lost.signal.aborted) {
      await this.#end(lease);
      return;
    }
    const idle = setTimeout(() => {
      this.#kept.delete(lease.name);
      void this.#end(lease);
    }, retention.idleMs);
    idle.unref();
    lease.beat.unref();
    this.#kept.set(lease.name, { lease, idle });
  }

  async endKept(): Promise<void> {
    for (const [name, { lease, idle }] of this.#kept) {
      clearTimeout(idle);
      this.#kept.delete(name);
      void this.#end(lease);
    }
    await Promise.all(this.#ending.values());
  }

  /** Null: another process holds it. */
  async #hold(name: string, leaseMs: number): Promise<Pick<Lease, 'fence' | 'renewed'> | null> {
    const { rows, owner, clock } = this.#shared;
    const renewed = this.#times();
    const { now } = renewed;
    const fence = await rows.acquire(name, owner, now - clock.steps(leaseMs).forward, now + leaseMs);
    return fence === null ? null : { fence, renewed };
  }

  #end(lease: Lease): Promise<void> {
    clearInterval(lease.beat);
    this.#held.delete(lease);
    const { rows, owner, log } = this.#shared;
    const end = rows
      .release(lease.name, owner)
      // A lease that is not released lapses.
      .catch((error: unknown) => log.debug({ err: error, lease: lease.name }, 'a lease could not be released'))
      .finally(() => this.#ending.delete(lease.name));
    this.#ending.set(lease.name, end);
    return end;
  }
}

/** Waits for a turn, but no longer than the caller does. */
async function orAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  // One signal often serves a run over thousands of sites.
  setMaxListeners(0, signal);
  let stop = () => {};
  const given = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([turn, given]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
