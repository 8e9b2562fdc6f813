/** The schedule of site backups: how often each site is backed up, and which is due next. */

import type { BackupEvery } from '../../../schemas/backup.js';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

export interface BackupRule {
  every: BackupEvery;
  /** 0 to 23, of the site's own time. */
  hour: number;
}

/** What a rule is for; neither = the whole fleet. */
export interface RulePlace {
  /** `fleet`, `tag:5`, `site:7` */
  place: string;
  tag_id: number | null;
  site_id: number | null;
}

export interface BackupRuleRow extends Row, BackupRule, RulePlace {
  /** Of the tag, or of the site; null = the fleet. */
  name: string | null;
}

/** A site whose next turn is to be found. The rule is null if none holds for it. */
export interface UnplannedSite extends Row {
  site_id: number;
  timezone: string;
  gmt_offset: string;
  every: BackupEvery | null;
  hour: number | null;
  /** 0 or below. */
  planned: number;
  failing_since: number | null;
}

interface TurnOfSite extends UnplannedSite {
  next_at: number | null;
  ready: number;
  rule_tag: number | null;
  rule_site: number | null;
  rule_name: string | null;
}

export interface BackupTurn extends Row {
  site_id: number;
  next_at: number;
  /** How often it was begun before. */
  tries: number;
  failing_since: number | null;
}

/** The rule that holds for the site `s`: its own, then the most frequent of its tags, then that of the fleet. */
const IN_FORCE = `(SELECT r.place FROM backup_rule r
  WHERE r.site_id = s.id OR r.place = 'fleet' OR r.tag_id IN (SELECT t.tag_id FROM site_tag t WHERE t.site_id = s.id)
  ORDER BY r.site_id IS NULL, r.tag_id IS NULL, CASE r.every WHEN 'daily' THEN 0 WHEN 'weekly' THEN 1 WHEN 'monthly' THEN 2 ELSE 3 END, r.hour
  LIMIT 1)`;

/** Whether the site `s` can be backed up; otherwise it waits. */
export const READY = `s.status = 'connected' AND EXISTS (SELECT 1 FROM site_guard g WHERE g.site_id = s.id AND g.present > 0)
  AND EXISTS (SELECT 1 FROM site_detail d WHERE d.site_id = s.id AND d.on_trial = 0)`;

export function createBackupSchedule(db: Db) {
  const ofSite = (siteId: number) =>
    sql(
      `SELECT s.id AS site_id, d.timezone, d.gmt_offset, r.every, r.hour, t.planned, t.next_at, t.failing_since, ${READY} AS ready,
         r.tag_id AS rule_tag, r.site_id AS rule_site, CASE WHEN r.site_id IS NULL THEN g.name ELSE s.name END AS rule_name
       FROM site s JOIN site_detail d ON d.site_id = s.id LEFT JOIN backup_rule r ON r.place = ${IN_FORCE}
         LEFT JOIN tag g ON g.id = r.tag_id JOIN backup_turn t ON t.site_id = s.id WHERE s.id = ?`,
      siteId,
    );
  return {
    /** That of the fleet first, then tags and sites by name. */
    async rules(limit: number): Promise<{ rows: BackupRuleRow[]; total: number }> {
      const [rows = [], counts = []] = await db.read([
        sql(
          `SELECT r.*, coalesce(t.name, s.name) AS name FROM backup_rule r LEFT JOIN tag t ON t.id = r.tag_id LEFT JOIN site s ON s.id = r.site_id
           ORDER BY r.place <> 'fleet', r.tag_id IS NULL, name COLLATE NOCASE, r.place LIMIT ?`,
          limit,
        ),
        sql('SELECT count(*) AS n FROM backup_rule'),
      ]);
      return { rows: rows as BackupRuleRow[], total: Number(counts[0]?.n ?? 0) };
    },

    async rule(place: string): Promise<BackupRule | null> {
      const row = await db.one<BackupRuleRow>('SELECT every, hour FROM backup_rule WHERE place = ?', [place]);
      return row === undefined ? null : { every: row.every, hour: row.hour };
    },

    /** Replaces a rule; null removes it. Turns that it may concern are planned again. */
    async setRule({ place, tag_id, site_id }: RulePlace, rule: BackupRule | null): Promise<void> {
      const removal = sql('DELETE FROM backup_rule WHERE place = ?', place);
      const added =
        rule &&
        sql(
          'INSERT INTO backup_rule (place, tag_id, site_id, every, hour) VALUES (?, ?, ?, ?, ?)',
          place,
          tag_id,
          site_id,
          rule.every,
          rule.hour,
        );
      await db.batch([removal, ...(added === null ? [] : [added])]);
    },

    /** The rule that holds for a site, and its turn. `ready`: it has a guard, and is connected. */
    async of(siteId: number) {
      const { sql: text, args } = ofSite(siteId);
      return db.one<TurnOfSite>(text, args);
    },

    /** Sites whose next turn is not known. */
    unplanned: (limit: number) =>
      db.all<UnplannedSite>(
        `SELECT s.id AS site_id, d.timezone, d.gmt_offset, r.every, r.hour, t.planned, t.failing_since
         FROM backup_turn t CROSS JOIN site s ON s.id = t.site_id JOIN site_detail d ON d.site_id = s.id
           LEFT JOIN backup_rule r ON r.place = ${IN_FORCE}
         WHERE t.planned <= 0 ORDER BY t.site_id LIMIT ?`,
        [limit],
      ),

    /** A turn that is due, or was begun, stays as it is, unless there is none any more. */
    async plan(turns: readonly Pick<TurnOfSite, 'site_id' | 'planned' | 'next_at'>[], now: number): Promise<void> {
      await db.batch(
        turns.map(({ site_id, planned, next_at }) =>
          sql(
            `UPDATE backup_turn SET planned = 1, next_at = CASE WHEN ?1 IS NOT NULL AND (next_at <= ?2 OR tries > 0) THEN next_at ELSE ?1 END,
               tries = CASE WHEN ?1 IS NULL THEN 0 ELSE tries END
             WHERE site_id = ?3 AND planned = ?4`,
            next_at,
            now,
            site_id,
            planned,
          ),
        ),
      );
    },

    /** Sets aside the turns that are due of sites that cannot be backed up now. */
    async setAside(now: number): Promise<void> {
      await db.run(
        `UPDATE backup_turn SET planned = 2 WHERE planned = 1 AND next_at <= ?
           AND NOT EXISTS (SELECT 1 FROM site s WHERE s.id = backup_turn.site_id AND ${READY})`,
        [now],
      );
    },

    /**
     * The turn that has been due the longest, but of sites that are at work. The order of a CROSS JOIN is kept: of many sites
     * few turns are due.
     */
    due: (now: number, atWork: readonly number[]) =>
      db.one<BackupTurn>(
        `SELECT t.site_id, t.next_at, t.tries, t.failing_since FROM backup_turn t CROSS JOIN site s ON s.id = t.site_id
         WHERE t.planned = 1 AND t.next_at <= ? AND ${READY} AND t.site_id NOT IN (SELECT value FROM json_each(?))
         ORDER BY t.next_at LIMIT 1`,
        [now, JSON.stringify(atWork)],
      ),

    /** Begins a turn, which is due again at `until` if its process dies; false if another process has begun it. */
    async claim({ site_id, next_at }: BackupTurn, until: number): Promise<boolean> {
      const { changes } = await db.run(
        'UPDATE backup_turn SET next_at = ?, tries = tries + 1 WHERE site_id = ? AND next_at = ?',
        [until, site_id, next_at],
      );
      return changes > 0;
    },

    /** Puts a turn off that was begun, unless another process has ended it meanwhile. */
    async putOff(siteId: number, until: number, next_at: number, tries: number): Promise<void> {
      await db.run('UPDATE backup_turn SET next_at = ?, tries = ? WHERE site_id = ? AND next_at = ?', [
        next_at,
        tries,
        siteId,
        until,
      ]);
    },

    /** Ends a turn. */
    async end(siteId: number, next_at: number | null, failing_since: number | null): Promise<void> {
      await db.run('UPDATE backup_turn SET next_at = ?, tries = 0, failing_since = ? WHERE site_id = ?', [
        next_at,
        failing_since,
        siteId,
      ]);
    },

    /** Connected sites whose turn has come without a backup: it failed, or they lack the guard. */
    async missed(limit: number) {
      const from = `backup_turn t CROSS JOIN site s ON s.id = t.site_id
        WHERE (t.planned = 2 OR t.failing_since IS NOT NULL) AND s.status = 'connected'`;
      const [rows = [], counts = []] = await db.read([
        sql(`SELECT s.url, t.failing_since FROM ${from} ORDER BY t.site_id LIMIT ?`, limit),
        sql(`SELECT count(*) AS total FROM ${from}`),
      ]);
      return { rows: rows as { url: string; failing_since: number | null }[], total: Number(counts[0]?.total ?? 0) };
    },

    async hasRules(): Promise<boolean> {
      return (await db.one('SELECT 1 AS n FROM backup_rule LIMIT 1')) !== undefined;
    },
  };
}
