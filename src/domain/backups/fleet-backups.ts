/** Tells how the sites of the fleet are backed up, and which of them are not. */

import type { BackupLack, backupStatusList, DrillFacts } from '../../../schemas/backup.js';
import type { z } from '../../../schemas/zod.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackedUpRow } from '../../store/backups/fleet-backups.js';
import type { Ctx } from '../context.js';

const DAY_MS = 24 * 3_600_000;
/** A month with some days for those that could not be tried. */
export const PROOF_DAYS = 35;

type View = z.input<ReturnType<typeof backupStatusList>>;

export interface StatusInput {
  lacking?: BackupLack | undefined;
  recent_days: number;
  page: number;
  per_page: number;
}

/** One page of sites, those without a backup first, and how many of all sites lack what. */
export async function listBackupStatus(ctx: Ctx, input: StatusInput): Promise<View> {
  const { lacking, recent_days, page, per_page } = input;
  const now = ctx.clock.now();
  const limits = { recent: now - recent_days * DAY_MS, proof: now - PROOF_DAYS * DAY_MS };
  const { rows, counts } = await ctx.store.fleetBackups.list(lacking ?? null, limits, (page - 1) * per_page, per_page);
  const total = lacking === undefined ? counts.sites : counts[lacking];
  return { items: rows.map(statusOf), page, per_page, total, lacking: counts, drills: ctx.config.drills };
}

function statusOf(row: BackedUpRow): View['items'][number] {
  const { site_id, site_url, name, status, guarded, backup_id, error } = row;
  const made_at = isoTime(row.made_at);
  const drilled_at = isoTime(row.drilled_at);
  const facts = row.drill === null ? null : (JSON.parse(row.drill) as DrillFacts);
  return {
    site_id,
    site_url,
    name,
    status,
    guarded: guarded === null ? null : guarded === 1,
    newest: backup_id === null || made_at === null ? null : { backup_id, made_at },
    failing_since: isoTime(row.failing_since),
    error,
    proven_at: isoTime(row.proven_at),
    drill:
      row.drill_result === null || drilled_at === null
        ? null
        : {
            result: row.drill_result as DrillFacts['result'],
            reason: facts?.reason ?? null,
            means: facts?.means ?? null,
            drilled_at,
          },
    next_at: isoTime(row.next_at),
  };
}
