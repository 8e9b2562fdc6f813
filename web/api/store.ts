/** An observable value for components. */

import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The current value; the component renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, render] = useState({});
  useEffect(() => {
    const before = store.get();
    const stop = store.subscribe(() => render({}));
    if (!Object.is(before, store.get())) render({});
    return stop;
  }, [store]);
  return store.get();
}
