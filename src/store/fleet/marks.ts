/** Matters that a person has set aside: acknowledged, snoozed until a time, or done. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';

export interface Mark {
  /** The occurrence, `kind:id` or `kind:id:when`: if it happens again, that is another. */
  subject: string;
  /** null = concerns no single site. */
  site_id: number | null;
  title: string;
  state: 'acknowledged' | 'snoozed' | 'done';
  at: number;
  /** When a snooze ends. */
  until: number | null;
  by_name: string;
  note: string;
}
export type MarkRow = Mark & Row;

/** What a subject may be, and the statement that names it: its arguments are the numbers or ids of the subject. */
const SUBJECTS: Readonly<Record<string, [pattern: RegExp, named: string]>> = {
  incident: [
    /^\d+$/,
    'SELECT s.id AS site_id, s.name AS title FROM incident i JOIN site s ON s.id = i.site_id WHERE i.id = ?',
  ],
  change: [
    /^[\w-]{1,80}$/,
    `SELECT s.id AS site_id, c.name || ' ' || c.new_version || ', ' || s.name AS title
     FROM safe_change c JOIN site s ON s.id = c.site_id WHERE c.id = ?`,
  ],
  job: [/^[\w-]{1,80}$/, 'SELECT NULL AS site_id, type AS title FROM job WHERE id = ?'],
  vulnerable: [
    /^\d+:\d+$/,
    `SELECT NULL AS site_id, ifnull((SELECT feed_slug FROM package p WHERE p.id = w.package_id), 'WordPress') AS title
     FROM vulnerable_version w WHERE w.package_id = ? AND w.vulnerability_id = ? LIMIT 1`,
  ],
  ...Object.fromEntries(
    ['disconnected', 'unreachable', 'certificate', 'domain', 'stale'].map((kind) => [
      kind,
      [/^\d+(:\d+)?$/, 'SELECT id AS site_id, name AS title FROM site WHERE id = ?'],
    ]),
  ),
};

/** The mark of a subject, an SQL expression, as `k`; its argument is the time. */
export const marked = (subject: string) =>
  `LEFT JOIN attention_mark k ON k.subject = ${subject} AND (k.until IS NULL OR k.until > ?)`;
/** A condition: nobody has set it aside. An acknowledged one stays listed. */
export const NOT_ASIDE = "ifnull(k.state, 'acknowledged') = 'acknowledged'";
export const MARK_COLUMNS =
  'k.state AS mark, k.at AS mark_at, k.until AS mark_until, k.by_name AS mark_by, k.note AS mark_note';

export function createMarks(db: Db) {
  return {
    /** The site and the words of a subject; undefined where there is nothing of that name. */
    async named(subject: string): Promise<Pick<Mark, 'site_id' | 'title'> | undefined> {
      const [kind = '', ...rest] = subject.split(':');
      const [pattern, statement] = (Object.hasOwn(SUBJECTS, kind) ? SUBJECTS[kind] : undefined) ?? [/^$/, ''];
      const id = rest.join(':');
      if (statement === '' || !pattern.test(id)) return undefined;
      const places = statement.split('?').length - 1;
      const row = await db.one(
        statement,
        kind === 'change' || kind === 'job' ? [id] : rest.slice(0, places).map(Number),
      );
      return row as Pick<Mark, 'site_id' | 'title'> | undefined;
    },

    async set(mark: Mark): Promise<void> {
      const { subject, site_id, title, state, at, until, by_name, note } = mark;
      await db.run(
        `INSERT INTO attention_mark (subject, site_id, title, state, at, until, by_name, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (subject) DO UPDATE SET state = excluded.state, at = excluded.at, until = excluded.until,
           by_name = excluded.by_name, note = excluded.note`,
        [subject, site_id, title, state, at, until, by_name, note],
      );
    },

    /** Whether there was one. */
    async remove(subject: string): Promise<boolean> {
      return (await db.run('DELETE FROM attention_mark WHERE subject = ?', [subject])).changes > 0;
    },

    /** What is set aside: made since then, or still snoozed; newest first. */
    aside(since: number, now: number, page: number, perPage: number) {
      const from = "FROM attention_mark WHERE state <> 'acknowledged' AND (at >= ? OR until > ?)";
      return readPage<MarkRow>(
        db,
        sql(`SELECT * ${from} ORDER BY at DESC, subject`, since, now),
        sql(`SELECT count(*) AS n ${from}`, since, now),
        page,
        perPage,
      );
    },

    /** Deletes what was marked before then and is not snoozed for longer. */
    async prune(before: number): Promise<number> {
      const { changes } = await db.run('DELETE FROM attention_mark WHERE max(at, ifnull(until, 0)) < ?', [before]);
      return changes;
    },
  };
}
