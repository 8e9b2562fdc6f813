/** The index of the backup repository: which pack holds each chunk. */

import type { Db, Row } from '../../driver/db.js';
import { sql } from '../../driver/db.js';
import type { PackedChunk } from './packs.js';

export interface ChunkPlace {
  pack: string;
  offset: number;
  length: number;
  bytes: number;
}

export interface PackRow extends Row {
  name: string;
  bytes: number;
  /** When a sweep found that no snapshot needs it; null = it is needed. */
  unused_since: number | null;
}

interface PlaceRow extends Row {
  id: string;
  pack: string;
  start: number;
  length: number;
  bytes: number;
}

/** Chunks of one statement. */
const PORTION = 500;

/** The places of chunks, as a list in JSON, in a pack by its name. */
const PLACES = `INSERT INTO backup_chunk (id, pack_id, start, length, bytes)
  SELECT e.value ->> 0, p.id, e.value ->> 1, e.value ->> 2, e.value ->> 3
  FROM json_each(?) e JOIN backup_pack p ON p.name = ? WHERE TRUE`;

function placesOf(chunks: readonly PackedChunk[]): string {
  return JSON.stringify(chunks.map(({ chunk, offset, length, bytes }) => [chunk, offset, length, bytes]));
}

/** @param db without the record of changes: what is stored here follows from backups */
export function createChunkIndex(db: Db) {
  const places = (ids: readonly string[], only = '') =>
    db.all<PlaceRow>(
      `SELECT c.id, p.name AS pack, c.start, c.length, c.bytes FROM backup_chunk c JOIN backup_pack p ON p.id = c.pack_id
       WHERE c.id IN (SELECT value FROM json_each(?)) ${only}`,
      [JSON.stringify(ids)],
    );
  return {
    async find(ids: readonly string[]): Promise<Map<string, ChunkPlace>> {
      return new Map(
        (await places(ids)).map(({ id, pack, start, length, bytes }) => [id, { pack, offset: start, length, bytes }]),
      );
    },

    /** Those of these chunks that a backup may refer to: what is about to be swept is stored again instead. */
    async usable(ids: readonly string[]): Promise<Set<string>> {
      return new Set((await places(ids, 'AND p.unused_since IS NULL')).map(({ id }) => id));
    },

    /** Adds a pack that is on the disk. A chunk that another pack has, too, is found in this one from now on. */
    async add(name: string, bytes: number, chunks: readonly PackedChunk[]): Promise<void> {
      await db.batch([
        sql(
          'INSERT INTO backup_pack (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET unused_since = NULL',
          name,
          bytes,
        ),
        sql(
          `${PLACES} ON CONFLICT (id) DO UPDATE SET pack_id = excluded.pack_id, start = excluded.start, length = excluded.length`,
          placesOf(chunks),
          name,
        ),
      ]);
    },

    /** Adds a pack that was found, as unused: what it has is looked for in it only where no other pack has it. */
    async adopt(name: string, bytes: number, chunks: readonly PackedChunk[], now: number): Promise<void> {
      await db.batch([
        sql(
          'INSERT INTO backup_pack (name, bytes, unused_since) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
          name,
          bytes,
          now,
        ),
        sql(`${PLACES} ON CONFLICT (id) DO NOTHING`, placesOf(chunks), name),
      ]);
    },

    packs(): Promise<PackRow[]> {
      return db.all<PackRow>('SELECT name, bytes, unused_since FROM backup_pack ORDER BY id');
    },

    async chunksOf(name: string): Promise<PackedChunk[]> {
      const rows = await db.all<PlaceRow>(
        `SELECT c.id, p.name AS pack, c.start, c.length, c.bytes FROM backup_chunk c JOIN backup_pack p ON p.id = c.pack_id
         WHERE p.name = ? ORDER BY c.start`,
        [name],
      );
      return rows.map(({ id, start, length, bytes }) => ({ chunk: id, offset: start, length, bytes }));
    },

    /** Marks packs as unused since now, and takes the mark off those that are in use again. */
    async mark(unused: readonly string[], used: readonly string[], now: number): Promise<void> {
      const statements = [];
      for (let at = 0; at < Math.max(unused.length, used.length); at += PORTION) {
        const part = (names: readonly string[]) => JSON.stringify(names.slice(at, at + PORTION));
        const among = 'name IN (SELECT value FROM json_each(?))';
        statements.push(
          sql(`UPDATE backup_pack SET unused_since = ? WHERE unused_since IS NULL AND ${among}`, now, part(unused)),
          sql(`UPDATE backup_pack SET unused_since = NULL WHERE unused_since IS NOT NULL AND ${among}`, part(used)),
        );
      }
      if (statements.length > 0) await db.batch(statements);
    },

    /** Forgets a pack, if it is still unused; returns whether it was. */
    async forget(name: string): Promise<boolean> {
      const [, removed] = await db.batch([
        sql(
          'DELETE FROM backup_chunk WHERE pack_id = (SELECT id FROM backup_pack WHERE name = ? AND unused_since IS NOT NULL)',
          name,
        ),
        sql('DELETE FROM backup_pack WHERE name = ? AND unused_since IS NOT NULL', name),
      ]);
      return (removed?.changes ?? 0) > 0;
    },

    /** Forgets a pack with all that is still looked for in it. */
    async drop(name: string): Promise<void> {
      await db.batch([
        sql('DELETE FROM backup_chunk WHERE pack_id = (SELECT id FROM backup_pack WHERE name = ?)', name),
        sql('DELETE FROM backup_pack WHERE name = ?', name),
      ]);
    },

    /** Forgets everything: for an index that is made again. */
    async clear(): Promise<void> {
      await db.batch([sql('DELETE FROM backup_chunk'), sql('DELETE FROM backup_pack')]);
    },
  };
}

export type ChunkIndex = ReturnType<typeof createChunkIndex>;
