/** A map of at most `limit` entries: the least recently used one is removed. Use is tracked only while the map is full. */
export class Lru<T> {
  readonly #entries = new Map<string, T>();
  readonly #limit: number;

  constructor(limit: number) {
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError('An LRU needs room for at least one entry.');
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key);
    // Order matters only once an entry must be removed; until then a hit is one lookup.
    if (value === undefined || this.#entries.size < this.#limit) return value;
    // A Map remembers insertion order, so the first key is always the one used longest ago.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  clear(): void {
    this.#entries.clear();
  }
}
