/**
 * A queue for password checks, which runs a few at a time: each takes a processor for a quarter of a second and 32 MB.
 * Networks take turns, and where the queue is full, the one that has the most in it gives way: guessing slows down the
 * guesser and not the service.
 */

import { siteOf } from '../http/networks.js';
import { waitingLogins } from './login-errors.js';

/** Two of the four threads of Node's pool: file and name lookups need the others. */
const AT_ONCE = 2;
/** About four seconds of work. */
const MAX_WAITING = 32;
const MAX_WAITING_OF_ONE = 8;

interface Waiting {
  network: string;
  go(): void;
  refuse(): void;
}

export class HashQueue {
  /** By the network of a whole site, in the order of their turns; of each the oldest first. */
  readonly #waiting = new Map<string, Waiting[]>();
  #running = 0;

  /**
   * Runs `check` when its turn comes.
   *
   * @param network as `networkOf` gives it
   * @throws ServiceError `svc_rest_too_many_requests` where too many of the network wait, or too many of all
   */
  async run<T>(network: string, check: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#turn(network);
    else this.#running += 1;
    try {
      return await check();
    } finally {
      // The slot is handed on, so `#running` stays the same.
      const next = this.#next();
      if (next === undefined) this.#running -= 1;
      else next.go();
    }
  }

  #turn(network: string): Promise<void> {
    const site = siteOf(network);
    const own = this.#waiting.get(site) ?? [];
    if (own.filter((each) => each.network === network).length >= MAX_WAITING_OF_ONE) throw waitingLogins();
    const all = [...this.#waiting.values()];
    if (all.reduce((sum, { length }) => sum + length, 0) >= MAX_WAITING) {
      const largest = all.reduce((most, each) => (each.length > most.length ? each : most));
      if (largest.length <= own.length + 1) throw waitingLogins();
      largest.pop()?.refuse();
    }
    return new Promise((go, reject) => {
      own.push({ network, go, refuse: () => reject(waitingLogins()) });
      this.#waiting.set(site, own);
    });
  }

  /** The oldest of the network whose turn it is, which then waits for the others. */
  #next(): Waiting | undefined {
    for (const [site, own] of this.#waiting) {
      const next = own.shift();
      this.#waiting.delete(site);
      if (own.length > 0) this.#waiting.set(site, own);
      return next;
    }
    return undefined;
  }
}
