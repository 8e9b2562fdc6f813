/** How a client left a call: it cancelled it, or it merely does not wait any longer. */

/** SDKs cancel what ran into the client's own time limit, and say so in the reason. */
const IMPATIENCE = /timed? ?out/i;

/**
 * One signal as two: `signal` for a cancelled call, `gone` for one that nobody waits for.
 * @param isClosing whether the connection itself is ending
 */
export function departure(both: AbortSignal, isClosing: () => boolean): { signal: AbortSignal; gone: AbortSignal } {
  const cancelled = new AbortController();
  const gone = new AbortController();
  const ended = () => {
    const { reason } = both;
    const impatient = typeof reason === 'string' && IMPATIENCE.test(reason);
    (isClosing() || impatient ? gone : cancelled).abort();
  };
  if (both.aborted) ended();
  else both.addEventListener('abort', ended, { once: true });
  return { signal: cancelled.signal, gone: gone.signal };
}
