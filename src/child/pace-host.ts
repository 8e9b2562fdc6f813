import { Heap } from './heap.js';

/** A call that waits for its turn. */
export interface Waiter {
  readonly host: Host;
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
  live = 0;
  work = 0;
  readyAt = 0;
  /** The `readyAt` it is already filed under for later. */
  filedAt = 0;
  /** Entries of the ready heap with another version are stale. */
  version = 0;
  /** Live first, then the longest expected call, then the oldest. */
  readonly queue = new Heap<Waiter>((a, b) => {
    if (a.live !== b.live) return a.live;
    return a.estimate !== b.estimate ? a.estimate > b.estimate : a.order < b.order;
  });
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}
