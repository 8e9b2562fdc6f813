/**
 * Running calls on many sites. A client that hangs up does not stop one: it goes on, and the repeated call joins it or gets
 * its result. Only a cancelled one stops, and only when nobody else waits for it.
 */

import type { Clock } from '../core/clock.js';
import type { Progress } from '../core/progress.js';
import type { Caller } from '../operation/operation.js';
import { cancelled } from './errors.js';
import type { ToolAnswer } from './tool-result.js';

/** How one request takes part in a call, as far as its connection tells. */
export interface Participant extends Caller {
  /** Aborted when the client is gone without having cancelled. */
  gone?: AbortSignal | undefined;
  /**
   * Milliseconds between `signal` and its effect, where a broken connection and a cancelled call look the same: a client whose
   * connection broke has to repeat its call, and finds it.
   */
  graceMs?: number | undefined;
}

interface Running {
  readonly key: string;
  readonly work: Promise<ToolAnswer>;
  readonly stop: AbortController;
  readonly watchers: Set<Participant>;
  /** Set when it ended with nobody there to take the result. */
  result?: { answer: ToolAnswer; until: number };
}

/** A client that cut a call after its own limit comes back soon or never. */
const KEEP_MS = 10 * 60_000;
/** Results kept at once; the oldest makes room. */
const MAX_KEPT = 100;

export class CallDeduplication {
  readonly #clock: Clock;
  readonly #calls = new Map<string, Running>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls that are being worked on. */
  get size(): number {
    return [...this.#calls.values()].filter((call) => call.result === undefined).length;
  }

  /**
   * Joins the running call of this key, takes the result that nobody got, or starts `work`.
   * Rejects with svc_cancelled when this participant left first.
   */
  async run(key: string, me: Participant, work: (caller: Caller) => Promise<ToolAnswer>): Promise<ToolAnswer> {
    me.signal.throwIfAborted();
    const known = this.#calls.get(key);
    if (known?.result !== undefined) {
      this.#calls.delete(key);
      if (known.result.until > this.#clock.elapsed()) return known.result.answer;
    }
    const call = known === undefined || known.result !== undefined ? this.#start(key, me, work) : known;
    call.watchers.add(me);
    try {
      return await untilLeft(call.work, me, () => this.#leave(call, me));
    } finally {
      call.watchers.delete(me);
    }
  }

  /** Resolves when nothing is being worked on, or after `ms`. */
  async idle(ms: number): Promise<void> {
    const running = [...this.#calls.values()].filter((call) => call.result === undefined).map((call) => call.work);
    if (running.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.allSettled(running), late]);
    clearTimeout(timer);
  }

  #start(key: string, me: Participant, work: (caller: Caller) => Promise<ToolAnswer>): Running {
    const stop = new AbortController();
    const watchers = new Set<Participant>();
    const progress = (step: Progress) => {
      for (const watcher of watchers) watcher.progress?.(step);
    };
    const { actor, request_id } = me;
    const running: Running = { key, work: work({ actor, request_id, signal: stop.signal, progress }), stop, watchers };
    this.#calls.set(key, running);
    running.work.then(
      (answer) => this.#finish(running, answer),
      () => this.#forget(running),
    );
    return running;
  }

  #finish(running: Running, answer: ToolAnswer): void {
    if (running.watchers.size > 0) {
      this.#forget(running);
      return;
    }
    running.result = { answer, until: this.#clock.elapsed() + KEEP_MS };
    const kept = [...this.#calls].filter(([, call]) => call.result !== undefined);
    const oldest = kept.length > MAX_KEPT ? kept[0]?.[0] : undefined;
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  #forget(running: Running): void {
    if (this.#calls.get(running.key) === running) this.#calls.delete(running.key);
  }

  /** A cancelled call stops when nobody else waits for it; at once, or when its client did not come back in time. */
  #leave(call: Running, me: Participant): void {
    call.watchers.delete(me);
    if (!me.signal.aborted) return;
    const stop = () => {
      if (call.watchers.size > 0) return;
      // Whoever calls now starts anew instead of joining what is ending.
      this.#forget(call);
      call.stop.abort();
    };
    if (me.graceMs === undefined) stop();
    else setTimeout(stop, me.graceMs).unref();
  }
}

/** The result, or a rejection as soon as this participant is cancelled or gone. */
function untilLeft(work: Promise<ToolAnswer>, me: Participant, leave: () => void): Promise<ToolAnswer> {
  return new Promise((resolve, reject) => {
    const left = () => {
      leave();
      reject(cancelled());
    };
    const stopListening = () => {
      me.signal.removeEventListener('abort', left);
      me.gone?.removeEventListener('abort', left);
    };
    work.then(resolve, reject).finally(stopListening);
    me.signal.addEventListener('abort', left, { once: true });
    me.gone?.addEventListener('abort', left, { once: true });
    if (me.gone?.aborted) left();
  });
}
