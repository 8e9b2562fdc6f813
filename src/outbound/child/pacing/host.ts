import { Heap } from './heap.js';
import { type CallKind, TURNS, type Turn } from './types.js';

/** A call that waits for its turn. */
export interface Waiter {
  readonly host: Host;
  readonly kind: CallKind;
  /** 0 if the site has no record yet. */
  readonly site_id: number;
  readonly estimate: number;
  readonly order: number;
  /** Only the lane changes it. */
  turn: Turn;
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
  readonly #waitingOf: Record<Turn, number> = { one: 0, many: 0, bulk: 0 };
  readonly #queues: Readonly<Record<Turn, Heap<Waiter>>> = {
    one: new Heap(longestFirst),
    many: new Heap(longestFirst),
    bulk: new Heap(longestFirst),
  };

  /** The place of its most urgent calls in the order of turns. */
  get rank(): number {
    return TURNS.findIndex((turn) => this.#waitingOf[turn] > 0);
  }

  add(waiter: Waiter): void {
    this.waiting++;
    this.#waitingOf[waiter.turn]++;
    this.#queues[waiter.turn].push(waiter);
  }

  /** Takes a call out of the counts; it stays in its queue until it comes up there. */
  leave({ turn }: Waiter): void {
    this.waiting--;
    this.#waitingOf[turn]--;
  }

  /** Moves a waiting call to the most urgent ones. */
  expedite(waiter: Waiter): void {
    if (waiter.turn === 'one') return;
    this.#waitingOf[waiter.turn]--;
    waiter.turn = 'one';
    this.#waitingOf.one++;
    this.#queues.one.push(waiter);
  }

  /** The next waiting call, the most urgent ones first. It is not removed from the counts yet. */
  next(): Waiter | undefined {
    for (const turn of TURNS) {
      const queue = this.#queues[turn];
      for (let waiter = queue.pop(); waiter !== undefined; waiter = queue.pop()) {
        // An expedited call is in two queues.
        if (waiter.waiting && waiter.turn === turn) return waiter;
      }
    }
    return undefined;
  }
}

/** The longest expected call, then the oldest. */
function longestFirst(a: Waiter, b: Waiter): boolean {
  return a.estimate !== b.estimate ? a.estimate > b.estimate : a.order < b.order;
}
