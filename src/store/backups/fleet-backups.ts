/** Queries how the sites of the fleet are backed up: the newest backup of each, failures, proofs, and sites that lack one. */

import type { BackupLack } from '../../../schemas/backup.js';
import type { Reads, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';

export interface BackedUpRow extends Row {
  site_id: number;
  name: string;
  site_url: string;
  status: string;
  /** NULL = it is not known whether there is a guard. */
  guarded: number | null;
  backup_id: string | null;
  made_at: number | null;
  /** Of the newest attempt, if that failed. */
  error: string | null;
  failing_since: number | null;
  proven_at: number | null;
  /** The last trial restore. `drill`: JSON, NULL if only an earlier one verified anything. */
  drill_result: string | null;
  drill: string | null;
  drilled_at: number | null;
  next_at: number | null;
}

/** Since when a backup counts as recent, and a proof. */
export interface BackupLimits {
  recent: number;
  proof: number;
}

/** The limits come first. */
const SINCE = 'WITH since AS (SELECT ? AS recent, ? AS proof)';
const FROM = `since CROSS JOIN site s
  LEFT JOIN backup b ON b.id = (SELECT id FROM backup WHERE site_id = s.id AND state = 'done' ORDER BY started_at DESC LIMIT 1)
  LEFT JOIN backup a ON a.id = (SELECT id FROM backup WHERE site_id = s.id ORDER BY started_at DESC LIMIT 1)
  LEFT JOIN backup_turn t ON t.site_id = s.id`;
const PROVEN = `(SELECT max(at) FROM backup_drill WHERE site_id = s.id AND result = 'proven')`;
const FAILED = `(ifnull(a.state, '') = 'failed' OR t.failing_since IS NOT NULL)`;
const LACKS: Readonly<Record<BackupLack, string>> = {
  any: 'b.id IS NULL',
  recent: 'ifnull(b.started_at, 0) < since.recent',
  success: FAILED,
  proof: `ifnull(${PROVEN}, 0) < since.proof`,
};

/** @param reads may take longer than a thread that serves others should be held up */
export function createFleetBackups(reads: Reads) {
  return {
    /** Those without a backup first, then the oldest. `counts` are of all sites. */
    async list(lack: BackupLack | null, { recent, proof }: BackupLimits, offset: number, limit: number) {
      const [rows = [], counts = []] = await reads.read([
        sql(
          `${SINCE} SELECT s.id AS site_id, s.name, s.url AS site_url, s.status, g.present > 0 AS guarded, b.id AS backup_id, b.started_at AS made_at,
             CASE a.state WHEN 'failed' THEN a.error END AS error, t.failing_since, ${PROVEN} AS proven_at,
             d.tried AS drill_result, CASE d.tried WHEN d.result THEN d.facts END AS drill, d.tried_at AS drilled_at, CASE t.planned WHEN 1 THEN t.next_at END AS next_at
           FROM ${FROM} LEFT JOIN site_guard g ON g.site_id = s.id
             LEFT JOIN backup_drill d ON d.backup_id = (SELECT backup_id FROM backup_drill WHERE site_id = s.id ORDER BY tried_at DESC LIMIT 1)
           WHERE ${lack === null ? 'TRUE' : LACKS[lack]} ORDER BY b.started_at IS NOT NULL, b.started_at, s.id LIMIT ? OFFSET ?`,
          recent,
          proof,
          limit,
          offset,
        ),
        sql(
          `${SINCE} SELECT count(*) AS sites, total(${LACKS.any}) AS no_backup, total(${LACKS.recent}) AS no_recent, total(${LACKS.success}) AS failing,
             total(${LACKS.proof}) AS no_proof FROM ${FROM}`,
          recent,
          proof,
        ),
      ]);
      const [all] = counts;
      const count = (name: string) => Number(all?.[name] ?? 0);
      return {
        rows: rows as BackedUpRow[],
        counts: {
          sites: count('sites'),
          any: count('no_backup'),
          recent: count('no_recent'),
          success: count('failing'),
          proof: count('no_proof'),
        },
      };
    },
  };
}
