/** The logged-in user and their permissions. */

import { askSession, keepCsrf } from './kept-csrf.js';
import { reachable } from './reachable.js';
import { createStore, useStore } from './store.js';

export interface User {
  name: string;
  /** `read` may only view; any other value may change things. */
  right: string;
  may_approve: boolean;
  /** False for users who logged in by a link and have not chosen a password yet. */
  has_password: boolean;
}

export type Session =
  | { authenticated: true; user: User; csrf: string; expires_at: string; first_start: boolean }
  | { authenticated: false };

/** What the service tells. Without the token the session is not of this page. */
type Shown = Session | Omit<Extract<Session, { authenticated: true }>, 'csrf'>;

function usable(shown: Shown): Session {
  return shown.authenticated && 'csrf' in shown ? shown : { authenticated: false };
}

/** The session after a login or a new password. */
export function enter(entered: Session): void {
  keepCsrf(entered.authenticated ? entered.csrf : '');
  session.set(entered);
}

/** Null until the service has answered. */
export const session = createStore<Session | null>(null);
/** Whether a session that was open on this page has ended. */
export const ended = createStore(false);

declare global {
  interface Window {
    /** The request that `early.ts` sent before this script was loaded. */
    askedSession?: Promise<Response> | undefined;
  }
}

/** Asks the service for the current session. Leaves the session unchanged when no answer arrives. */
export async function loadSession(): Promise<void> {
  const asked = window.askedSession;
  window.askedSession = undefined;
  try {
    const response = await (asked ?? askSession());
    if (response.ok) session.set(usable((await response.json()) as Shown));
    reachable.set(true);
  } catch {
    reachable.set(false);
  }
}

/** Logs in. Returns null on success, else the error message; '' when no answer arrived. */
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
  enter(body);
  return null;
}

/** @param everywhere also in all other browsers */
export async function logOut(everywhere = false): Promise<void> {
  const current = session.get();
  if (current?.authenticated !== true) return;
  await fetch(everywhere ? '/session/everywhere' : '/session', {
    method: 'DELETE',
    headers: { 'X-Sitefleet-CSRF': current.csrf },
  }).catch(() => undefined);
  enter({ authenticated: false });
}

/** Ends the session on this page: a call was refused because it has expired. */
export function forgetSession(): void {
  if (session.get()?.authenticated !== true) return;
  ended.set(true);
  session.set({ authenticated: false });
}

/** Whether this person decides changes that wait. */
export function useMayApprove(): boolean {
  const current = useStore(session);
  return current?.authenticated === true && current.user.may_approve;
}

/** Whether buttons that change something are shown. */
export function useMayWrite(): boolean {
  const current = useStore(session);
  return current?.authenticated === true && current.user.right !== 'read';
}

/** Whether this person sets policies, which change sites. */
export function useMaySetPolicies(): boolean {
  const approve = useMayApprove();
  return useMayWrite() && approve;
}
