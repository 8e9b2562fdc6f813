/** The contents of a backup as a list of its files and tables: its format, and how it is written to the repository and read. */

import type { SiteFile, SiteTable, TableKey } from '../../outbound/guard/guards.js';
import { unlessMissing } from '../../runtime/repository-error.js';
import type { ChunkWriter, Repository } from '../../store/backups/repository/types.js';

/** A file in a backup. */
export interface BackedUpFile extends SiteFile {
  sha256: string;
  chunks: string[];
}

/** Rows of a table between two keys; `chunk` is null where there are none. */
export interface BackedUpSlice {
  after: TableKey;
  to: TableKey;
  rows: number;
  sha256: string;
  chunk: string | null;
  /** Rows that were too large to be read, by their keys; absent = none. */
  left_out?: string[];
}

/**
 * `instant`: all rows are as they were at one instant. `slices`: each slice is, but rows changed between them.
 * `best_effort`: the storage engine has no snapshots.
 */
export type Consistency = 'instant' | 'slices' | 'best_effort';

export interface BackedUpTable extends Pick<SiteTable, 'name' | 'engine' | 'create'> {
  consistency: Consistency;
  slices: BackedUpSlice[];
  /** It has no key: ends of slices are places, which are others once rows are missing. */
  unordered?: true;
}

export function rowsOf({ slices }: Pick<BackedUpTable, 'slices'>): number {
  return slices.reduce((rows, slice) => rows + slice.rows, 0);
}

/** Rows of a table that are not in the backup, by their keys. */
export function leftOutOf({ slices }: Pick<BackedUpTable, 'slices'>): string[] {
  return slices.flatMap(({ left_out = [] }) => left_out);
}

/** The same of several tables, each with the name of its table. */
export function rowsLeftOut(tables: readonly Pick<BackedUpTable, 'name' | 'slices'>[]): string[] {
  return tables.flatMap((table) => leftOutOf(table).map((row) => `${table.name}: ${row}`));
}

/** The object that is stored as a snapshot. `files` and `tables` are chunks of JSON. */
export interface Snapshot {
  format: 1;
  id: string;
  site: { id: number; url: string };
  /** Milliseconds. */
  started_at: number;
  finished_at: number;
  wordpress: string;
  php: string;
  prefix: string;
  database: string;
  files: string[];
  tables: string[];
  /** As they are in the database, which may be lost. */
  facts: object;
}

/** Files in one chunk, at most. */
const PAGE_FILES = 1_000;
/** Characters of JSON in one chunk, of files or of tables. A single file has more only if it is larger than all that a site has. */
const PAGE_TEXT = 1_000_000;

type FileRow = [string, number, number, number, number, number, string, string[]];

/** The list of files, cut into chunks. A site chooses the names, so they are cut by length, too. */
export async function putFiles(writer: ChunkWriter, files: readonly BackedUpFile[]): Promise<string[]> {
  const pages: string[] = [];
  let [rows, length]: [string[], number] = [[], 0];
  const put = async () => {
    pages.push(await writer.put(Buffer.from(`[${rows.join()}]`)));
    [rows, length] = [[], 0];
  };
  for (const { path, size, time, inode, changed, mode, sha256, chunks } of files) {
    const row = JSON.stringify([path, size, time, inode, changed, mode, sha256, chunks] satisfies FileRow);
    if (rows.length > 0 && (rows.length === PAGE_FILES || length + row.length > PAGE_TEXT)) await put();
    rows.push(row);
    length += row.length;
  }
  if (rows.length > 0) await put();
  return pages;
}

export async function readFilesPage(repository: Repository, chunk: string): Promise<BackedUpFile[]> {
  const rows = JSON.parse((await repository.read(chunk)).toString('utf8')) as FileRow[];
  return rows.map(([path, size, time, inode, changed, mode, sha256, chunks]) => ({
    path,
    size,
    time,
    inode,
    changed,
    mode,
    sha256,
    chunks,
  }));
}

export async function readFiles(repository: Repository, snapshot: Pick<Snapshot, 'files'>): Promise<BackedUpFile[]> {
  const files: BackedUpFile[] = [];
  for (const chunk of snapshot.files) files.push(...(await readFilesPage(repository, chunk)));
  return files;
}

/** The list of tables, cut into chunks as text. */
export async function putTables(writer: ChunkWriter, tables: readonly BackedUpTable[]): Promise<string[]> {
  const text = Buffer.from(JSON.stringify(tables));
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += PAGE_TEXT) chunks.push(await writer.put(text.subarray(at, at + PAGE_TEXT)));
  return chunks;
}

export async function readTables(repository: Repository, snapshot: Pick<Snapshot, 'tables'>): Promise<BackedUpTable[]> {
  const parts: Buffer[] = [];
  for (const chunk of snapshot.tables) parts.push(await repository.read(chunk));
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as BackedUpTable[];
}

/**
 * Names of all chunks that a snapshot needs. Lists among `known` are not read: what they name was named before. Most
 * lists of a backup are those of the last one. Through a list that is in no pack any more nothing can be reached.
 * @throws RepositoryError `damaged`: what a list names is needed once it can be read again
 */
export async function* chunksOf(
  repository: Repository,
  stored: unknown,
  known: ReadonlySet<string>,
): AsyncGenerator<string> {
  const snapshot = stored as Snapshot;
  for (const page of snapshot.files) {
    if (known.has(page)) continue;
    for (const { chunks } of (await unlessMissing(readFilesPage(repository, page))) ?? []) yield* chunks;
    yield page;
  }
  if (snapshot.tables.every((chunk) => known.has(chunk))) return;
  for (const { slices } of (await unlessMissing(readTables(repository, snapshot))) ?? [])
    for (const { chunk } of slices) if (chunk !== null) yield chunk;
  yield* snapshot.tables;
}
