/** Who is logged in, and what they may do. */

import { reachable } from './reachable.js';
import { createStore, useStore } from './store.js';

export interface User {
  name: string;
  /** `read` sees; everything else may change. */
  right: string;
  /** False for who came by a link, and has not chosen one yet. */
  has_password: boolean;
}

export type Session =
  | { authenticated: true; user: User; csrf: string; expires_at: string; first_start: boolean }
  | { authenticated: false };

/** Null until the service has said. */
export const session = createStore<Session | null>(null);
/** Whether a session has ended that was open on this page. */
export const ended = createStore(false);

/** Asks the service who we are. Leaves the session as it is when no answer arrives. */
export async function loadSession(): Promise<void> {
  try {
    const response = await fetch('/session', { headers: { accept: 'application/json' }, cache: 'no-store' });
    if (response.ok) session.set((await response.json()) as Session);
    reachable.set(true);
  } catch {
    reachable.set(false);
  }
}

/** What became of a try to log in: null when it worked. */
export async function logIn(given: { username: string; password: string } | { link: string }): Promise<string | null> {
  let response: Response;
  try {
    response = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(given),
    });
  } catch {
    reachable.set(false);
    return '';
  }
  const body = (await response.json().catch(() => ({}))) as Session & { message?: string };
  if (!response.ok) return body.message ?? response.statusText;
  ended.set(false);
  session.set(body);
  return null;
}

export async function logOut(): Promise<void> {
  const current = session.get();
  if (current?.authenticated !== true) return;
  await fetch('/session', { method: 'DELETE', headers: { 'X-Sitefleet-CSRF': current.csrf } }).catch(() => undefined);
  session.set({ authenticated: false });
}

/** A call was refused because the session is over. */
export function forgetSession(): void {
  if (session.get()?.authenticated !== true) return;
  ended.set(true);
  session.set({ authenticated: false });
}

/** Whether buttons that change something are shown. */
export function useMayWrite(): boolean {
  const current = useStore(session);
  return current?.authenticated === true && current.user.right !== 'read';
}
