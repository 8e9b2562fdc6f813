/** `_fields=id,name`: only these members of each item, for callers who want small answers (REST §3.2). */

import type { Answer } from './route.js';

/** Cuts `data` down to the named members. A name with a dot reaches into a member: `stats.health_score`. */
export function pickFields(answer: Answer, asked: string | null): Answer {
  const names = (asked ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0 || typeof answer.data !== 'object' || answer.data === null) return answer;
  const { data } = answer;
  if (Array.isArray(data)) return { ...answer, data: data.map((item) => pick(item, names)) };
  return { ...answer, data: pick(data, names) };
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
