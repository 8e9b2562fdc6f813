/** Seeded randomness: the same seed gives the same data on every machine. */

export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 (inclusive) to 1 (exclusive), by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.int(0, list.length - 1)];
    if (item === undefined) throw new RangeError('pick: the list is empty');
    return item;
  }

  /** `count` different whole numbers from 0 to `below` − 1; low ones are more frequent than high ones. */
  popular(count: number, below: number): number[] {
    if (count > below) throw new RangeError(`popular: ${count} different numbers below ${below} do not exist`);
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(Math.floor(this.next() ** 2.2 * below));
    return [...chosen];
  }
}
