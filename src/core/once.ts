/** A value that is made when it is first asked for. */

/** `make`, called once at most; what it throws is thrown, and the next call tries again. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
