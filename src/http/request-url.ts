/** Parts of a request's URL, read from its text: the `URL` class costs as much as a small query. */

/** Path of an absolute URL, as it was sent, still encoded. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3), endOfPath(url));
}

/**
 * Whether a request target, as it was sent, can be read in two ways, so that a proxy in front may have let it pass for another
 * address than the one we would serve: with segments of dots, encoded or not, which disappear when it is made into a URL;
 * with an encoded first segment, which decides the way in; or with a host of its own that is not the one of `Host`.
 * Clients send none of these.
 */
export function isAmbiguous(target: string, host: string | undefined): boolean {
  if (target.startsWith('/') && !target.includes('%') && !target.includes('/.')) return false;
  const [, authority, rest = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(target) ?? [];
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return true;
  const path = rest.split(/[?#]/, 1)[0] ?? '';
  return /^\/[^/]*%/.test(path) || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** Without slashes at its end. A pattern would take the square of a run of slashes elsewhere. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** The query of an absolute URL. */
export function queryOf(url: string): URLSearchParams {
  const end = endOfPath(url);
  return new URLSearchParams(url[end] === '?' ? url.slice(end + 1).split('#', 1)[0] : '');
}

/** Where its path ends: at the query, the fragment or the end. */
export function endOfPath(url: string): number {
  const query = url.indexOf('?');
  const fragment = url.indexOf('#');
  if (query === -1 && fragment === -1) return url.length;
  return query === -1 || (fragment !== -1 && fragment < query) ? fragment : query;
}
