/**
 * A queue for password checks, which runs a few at a time: each takes a processor for a quarter of a second and 32 MB.
 * The queue is bounded, and one network gets only a small part of it, so that guessing slows down the guesser and not
 * the service.
 */

import { waitingLogins } from './login-errors.js';

/** Two of the four threads of Node's pool: file and name lookups need the others. */
const AT_ONCE = 2;
/** About four seconds of work. */
const MAX_WAITING = 32;
const MAX_WAITING_OF_ONE = 8;

export class HashQueue {
  readonly #waiting: (() => void)[] = [];
  readonly #counts = new Map<string, number>();
  #running = 0;

  /** Runs `check` when its turn comes. Rejects with `svc_rest_too_many_requests` if too many are waiting. */
  async run<T>(network: string, check: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#turn(network);
    else this.#running += 1;
    try {
      return await check();
    } finally {
      // The slot is handed on, so `#running` stays the same.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #turn(network: string): Promise<void> {
    const count = this.#counts.get(network) ?? 0;
    if (this.#waiting.length >= MAX_WAITING || count >= MAX_WAITING_OF_ONE) throw waitingLogins();
    this.#counts.set(network, count + 1);
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const left = (this.#counts.get(network) ?? 1) - 1;
    if (left > 0) this.#counts.set(network, left);
    else this.#counts.delete(network);
  }
}
