/** Goes through what a site has listed, which may be a million names, without holding up everything else. */

import { setImmediate } from 'node:timers/promises';

const PORTION = 1_000;

/** All of them, in their order; others may work between two portions. */
export async function* portionsOf<T>(all: Iterable<T>): AsyncGenerator<T[]> {
  let portion: T[] = [];
  for (const one of all) {
    portion.push(one);
    if (portion.length < PORTION) continue;
    yield portion;
    portion = [];
    await setImmediate();
  }
  yield portion;
}

/** The first `most` by an order. */
export async function firstOf<T>(all: Iterable<T>, most: number, order: (a: T, b: T) => number): Promise<T[]> {
  let first: T[] = [];
  for await (const portion of portionsOf(all)) first = [...first, ...portion].sort(order).slice(0, most);
  return first;
}
