import { partOf, type SharedLimits, UNSHARED } from '../../../runtime/cluster/limits.js';
import { ChildFailure } from '../failure.js';
import { Heap } from './heap.js';
import { Host, type Waiter } from './host.js';
import { LatencyBook } from './latency.js';
import { CALL_KINDS, type CallKind, type PaceClock, type PaceLimits, type PaceRequest } from './types.js';

export type { CallKind, PaceClock, PaceLimits, PaceRequest } from './types.js';

/**
 * Every eighth start goes to the oldest waiter that is allowed to run, so that no call waits forever behind longer
 * queues.
 */
const FAIR_EVERY = 8;
const FAIR_LOOKS_AT = 64;

/** A host that may start a call of one kind. */
interface Ready {
  host: Host;
  version: number;
  rank: number;
  work: number;
}

function sooner(a: Ready, b: Ready): boolean {
  return a.rank !== b.rank ? a.rank < b.rank : a.work > b.work;
}

/**
 * Decides which call is sent next. Each host has its own queue, so a slow or crowded host never blocks the others;
 * among hosts that may start a call, the one with the most expected work left goes first (longest processing time
 * first), so that a host with many sites does not prolong the end of a run. A kind of calls that is at its own limit is
 * skipped, and takes no slot from the others. Limits are never exceeded.
 */
export class Pacer {
  readonly #clock: PaceClock;
  readonly #latency: LatencyBook;
  readonly #hosts = new Map<string, Host>();
  /** In the order of arrival. */
  readonly #waiters = new Set<Waiter>();
  /** Sites whose calls go first, and how many callers wait for that. */
  readonly #expedited = new Map<number, number>();
  readonly #ready: Record<CallKind, Heap<Ready>> = {
    sync: new Heap(sooner),
    update: new Heap(sooner),
    other: new Heap(sooner),
  };
  readonly #runningOf: Record<CallKind, number> = { sync: 0, update: 0, other: 0 };
  readonly #later = new Heap<{ host: Host; at: number }>((a, b) => a.at < b.at);
  readonly #sharedLimits: SharedLimits;
  #limits: PaceLimits;
  #running = 0;
  #started = 0;
  #arrived = 0;
  #nextStart = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(
    limits: PaceLimits,
    clock: PaceClock,
    latency: LatencyBook = new LatencyBook(),
    sharedLimits: SharedLimits = UNSHARED,
  ) {
    this.#sharedLimits = sharedLimits;
    this.#limits = limits;
    this.#clock = clock;
    this.#latency = latency;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiters.size;
  }

  /** Takes effect at once for calls that have not started. */
  configure(limits: Partial<PaceLimits>): void {
    this.#limits = { ...this.#limits, ...limits };
    this.#nextStart = Number.NEGATIVE_INFINITY;
    for (const host of this.#hosts.values()) this.#refresh(host);
    this.#pump();
  }

  /** Runs `work` when the limits allow it; fails with `cancelled` when the signal comes first. */
  async run<T>(request: PaceRequest, work: () => Promise<T>): Promise<T> {
    const kind = request.kind ?? 'other';
    const host = await this.#admit(request, kind);
    const began = this.#clock.now();
    try {
      return await this.#sharedLimits.within(request.host, this.#limits.perHost, request.signal, work);
    } finally {
      this.#latency.learn(request.site, request.host, this.#clock.now() - began);
      this.#running--;
      this.#runningOf[kind]--;
      host.running--;
      this.#refresh(host);
      this.#pump();
    }
  }

  /**
   * The calls of a site go first from now on: a user waits for the work that makes them.
   * @returns a function that ends it
   */
  expedite(siteId: number): () => void {
    this.#expedited.set(siteId, (this.#expedited.get(siteId) ?? 0) + 1);
    for (const waiter of this.#waiters) {
      if (waiter.site_id !== siteId) continue;
      waiter.host.lane(waiter.kind).expedite(waiter);
      this.#refresh(waiter.host);
    }
    this.#pump();
    return () => {
      const left = (this.#expedited.get(siteId) ?? 1) - 1;
      if (left > 0) this.#expedited.set(siteId, left);
      else this.#expedited.delete(siteId);
    };
  }

  /** Starts nothing more; waiting calls are cancelled. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    for (const waiter of [...this.#waiters]) waiter.cancel();
  }

  #admit({ host: key, site, site_id = 0, signal, ...request }: PaceRequest, kind: CallKind): Promise<Host> {
    if (this.#closed || signal?.aborted === true) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const host = this.#hostOf(key);
      const cancel = (): void => {
        signal?.removeEventListener('abort', cancel);
        this.#leave(waiter);
        this.#refresh(host);
        reject(cancelled());
      };
      const start = (): void => {
        signal?.removeEventListener('abort', cancel);
        resolve(host);
      };
      const estimate = this.#latency.estimate(site, key);
      const turn = this.#expedited.has(site_id) ? 'one' : (request.turn ?? 'bulk');
      const order = this.#arrived++;
      const waiter: Waiter = { host, kind, site_id, estimate, order, turn, waiting: true, start, cancel };
      signal?.addEventListener('abort', cancel, { once: true });
      host.waiting++;
      host.work += estimate;
      host.lane(kind).add(waiter);
      this.#waiters.add(waiter);
      this.#refresh(host);
      this.#pump();
    });
  }

  #hostOf(key: string): Host {
    const known = this.#hosts.get(key);
    if (known !== undefined) return known;
    const host = new Host(key);
    this.#hosts.set(key, host);
    return host;
  }

  /** Removes a waiter from all counts. It stays in its host's heap until it comes up there. */
  #leave(waiter: Waiter): void {
    waiter.waiting = false;
    this.#waiters.delete(waiter);
    const { host } = waiter;
    host.waiting--;
    host.work -= waiter.estimate;
    host.lane(waiter.kind).leave(waiter);
  }

  /** Files the host again after a change. */
  #refresh(host: Host): void {
    host.version++;
    const now = this.#clock.now();
    if (host.readyAt > now) {
      if (host.filedAt === host.readyAt) return;
      host.filedAt = host.readyAt;
      this.#later.push({ host, at: host.readyAt });
    } else if (host.waiting === 0) {
      if (host.running === 0) this.#hosts.delete(host.key);
    } else if (host.running < this.#placesOf(host)) {
      for (const [kind, lane] of host.lanes) {
        if (lane.waiting === 0) continue;
        this.#ready[kind].push({ host, version: host.version, rank: lane.rank, work: host.work });
      }
    }
  }

  /** Without its own slot, this process lets one call through: it waits for the host's spare slot (`SharedLimits.within`). */
  #placesOf(host: Host): number {
    return Math.max(1, this.#sharedLimits.slots(host.key, this.#limits.perHost));
  }

  #pump(): void {
    if (this.#closed) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    while (this.#running < partOf(this.#limits.concurrency, this.#sharedLimits.members()) && this.#waiters.size > 0) {
      const now = this.#clock.now();
      if (now < this.#nextStart) {
        this.#wake(this.#nextStart - now);
        return;
      }
      this.#wakeHosts(now);
      const waiter = this.#pick(now);
      if (waiter === undefined) {
        const next = this.#later.peek();
        if (next !== undefined) this.#wake(next.at - now);
        return;
      }
      this.#start(waiter, now);
    }
  }

  #wake(ms: number): void {
    this.#cancelTimer = this.#clock.after(Math.max(ms, 0), () => this.#pump());
  }

  #wakeHosts(now: number): void {
    for (let next = this.#later.peek(); next !== undefined && next.at <= now; next = this.#later.peek()) {
      this.#later.pop();
      if (this.#hosts.get(next.host.key) === next.host) this.#refresh(next.host);
    }
  }

  #pick(now: number): Waiter | undefined {
    if (this.#started % FAIR_EVERY === FAIR_EVERY - 1) {
      const oldest = this.#oldest(now);
      if (oldest !== undefined) return oldest;
    }
    let first: { kind: CallKind; ready: Ready } | undefined;
    for (const kind of CALL_KINDS) {
      const ready = this.#isFull(kind) ? undefined : this.#peek(kind);
      if (ready !== undefined && (first === undefined || sooner(ready, first.ready))) first = { kind, ready };
    }
    if (first === undefined) return undefined;
    return first.ready.host.lane(first.kind).next();
  }

  /** The host that is next for calls of a kind; entries from before a host changed are discarded. */
  #peek(kind: CallKind): Ready | undefined {
    const heap = this.#ready[kind];
    for (let best = heap.peek(); best !== undefined; best = heap.peek()) {
      if (best.version === best.host.version) return best;
      heap.pop();
    }
    return undefined;
  }

  #isFull(kind: CallKind): boolean {
    const limit = this.#limits.kinds?.[kind];
    return limit !== undefined && this.#runningOf[kind] >= partOf(limit, this.#sharedLimits.members());
  }

  #oldest(now: number): Waiter | undefined {
    let seen = 0;
    for (const waiter of this.#waiters) {
      const { host, kind } = waiter;
      if (host.running < this.#placesOf(host) && host.readyAt <= now && !this.#isFull(kind)) return waiter;
      if (++seen >= FAIR_LOOKS_AT) return undefined;
    }
    return undefined;
  }

  #start(waiter: Waiter, now: number): void {
    const { host } = waiter;
    this.#leave(waiter);
    this.#started++;
    this.#running++;
    this.#runningOf[waiter.kind]++;
    host.running++;
    const members = this.#sharedLimits.members();
    host.readyAt = now + this.#limits.perHostDelayMs * members;
    this.#nextStart = now + this.#limits.minDelayMs * members;
    this.#refresh(host);
    waiter.start();
  }
}

function cancelled(): ChildFailure {
  return new ChildFailure('cancelled', 'The call was cancelled before it was sent.');
}
