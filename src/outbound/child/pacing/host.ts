import { Heap } from './heap.js';
import type { CallKind } from './types.js';

/** A call that waits for its turn. */
export interface Waiter {
  readonly host: Host;
  readonly kind: CallKind;
  /** 0 if the site has no record yet. */
  readonly site_id: number;
  readonly estimate: number;
  readonly order: number;
  /** Only the lane changes it. */
  live: boolean;
  waiting: boolean;
  readonly start: () => void;
  readonly cancel: () => void;
}

/** One host's queue and counts. Changed by the Pacer alone. */
export class Host {
  running = 0;
  /** Number of waiters that still wait, and their expected work in milliseconds. */
  waiting = 0;
  work = 0;
  readyAt = 0;
  /** The `readyAt` under which it is already filed for later. */
  filedAt = 0;
  /** Entries of the ready heap with another version are stale. */
  version = 0;
  readonly lanes = new Map<CallKind, Lane>();
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  lane(kind: CallKind): Lane {
    const known = this.lanes.get(kind);
    if (known !== undefined) return known;
    const lane = new Lane();
    this.lanes.set(kind, lane);
    return lane;
  }
}

/** The calls of one kind that wait for one host. */
class Lane {
  waiting = 0;
  live = 0;
  readonly #live = new Heap<Waiter>(longestFirst);
  readonly #bulk = new Heap<Waiter>(longestFirst);

  add(waiter: Waiter): void {
    this.waiting++;
    if (waiter.live) this.live++;
    (waiter.live ? this.#live : this.#bulk).push(waiter);
  }

  /** Moves a waiting call to the live ones. */
  expedite(waiter: Waiter): void {
    if (waiter.live) return;
    waiter.live = true;
    this.live++;
    this.#live.push(waiter);
  }

  /** The next waiting call, live ones first. It is not removed from the counts yet. */
  next(): Waiter | undefined {
    for (const queue of [this.#live, this.#bulk]) {
      for (let waiter = queue.pop(); waiter !== undefined; waiter = queue.pop()) {
        // An expedited call is in both queues.
        if (waiter.waiting && waiter.live === (queue === this.#live)) return waiter;
      }
    }
    return undefined;
  }
}

/** The longest expected call, then the oldest. */
function longestFirst(a: Waiter, b: Waiter): boolean {
  return a.estimate !== b.estimate ? a.estimate > b.estimate : a.order < b.order;
}
