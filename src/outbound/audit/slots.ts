/** Limits the browsers that run at the same time: each takes some hundred megabytes and most of a processor. */

const MOST_BROWSERS = 2;

export class BrowserSlots {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(most = MOST_BROWSERS) {
    this.#free = most;
  }

  /**
   * Waits for a free browser, at most this long; null = there was none. Rejects with the signal's reason.
   * @returns what frees it
   */
  async take(waitMs: number, signal: AbortSignal): Promise<(() => void) | null> {
    signal.throwIfAborted();
    // Those who have waited are handed the place of another.
    if (this.#free > 0) this.#free--;
    else if (!(await this.#turn(waitMs, signal))) return null;
    return () => {
      const [next] = this.#waiting;
      if (next === undefined) this.#free++;
      else next();
    };
  }

  #turn(waitMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        this.#waiting.delete(mine);
        settle();
      };
      const mine = end(() => resolve(true));
      const aborted = end(() => reject(signal.reason));
      const timer = setTimeout(
        end(() => resolve(false)),
        waitMs,
      );
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(mine);
    });
  }
}
