/** Turns of the event loop, so that work that begins at once lets others in between. */

/** Returns a function that begins what it is given in order, so many per turn of the event loop. */
export function inTurns(perTurn: number): (begin: () => void) => void {
  const waiting: (() => void)[] = [];
  const turn = () => {
    for (const begin of waiting.splice(0, perTurn)) begin();
    if (waiting.length > 0) setImmediate(turn);
  };
  return (begin) => {
    if (waiting.push(begin) === 1) setImmediate(turn);
  };
}

/** Returns a function that waits for a turn of the event loop, one for each of its callers. */
export function turnForEach(): () => Promise<void> {
  const begin = inTurns(1);
  return () => new Promise<void>(begin);
}
