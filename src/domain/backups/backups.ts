/** Lists the backups of sites, and reads what one contains. */

import type { backupDetail, backupItem, backupList, DrillFacts } from '../../../schemas/backup.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Repository } from '../../store/backups/repository/types.js';
import type { BackupRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import { loadNamed } from '../sites/load.js';
import type { SiteRef } from '../sites/resolve.js';
import { type BackupFacts, figuresOf, isSilent, SILENT_MS } from './back-up-site.js';
import { changesBetween, folderOf } from './changes.js';
import { backupError, pathText } from './plugin.js';
import { firstOf, portionsOf } from './portions.js';
import { readSchedule, scheduleOf } from './schedule.js';
import { type Consistency, readFilesPage, readTables, rowsOf, type Snapshot } from './snapshot.js';

export interface ListInput {
  site_id_or_domain?: SiteRef | undefined;
  state?: string | undefined;
  proven?: boolean | undefined;
  page: number;
  per_page: number;
}

/** Folders of an answer. */
const MOST_FOLDERS = 100;
export const SOUND = 'sound';

export async function listBackups(ctx: Ctx, input: ListInput): Promise<z.input<ReturnType<typeof backupList>>> {
  const { site_id_or_domain, state, proven, page, per_page } = input;
  const site = site_id_or_domain === undefined ? undefined : (await loadNamed(ctx, site_id_or_domain)).site;
  const running = state === 'running' || state === 'interrupted';
  const now = ctx.clock.now();
  const alive = running ? { since: now - SILENT_MS, until: now + SILENT_MS, not: state === 'interrupted' } : undefined;
  const filter = { site_id: site?.id, state: running ? 'running' : state, proven, alive };
  const { rows, total } = await ctx.store.siteBackups.list(filter, (page - 1) * per_page, per_page);
  const schedule = await (site === undefined ? readSchedule(ctx) : scheduleOf(ctx, site.id));
  return {
    items: rows.map((row) => itemOf(row, now)),
    page,
    per_page,
    total,
    schedule,
    drills: ctx.config.drills,
  };
}

/** @throws ServiceError `svc_backup_not_found` */
export async function findBackup(ctx: Ctx, id: string): Promise<BackupRow> {
  const row = await ctx.store.siteBackups.find(id);
  if (row === undefined)
    throw new ServiceError('svc_backup_not_found', 'There is no backup with this id.', { field: 'backup_id' });
  return row;
}

/** @throws ServiceError if the backup is not complete */
export function requireDone({ state }: BackupRow): void {
  if (state === 'done') return;
  throw new ServiceError('svc_rest_conflict', 'This backup is not complete.', {
    field: 'backup_id',
    advice: 'Choose one whose state is "done".',
  });
}

export interface CompleteBackup {
  row: BackupRow;
  snapshot: Snapshot;
  repository: Repository;
}

/** A backup that is complete, and where its contents are. @throws ServiceError */
export async function completeBackup(ctx: Ctx, id: string): Promise<CompleteBackup> {
  const row = await findBackup(ctx, id);
  requireDone(row);
  try {
    const repository = await ctx.backupStorage.open();
    return { row, snapshot: (await repository.snapshot(id)) as Snapshot, repository };
  } catch (error) {
    throw backupError(error, row.site_id, 'svc_backup_storage');
  }
}

export function itemOf(row: BackupRow, now: number): z.input<ReturnType<typeof backupItem>> {
  const facts = factsOf(row);
  const running = row.state === 'running';
  return {
    backup_id: row.id,
    site_id: row.site_id,
    site_url: row.site_url,
    state: running ? (isSilent(row, now) ? 'interrupted' : 'running') : row.state === 'done' ? 'done' : 'failed',
    started_at: isoTime(row.started_at) ?? '',
    finished_at: isoTime(row.finished_at),
    ...(facts === null ? {} : figuresOf(facts)),
    verified_at: isoTime(row.checked_at),
    sound: row.checked === null ? null : row.checked === SOUND,
    drill: drillOf(row),
    ...(row.error === null ? {} : { error: row.error }),
  };
}

/** The last trial restore; null = none. */
function drillOf({ drill, drilled_at }: BackupRow): z.input<ReturnType<typeof backupItem>>['drill'] {
  if (drill === null) return null;
  const { result, reason, restore_seconds, data_age_seconds, php, means } = JSON.parse(drill) as DrillFacts;
  return { result, reason, restore_seconds, data_age_seconds, php, means, drilled_at: isoTime(drilled_at) ?? '' };
}

export function factsOf({ facts }: BackupRow): BackupFacts | null {
  return facts === null ? null : (JSON.parse(facts) as BackupFacts);
}

/** What is in a backup. One that is not complete has only what its row says. */
export async function getBackup(ctx: Ctx, id: string): Promise<z.input<ReturnType<typeof backupDetail>>> {
  const row = await findBackup(ctx, id);
  const item = itemOf(row, ctx.clock.now());
  const facts = factsOf(row);
  if (facts === null) return item;
  const { snapshot, repository } = await completeBackup(ctx, id);
  try {
    const before = (await ctx.store.siteBackups.done(row.site_id)).find(
      ({ started_at }) => started_at < row.started_at,
    );
    return {
      ...item,
      wordpress: pathText(facts.wordpress, 40),
      read_all: facts.read_all,
      changed_while_read: facts.changed_while_read.map((path) => pathText(path, 400)),
      left_out: facts.left_out.map(({ path, why }) => ({ path: pathText(path, 400), why })),
      folders: await largestFolders(repository, snapshot),
      database: await databaseOf(repository, snapshot),
      changes:
        before === undefined
          ? null
          : await changesBetween(repository, (await repository.snapshot(before.id)) as Snapshot, snapshot),
    };
  } catch (error) {
    throw backupError(error, row.site_id, 'svc_backup_storage');
  }
}

/** Only the names that remain are cleaned: that takes longest, and a site may have a million folders. */
export async function largestFolders(repository: Repository, snapshot: Pick<Snapshot, 'files'>) {
  const folders = new Map<string, { files: number; bytes: number }>();
  for (const page of snapshot.files) {
    for (const { path, size } of await readFilesPage(repository, page)) {
      const folder = folderOf(path);
      const sum = folders.get(folder) ?? { files: 0, bytes: 0 };
      folders.set(folder, { files: sum.files + 1, bytes: sum.bytes + size });
    }
  }
  const largest = await firstOf(folders, MOST_FOLDERS, ([, a], [, b]) => b.bytes - a.bytes);
  return largest.map(([path, sum]) => ({ path: pathText(path, 400), ...sum }));
}

async function databaseOf(repository: Repository, snapshot: Snapshot) {
  const database: { name: string; rows: number; consistency: Consistency }[] = [];
  for await (const portion of portionsOf(await readTables(repository, snapshot)))
    for (const table of portion)
      database.push({ name: pathText(table.name, 64), rows: rowsOf(table), consistency: table.consistency });
  return database;
}
