/** Runs at most `limit` tasks at once; the others wait in order. */
export class Slots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /**
   * Waits for a free place, at most this long; null = there was none. Rejects with the signal's reason.
   * @returns what frees it
   */
  async take(waitMs: number, signal: AbortSignal): Promise<(() => void) | null> {
    signal.throwIfAborted();
    return (await this.#turn({ waitMs, signal })) ? () => this.#release() : null;
  }

  /** Those who have waited are handed the place of another. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }

  async #turn(limits?: { waitMs: number; signal: AbortSignal }): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        clearTimeout(timer);
        limits?.signal.removeEventListener('abort', aborted);
        this.#waiting.delete(mine);
        settle();
      };
      const mine = end(() => resolve(true));
      const aborted = end(() => reject(limits?.signal.reason));
      const timeUp = end(() => resolve(false));
      const timer = limits === undefined ? undefined : setTimeout(timeUp, limits.waitMs);
      limits?.signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(mine);
    });
  }
}
