/** What changed on a site from one backup to the next. */

import type { backupChanges } from '../../../schemas/backup.js';
import type { z } from '../../../schemas/zod.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { Repository } from '../../store/backups/repository/types.js';
import { pathText } from './plugin.js';
import { firstOf, portionsOf } from './portions.js';
import { type BackedUpTable, readFilesPage, readTables, rowsOf, type Snapshot } from './snapshot.js';

/** Folders and tables of an answer. */
const MOST = 50;

type Kind = 'added' | 'changed' | 'removed';

/** Lists that both share are not read: what they name is the same in both. */
export async function changesBetween(
  repository: Repository,
  before: Snapshot,
  after: Snapshot,
): Promise<z.input<ReturnType<typeof backupChanges>>> {
  const [old, recent] = [await digestsIn(repository, before, after), await digestsIn(repository, after, before)];
  const counts = { added: 0, changed: 0, removed: 0 };
  const folders = new Map<string, typeof counts>();
  const note = (path: string, kind: Kind) => {
    const folder = folderOf(path);
    const of = folders.get(folder) ?? { added: 0, changed: 0, removed: 0 };
    of[kind] += 1;
    folders.set(folder, of);
    counts[kind] += 1;
  };
  for await (const portion of portionsOf(recent))
    for (const [path, digest] of portion) {
      const was = old.get(path);
      if (was !== digest) note(path, was === undefined ? 'added' : 'changed');
    }
  for await (const portion of portionsOf(old.keys()))
    for (const path of portion) if (!recent.has(path)) note(path, 'removed');
  // Only the names that remain are cleaned: that takes longest.
  const most = await firstOf(folders, MOST, ([a, ofA], [b, ofB]) => sum(ofB) - sum(ofA) || (a < b ? -1 : 1));
  const tables = changedTables(await readTables(repository, before), await readTables(repository, after));
  return {
    since_backup_id: before.id,
    since: isoTime(before.started_at) ?? '',
    files_added: counts.added,
    files_changed: counts.changed,
    files_removed: counts.removed,
    folders: most.map(([path, of]) => ({ path: pathText(path, 400), ...of })),
    tables_changed: tables.length,
    tables: tables.slice(0, MOST).map(({ name, was, is }) => ({
      name: pathText(name, 64),
      rows_before: was === undefined ? null : rowsOf(was),
      rows: is === undefined ? null : rowsOf(is),
    })),
  };
}

const sum = ({ added, changed, removed }: Record<Kind, number>) => added + changed + removed;

/** Digests by path of the files in lists that the other backup does not have. */
async function digestsIn(repository: Repository, of: Snapshot, other: Snapshot): Promise<Map<string, string>> {
  const shared = new Set(other.files);
  const digests = new Map<string, string>();
  for (const page of of.files) {
    if (shared.has(page)) continue;
    for (const { path, sha256 } of await readFilesPage(repository, page)) digests.set(path, sha256);
  }
  return digests;
}

/** Tables as they were and are; undefined where there was or is none of this name. */
function changedTables(before: readonly BackedUpTable[], after: readonly BackedUpTable[]) {
  const old = new Map(before.map((table) => [table.name, table]));
  const recent = new Map(after.map((table) => [table.name, table]));
  return [...new Set([...recent.keys(), ...old.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), recent.get(name)];
    return was !== undefined && is !== undefined && isSame(was, is) ? [] : [{ name, was, is }];
  });
}

function isSame(one: BackedUpTable, other: BackedUpTable): boolean {
  return (
    one.create === other.create &&
    one.slices.length === other.slices.length &&
    one.slices.every(({ sha256 }, at) => sha256 === other.slices[at]?.sha256)
  );
}

/** A plugin or theme by its own folder, anything else by the first folders of its path. */
export function folderOf(path: string): string {
  const parts = path.split('/', 4).slice(0, -1);
  return parts.length === 0 ? '/' : parts.slice(0, parts[0] === 'wp-content' ? 3 : 1).join('/');
}
