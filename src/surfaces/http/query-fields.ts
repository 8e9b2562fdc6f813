/** Parses names such as `a[b]=1&list[]=2` in queries and form bodies. Each step takes constant time. */

/** Maximum number of pairs in one query or form, as in PHP. */
export const MAX_PAIRS = 1000;
/** Deepest nesting of a name. */
export const MAX_NESTING = 32;

const INDEX = /^\d{1,6}$/;

/** Members of one list or map. Uses a `Map` because a member may have any name, even `__proto__`. */
export class FieldCollection {
  readonly #values = new Map<string, unknown>();
  #next = 0;
  #named = false;

  /** The key to store a member under: one without a key is appended to the earlier ones. */
  keyOf(given: string): string {
    return given === '' ? String(this.#next) : given;
  }

  get(key: string): unknown {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  set(key: string, value: unknown): void {
    this.#values.set(key, value);
    if (INDEX.test(key) || key === String(this.#next)) this.#next = Math.max(this.#next, Number(key) + 1);
    else this.#named = true;
  }

  /** Whether there are members, all of them with an index. */
  get isList(): boolean {
    return this.#values.size > 0 && !this.#named;
  }

  /** The members of a list, in the order of their indexes. */
  inOrder(): unknown[] {
    return [...this.#values].sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
  }

  entries(): Iterable<[string, unknown]> {
    return this.#values;
  }
}

/** `a[b][]` as `['a', 'b', '']`; undefined for a malformed name. A name nested too deeply returns one key too many. */
export function keysOf(name: string): string[] | undefined {
  if (!name.includes('[')) return name === '' || name.includes(']') ? undefined : [name];
  const [head = '', ...parts] = name.split('[', MAX_NESTING + 2);
  if (head === '' || head.includes(']')) return undefined;
  // Each part is `key]`.
  if (parts.some((part) => part.indexOf(']') !== part.length - 1 || part === '')) return undefined;
  return [head, ...parts.map((part) => part.slice(0, -1))];
}
