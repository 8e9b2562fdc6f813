import { Heap } from './heap.js';
import { type CallKind, TURNS, type Turn } from './types.js';

/** The calls of a kind to sites that answer, or to those that were silent the last time. */
export type LaneName = CallKind | `silent ${CallKind}`;
export const laneName = (kind: CallKind, silent: boolean): LaneName => (silent ? `silent ${kind}` : kind);

/** A call that waits for its turn. */
export interface Waiter {
  readonly host: Host;
  readonly kind: CallKind;
  /** To a site that was silent the last time, and nobody waits for the call. */
  readonly silent: boolean;
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
  /** Of those, to sites that were silent the last time. */
  silent = 0;
  /** Number of waiters that still wait, and their expected work in milliseconds. */
  waiting = 0;
  work = 0;
  readyAt = 0;
  /** The `readyAt` under which it is already filed for later. */
  filedAt = 0;
  /** Entries of the ready heap with another version are stale. */
  version = 0;
  readonly lanes = new Map<LaneName, Lane>();
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  lane({ kind, silent }: Pick<Waiter, 'kind' | 'silent'>): Lane {
    const name = laneName(kind, silent);
    const known = this.lanes.get(name);
    if (known !== undefined) return known;
    const lane = new Lane(silent);
    this.lanes.set(name, lane);
    return lane;
  }
}

/** The calls of one name that wait for one host. */
class Lane {
  waiting = 0;
  readonly silent: boolean;
  readonly #waitingOf: Record<Turn, number> = { one: 0, many: 0, bulk: 0 };
  readonly #queues: Readonly<Record<Turn, Heap<Waiter>>> = {
    one: new Heap(longestFirst),
    many: new Heap(longestFirst),
    bulk: new Heap(longestFirst),
  };

  constructor(silent: boolean) {
    this.silent = silent;
  }

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
