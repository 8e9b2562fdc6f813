/** How a client left a call: it cancelled it, or it merely does not wait any longer. */

/** SDKs cancel what ran into the client's own time limit, and say so in the reason. */
const IMPATIENCE = /timed? ?out/i;

export interface Connection {
  /** Aborted when a call is cancelled or its connection is gone. Asked for at most once. */
  left(): AbortSignal;
  /** Whether the connection itself is ending. */
  isClosing(): boolean;
  /** Aborted when the client hung up, where that is told apart. */
  hangup?: (() => AbortSignal | undefined) | undefined;
}

/**
 * One signal as two: `signal` for a cancelled call, `gone` for one that nobody waits for. They are made when somebody looks
 * at them: most calls only read, are over before anybody could, and would pay more for signals than for their answer.
 */
export class Cancellation {
  readonly #connection: Connection;
  #made: { signal: AbortSignal; gone: AbortSignal } | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get signal(): AbortSignal {
    this.#made ??= split(this.#connection);
    return this.#made.signal;
  }

  get gone(): AbortSignal {
    this.#made ??= split(this.#connection);
    return this.#made.gone;
  }
}

function split({ left, isClosing, hangup }: Connection): { signal: AbortSignal; gone: AbortSignal } {
  const cancelled = new AbortController();
  const gone = new AbortController();
  const both = left();
  const ended = () => {
    const { reason } = both;
    const impatient = typeof reason === 'string' && IMPATIENCE.test(reason);
    (isClosing() || impatient ? gone : cancelled).abort();
  };
  if (both.aborted) ended();
  else both.addEventListener('abort', ended, { once: true });
  const hungUp = hangup?.();
  return {
    signal: cancelled.signal,
    gone: hungUp === undefined ? gone.signal : AbortSignal.any([gone.signal, hungUp]),
  };
}
