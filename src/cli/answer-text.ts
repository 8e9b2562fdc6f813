/** Formats answers of operations for people: lists as tables, other members line by line. */

import { isObject } from '../runtime/plain-json.js';
import { withRealDomains } from '../runtime/real-domains.js';
import { oneLine, tableText } from './output.js';

/** Wider cells are truncated. */
const CELL = 60;

type Item = Record<string, unknown>;

/** Null if an answer has no list: it is then shown as JSON. */
export function answerText(answer: Record<string, unknown>): string | null {
  const lists = Object.entries(answer).filter((entry): entry is [string, Item[]] => isList(entry[1]));
  if (lists.length === 0) return null;
  const rest = Object.entries(answer).filter(([name]) => !lists.some(([list]) => list === name));
  const tables = lists.map(([name, items]) => {
    const title = lists.length === 1 ? [] : [`${name}:`];
    return [...title, items.length === 0 ? '(none)' : tableOf(items)].join('\n');
  });
  const lines = rest.map(([name, value]) => `${name}: ${cellText(value)}`);
  return [...tables, ...(lines.length === 0 ? [] : [lines.join('\n')])].join('\n\n');
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}

function tableOf(items: readonly Item[]): string {
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = items.map((item) => columns.map((name) => cellText(item[name])));
  return tableText([columns, ...rows]);
}

/** One line, without terminal escapes. */
function cellText(value: unknown): string {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return oneLine(withRealDomains(text), CELL);
}
