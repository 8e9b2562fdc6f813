/** The session cookie of a browser: reads, sets and clears it. */

const NAME = 'sitefleet_session';

/**
 * Over HTTPS the name has the `__Host-` prefix, for which browsers require that the cookie was set over HTTPS and for
 * this host only. So neither plain HTTP on the same host nor another host of the domain can plant one.
 */
function nameOf(https: boolean): string {
  return https ? `__Host-${NAME}` : NAME;
}

/** The value of the session cookie of a request; undefined when it has none. */
export function sessionCookieOf(headers: Headers, https: boolean): string | undefined {
  const prefix = `${nameOf(https)}=`;
  return headers
    .get('cookie')
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

/** `Set-Cookie` of a session. It lasts until the browser closes, or until the session ends. */
export function setSessionCookie(value: string, https: boolean): string {
  return `${nameOf(https)}=${value}; Path=/; HttpOnly; SameSite=Strict${https ? '; Secure' : ''}`;
}

/** `Set-Cookie` that removes the cookie. */
export function clearSessionCookie(https: boolean): string {
  return `${setSessionCookie('', https)}; Max-Age=0`;
}
