/**
 * The action log as a chain: each row holds the hash of the row before it and a hash over itself. A row that was changed,
 * added or removed later breaks it.
 */

import { createHash } from 'node:crypto';
import type { BatchResult, Db, Row, Statement } from '../driver/db.js';
import { StorageError, sql } from '../driver/db.js';

/** The last row of a chain; `id` 0 and `hash` '' before the first. */
export interface ChainHead {
  id: number;
  /** SHA-256 in hex. */
  hash: string;
}

/** What a row says, in the order that is hashed. */
export const COLUMNS = [
  'at',
  'actor_type',
  'actor_id',
  'actor',
  'via',
  'client',
  'operation',
  'request_id',
  'site_id',
  'context',
  'action',
  'slug',
  'name',
  'detail',
  'old_version',
  'new_version',
  'code',
  'input',
  'fields',
  'undoes',
] as const;

export type ChainEntry = Record<(typeof COLUMNS)[number], string | number | null>;

/** The hash of a row: over the hash before it, its id and all that it says. */
export function hashOf(previous: string, id: number, entry: ChainEntry | Row): string {
  const text = JSON.stringify([previous, id, ...COLUMNS.map((column) => entry[column])]);
  return createHash('sha256').update(text).digest('hex');
}

/** The last row, or what was pruned up to if none is left. */
const HEAD = 'SELECT id, hash FROM action_log_head';

/** How often an append is tried again because another process appended first. */
const MOST_TRIES = 100;

export interface ActionChain {
  /**
   * Appends entries in one transaction with other statements, whose results it returns: all or nothing is stored. Appends
   * of this process wait for each other.
   * @param told further entries, appended only if the last of the statements that write has changed something
   */
  append(
    entries: readonly ChainEntry[],
    statements?: readonly Statement[],
    told?: readonly ChainEntry[],
  ): Promise<BatchResult[]>;
}

export function createActionChain(db: Db): ActionChain {
  let head: ChainHead | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const store = async (
    entries: readonly ChainEntry[],
    statements: readonly Statement[],
    told: readonly ChainEntry[],
  ): Promise<BatchResult[]> => {
    for (let tried = 1; ; tried++) {
      const from = head ?? (await headOf(db));
      // Until it is stored, nothing is known about the head.
      head = null;
      const before = linked(from, entries);
      const after = linked(before.end, told);
      const first = entries.length > 0 ? [insert(before.rows)] : [];
      const last = told.length > 0 ? [insert(after.rows, 'WHERE changes() > 0')] : [];
      try {
        const results = await db.batch([...first, ...statements, ...last]);
        const isTold = last.length > 0 && (results.at(-1)?.changes ?? 0) > 0;
        head = isTold ? after.end : before.end;
        return results.slice(first.length, first.length + statements.length);
      } catch (error) {
        if (!isMoved(error) || tried === MOST_TRIES) throw error;
      }
    }
  };

  return {
    append(entries, statements = [], told = []) {
      const stored = last.then(() => store(entries, statements, told));
      last = stored.catch(() => undefined);
      return stored;
    },
  };
}

/** Another process has appended since the head was read: a trigger refuses what does not continue the chain. */
function isMoved(error: unknown): boolean {
  return error instanceof StorageError && error.message.includes('action_log_moved');
}

export async function headOf(db: Db): Promise<ChainHead> {
  const row = await db.one<Row & ChainHead>(HEAD);
  return row === undefined ? { id: 0, hash: '' } : { id: row.id, hash: row.hash };
}

function linked(from: ChainHead, entries: readonly ChainEntry[]) {
  let end = from;
  const rows = entries.map((entry) => {
    const id = end.id + 1;
    const hash = hashOf(end.hash, id, entry);
    const row = { id, ...entry, previous: end.hash, hash };
    end = { id, hash };
    return row;
  });
  return { rows, end };
}

const STORED = ['id', ...COLUMNS, 'previous', 'hash'];

function insert(rows: readonly object[], condition = ''): Statement {
  const values = STORED.map((column) => `value ->> '${column}'`).join(', ');
  return sql(
    `INSERT INTO action_log (${STORED.join(', ')}) SELECT ${values} FROM json_each(?) ${condition} ORDER BY key`,
    JSON.stringify(rows),
  );
}
