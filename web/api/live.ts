/** Live events of the service (server-sent events). Lost connections are reopened automatically. */

import { useEffect, useRef } from 'preact/hooks';
import { refresh } from './load.js';
import { reachable } from './reachable.js';
import { session } from './session.js';

export interface JobEvent {
  id: string;
  type: string;
  status: 'queued' | 'processing' | 'completed' | 'failed';
  done: number;
  failed: number;
  total: number;
}

interface Events {
  job: JobEvent;
  site: { id: number };
  alert: { kind: string; site_id: number | null };
  updates: Record<string, unknown>;
}
type Kind = keyof Events;
type Listener = (data: never) => void;

const KINDS: readonly Kind[] = ['job', 'site', 'alert', 'updates'];
const listeners: Record<Kind, Set<Listener>> = {
  job: new Set(),
  site: new Set(),
  alert: new Set(),
  updates: new Set(),
};
let source: EventSource | undefined;

/** Keeps the stream open while a user is logged in. */
export function followSession(): void {
  const follow = () => {
    const open = session.get()?.authenticated === true;
    if (open && source === undefined) connect();
    if (!open && source !== undefined) disconnect();
  };
  session.subscribe(follow);
  reachable.subscribe(() => {
    if (reachable.get() && source?.readyState === EventSource.CLOSED) {
      disconnect();
      follow();
    }
  });
  follow();
}

function connect(): void {
  const stream = new EventSource('/v2/events');
  source = stream;
  let lost = false;
  stream.onopen = () => {
    // Events in between were lost.
    if (lost) refresh();
    lost = false;
  };
  stream.onerror = () => {
    lost = true;
    if (stream.readyState === EventSource.CONNECTING) void probe();
  };
  for (const kind of KINDS)
    stream.addEventListener(kind, (event) => {
      const data = JSON.parse((event as MessageEvent<string>).data) as never;
      for (const listener of [...listeners[kind]]) listener(data);
    });
}

function disconnect(): void {
  source?.close();
  source = undefined;
}

/** An error of the stream does not say whether the service is down. */
async function probe(): Promise<void> {
  try {
    await fetch('/healthz', { cache: 'no-store' });
  } catch {
    reachable.set(false);
  }
}

/** Calls `listener` on each event of the kind while the component is mounted. */
export function useLive<K extends Kind>(kind: K, listener: (data: Events[K]) => void): void {
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => {
    const own: Listener = (data) => current.current(data as Events[K]);
    listeners[kind].add(own);
    return () => {
      listeners[kind].delete(own);
    };
  }, [kind]);
}

/** Reloads data whose key starts with `prefix` after events of these kinds, at most once per `everyMs` milliseconds. */
export function useLiveRefresh(kinds: readonly Kind[], prefix: string, everyMs = 1500): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const own: Listener = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh(prefix);
      }, everyMs);
    };
    for (const kind of kinds) listeners[kind].add(own);
    return () => {
      clearTimeout(timer);
      for (const kind of kinds) listeners[kind].delete(own);
    };
  }, [prefix, everyMs, kinds.join()]);
}
