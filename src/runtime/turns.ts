/** Turns of the event loop, so that many pieces of work that begin at once let others in between. */

/** Returns a function whose promises resolve one per turn of the event loop, in the order of the calls. */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const turn = () => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(turn);
  };
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(turn);
    });
}
