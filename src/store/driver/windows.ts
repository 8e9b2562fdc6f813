/**
 * Long reads of a log in parts: windows of time that hold few rows each. Reads of a file are synchronous, and one that reads all
 * of a log would hold the thread that serves others.
 */

import { turnForEach } from '../../runtime/turns.js';
import { type Db, sql } from './db.js';
import type { Listed } from './lists.js';
import { type Fragment, fragment, offset } from './sql-fragments.js';

/** In milliseconds; `before` is exclusive. */
export interface Span {
  since: number;
  before: number;
}

/** Rows in the order of an index: that of their time, or of what `where` makes equal and their time. */
export interface TimedRows {
  table: string;
  /** The column of the time, and how many milliseconds are one of its units. */
  when: string;
  unit: number;
  /** Begins with AND. */
  where?: Fragment;
}

/** The log of actions, and what was completed of it. */
export const ACTION_LOG: TimedRows = { table: 'action_log', when: 'at', unit: 1 };
export const DONE_LOG: TimedRows = { ...ACTION_LOG, where: fragment(" AND code = ''") };

/** Rows of each table in one window; more only if they are of the same millisecond. */
const ROWS = 5_000;
/** Of all reads together one window begins per turn of the event loop. */
const turn = turnForEach();

/** The condition that a row is in a span. */
export function within({ when, unit }: Pick<TimedRows, 'when' | 'unit'>, { since, before }: Span): Fragment {
  return fragment(`${when} >= ? AND ${when} < ?`, since / unit, before / unit);
}

/**
 * The windows of a span, newest first. On a libSQL server the span is one window: reading it blocks no thread of ours, and
 * each further window would cost a round trip.
 */
export async function* windows(db: Db, tables: readonly TimedRows[], span: Span): AsyncGenerator<Span> {
  let { before } = span;
  while (db.kind === 'embedded') {
    const left = { since: span.since, before };
    const ends = await db.read(
      tables.map((rows) => {
        const { text, args } = within(rows, left);
        const { where = fragment('') } = rows;
        return sql(
          `SELECT ${rows.when} AS at FROM ${rows.table} WHERE ${text}${where.text} ORDER BY ${rows.when} DESC LIMIT 1 OFFSET ${ROWS - 1}`,
          ...args,
          ...where.args,
        );
      }),
    );
    const starts = ends.flatMap(([row], at) =>
      row === undefined ? [] : [Math.floor(Number(row.at) * (tables[at]?.unit ?? 1))],
    );
    if (starts.length === 0) break;
    // In milliseconds a fraction of a second may be rounded up to what the window ends with: it would never get smaller.
    const since = Math.max(span.since, Math.min(before - 1, Math.max(...starts)));
    yield { since, before };
    if (since <= span.since) return;
    before = since;
    await turn();
  }
  yield { since: span.since, before };
}

/**
 * One page of rows over windows, newest first, and how many rows there are.
 * @param read the rows of one window, at most `limit` after the first `skip`, and how many it has
 */
export async function pageOfWindows<T>(
  spans: AsyncIterable<Span>,
  page: number,
  perPage: number,
  read: (span: Span, skip: number, limit: number) => Promise<Listed<T>>,
): Promise<Listed<T>> {
  const found: Listed<T> = { items: [], total: 0 };
  let skip = offset(page, perPage);
  for await (const span of spans) {
    const { items, total } = await read(span, skip, perPage - found.items.length);
    found.items.push(...items);
    found.total += total;
    skip = Math.max(0, skip - total);
  }
  return found;
}
