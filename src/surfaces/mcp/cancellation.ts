/** Distinguishes a cancelled call from one whose client merely stopped waiting. */

/** Client SDKs cancel a call that exceeds the client's own timeout, and say so in the reason. */
const CLIENT_TIMEOUT = /timed? ?out/i;

export interface RequestSignals {
  /** The SDK's signal: aborted when the call is cancelled or its connection is lost. Called at most once. */
  aborted(): AbortSignal;
  /** Whether the connection itself is closing. */
  isClosing(): boolean;
  /** Aborted when the client hung up, on connections where that can be distinguished. */
  hangUp?: (() => AbortSignal | undefined) | undefined;
}

/**
 * Splits one signal in two: `signal` for a cancelled call, `disconnected` for one whose client stopped waiting. They
 * are created on first access: most calls are short reads that never use them, and creating them would cost more than
 * the answer.
 */
export class Cancellation {
  readonly #connection: RequestSignals;
  #made: { signal: AbortSignal; disconnected: AbortSignal } | undefined;

  constructor(connection: RequestSignals) {
    this.#connection = connection;
  }

  get signal(): AbortSignal {
    this.#made ??= split(this.#connection);
    return this.#made.signal;
  }

  get disconnected(): AbortSignal {
    this.#made ??= split(this.#connection);
    return this.#made.disconnected;
  }
}

function split({ aborted, isClosing, hangUp }: RequestSignals): { signal: AbortSignal; disconnected: AbortSignal } {
  const cancelled = new AbortController();
  const disconnected = new AbortController();
  const both = aborted();
  const ended = () => {
    const { reason } = both;
    const isTimeout = typeof reason === 'string' && CLIENT_TIMEOUT.test(reason);
    (isClosing() || isTimeout ? disconnected : cancelled).abort();
  };
  if (both.aborted) ended();
  else both.addEventListener('abort', ended, { once: true });
  const hungUp = hangUp?.();
  return {
    signal: cancelled.signal,
    disconnected: hungUp === undefined ? disconnected.signal : AbortSignal.any([disconnected.signal, hungUp]),
  };
}
