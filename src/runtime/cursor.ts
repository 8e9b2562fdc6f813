/**
 * Cursors: the position in a list as one opaque word. A page found by cursor costs the same as the first, however far
 * it is.
 */

import { createHash } from 'node:crypto';
import { ServiceError } from './errors.js';

/** Values of the sort columns for one item of a list. */
export type SortKey = readonly (string | number)[];

/** Where a page begins. */
export interface Place {
  /** The last item before it; undefined at the beginning. */
  after?: SortKey | undefined;
  /** Its number among the pages read in sequence, from 1. */
  page: number;
}

/**
 * The cursor for the position after an item. It contains only that item's sort key, and grants nothing.
 * @param question filters and order of the list, to which the cursor is bound
 */
export function cursorAfter(question: unknown, last: SortKey, page: number): string {
  return Buffer.from(JSON.stringify([digestOf(question), page + 1, ...last])).toString('base64url');
}

/**
 * The position a caller asks for, by page number or by cursor; an empty cursor is the beginning. Throws
 * `svc_invalid_input` for a cursor of another list, an invalid cursor, and a cursor combined with a page.
 */
export function placeOf(question: unknown, cursor: string, page: number | undefined): Place {
  if (page !== undefined && page > 1)
    throw new ServiceError('svc_invalid_input', 'page and cursor cannot be used together.', {
      field: 'page',
      advice: 'Use either the cursor or page numbers.',
    });
  if (cursor === '') return { page: 1 };
  const [digest, at, ...after] = decoded(cursor);
  const isPlace = Number.isSafeInteger(at) && Number(at) > 1 && after.every(isValue);
  if (typeof digest !== 'string' || (digest === digestOf(question) && !isPlace))
    throw wrong('cursor does not come from a list answer.', 'Send next_cursor of the previous page, unchanged.');
  if (digest !== digestOf(question))
    throw wrong(
      'cursor belongs to other filters or another order.',
      'Repeat the filters and order of the call that returned it, or start without a cursor.',
    );
  return { after: after as SortKey, page: Number(at) };
}

function decoded(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function digestOf(question: unknown): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);
}

function wrong(message: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', message, { field: 'cursor', advice });
}
