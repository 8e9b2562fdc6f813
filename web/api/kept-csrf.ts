/**
 * The CSRF token of this browser's session, which each change needs. The service gives it out at the login only, and it is
 * kept where other ports of the host cannot read it: browsers send them the cookie.
 */

const KEY = 'csrf';

/** '' if there is none. */
export function keptCsrf(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

/** @param csrf '' if there is no session any more */
export function keepCsrf(csrf: string): void {
  try {
    if (csrf === '') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, csrf);
  } catch {
    // Without storage it holds until the page is loaded again.
  }
}

/** Asks for the session of this browser. */
export function askSession(): Promise<Response> {
  const headers = { accept: 'application/json', 'X-Sitefleet-CSRF': keptCsrf() };
  return fetch('/session', { headers, cache: 'no-store' });
}
