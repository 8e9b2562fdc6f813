/** `_fields=id,name`: only these members of each item, for callers who want small answers (REST §3.2). */

import { z } from '../../schemas/zod.js';
import type { Answer, Route } from './route.js';

/**
 * Cuts the items of `data`, or `data` itself when it is one, down to the named members. A name with a dot reaches into a
 * member: `stats.health_score`.
 */
export function pickFields(route: Pick<Route, 'returns'>, answer: Answer, asked: string | null): Answer {
  const names = (asked ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0 || typeof answer.data !== 'object' || answer.data === null) return answer;
  const { data } = answer;
  const cut = (items: unknown) => (Array.isArray(items) ? items.map((item) => pick(item, names)) : pick(items, names));
  if (!Array.isArray(data) && isKeyed(route))
    return { ...answer, data: Object.fromEntries(Object.entries(data).map(([key, items]) => [key, cut(items)])) };
  return { ...answer, data: cut(data) };
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

function pick(item: unknown, names: readonly string[]): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const heads = new Map<string, string[]>();
  for (const name of names) {
    const [head = '', ...rest] = name.split('.');
    heads.set(head, [...(heads.get(head) ?? []), ...(rest.length === 0 ? [] : [rest.join('.')])]);
  }
  return Object.fromEntries(
    Object.entries(item)
      .filter(([key]) => heads.has(key))
      .map(([key, value]) => [key, names.includes(key) ? value : pick(value, heads.get(key) ?? [])]),
  );
}
