/** The router: finds the row of a path. Literal segments beat parameters, regardless of the table order (REST §0.4). */

import { withoutTrailingSlashes } from '../http/request-url.js';
import type { HttpMethod, Route } from './route.js';

interface Node {
  literals: Map<string, Node>;
  param: Node | undefined;
  rows: Route[];
}

export type Match =
  | { kind: 'row'; route: Route; path: Readonly<Record<string, string>> }
  /** The path is known, but not with this method. */
  | { kind: 'method'; allow: readonly HttpMethod[] }
  | { kind: 'none' };

/** Looks up a method and a raw path below `/v2`. HEAD is treated as GET. */
export type Matcher = (method: string, rawPath: string) => Match;

const NONE: Match = { kind: 'none' };

/** Throws when two rows answer the same method of the same path. */
export function createMatcher(routes: readonly Route[]): Matcher {
  const root = emptyNode();
  for (const route of routes) insert(root, route);
  const search = searcher(root);
  // A path without parameters always finds the same rows, and half of all calls use one: matches are cached.
  const literal = new Map<string, Map<string, Match>>();
  for (const { path, pathParams } of routes) if (pathParams.length === 0) literal.set(path, new Map());
  return (method, rawPath) => {
    const known = literal.get(rawPath);
    if (known === undefined || !METHODS.has(method)) return search(method, rawPath);
    const match = known.get(method) ?? search(method, rawPath);
    known.set(method, match);
    return match;
  };
}

/** Methods whose matches are cached. There may be any number of others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

function searcher(root: Node): Matcher {
  return (method, rawPath) => {
    const segments = segmentsOf(rawPath);
    if (segments === undefined) return NONE;
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const { node, values } of candidates(root, segments, [])) {
      const fitting = node.rows.flatMap((route) => {
        const path = named(route, values);
        return path === undefined ? [] : [{ route, path }];
      });
      if (fitting.length === 0) continue;
      const hit = fitting.find(({ route }) => route.on.some((on) => on === wanted));
      if (hit !== undefined) return { kind: 'row', ...hit };
      return { kind: 'method', allow: fitting.flatMap(({ route }) => route.on) };
    }
    return NONE;
  };
}

function emptyNode(): Node {
  return { literals: new Map(), param: undefined, rows: [] };
}

function insert(root: Node, route: Route): void {
  let node = root;
  for (const segment of route.path.split('/').filter((part) => part !== '')) {
    if (segment.startsWith('{')) {
      node.param ??= emptyNode();
      node = node.param;
    } else {
      const next = node.literals.get(segment) ?? emptyNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  const twice = node.rows.find((row) => row.on.some((on) => route.on.includes(on)));
  if (twice !== undefined) throw new Error(`${route.key} answers what ${twice.key} answers already.`);
  node.rows.push(route);
}

/** Nodes that match the whole path, literals before parameters at each step. */
function* candidates(
  node: Node,
  segments: readonly string[],
  values: readonly string[],
): Generator<{ node: Node; values: readonly string[] }> {
  const [head, ...rest] = segments;
  if (head === undefined) {
    if (node.rows.length > 0) yield { node, values };
    return;
  }
  const literal = node.literals.get(head);
  if (literal !== undefined) yield* candidates(literal, rest, values);
  if (node.param !== undefined && head !== '') yield* candidates(node.param, rest, [...values, head]);
}

function named(route: Route, values: readonly string[]): Record<string, string> | undefined {
  const path: Record<string, string> = {};
  for (const [index, name] of route.pathParams.entries()) {
    const value = values[index] ?? '';
    if (route.where[name]?.test(value) === false) return undefined;
    path[name] = value;
  }
  return path;
}

/** Segments, each percent-decoded once, so that `%2F` stays within its segment; undefined when one cannot be decoded. */
function segmentsOf(rawPath: string): string[] | undefined {
  try {
    return withoutTrailingSlashes(rawPath.replace(/^\/+/, '')).split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
