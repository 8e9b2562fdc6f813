/** Parts of a request's address, read off its text: made into a URL, each would cost as much as a small query. */

/** Path of an absolute URL, as it was sent, still encoded. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3), endOfPath(url));
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
