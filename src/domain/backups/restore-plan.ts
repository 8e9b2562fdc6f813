/** Plans a restore: what differs between a backup and its site now, and which of it is restored. */

import type { Restorable } from '../../../schemas/backup.js';
import type { ManifestPage, PlannedFile, SiteFile } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Repository } from '../../store/backups/repository/types.js';
import { pathPattern } from './path-pattern.js';
import type { SiteBackup } from './plugin.js';
import { type BackedUpFile, type BackedUpTable, readFiles, readTables, type Snapshot } from './snapshot.js';

export interface Selection {
  what: Restorable;
  /** Of a plugin, a table, or a pattern of paths; undefined for the whole site. */
  name?: string | undefined;
}

export interface RestorePlan {
  /** In the order in which they are swapped. */
  entries: PlannedFile[];
  /** Of each entry that is put: the file in the backup, by the place of the entry. */
  sources: Map<number, BackedUpFile>;
  tables: BackedUpTable[];
  replaced: number;
  added: number;
  removed: number;
  /** Bytes of the files that are put. */
  bytes: number;
  /** Files that differ and are never restored. */
  kept: string[];
  /** What the site has besides the backup, and a restore does not remove: what runs comes first. */
  besides: string[];
  /** Links, files and folders in places where the backup has something of another kind: each is moved away as a whole. */
  otherKind: string[];
}

/** Digests of one request. */
const REQUEST_PATHS = 200;
/** Loaded by WordPress before the plugin, which could not take back what they break (as `may_swap` of the plugin). */
const DROP_INS =
  /^(advanced-cache|db|db-error|fatal-error-handler|install|maintenance|object-cache|php-error|sunrise)\.php$/;
const STEERS = /(^|\/)(\.htaccess|\.user\.ini|php\.ini)$/;
/** Files that PHP runs on usual hosts. */
const RUNS = /\.(php\d?|phtml|phar|inc)( \(|$)/i;
/** Of these a newer WordPress has many. */
const OF_WORDPRESS = /^wp-(admin|includes)\//;

/** Whether a file may be restored: one of wp-content that loads after the plugin for backups. */
export function maySwap(path: string): boolean {
  const inside = /^wp-content\/(?!mu-plugins(?:\/|$)|\.?sitefleet-)(.+)$/s.exec(path)?.[1];
  return inside !== undefined && !DROP_INS.test(inside) && !STEERS.test(path);
}

/** @throws ServiceError if the backup has nothing of that name */
export function checkSelection({ what, name }: Selection): void {
  if (what === 'site' ? name !== undefined : name === undefined)
    throw new ServiceError(
      'svc_invalid_input',
      what === 'site' ? 'name does not apply to a whole site.' : `name must say which ${what} to restore.`,
      { field: 'name', advice: what === 'site' ? 'Leave it out.' : 'get-backup-v1 lists what is in a backup.' },
    );
}

/** A test of paths; null: no files are selected. */
function chosen({ what, name = '' }: Selection): ((path: string) => boolean) | null {
  if (what === 'site') return () => true;
  if (what === 'table') return null;
  if (what === 'files') return pathPattern(name);
  // By the name that WordPress has for it, too: `folder/file.php`.
  const folder = name.includes('/') ? name.slice(0, name.indexOf('/')) : name;
  const place = `wp-content/plugins/${folder}`;
  return (path) => path === place || path.startsWith(`${place}/`);
}

type Listing = Pick<ManifestPage, 'files' | 'left_out'>;

export interface PlanParts {
  repository: Repository;
  snapshot: Snapshot;
  site: SiteBackup;
  listing: () => Promise<Listing>;
  /** What the backup names of what it left out: not all, where that is much. */
  leftOut: readonly { path: string; why: string }[];
  signal: AbortSignal;
}

/** @throws ServiceError `svc_invalid_input` if the backup has nothing that is selected */
export async function planRestore(selection: Selection, parts: PlanParts): Promise<RestorePlan> {
  const { repository, snapshot } = parts;
  checkSelection(selection);
  const isChosen = chosen(selection);
  const files = isChosen === null ? [] : (await readFiles(repository, snapshot)).filter(({ path }) => isChosen(path));
  const tables = (await readTables(repository, snapshot)).filter(
    ({ name }) => selection.what === 'site' || (selection.what === 'table' && name === selection.name),
  );
  if (files.length + tables.length === 0)
    throw new ServiceError('svc_invalid_input', `The backup has no such ${selection.what}.`, {
      field: 'name',
      advice: 'get-backup-v1 lists what is in a backup.',
    });
  const plan: RestorePlan = {
    entries: [],
    sources: new Map(),
    tables,
    replaced: 0,
    added: 0,
    removed: 0,
    bytes: 0,
    kept: [],
    besides: [],
    otherKind: [],
  };
  if (isChosen === null) return plan;
  const listing = await parts.listing();
  const live = new Map(listing.files.filter(({ path }) => isChosen(path)).map((file) => [file.path, file]));
  plan.otherKind = ofOtherKind(files, listing);
  // First: what is put would not find its folder.
  plan.entries = plan.otherKind.map((path) => [path, 'remove']);
  const known = new Set([...files.map(({ path }) => path), ...plan.otherKind]);
  const differing = await differingFiles(files, live, parts);
  for (const file of files) {
    if (!differing.has(file.path)) continue;
    if (!maySwap(file.path)) {
      plan.kept.push(file.path);
      continue;
    }
    plan.sources.set(plan.entries.length, file);
    plan.entries.push([file.path, 'put']);
    plan.bytes += file.size;
    if (live.has(file.path)) plan.replaced += 1;
    else plan.added += 1;
  }
  for (const path of live.keys()) {
    if (known.has(path)) continue;
    if (!maySwap(path)) {
      plan.besides.push(path);
      continue;
    }
    plan.entries.push([path, 'remove']);
    plan.removed += 1;
  }
  const before = new Set(parts.leftOut.map(({ path }) => path));
  for (const { path, why } of listing.left_out)
    if (why !== 'cache' && isChosen(path) && !known.has(path) && !before.has(path))
      plan.besides.push(`${path} (${why})`);
  plan.removed += plan.otherKind.length;
  plan.besides.sort((a, b) => rank(a) - rank(b));
  return plan;
}

/** Where a path comes in a list of what stays: what runs first, but for WordPress' own folders. */
function rank(path: string): number {
  if (!RUNS.test(path) && !STEERS.test(path)) return 2;
  return OF_WORDPRESS.test(path) ? 1 : 0;
}

/** Files and links in places where the backup has folders. Where it has a file, the plugin moves a folder away on its own. */
function ofOtherKind(files: readonly BackedUpFile[], { files: live, left_out }: Listing): string[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    if (!maySwap(path)) continue;
    for (let end = path.lastIndexOf('/'); end > 'wp-content'.length; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const others = left_out.filter(({ why }) => why === 'link' || why === 'special');
  return [...live, ...others].map(({ path }) => path).filter((path) => folders.has(path) && maySwap(path));
}

/** Paths of files that the site does not have as they are in the backup. Sizes decide where they can, else digests. */
async function differingFiles(
  files: readonly BackedUpFile[],
  live: ReadonlyMap<string, SiteFile>,
  { site, signal }: PlanParts,
): Promise<Set<string>> {
  const differing = new Set<string>();
  const asked: BackedUpFile[] = [];
  for (const file of files) {
    const now = live.get(file.path);
    if (now === undefined || now.size !== file.size) differing.add(file.path);
    else if (now.time !== file.time || now.inode !== file.inode || now.changed !== file.changed) asked.push(file);
  }
  for (let at = 0; at < asked.length; ) {
    const group = asked.slice(at, at + REQUEST_PATHS);
    const digests = await site.digest(
      group.map(({ path }) => path),
      { signal },
    );
    if (digests.length === 0) throw new ServiceError('svc_restore_failed', 'The site did not compare any files.');
    for (const [index, digest] of digests.entries()) {
      const file = group[index];
      if (file !== undefined && digest !== file.sha256) differing.add(file.path);
    }
    at += digests.length;
  }
  return differing;
}
