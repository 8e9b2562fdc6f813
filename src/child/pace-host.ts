import { Heap } from './heap.js';
import type { CallKind } from './pace-types.js';

/** A call that waits for its turn. */
export interface Waiter {
  readonly host: Host;
  readonly kind: CallKind;
  readonly estimate: number;
  readonly order: number;
  readonly live: boolean;
  waiting: boolean;
  readonly start: () => void;
  readonly cancel: () => void;
}

/** One host's queue and counts. The Pacer alone changes them. */
export class Host {
  running = 0;
  /** Waiters that still wait, and the milliseconds of work they stand for. */
  waiting = 0;
  work = 0;
  readyAt = 0;
  /** The `readyAt` it is already filed under for later. */
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
  /** Live first, then the longest expected call, then the oldest. */
  readonly queue = new Heap<Waiter>((a, b) => {
    if (a.live !== b.live) return a.live;
    return a.estimate !== b.estimate ? a.estimate > b.estimate : a.order < b.order;
  });
}
