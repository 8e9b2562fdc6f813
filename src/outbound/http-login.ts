/** The HTTP (Basic) login in front of a site: its header, and to which addresses it is sent. */

/** As sites store it; without a user name there is no login. */
export interface HttpLogin {
  http_user: string | null;
  http_pass: string | null;
}

/**
 * The header of a site's login for a request to `to`, where redirects or links may have led: empty if that is not the
 * site's own origin, because a password is only for the server it was given for.
 */
export function loginHeader(login: HttpLogin, site: URL, to: URL): Record<string, string> {
  const token = loginToken(login);
  return token === null || !isOwnOrigin(site, to) ? {} : { authorization: `Basic ${token}` };
}

/** The login as its header has it; null = there is none. */
export function loginToken({ http_user, http_pass }: HttpLogin): string | null {
  if (http_user === null || http_user === '') return null;
  return Buffer.from(`${http_user}:${http_pass ?? ''}`, 'utf8').toString('base64');
}

/** The same origin, or the same host by HTTPS: sites are often stored as `http:` that redirects there. */
function isOwnOrigin(site: URL, to: URL): boolean {
  const usual = site.protocol === 'http:' && to.protocol === 'https:' && site.port === '' && to.port === '';
  return to.origin === site.origin || (usual && to.hostname === site.hostname);
}
