/**
 * The drill: restores a backup away from its site, and compares the copy with what was recorded of the site. Only what has
 * run and agrees is proven.
 */

import type { DrillFacts, DrillResult } from '../../../schemas/backup.js';
import { CopyRefused, CopyUnavailable } from '../../outbound/copies/copies.js';
import { ServiceError } from '../../runtime/errors.js';
import { type Alert, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import { loadNamed, loadSites } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { compareVersions } from '../sites/versions.js';
import { completeBackup } from './backups.js';
import { backupError, pathText, repositoryProblem } from './plugin.js';
import { CopyOfBackup, type Found, REASON, ServerRefused, unverified } from './restore-copy.js';
import type { Snapshot } from './snapshot.js';

/** Of one drill. */
const DRILL_MS = 30 * 60_000;
/** For the end of another one. */
const WAIT_MS = 30_000;

/** @throws ServiceError if there is no such backup, or it is not complete, or another drill is under way */
export async function drillBackup(ctx: Ctx, id: string): Promise<DrillResult> {
  const backup = await completeBackup(ctx, id);
  const { row, snapshot } = backup;
  const impossible = await ctx.copies.unavailable();
  // That drills are off is no attempt.
  if (impossible !== null && !ctx.config.drills) return resultOf(ctx, row, unverified(impossible));
  const free = await ctx.copies.turn(WAIT_MS, ctx.signal);
  if (free === null)
    throw new ServiceError('svc_backup_running', 'Another backup is being restored on trial.', {
      data: { site_id: row.site_id },
    });
  const limit = ctx.clock.deadline(DRILL_MS);
  const signal = AbortSignal.any([ctx.signal, limit.signal]);
  try {
    await ctx.store.siteBackups.beginDrill(
      row,
      keptOf(ctx, row, unverified('The drill was interrupted.')),
      ctx.clock.now(),
    );
    const found =
      impossible !== null
        ? unverified(impossible)
        : await new CopyOfBackup({ ...ctx, signal }, backup).drill().catch((error: unknown) => {
            if (ctx.signal.aborted) throw error;
            if (limit.signal.aborted) return unverified(`It took longer than ${DRILL_MS / 60_000} minutes.`);
            return foundIn(error, snapshot, row.site_id);
          });
    const { result, reason } = found;
    await ctx.store.siteBackups.endDrill(row.id, { result, facts: keptOf(ctx, row, found) }, ctx.clock.now());
    if (result === 'failed') await raiseAlert(ctx, row, reason ?? '');
    return resultOf(ctx, row, found);
  } finally {
    limit.clear();
    free();
  }
}

/** Drills a backup, or the newest one of a site. @throws ServiceError */
export async function drillChosen(
  ctx: Ctx,
  { backup_id, site_id_or_domain }: { backup_id?: string | undefined; site_id_or_domain?: SiteRef | undefined },
): Promise<DrillResult> {
  if (backup_id !== undefined && site_id_or_domain === undefined) return drillBackup(ctx, backup_id);
  if (backup_id === undefined && site_id_or_domain !== undefined)
    return drillBackup(ctx, await newestBackup(ctx, site_id_or_domain));
  throw new ServiceError('svc_invalid_input', 'Name either a backup or a site.', {
    field: 'backup_id',
    advice: 'Send backup_id or site_id_or_domain.',
  });
}

/** The newest complete backup of a site. @throws ServiceError `svc_backup_not_found` */
async function newestBackup(ctx: Ctx, ref: SiteRef): Promise<string> {
  const { site } = await loadNamed(ctx, ref);
  const row = await ctx.store.siteBackups.lastDone(site.id);
  if (row !== undefined) return row.id;
  throw new ServiceError('svc_backup_not_found', `Site ${site.id} has no complete backup.`, {
    field: 'site_id_or_domain',
    advice: 'Make one with back-up-site-v1.',
  });
}

/** What a failure says about the backup. */
function foundIn(error: unknown, { database }: Snapshot, siteId: number): Found {
  if (error instanceof CopyUnavailable) return unverified(error.message);
  if (error instanceof CopyRefused) {
    const said = `The database refused the tables: ${pathText(error.message, 300)}`;
    return /\b(1021|1114|1041|1037)\b|space/.test(error.message) || !isOurs(error, database)
      ? unverified(`${said} The site's is ${pathText(database, 80)}.`)
      : { result: 'failed', reason: said };
  }
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return unverified('The disk is full.');
  const problem = repositoryProblem(error);
  if (problem === null) throw error;
  if (['damaged', 'missing'].includes(problem.kind)) return { result: 'failed', reason: problem.message };
  return unverified(backupError(error, siteId, 'svc_backup_storage').message);
}

/** Whether the database here should understand what the site's has made: the same product, and not an older one. */
function isOurs(error: CopyRefused, database: string): boolean {
  const version = /(\d+\.\d+\.\d+)-mariadb/i;
  const [site, here] = [
    version.exec(database)?.[1],
    error instanceof ServerRefused ? version.exec(error.version)?.[1] : undefined,
  ];
  return site !== undefined && here !== undefined && compareVersions(here, site) >= 0;
}

function resultOf(ctx: Ctx, row: BackupRow, found: Found): DrillResult {
  const now = ctx.clock.now();
  return {
    backup_id: row.id,
    site_id: row.site_id,
    site_url: row.site_url,
    made_at: isoTime(row.started_at) ?? '',
    result: found.result,
    reason: found.reason,
    restore_seconds: found.restored_ms === undefined ? null : Math.round(found.restored_ms / 1000),
    data_age_seconds: Math.max(0, Math.round((now - row.started_at) / 1000)),
    php: found.copy?.php ?? null,
    network: found.copy?.network ?? null,
    compared: found.compared ?? [],
    not_compared: found.not_compared ?? [],
    drilled_at: isoTime(now) ?? '',
  };
}

function keptOf(ctx: Ctx, row: BackupRow, found: Found): string {
  const { result, reason, restore_seconds, data_age_seconds, php, network, compared, not_compared } = resultOf(
    ctx,
    row,
    found,
  );
  const facts = { result, reason, restore_seconds, data_age_seconds, php, network, compared, not_compared };
  return JSON.stringify(facts satisfies DrillFacts);
}

/** One for each backup. */
async function raiseAlert(ctx: Ctx, row: BackupRow, reason: string): Promise<void> {
  const there = (await loadSites(ctx, [row.site_id])).has(row.site_id);
  const alert: Alert<'site.drill_failed'> = {
    key: `site.drill_failed:${row.id}`,
    kind: 'site.drill_failed',
    site_id: there ? row.site_id : null,
    at: ctx.clock.now(),
    facts: { backup_id: row.id, made_at: isoTime(row.started_at) ?? '', reason: pathText(reason, REASON) },
  };
  emitAlerts(ctx.events, await ctx.store.alerts.add([alert]));
}
