import { ChildFailure } from './child.js';

interface Waiting {
  live: boolean;
  start: () => void;
}

/** At most so many calls of one kind at once, over and above the limits of the pacer. People go before bulk work. */
export class Gate {
  #limit: number;
  #running = 0;
  #waiting: Waiting[] = [];

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.#admit();
  }

  /** Fails with `cancelled` when the signal comes before its turn. */
  async run<T>(live: boolean, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await this.#turn(live, signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#admit();
    }
  }

  /** Resolves with the place taken. */
  #turn(live: boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const give = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        reject(new ChildFailure('cancelled', 'The call was cancelled before it was sent.'));
      };
      const entry: Waiting = {
        live,
        start: () => {
          signal?.removeEventListener('abort', give);
          resolve();
        },
      };
      if (signal?.aborted === true) {
        give();
        return;
      }
      signal?.addEventListener('abort', give, { once: true });
      this.#waiting.push(entry);
    });
  }

  #admit(): void {
    while (this.#running < this.#limit && this.#waiting.length > 0) {
      const live = this.#waiting.findIndex((entry) => entry.live);
      const [next] = this.#waiting.splice(Math.max(live, 0), 1);
      this.#running++;
      next?.start();
    }
  }
}
