/** Parts of a request's URL, read from its text: the `URL` class costs as much as a small query. */

/** Path of an absolute URL as sent, still encoded. */
export function pathOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3), endOfPath(url));
}

/**
 * Whether a request target, as sent, can be read in two ways, so that a proxy in front may have admitted it as another
 * address than the one served here. That is: dot segments, encoded or not, which disappear when the URL is parsed; an
 * encoded first segment, which selects the way in; or an absolute URL whose host differs from `Host`. Real clients send
 * none of these.
 */
export function isAmbiguous(target: string, host: string | undefined): boolean {
  if (target.startsWith('/') && !target.includes('%') && !target.includes('/.')) return false;
  const [, authority, rest = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(target) ?? [];
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return true;
  const path = rest.split(/[?#]/, 1)[0] ?? '';
  return /^\/[^/]*%/.test(path) || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** Whether a request, by its headers as sent, names more than one host: which of them counts is each reader's own choice. */
export function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host').length > 1;
}

/** The path without trailing slashes. A regular expression would take quadratic time on runs of slashes elsewhere. */
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

/** Index at which the path of a URL ends: at the query, the fragment or the end. */
export function endOfPath(url: string): number {
  const query = url.indexOf('?');
  const fragment = url.indexOf('#');
  if (query === -1 && fragment === -1) return url.length;
  return query === -1 || (fragment !== -1 && fragment < query) ? fragment : query;
}
