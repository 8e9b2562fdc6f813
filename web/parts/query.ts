/** Filters, order and page of a view, kept in the address so that back, reload and sharing work. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

export type Query = Readonly<Record<string, string>>;

/** The query of the address, and a function that changes some of its members; '' and undefined remove one. */
export function useQuery(): [Query, (change: Record<string, string | undefined>, replace?: boolean) => void] {
  const { path, query, route } = useLocation();
  const change = (members: Record<string, string | undefined>, replace = false) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(members)) {
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
    }
    const text = next.toString();
    route(text === '' ? path : `${path}?${text}`, replace);
  };
  return [query, change];
}

const TYPING_MS = 200;

/** A text field whose value goes into the address when typing pauses, without a history entry per letter. */
export function useTyped(value: string, commit: (value: string) => void): [string, (value: string) => void] {
  const [typed, setTyped] = useState(value);
  const latest = useRef(commit);
  latest.current = commit;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    typed,
    (next) => {
      setTyped(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(next.trim()), TYPING_MS);
    },
  ];
}

type Change = ReturnType<typeof useQuery>[1];

export const pageOf = (query: Query) => Math.max(1, Math.trunc(Number(query.page)) || 1);
/** Goes to a page of a list; the first one has no parameter in the address. */
export const pageIn = (change: Change) => (page: number) => change({ page: page === 1 ? undefined : String(page) });
export const listOf = (text: string | undefined) => (text ?? '').split(',').filter((member) => member !== '');
