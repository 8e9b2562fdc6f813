/** A small seeded generator (mulberry32): the same seed gives the same fleet on every machine. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A float in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.int(0, list.length - 1)];
    if (item === undefined) throw new RangeError('pick: the list is empty');
    return item;
  }

  /** `count` different items in random order; all of them when there are fewer. */
  sample<T>(list: readonly T[], count: number): T[] {
    const pool = [...list];
    const taken: T[] = [];
    while (taken.length < count && pool.length > 0) taken.push(...pool.splice(this.int(0, pool.length - 1), 1));
    return taken;
  }

  hex(length: number): string {
    let out = '';
    while (out.length < length) out += Math.floor(this.next() * 16).toString(16);
    return out;
  }
}

/** One seed from several numbers, so that neighbouring sites do not resemble each other. */
export function mixSeed(...parts: number[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    hash = Math.imul(hash ^ (part >>> 0), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}
