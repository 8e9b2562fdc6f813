/**
 * A drill (trial restore): restores a backup away from its site and compares the copy with what was recorded about the
 * site. Only a copy that ran and agrees proves its backup.
 */

import type { DrillFacts, DrillResult } from '../../../schemas/backup.js';
import { siteWord, siteWords } from '../../../schemas/site-text.js';
import { CopyUnavailable } from '../../outbound/copies/copies.js';
import { ServiceError } from '../../runtime/errors.js';
import { type Alert, emitAlerts } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import { loadNamed, loadSites } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { compareVersions } from '../sites/versions.js';
import { completeBackup, findBackup, requireDone } from './backups.js';
import { backupError, pathText } from './plugin.js';
import { CopyOfBackup, type Found, REASON, TablesRefused, unverified } from './restore-copy.js';

/** Of one drill. */
const DRILL_MS = 30 * 60_000;
/** For the end of another one. */
const WAIT_MS = 30_000;

/** @throws ServiceError if there is no such backup, or it is not complete, or its place or another drill is in the way */
export async function drillBackup(ctx: Ctx, id: string): Promise<DrillResult> {
  const row = await findBackup(ctx, id);
  requireDone(row);
  const impossible = await ctx.copies.unavailable();
  // That drills are off is no attempt.
  if (impossible !== null && !ctx.config.drills) return resultOf(ctx, row, unverified(impossible));
  await ctx.backupStorage.open().catch((error: unknown) => {
    throw backupError(error, row.site_id, 'svc_backup_storage');
  });
  const free = impossible === null ? await ctx.copies.turn(WAIT_MS, ctx.signal) : () => undefined;
  if (free === null)
    throw new ServiceError('svc_backup_running', 'Another backup is being restored on trial.', {
      data: { site_id: row.site_id },
    });
  const { siteBackups } = ctx.store;
  try {
    await siteBackups.beginDrill(
      row,
      keptOf(resultOf(ctx, row, unverified('The drill was interrupted.'))),
      ctx.clock.now(),
    );
    const found = impossible === null ? await inTime(ctx, row) : unverified(impossible);
    const result = resultOf(ctx, row, found);
    await siteBackups.endDrill(row.id, { result: result.result, facts: keptOf(result) }, ctx.clock.now());
    if (result.result === 'failed') await raiseAlert(ctx, row, result.reason ?? '');
    return result;
  } finally {
    free();
  }
}

async function inTime(ctx: Ctx, row: BackupRow): Promise<Found> {
  const limit = ctx.clock.deadline(DRILL_MS);
  const limited = { ...ctx, signal: AbortSignal.any([ctx.signal, limit.signal]) };
  try {
    return await new CopyOfBackup(limited, await completeBackup(limited, row.id)).drill();
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    if (limit.signal.aborted) return unverified(`It took longer than ${DRILL_MS / 60_000} minutes.`);
    return foundIn(error, row.site_id);
  } finally {
    limit.clear();
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
function foundIn(error: unknown, siteId: number): Found {
  if (error instanceof CopyUnavailable) return unverified(pathText(error.message, REASON));
  if (error instanceof TablesRefused) {
    const { message, site, here } = error;
    const said = `The database refused the tables: ${siteWords(message, 300)}`;
    return NO_SPACE.test(message) || !understands(here, site)
      ? unverified(`${said} The site's is ${siteWord(site)}.`)
      : { result: 'failed', reason: said };
  }
  const { code, data, message } = backupError(error, siteId, 'svc_backup_storage');
  if (code !== 'svc_backup_storage') throw error;
  return data.reason === 'damaged' || data.reason === 'missing'
    ? { result: 'failed', reason: message }
    : unverified(message);
}

/** Of MariaDB. */
const NO_SPACE = /^ERROR (1021|1037|1041|1114)\b|No space left/;
const VERSION = /(\d+\.\d+\.\d+)-mariadb/i;

/** Whether the database here understands what the site's has made: the same product, and not an older one. */
function understands(here: string, site: string): boolean {
  const [ours, theirs] = [VERSION.exec(here)?.[1], VERSION.exec(site)?.[1]];
  return ours !== undefined && theirs !== undefined && compareVersions(ours, theirs) >= 0;
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
    means: found.copy?.means ?? null,
    network: found.copy?.network ?? null,
    compared: found.compared ?? [],
    not_compared: found.not_compared ?? [],
    drilled_at: isoTime(now) ?? '',
  };
}

function keptOf(of: DrillResult): string {
  const { result, reason, restore_seconds, data_age_seconds, php, means, network, compared, not_compared } = of;
  const facts = { result, reason, restore_seconds, data_age_seconds, php, means, network, compared, not_compared };
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
