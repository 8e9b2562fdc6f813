/** Updates that are ignored on every site, some of them until an instant. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { insertRow } from '../driver/rows.js';
import { refreshIgnoredEverywhere } from '../sites/ignored-updates.js';

interface EverywhereEntry {
  /** Number of the update type. */
  type: number;
  slug: string;
  /** `*` = every version. */
  version: string;
  name: string;
  /** Milliseconds; null = until it is removed. */
  until: number | null;
}

export type IgnoredUntil = Pick<EverywhereEntry, 'version' | 'until'>;

export function createIgnoredEverywhere(db: Db) {
  const offered = (type: number, slug: string) =>
    sql('SELECT count(*) AS n FROM site_update WHERE type = ? AND slug = ? AND ignored = 1', type, slug);

  return {
    /**
     * Stores an entry, replacing the same one; one for every version replaces all others. Returns how many updates of
     * it are ignored now.
     */
    async add({ type, slug, version, name, until }: EverywhereEntry): Promise<number> {
      const results = await db.batch([
        sql(
          `DELETE FROM ignored_everywhere WHERE type = ? AND slug = ?${version === '*' ? '' : " AND version IN (?, '*')"}`,
          ...[type, slug, ...(version === '*' ? [] : [version])],
        ),
        insertRow('ignored_everywhere', { type, slug, version, name, until }),
        refreshIgnoredEverywhere(type, slug),
        offered(type, slug),
      ]);
      return Number(results.at(-1)?.rows[0]?.n ?? 0);
    },

    /**
     * Removes entries: of one version, or all. Returns how many updates of it are still ignored, by sites' own lists.
     */
    async remove(type: number, slug: string, version: string | null): Promise<number> {
      const results = await db.batch([
        version === null
          ? sql('DELETE FROM ignored_everywhere WHERE type = ? AND slug = ?', type, slug)
          : sql('DELETE FROM ignored_everywhere WHERE type = ? AND slug = ? AND version = ?', type, slug, version),
        refreshIgnoredEverywhere(type, slug),
        offered(type, slug),
      ]);
      return Number(results.at(-1)?.rows[0]?.n ?? 0);
    },

    /** The entries of an item. */
    of(type: number, slug: string): Promise<IgnoredUntil[]> {
      return db.all<Row & IgnoredUntil>(
        'SELECT version, until FROM ignored_everywhere WHERE type = ? AND slug = ? ORDER BY version',
        [type, slug],
      );
    },

    /** Replaces the entries of an item. */
    async set(type: number, slug: string, name: string, entries: readonly IgnoredUntil[]): Promise<void> {
      await db.batch([
        sql('DELETE FROM ignored_everywhere WHERE type = ? AND slug = ?', type, slug),
        ...entries.map(({ version, until }) => insertRow('ignored_everywhere', { type, slug, version, name, until })),
        refreshIgnoredEverywhere(type, slug),
      ]);
    },

    /** Removes entries that ended at `now` or earlier. */
    async expire(now: number): Promise<{ type: number; slug: string }[]> {
      const ended = await db.all<{ type: number; slug: string }>(
        'SELECT DISTINCT type, slug FROM ignored_everywhere WHERE until <= ?',
        [now],
      );
      if (ended.length === 0) return [];
      await db.batch([
        sql('DELETE FROM ignored_everywhere WHERE until <= ?', now),
        ...ended.map(({ type, slug }) => refreshIgnoredEverywhere(type, slug)),
      ]);
      return ended;
    },
  };
}
