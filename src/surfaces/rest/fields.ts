/** `_fields=id,name`: reduces each item to these members, for callers that want small answers (REST §3.2). */

import { z } from '../../../schemas/zod.js';
import { JsonText, Sections } from './json-text.js';
import type { Route, RouteAnswer } from './route.js';

/**
 * Reduces the items of `data`, or `data` itself if it is an item, to the named members. A name with a dot reaches into
 * a member: `stats.health_score`.
 */
export function pickFields(route: Pick<Route, 'returns'>, answer: RouteAnswer, asked: string | null): RouteAnswer {
  const names = namesOf(asked);
  if (names.length === 0 || typeof answer.data !== 'object' || answer.data === null) return answer;
  const { data } = answer;
  const tree = askedOf(names);
  const cut = (items: unknown) => (Array.isArray(items) ? items.map((item) => pick(item, tree)) : pick(items, tree));
  if (!Array.isArray(data) && isKeyed(route))
    return { ...answer, data: Object.fromEntries(Object.entries(data).map(([key, items]) => [key, cut(items)])) };
  return { ...answer, data: cut(data) };
}

function namesOf(asked: string | null): string[] {
  return (asked ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The members of an item that are requested in whole or in part; undefined = all. */
export function membersOf(query: URLSearchParams): string[] | undefined {
  const names = namesOf(askedFields(query));
  return names.length === 0 ? undefined : [...new Set(names.map((name) => name.split('.', 1)[0] ?? name))];
}

/** The value of `_fields`, which may be sent in parts like every list. */
export function askedFields(query: URLSearchParams): string | null {
  return query.size === 0 ? null : query.getAll('_fields').join(',');
}

/** Whether `data` is a map keyed by site id, URL or slug: its keys are not members of an item. */
function isKeyed({ returns }: Pick<Route, 'returns'>): boolean {
  const shape = returns();
  let data: unknown = shape instanceof z.ZodObject ? shape.shape.data : undefined;
  if (data instanceof z.ZodOptional) data = data.unwrap();
  if (!(data instanceof z.ZodRecord)) return false;
  // Update writes return a union for each slug: done, or the reason why not.
  return [z.ZodObject, z.ZodArray, z.ZodUnion].some((kind) => data.element instanceof kind);
}

/** The requested members of an object: each maps to its own requested members, or to all. */
interface Asked extends Map<string, Asked | 'all'> {}

function askedOf(names: readonly string[]): Asked {
  const asked: Asked = new Map();
  for (const name of names) ask(asked, name.split('.'));
  return asked;
}

function ask(asked: Asked, path: readonly string[]): void {
  let at = asked;
  for (const head of path.slice(0, -1)) {
    const known = at.get(head);
    // The whole member is already requested, which includes this part.
    if (known === 'all') return;
    const below: Asked = known ?? new Map();
    at.set(head, below);
    at = below;
  }
  at.set(path.at(-1) ?? '', 'all');
}

function pick(item: unknown, asked: Asked): unknown {
  // A `JsonText` is a list, which has no members.
  if (typeof item !== 'object' || item === null || Array.isArray(item) || item instanceof JsonText) return item;
  const picked: [string, unknown][] = [];
  for (const [key, value] of Object.entries(item instanceof Sections ? item.toJSON() : item)) {
    const wanted = asked.get(key);
    if (wanted !== undefined) picked.push([key, wanted === 'all' ? value : pick(value, wanted)]);
  }
  return Object.fromEntries(picked);
}
