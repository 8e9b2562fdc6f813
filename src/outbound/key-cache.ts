/** Private keys that were parsed: doing that again costs four times a signature. */

import { createHash, type KeyObject } from 'node:crypto';
import { dropOldest } from '../runtime/drop-oldest.js';

/** Looked up by digest, so that no PEM stays in memory for it; the least recently used is dropped first. */
export class KeyCache {
  readonly #keys = new Map<string, KeyObject>();
  readonly #parse: (pem: string) => KeyObject;
  readonly #capacity: number;

  constructor(parse: (pem: string) => KeyObject, capacity: number) {
    this.#parse = parse;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Throws what parsing throws. */
  get(pem: string): KeyObject {
    const id = createHash('sha256').update(pem).digest('base64');
    const known = this.#keys.get(id);
    if (known !== undefined) {
      this.#keys.delete(id);
      this.#keys.set(id, known);
      return known;
    }
    const key = this.#parse(pem);
    this.#keys.set(id, key);
    dropOldest(this.#keys, this.#capacity);
    return key;
  }
}
