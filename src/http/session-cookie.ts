/** The cookie of a session in a browser: how it is read, set and taken away. */

const NAME = 'sitefleet_session';

/**
 * Over HTTPS with the prefix that browsers hold to what it promises: set over HTTPS, for this host alone. So nothing that answers
 * for the same host over plain HTTP, or for a host below the same domain, can plant one.
 */
function nameOf(https: boolean): string {
  return https ? `__Host-${NAME}` : NAME;
}

/** The value of the session cookie of a request, undefined when it has none. */
export function sessionCookieOf(headers: Headers, https: boolean): string | undefined {
  const prefix = `${nameOf(https)}=`;
  return headers
    .get('cookie')
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

/** `Set-Cookie` of a session; it lasts as long as the browser is open, and no longer than the session. */
export function setSessionCookie(value: string, https: boolean): string {
  return `${nameOf(https)}=${value}; Path=/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
}

/** `Set-Cookie` that takes the cookie away. */
export function clearSessionCookie(https: boolean): string {
  return `${setSessionCookie('', https)}; Max-Age=0`;
}
