/** `_fields=id,name`: only these members of each item, for callers who want small answers (REST §3.2). */

import { z } from '../../schemas/zod.js';
import { JsonText, Sections } from './json-text.js';
import type { Route, RouteAnswer } from './route.js';

/**
 * Cuts the items of `data`, or `data` itself when it is one, down to the named members. A name with a dot reaches into a
 * member: `stats.health_score`.
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

/** The members of an item that are asked for, or of which a part is; undefined = all. */
export function membersOf(query: URLSearchParams): string[] | undefined {
  const names = namesOf(askedFields(query));
  return names.length === 0 ? undefined : [...new Set(names.map((name) => name.split('.', 1)[0] ?? name))];
}

/** `_fields`, which like every list may be given in parts. */
export function askedFields(query: URLSearchParams): string | null {
  return query.size === 0 ? null : query.getAll('_fields').join(',');
}

/** Whether `data` is a list that is keyed, by site id, URL or slug: its keys are no members of anything. */
function isKeyed({ returns }: Pick<Route, 'returns'>): boolean {
  const shape = returns();
  let data: unknown = shape instanceof z.ZodObject ? shape.shape.data : undefined;
  if (data instanceof z.ZodOptional) data = data.unwrap();
  if (!(data instanceof z.ZodRecord)) return false;
  // A union is what the writes of updates answer for each slug: done, or why not.
  return [z.ZodObject, z.ZodArray, z.ZodUnion].some((kind) => data.element instanceof kind);
}

/** What is asked for of an object: by member, what of it, or all of it. */
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
    // All of it includes the part.
    if (known === 'all') return;
    const below: Asked = known ?? new Map();
    at.set(head, below);
    at = below;
  }
  at.set(path.at(-1) ?? '', 'all');
}

function pick(item: unknown, asked: Asked): unknown {
  // What is text already is a list, which has no members.
  if (typeof item !== 'object' || item === null || Array.isArray(item) || item instanceof JsonText) return item;
  const picked: [string, unknown][] = [];
  for (const [key, value] of Object.entries(item instanceof Sections ? item.toJSON() : item)) {
    const wanted = asked.get(key);
    if (wanted !== undefined) picked.push([key, wanted === 'all' ? value : pick(value, wanted)]);
  }
  return Object.fromEntries(picked);
}
