/** Pieces of SQL that list queries share: offsets, and conditions on ids. */

import type { Value } from './db.js';

/** Rows to skip; a page beyond every integer is simply past the end. */
export function offset(page: number, perPage: number): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
}

/** A piece of SQL with its arguments. */
export interface Fragment {
  text: string;
  args: Value[];
}

export const fragment = (text: string, ...args: Value[]): Fragment => ({ text, args });

/** Any number of values in one bound JSON text. */
export const IN = 'IN (SELECT value FROM json_each(?))';

/** `AND column NOT IN (…)`; empty for no ids. */
export function except(column: string, ids: readonly number[] | undefined): Fragment {
  if (ids === undefined || ids.length === 0) return fragment('');
  return fragment(` AND ${column} NOT ${IN}`, JSON.stringify(ids));
}

/** `AND column IN (…)`; an empty list filters nothing (operations §8.0a). */
export function among(column: string, values: readonly (number | string)[] | undefined): Fragment {
  if (values === undefined || values.length === 0) return fragment('');
  return fragment(` AND ${column} ${IN}`, JSON.stringify(values));
}

/** `AND column = ?`; undefined filters nothing. */
export function equal(column: string, value: Value | undefined): Fragment {
  return value === undefined ? fragment('') : fragment(` AND ${column} = ?`, value);
}

/** Puts pieces one after the other. */
export function join(fragments: readonly Fragment[], separator = ''): Fragment {
  return { text: fragments.map(({ text }) => text).join(separator), args: fragments.flatMap(({ args }) => args) };
}
