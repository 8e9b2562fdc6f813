/**
 * Deduplication of calls on many sites. A call continues when its client disconnects; a repeated call joins it or gets
 * its result. Only a cancellation stops it, and only when no other client waits for the same call.
 */

import type { Caller } from '../../operation/operation.js';
import type { Clock } from '../../runtime/clock.js';
import type { Progress } from '../../runtime/progress.js';
import { cancelled } from './errors.js';
import type { JsonObject } from './tool-result.js';

/** One request that waits for the result of a call. */
export interface Participant extends Caller {
  /** Aborted when the client disconnected without having cancelled. */
  disconnected?: AbortSignal | undefined;
  /**
   * Milliseconds between `signal` and its effect, for connections on which a disconnect and a cancellation look the same: a
   * client that lost its connection repeats the call within that time and joins it.
   */
  graceMs?: number | undefined;
  /** The key that the client sent with a call, as it is: a repeated call with it gets the answer of the first. */
  idempotency_key?: unknown;
}

interface Running {
  readonly key: string;
  readonly promise: Promise<JsonObject>;
  readonly stop: AbortController;
  readonly participants: Set<Participant>;
  /** Kept when the call ended while no client was waiting for it. */
  result?: { output: JsonObject; until: number };
}

/** A client that gave up a call because of its own timeout repeats it soon or never. */
const KEEP_MS = 10 * 60_000;
/** Results kept at once; the oldest is dropped first. */
const MAX_KEPT = 100;

export class CallDeduplication {
  readonly #clock: Clock;
  readonly #calls = new Map<string, Running>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of running calls. */
  get size(): number {
    return [...this.#calls.values()].filter((call) => call.result === undefined).length;
  }

  /** Whether a call of this key would join a running one or get an undelivered result. */
  has(key: string): boolean {
    const call = this.#calls.get(key);
    return call !== undefined && (call.result === undefined || call.result.until > this.#clock.elapsed());
  }

  /**
   * Joins the running call of this key, returns its undelivered result, or starts a new one with `promise`.
   * Rejects with svc_cancelled when this participant cancels or disconnects first.
   */
  async run(
    key: string,
    participant: Participant,
    promise: (caller: Caller) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    participant.signal.throwIfAborted();
    const known = this.#calls.get(key);
    if (known?.result !== undefined) {
      this.#calls.delete(key);
      if (known.result.until > this.#clock.elapsed()) return known.result.output;
    }
    const call = known === undefined || known.result !== undefined ? this.#start(key, participant, promise) : known;
    call.participants.add(participant);
    try {
      return await untilCancelledOrDisconnected(call.promise, participant, () => this.#leave(call, participant));
    } finally {
      call.participants.delete(participant);
    }
  }

  /** Resolves when no call is running, or after `ms`. */
  async idle(ms: number): Promise<void> {
    const running = [...this.#calls.values()].filter((call) => call.result === undefined).map((call) => call.promise);
    if (running.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([Promise.allSettled(running), late]);
    clearTimeout(timer);
  }

  #start(key: string, participant: Participant, promise: (caller: Caller) => Promise<JsonObject>): Running {
    const stop = new AbortController();
    const participants = new Set<Participant>();
    const progress = (step: Progress) => {
      for (const watcher of participants) watcher.progress?.(step);
    };
    const { actor, request_id, client } = participant;
    const running: Running = {
      key,
      promise: promise({ actor, request_id, client, signal: stop.signal, progress }),
      stop,
      participants,
    };
    this.#calls.set(key, running);
    running.promise.then(
      (output) => this.#finish(running, output),
      () => this.#forget(running),
    );
    return running;
  }

  #finish(running: Running, output: JsonObject): void {
    if (running.participants.size > 0) {
      this.#forget(running);
      return;
    }
    running.result = { output, until: this.#clock.elapsed() + KEEP_MS };
    const kept = [...this.#calls].filter(([, call]) => call.result !== undefined);
    const oldest = kept.length > MAX_KEPT ? kept[0]?.[0] : undefined;
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  #forget(running: Running): void {
    if (this.#calls.get(running.key) === running) this.#calls.delete(running.key);
  }

  /** Stops a cancelled call without other participants: at once, or after a grace period in which no client joined. */
  #leave(call: Running, participant: Participant): void {
    call.participants.delete(participant);
    if (!participant.signal.aborted) return;
    const stop = () => {
      if (call.participants.size > 0) return;
      // From now on an identical call starts a new run instead of joining the one that is ending.
      this.#forget(call);
      call.stop.abort();
    };
    if (participant.graceMs === undefined) stop();
    else setTimeout(stop, participant.graceMs).unref();
  }
}

/** The result, or a rejection as soon as this participant cancels or disconnects. */
function untilCancelledOrDisconnected(
  promise: Promise<JsonObject>,
  participant: Participant,
  leave: () => void,
): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const left = () => {
      leave();
      reject(cancelled());
    };
    const stopListening = () => {
      participant.signal.removeEventListener('abort', left);
      participant.disconnected?.removeEventListener('abort', left);
    };
    promise.then(resolve, reject).finally(stopListening);
    participant.signal.addEventListener('abort', left, { once: true });
    participant.disconnected?.addEventListener('abort', left, { once: true });
    if (participant.disconnected?.aborted) left();
  });
}
