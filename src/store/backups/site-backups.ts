/** The records of site backups, and of restores that have not ended. */

import type { DrillFacts } from '../../../schemas/backup.js';
import { type Db, type Row, sql, type Value } from '../driver/db.js';

export interface BackupRow extends Row {
  id: string;
  site_id: number;
  site_url: string;
  state: string;
  started_at: number;
  alive_at: number;
  finished_at: number | null;
  /** JSON. */
  progress: string | null;
  /** JSON. */
  facts: string | null;
  error: string | null;
  checked_at: number | null;
  checked: string | null;
  /** The last trial restore of it; null = none. `drill` is JSON. */
  drilled_at: number | null;
  drill_result: string | null;
  drill: string | null;
}

export interface RestoreRow extends Row {
  site_id: number;
  job: string;
  backup_id: string;
  /** JSON. */
  selection: string;
  /** JSON: what was sent to the site and compared there; null = nothing to go on with. */
  sent: string | null;
  started_at: number;
  alive_at: number;
}

/** A site that must have a backup before it is updated. */
export interface BackupDemand extends Row {
  site_id: number;
  /** The newest complete backup that is not known to be damaged, and when it began; null = none. */
  backup_id: string | null;
  started_at: number | null;
  /** 1 = it has a guard, as far as is known. */
  guarded: number;
}

export interface BackupFilter {
  site_id?: number | undefined;
  state?: string | undefined;
  /** Whether a trial restore has proven it. */
  proven?: boolean | undefined;
  /** Of running ones: last at work between these times, or not. */
  alive?: { since: number; until: number; not: boolean } | undefined;
}

const COLUMNS =
  'id, backup.site_id, site_url, state, started_at, alive_at, finished_at, progress, backup.facts, error, checked_at, checked, d.at AS drilled_at, d.result AS drill_result, d.facts AS drill';
const FROM = 'backup LEFT JOIN backup_drill d ON d.backup_id = backup.id';

const UNVERIFIED: DrillFacts['result'] = 'could_not_verify';

const RESTORE =
  'SELECT site_id, job, backup_id, selection, sent, started_at, alive_at FROM backup_restore WHERE site_id = ?';

/** @param plain for notes of work under way, which are no changes of the fleet */
export function createSiteBackups(db: Db, plain: Db) {
  const running = (siteId: number) =>
    db.one<BackupRow>(`SELECT ${COLUMNS} FROM ${FROM} WHERE backup.site_id = ? AND state = 'running'`, [siteId]);
  return {
    /** The unfinished one of a site. */
    running,

    find: (id: string) => db.one<BackupRow>(`SELECT ${COLUMNS} FROM ${FROM} WHERE id = ?`, [id]),

    /** Ids of all sites that have any. */
    async sites(): Promise<number[]> {
      return (await db.all('SELECT DISTINCT site_id FROM backup')).map(({ site_id }) => Number(site_id));
    },

    /** Newest first. */
    async list({ site_id, state, proven, alive }: BackupFilter, offset: number, limit: number) {
      const where = [
        'TRUE',
        ...(site_id === undefined ? [] : ['backup.site_id = ?']),
        ...(state === undefined ? [] : ['state = ?']),
        ...(proven === undefined ? [] : [`d.result ${proven ? 'IS' : 'IS NOT'} 'proven'`]),
      ];
      if (alive !== undefined) where.push(`alive_at ${alive.not ? 'NOT ' : ''}BETWEEN ? AND ?`);
      const args: Value[] = [site_id, state, alive?.since, alive?.until].filter((one) => one !== undefined);
      const condition = where.join(' AND ');
      const [rows = [], counts = []] = await db.read([
        {
          sql: `SELECT ${COLUMNS} FROM ${FROM} WHERE ${condition} ORDER BY started_at DESC, id LIMIT ? OFFSET ?`,
          args: [...args, limit, offset],
        },
        { sql: `SELECT count(*) AS total FROM ${FROM} WHERE ${condition}`, args },
      ]);
      return { rows: rows as BackupRow[], total: Number(counts[0]?.total ?? 0) };
    },

    /** The last complete one of a site. */
    lastDone: (siteId: number) =>
      db.one<BackupRow>(
        `SELECT ${COLUMNS} FROM ${FROM} WHERE backup.site_id = ? AND state = 'done' ORDER BY started_at DESC LIMIT 1`,
        [siteId],
      ),

    /** Complete ones of a site, newest first. */
    done: (siteId: number) =>
      db.all<BackupRow>(
        `SELECT ${COLUMNS} FROM ${FROM} WHERE backup.site_id = ? AND state = 'done' ORDER BY started_at DESC LIMIT 1000`,
        [siteId],
      ),

    /**
     * Those of these sites, null = of all, that must have a backup before updates, by their own setting or the general one.
     * @param general whether the general setting is on; @param guardFile name of the guard in inventories
     */
    demands: (siteIds: readonly number[] | null, general: boolean, guardFile: string) =>
      db.all<BackupDemand>(
        `SELECT d.site_id, b.id AS backup_id, b.started_at,
           coalesce(g.present, 0) > 0 OR EXISTS (SELECT 1 FROM site_extension e JOIN package p ON p.id = e.package_id
             WHERE e.site_id = d.site_id AND e.kind = 0 AND p.slug = ?3) AS guarded
         FROM site_detail d LEFT JOIN site_guard g ON g.site_id = d.site_id
           LEFT JOIN backup b ON b.id = (SELECT id FROM backup WHERE site_id = d.site_id AND state = 'done'
             AND coalesce(checked, 'sound') = 'sound' ORDER BY started_at DESC LIMIT 1)
         WHERE (?1 IS NULL OR d.site_id IN (SELECT value FROM json_each(?1)))
           AND (d.backup_before_upgrade = 1 OR d.backup_before_upgrade = 2 AND ?2)`,
        [siteIds === null ? null : JSON.stringify(siteIds), general ? 1 : 0, guardFile],
      ),

    /** How many are complete, when the last one ended, and what came of the last trial restore; null = there was none. */
    async overview() {
      const [[backups] = [], [drill] = []] = await db.read([
        sql("SELECT count(*) AS total, max(finished_at) AS at FROM backup WHERE state = 'done'"),
        sql('SELECT tried_at, tried FROM backup_drill ORDER BY tried_at DESC LIMIT 1'),
      ]);
      return {
        total: Number(backups?.total ?? 0),
        last_at: backups?.at == null ? null : Number(backups.at),
        drill: drill === undefined ? null : { at: Number(drill.tried_at), result: drill.tried as DrillFacts['result'] },
      };
    },

    /** All complete ones, briefly. */
    async allDone(): Promise<{ id: string; site_url: string; started_at: number }[]> {
      const rows = await db.all("SELECT id, site_url, started_at FROM backup WHERE state = 'done' ORDER BY started_at");
      return rows.map(({ id, site_url, started_at }) => ({
        id: String(id),
        site_url: String(site_url),
        started_at: Number(started_at),
      }));
    },

    /**
     * Begins a backup, or takes over the one that a process has left unfinished; undefined if another is at work on it.
     * @param silentSince one that was not at work since then was left
     */
    async begin(
      row: Pick<BackupRow, 'id' | 'site_id' | 'site_url'>,
      now: number,
      silentSince: number,
    ): Promise<BackupRow | undefined> {
      await plain.run(
        `INSERT INTO backup (id, site_id, site_url, state, started_at, alive_at) VALUES (?, ?, ?, 'running', ?, 0)
         ON CONFLICT (site_id) WHERE state = 'running' DO NOTHING`,
        [row.id, row.site_id, row.site_url, now],
      );
      const { changes } = await plain.run(
        // One that lies ahead was noted before the clock was set back: it tells nothing.
        "UPDATE backup SET alive_at = ? WHERE site_id = ? AND state = 'running' AND (alive_at <= ? OR alive_at > ?)",
        [now, row.site_id, silentSince, 2 * now - silentSince],
      );
      return changes === 0 ? undefined : running(row.site_id);
    },

    /** Notes that it is being worked on, and what is stored; false if it was taken away. */
    async advance(id: string, from: number, now: number, progress?: string): Promise<boolean> {
      const { changes } = await plain.run(
        "UPDATE backup SET alive_at = ?, progress = coalesce(?, progress) WHERE id = ? AND state = 'running' AND alive_at = ?",
        [now, progress ?? null, id, from],
      );
      return changes > 0;
    },

    /** Completes one, which reports tell of also when it is gone; false if another process has taken it over. */
    async finish(id: string, alive: number, facts: string, now: number): Promise<boolean> {
      const [updated] = await db.batch([
        sql(
          "UPDATE backup SET state = 'done', finished_at = ?, facts = ?, progress = NULL WHERE id = ? AND state = 'running' AND alive_at = ?",
          now,
          facts,
          id,
          alive,
        ),
        sql(
          `INSERT INTO report_record (site_id, segment, action, facts, at)
           SELECT site_id, 'backups', 'created', json_object('type', 'Files and database'), started_at FROM backup
           WHERE id = ? AND state = 'done' AND finished_at = ? AND alive_at = ? AND site_id IN (SELECT id FROM site)`,
          id,
          now,
          alive,
        ),
      ]);
      return (updated?.changes ?? 0) > 0;
    },

    async fail(id: string, alive: number, error: string, now: number): Promise<void> {
      await db.run(
        "UPDATE backup SET state = 'failed', finished_at = ?, error = ?, progress = NULL WHERE id = ? AND state = 'running' AND alive_at = ?",
        [now, error, id, alive],
      );
    },

    /** Lets go of one that is to be continued, so that this need not wait until it counts as left. */
    async release(id: string, alive: number): Promise<void> {
      await plain.run("UPDATE backup SET alive_at = 0 WHERE id = ? AND state = 'running' AND alive_at = ?", [
        id,
        alive,
      ]);
    },

    /** When the oldest began that is not complete; null = none. */
    async oldestRunning(): Promise<number | null> {
      const row = await db.one("SELECT min(started_at) AS at FROM backup WHERE state = 'running'");
      return row?.at == null ? null : Number(row.at);
    },

    /** Gives up those without a sign of work since then, and those that began so long ago. */
    async giveUp({ silent, begun }: { silent: number; begun: number }, now: number): Promise<number> {
      const { changes } = await db.run(
        `UPDATE backup SET state = 'failed', finished_at = ?, progress = NULL,
           error = iif(started_at < ?, 'It took too long.', 'It was not continued.')
         WHERE state = 'running' AND (max(alive_at, started_at) < ? OR started_at < ?)`,
        [now, begun, silent, begun],
      );
      return changes;
    },

    /** Adds one that another installation has made, unless it is known; returns whether it was added. */
    async adopt(
      row: Pick<BackupRow, 'id' | 'site_id' | 'site_url' | 'started_at' | 'finished_at' | 'facts'>,
    ): Promise<boolean> {
      const { changes } = await db.run(
        `INSERT INTO backup (id, site_id, site_url, state, started_at, alive_at, finished_at, facts)
         VALUES (?, ?, ?, 'done', ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        [row.id, row.site_id, row.site_url, row.started_at, row.started_at, row.finished_at, row.facts],
      );
      return changes > 0;
    },

    async checked(id: string, result: string, now: number): Promise<void> {
      await db.run('UPDATE backup SET checked_at = ?, checked = ? WHERE id = ?', [now, result, id]);
    },

    /** Notes that a trial restore has begun: if its process dies, that is what is known of it. */
    async beginDrill(row: Pick<BackupRow, 'id' | 'site_id'>, facts: string, now: number): Promise<void> {
      await plain.run(
        `INSERT INTO backup_drill (backup_id, site_id, tried_at, tried, at, result, facts) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (backup_id) DO UPDATE SET tried_at = excluded.tried_at, tried = excluded.tried`,
        [row.id, row.site_id, now, UNVERIFIED, now, UNVERIFIED, facts],
      );
    },

    /** Keeps the result; one that could not verify anything only in place of another such. */
    async endDrill(
      id: string,
      { result, facts }: { result: DrillFacts['result']; facts: string },
      now: number,
    ): Promise<void> {
      await db.run(
        `UPDATE backup_drill SET tried_at = ?1, tried = ?2, at = iif(?2 = '${UNVERIFIED}' AND result <> ?2, at, ?1),
           facts = iif(?2 = '${UNVERIFIED}' AND result <> ?2, facts, ?3), result = iif(?2 = '${UNVERIFIED}', result, ?2)
         WHERE backup_id = ?4`,
        [now, result, facts, id],
      );
    },

    /** The newest backup of a site whose last trial restore is the longest ago; undefined = none is due. */
    dueDrill: ({ verified, unverified }: { verified: number; unverified: number }) =>
      db.one<{ id: string }>(
        `SELECT b.id FROM backup b JOIN site s ON s.id = b.site_id
         LEFT JOIN (SELECT site_id, max(tried_at) AS tried_at, tried FROM backup_drill GROUP BY site_id) d ON d.site_id = b.site_id
         WHERE b.state = 'done' AND b.started_at = (SELECT max(started_at) FROM backup WHERE site_id = b.site_id AND state = 'done')
           AND ifnull(d.tried_at, 0) < iif(d.tried = '${UNVERIFIED}', ?, ?)
         ORDER BY ifnull(d.tried_at, 0), b.site_id LIMIT 1`,
        [unverified, verified],
      ),

    /** When one of the site was last proven, and JSON of what was found. */
    lastProof: (siteId: number) =>
      db.one<{ at: number; facts: string }>(
        "SELECT at, facts FROM backup_drill WHERE site_id = ? AND result = 'proven' ORDER BY at DESC LIMIT 1",
        [siteId],
      ),

    /** Sites whose backups reach back so far, and of which none was proven since; those that were never proven first. */
    async unproven(since: number, limit: number) {
      const from = `FROM site s JOIN (SELECT site_id, min(started_at) AS first FROM backup WHERE state = 'done' GROUP BY site_id) b ON b.site_id = s.id
        LEFT JOIN (SELECT site_id, max(at) AS at, facts ->> '$.means' AS means FROM backup_drill WHERE result = 'proven' GROUP BY site_id) d ON d.site_id = s.id
        WHERE b.first < ? AND ifnull(d.at, 0) < ?`;
      const [rows = [], counts = []] = await db.read([
        {
          sql: `SELECT s.id AS site_id, s.url, d.at, d.means ${from} ORDER BY ifnull(d.at, 0), s.id LIMIT ?`,
          args: [since, since, limit],
        },
        { sql: `SELECT count(*) AS total ${from}`, args: [since, since] },
      ]);
      return {
        rows: rows as { site_id: number; url: string; at: number | null; means: DrillFacts['means'] }[],
        total: Number(counts[0]?.total ?? 0),
      };
    },

    /** Forgets what concerns neither a backup nor the last months. */
    async forgetDrills(before: number): Promise<void> {
      await db.run('DELETE FROM backup_drill WHERE tried_at < ? AND backup_id NOT IN (SELECT id FROM backup)', [
        before,
      ]);
    },

    async remove(id: string): Promise<void> {
      await db.run("DELETE FROM backup WHERE id = ? AND state <> 'running'", [id]);
    },

    restore: (siteId: number) => db.one<RestoreRow>(RESTORE, [siteId]),

    /** Begins a restore, unless one has begun that did not end: then that one is returned. */
    async beginRestore(row: Omit<RestoreRow, 'sent' | 'started_at' | 'alive_at'>, now: number): Promise<RestoreRow> {
      await plain.run(
        `INSERT INTO backup_restore (site_id, job, backup_id, selection, started_at, alive_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (site_id) DO NOTHING`,
        [row.site_id as number, row.job as string, row.backup_id as string, row.selection as string, now, now],
      );
      const found = await plain.one<RestoreRow>(RESTORE, [row.site_id as number]);
      if (found === undefined) throw new Error('a restore that was begun is gone');
      return found;
    },

    /** Notes what the site has of it; null = nothing to go on with. False if another process has taken it over. */
    async noteSent({ site_id, job, alive_at }: RestoreRow, sent: string | null, now: number): Promise<boolean> {
      const { changes } = await plain.run(
        'UPDATE backup_restore SET sent = ?, alive_at = ? WHERE site_id = ? AND job = ? AND alive_at = ?',
        [sent, now, site_id, job, alive_at],
      );
      return changes > 0;
    },

    async endRestore(siteId: number, job: string): Promise<void> {
      await plain.run('DELETE FROM backup_restore WHERE site_id = ? AND job = ?', [siteId, job]);
    },
  };
}
