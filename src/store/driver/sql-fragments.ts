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

/** `AND column NOT IN (…)` for any number of ids in one bound value; empty for none. */
export function except(column: string, ids: readonly number[] | undefined): Fragment {
  if (ids === undefined || ids.length === 0) return { text: '', args: [] };
  return { text: ` AND ${column} NOT IN (SELECT value FROM json_each(?))`, args: [JSON.stringify(ids)] };
}

/** `AND column IN (…)`; an empty list filters nothing (operations §8.0a). */
export function among(column: string, ids: readonly number[] | undefined): Fragment {
  if (ids === undefined || ids.length === 0) return { text: '', args: [] };
  return { text: ` AND ${column} IN (SELECT value FROM json_each(?))`, args: [JSON.stringify(ids)] };
}

/** Ids of an `include`; undefined when it is blank, for a blank one filters nothing (operations §8.0a). */
export function included(ids: readonly number[] | undefined): readonly number[] | undefined {
  return ids === undefined || ids.length === 0 ? undefined : ids;
}

/** Puts conditions one after the other. */
export function join(fragments: readonly Fragment[]): Fragment {
  return { text: fragments.map(({ text }) => text).join(''), args: fragments.flatMap(({ args }) => args) };
}
