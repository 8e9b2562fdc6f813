/** Data of a view: the last known answer is shown at once and replaced when the new one arrives. */

import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './client.js';
import { reachable } from './reachable.js';
import { session } from './session.js';

interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  /** A newer answer is being loaded. */
  loading: boolean;
  reload(): void;
}

/** Number of answers kept for going back and forth. */
const KEPT = 60;
const kept = new Map<string, unknown>();
const mounted = new Map<() => void, string>();

function keep(key: string, data: unknown): void {
  kept.delete(key);
  kept.set(key, data);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
}

/**
 * Reloads mounted data whose keys start with one of the prefixes, and drops other kept answers that match; without
 * arguments all of them.
 */
export function refresh(...prefixes: string[]): void {
  const meant = (key: string) => prefixes.length === 0 || prefixes.some((prefix) => key.startsWith(prefix));
  for (const key of [...kept.keys()]) if (meant(key) && ![...mounted.values()].includes(key)) kept.delete(key);
  for (const [reload, key] of [...mounted]) if (meant(key)) reload();
}

reachable.subscribe(() => {
  if (reachable.get()) refresh();
});
session.subscribe(() => {
  if (session.get()?.authenticated !== false) return;
  kept.clear();
  // They were refused.
  window.askedReads = undefined;
});

/**
 * @param key identifies the data and everything it depends on; null loads nothing
 * @param load must use the signal: a change of the key aborts the previous call
 * @param options.keepShown for lists: the data of the previous key stays until the answer arrives, to avoid flicker
 */
export function useLoad<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { keepShown = false } = {},
): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; error?: ApiError; loading: boolean }>({
    key: null,
    loading: true,
  });
  const loader = useRef(load);
  loader.current = load;
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((count) => count + 1), []);

  // Before the first paint, which takes longer than the answer.
  useLayoutEffect(() => {
    if (key === null) return;
    const control = new AbortController();
    mounted.set(reload, key);
    loader.current(control.signal).then(
      (data) => {
        if (control.signal.aborted) return;
        keep(key, data);
        setState({ key, data, loading: false });
      },
      (error: unknown) => {
        if (control.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        const data = kept.get(key) as T | undefined;
        setState({ key, error, loading: false, ...(data === undefined ? {} : { data }) });
      },
    );
    return () => {
      control.abort();
      mounted.delete(reload);
    };
  }, [key, turn]);

  if (key === null) return { data: undefined, error: undefined, loading: false, reload };
  const own = state.key === key;
  const data = own ? state.data : ((kept.get(key) as T | undefined) ?? (keepShown ? state.data : undefined));
  return { data, error: own ? state.error : undefined, loading: own ? state.loading : true, reload };
}
