/** Lazy values. */

/**
 * Returns a function that calls `make` at most once and returns its result. What `make` throws is thrown, and the next
 * call tries again.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
