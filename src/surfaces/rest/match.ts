/**
 * Finds the row of a path, by Hono's router. Literal segments beat parameters, regardless of the table order (REST
 * §0.4), whatever the method: `GET /sites/sync` is 405 and not about a site called "sync". Hono's dispatch, and its
 * middleware for 405, would go on to a path with a parameter there if it has the method.
 */

import type { Params } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { withoutTrailingSlashes } from '../http/request-url.js';
import type { HttpMethod, Route } from './route.js';

export type Match =
  | { kind: 'row'; route: Route; path: Readonly<Record<string, string>> }
  /** The path is known, but not with this method. */
  | { kind: 'method'; allow: readonly HttpMethod[] }
  | { kind: 'none' };

/** Looks up a method and a raw path below `/v2`. HEAD is treated as GET. */
export type Matcher = (method: string, rawPath: string) => Match;

interface Row {
  route: Route;
  /** The path with "~" for each parameter. */
  shape: string;
}

export function createMatcher(routes: readonly Route[]): Matcher {
  const router = new TrieRouter<Row>();
  for (const row of literalsFirst(routes)) router.add('ALL', row.route.path.replace(/\{(\w+)\}/g, ':$1'), row);
  return (method, rawPath) => {
    const encoded = inOneEncoding(rawPath);
    if (encoded === undefined) return { kind: 'none' };
    const [matches] = router.match('ALL', encoded) as [[Row, Params][]];
    const found = matches.map(([row, values]) => ({ ...row, path: decoded(values) })).filter(isMeant);
    const rows = found.filter(({ shape }) => shape === found[0]?.shape);
    if (rows.length === 0) return { kind: 'none' };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const hit = rows.find(({ route }) => route.on.some((on) => on === wanted));
    if (hit !== undefined) return { kind: 'row', route: hit.route, path: hit.path };
    return { kind: 'method', allow: rows.flatMap(({ route }) => route.on) };
  };
}

/** Hono finds rows in the order in which they were added; "~" sorts after all literals. */
function literalsFirst(routes: readonly Route[]): Row[] {
  const rows = routes.map((route) => ({ route, shape: route.path.replace(/\{\w+\}/g, '~') }));
  return rows.sort((a, b) => (a.shape === b.shape ? 0 : a.shape < b.shape ? -1 : 1));
}

/**
 * The path with each segment decoded and encoded again, so that `%2F` stays within its segment and an escaped letter
 * equals the letter; undefined when a segment cannot be decoded.
 */
function inOneEncoding(rawPath: string): string | undefined {
  try {
    const segments = withoutTrailingSlashes(rawPath.replace(/^\/+/, '')).split('/');
    return `/${segments.map((segment) => encodeURIComponent(decodeURIComponent(segment))).join('/')}`;
  } catch {
    return undefined;
  }
}

function decoded(values: Params): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decodeURIComponent(value)]));
}

/** Whether the parameters have the patterns of the row: Hono's own would be compared with the encoded text. */
function isMeant({ route, path }: { route: Route; path: Readonly<Record<string, string>> }): boolean {
  return Object.entries(route.where).every(([name, pattern]) => pattern.test(path[name] ?? ''));
}
