/** Decides when a replica syncs: at intervals, and at once for a read that needs recent writes. */

interface FreshnessParts {
  /** Copies everything that was written before it began. */
  sync(): Promise<void>;
  /** Called after each sync and awaited before the next. */
  ended(failure: Error | null): Promise<void>;
  everyMs: number;
  /** Pause after a failure. */
  retryMs: number;
}

interface Waiting {
  moment: number;
  done(reached: boolean): void;
}

/**
 * One sync at a time. Writes are numbered: a sync covers those marked before it began, so at most two syncs serve any
 * number of waiting reads.
 */
export class Freshness {
  readonly #parts: FreshnessParts;
  readonly #waiting = new Set<Waiting>();
  #marked = 0;
  #covered = 0;
  #failing = false;
  #stopped = false;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: FreshnessParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Something was written: the copy is stale until the next sync. Returns the number, for `reached`. */
  mark(): number {
    this.#marked += 1;
    if (!this.#failing) this.#wake();
    return this.#marked;
  }

  /** Whether everything marked is synced. */
  get fresh(): boolean {
    return this.#covered === this.#marked && !this.#failing;
  }

  /** Waits for everything marked by now. False if that fails, or takes longer than `ms`. */
  reached(ms: number): Promise<boolean> {
    const moment = this.#marked;
    if (this.#failing || this.#stopped) return Promise.resolve(false);
    if (this.#covered >= moment) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        moment,
        done: (reached) => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve(reached);
        },
      };
      const timer = setTimeout(() => waiting.done(false), ms);
      this.#waiting.add(waiting);
    });
  }

  /** Starts no further sync and waits for the running one, which `abort` ends. */
  async stop(abort: () => Promise<void>): Promise<void> {
    this.#stopped = true;
    this.#settle();
    this.#wake();
    await abort();
    await this.#running;
    // It may just have been about to start.
    await abort();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const covers = this.#marked;
      const failure = await this.#parts.sync().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      );
      this.#failing = failure !== null;
      if (failure === null) this.#covered = covers;
      if (this.#stopped) return;
      this.#settle();
      await this.#parts.ended(failure);
      if (this.#failing) await this.#pause(this.#parts.retryMs);
      else if (this.fresh) await this.#pause(this.#parts.everyMs);
    }
  }

  #settle(): void {
    for (const each of [...this.#waiting]) {
      if (each.moment <= this.#covered) each.done(true);
      else if (this.#failing || this.#stopped) each.done(false);
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => undefined;
        resolve();
      };
    });
  }
}
