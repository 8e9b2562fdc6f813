/**
 * The stored copy of a vulnerability feed. A new copy is staged while it is read, and replaces the old one when it has
 * been read to its end.
 */

import type { FeedEntry } from '../../../schemas/vulnerability.js';
import type { Db, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';

export interface FeedRow extends Row {
  source: string;
  tried_at: number;
  checked_at: number | null;
  read_at: number | null;
  next_at: number;
  failure: string;
  etag: string | null;
  last_modified: string | null;
  entries: number;
  unreadable: number;
}

/** An entry with the digest by which a later copy of it is recognized. */
export interface StagedEntry {
  entry: FeedEntry;
  digest: string;
}

/** Entries per transaction: the connection is free for other work in between. */
const CHUNK = 500;

/**
 * The staged entries up to one, as stored. CROSS JOIN, here and below, keeps the few in front: the planner's statistics
 * of these tables may be from when they were empty.
 */
const STAGED = 'SELECT x.id FROM vulnerability_staged s CROSS JOIN vulnerability x ON x.uid = s.uid WHERE s.uid <= ?';

/** Marks versions in the fleet that the staged entries may concern as pending. */
function classifyAgain(uid: string): Statement[] {
  const noted = 'ON CONFLICT DO UPDATE SET round = round + 1';
  const software = `(${STAGED}) t CROSS JOIN vulnerable_software v ON v.vulnerability_id = t.id`;
  return [
    sql(
      `INSERT INTO unclassified_version (package_id, version) SELECT DISTINCT e.package_id, e.version FROM ${software}
       CROSS JOIN package p ON p.kind = v.kind AND p.feed_slug = v.slug
       CROSS JOIN site_extension e ON e.package_id = p.id WHERE true ${noted}`,
      uid,
    ),
    sql(
      `INSERT INTO unclassified_version (package_id, version) SELECT DISTINCT 0, d.wp_version FROM site_detail d
       WHERE d.wp_version <> '' AND EXISTS (SELECT 1 FROM ${software} WHERE v.kind = 2) ${noted}`,
      uid,
    ),
  ];
}

export function createVulnerabilityFeeds(db: Db) {
  return {
    /** The state of the feed; undefined before the first read. */
    state(): Promise<FeedRow | undefined> {
      return db.one<FeedRow>(
        'SELECT source, tried_at, checked_at, read_at, next_at, failure, etag, last_modified, entries, unreadable FROM vulnerability_feed',
      );
    },

    /** Records a failed read; stored entries stay. */
    async failed(source: string, now: number, nextAt: number, failure: string): Promise<void> {
      await db.run(
        `INSERT INTO vulnerability_feed (id, source, tried_at, next_at, failure) VALUES (1, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET tried_at = excluded.tried_at, next_at = excluded.next_at, failure = excluded.failure`,
        [source, now, nextAt, failure],
      );
    },

    /** Records a read that found nothing new. */
    async unchanged(now: number, nextAt: number): Promise<void> {
      await db.run("UPDATE vulnerability_feed SET tried_at = ?, checked_at = ?, next_at = ?, failure = ''", [
        now,
        now,
        nextAt,
      ]);
    },

    /** Records a complete new copy. */
    async taken(
      feed: Pick<FeedRow, 'source' | 'etag' | 'last_modified' | 'entries' | 'unreadable'>,
      now: number,
      nextAt: number,
    ): Promise<void> {
      const { source, etag, last_modified, entries, unreadable } = feed;
      await db.run(
        `INSERT INTO vulnerability_feed (id, source, tried_at, checked_at, read_at, next_at, failure, etag, last_modified, entries, unreadable)
         VALUES (1, ?, ?, ?, ?, ?, '', ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET source = excluded.source, tried_at = excluded.tried_at, checked_at = excluded.checked_at,
           read_at = excluded.read_at, next_at = excluded.next_at, failure = '', etag = excluded.etag,
           last_modified = excluded.last_modified, entries = excluded.entries, unreadable = excluded.unreadable`,
        [source, now, now, now, nextAt, etag, last_modified, entries, unreadable],
      );
    },

    /** The stored entries with their digests. */
    async digests(): Promise<Map<string, string>> {
      const rows = await db.all('SELECT uid, digest FROM vulnerability');
      return new Map(rows.map((row) => [String(row.uid), String(row.digest)]));
    },

    /** Deletes leftovers of an earlier read. */
    async clearStaged(): Promise<void> {
      await db.run('DELETE FROM vulnerability_staged');
    },

    /** Nearly all entries have the same few notices, so those are stored separately. */
    async stage(entries: readonly StagedEntry[]): Promise<void> {
      const notices = [...new Set(entries.flatMap(({ entry }) => entry.notice ?? []))];
      await db.batch([
        sql(
          'INSERT OR IGNORE INTO vulnerability_notice (body) SELECT value FROM json_each(?)',
          JSON.stringify(notices),
        ),
        sql(
          `INSERT INTO vulnerability_staged (uid, body, notice_id)
           SELECT value ->> '$.entry.uid', json_remove(value, '$.entry.notice'),
             (SELECT n.id FROM vulnerability_notice n WHERE n.body = value ->> '$.entry.notice') FROM json_each(?) WHERE true
           ON CONFLICT (uid) DO UPDATE SET body = excluded.body, notice_id = excluded.notice_id`,
          JSON.stringify(entries),
        ),
      ]);
    },

    /** Applies a part of the staged entries. @returns whether there were any */
    async takeStaged(): Promise<boolean> {
      const last = await db.one(
        `SELECT max(uid) AS uid FROM (SELECT uid FROM vulnerability_staged ORDER BY uid LIMIT ${CHUNK})`,
      );
      if (typeof last?.uid !== 'string') return false;
      const { uid } = last;
      const field = (name: string) => `s.body ->> '$.entry.${name}'`;
      await db.batch([
        sql(
          `INSERT INTO vulnerability (uid, digest, title, severity, score, cve, reference, published, notice_id)
           SELECT s.uid, s.body ->> '$.digest', ${['title', 'severity', 'score', 'cve', 'reference', 'published'].map(field).join(', ')},
             s.notice_id
           FROM vulnerability_staged s WHERE s.uid <= ?
           ON CONFLICT (uid) DO UPDATE SET digest = excluded.digest, title = excluded.title, severity = excluded.severity,
             score = excluded.score, cve = excluded.cve, reference = excluded.reference, published = excluded.published,
             notice_id = excluded.notice_id`,
          uid,
        ),
        ...classifyAgain(uid),
        sql(`DELETE FROM vulnerable_software WHERE vulnerability_id IN (${STAGED})`, uid),
        sql(
          `INSERT INTO vulnerable_software (kind, slug, vulnerability_id, ranges, fixes)
           SELECT j.value ->> 'kind', j.value ->> 'slug', x.id, j.value -> 'ranges', j.value -> 'fixes'
           FROM vulnerability_staged s CROSS JOIN vulnerability x ON x.uid = s.uid CROSS JOIN json_each(s.body, '$.entry.software') j WHERE s.uid <= ?`,
          uid,
        ),
        ...classifyAgain(uid),
        sql('DELETE FROM vulnerability_staged WHERE uid <= ?', uid),
      ]);
      return true;
    },

    /** Removes entries that the feed no longer has. */
    async remove(uids: readonly string[]): Promise<void> {
      for (let at = 0; at < uids.length; at += CHUNK)
        await db.run('DELETE FROM vulnerability WHERE uid IN (SELECT value FROM json_each(?))', [
          JSON.stringify(uids.slice(at, at + CHUNK)),
        ]);
      await db.run(
        'DELETE FROM vulnerability_notice WHERE NOT EXISTS (SELECT 1 FROM vulnerability x WHERE x.notice_id = vulnerability_notice.id)',
      );
    },
  };
}
