/**
 * A backup as a plain archive: the files as they are, the tables as one SQL file, and how to restore them by hand. It needs
 * nothing of Sitefleet to be read.
 */

import { createTarPacker } from 'modern-tar';
import { siteWord, siteWords } from '../../../schemas/site-text.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BackupStorage, Repository } from '../../store/backups/repository/types.js';
import type { Ctx } from '../context.js';
import { completeBackup } from './backups.js';
import { backupError, pathText, repositoryProblem } from './plugin.js';
import { type BackedUpTable, readFilesPage, readTables, rowsLeftOut, type Snapshot } from './snapshot.js';
import { DUMP_HEAD, DUMP_TAIL, dumpTable } from './sql-dump.js';
import { isDumpable } from './table-definition.js';

/** A backup that may be exported. */
export interface ArchiveOf {
  backup_id: string;
  site_id: number;
}

export interface Archive {
  /** Of the file: letters, digits, dots and dashes. */
  name: string;
  /** A tar archive. It is made while it is read, and no further when it is cancelled. */
  stream: ReadableStream<Uint8Array>;
}

/** Finds a backup for an export, and notes in the log that it leaves. @throws ServiceError if it is not complete */
export async function exportBackup(ctx: Ctx, id: string): Promise<ArchiveOf> {
  const { row } = await completeBackup(ctx, id);
  ctx.events.emit({ name: 'site.backup_exported', site_id: row.site_id, facts: { backup_id: id } });
  return { backup_id: id, site_id: row.site_id };
}

/**
 * Opens the archive of a backup that `exportBackup` has found. Tables are read twice: a tar archive says how long a file is
 * before its contents.
 * @throws ServiceError `svc_backup_storage` if the backup cannot be read. What fails later ends the stream.
 */
export async function openArchive(
  storage: BackupStorage,
  { backup_id, site_id }: ArchiveOf,
  signal: AbortSignal,
): Promise<Archive> {
  try {
    const repository = await storage.open();
    const snapshot = (await repository.snapshot(backup_id)) as Snapshot;
    const tables = await readTables(repository, snapshot);
    const dumped = tables.filter(isDumpable);
    const database = () => dump(repository, dumped, signal);
    let size = 0;
    for await (const part of database()) size += part.length;
    const left = tables.filter((table) => !isDumpable(table)).map(({ name }) => name);
    const rows = rowsLeftOut(tables);
    const made = isoTime(snapshot.started_at)?.slice(0, 10) ?? '';
    const { readable, controller } = createTarPacker();
    const add = adder(controller, new Date(snapshot.started_at));
    void (async () => {
      await add('README.txt', Buffer.from(readme(snapshot, left, rows)));
      await addFiles(repository, snapshot, add, signal);
      await add('database.sql', { size, parts: database() });
      controller.finalize();
    })().catch((error: unknown) => controller.error(archiveError(error, site_id)));
    return { name: `${hostOf(snapshot.site.url)}-${made}.tar`, stream: readable };
  } catch (error) {
    throw backupError(error, site_id, 'svc_backup_storage');
  }
}

function archiveError(error: unknown, siteId: number): unknown {
  return repositoryProblem(error) === null ? error : backupError(error, siteId, 'svc_backup_storage');
}

type Add = (
  name: string,
  contents: Buffer | { size: number; parts: AsyncIterable<Uint8Array> },
  facts?: { mode: number; mtime: Date },
) => Promise<void>;

function adder(controller: ReturnType<typeof createTarPacker>['controller'], made: Date): Add {
  return async (name, contents, facts = { mode: 0o600, mtime: made }) => {
    const size = Buffer.isBuffer(contents) ? contents.length : contents.size;
    const writer = controller.add({ name, size, type: 'file', uid: 0, gid: 0, ...facts }).getWriter();
    if (Buffer.isBuffer(contents)) await writer.write(contents);
    else for await (const part of contents.parts) await writer.write(part);
    await writer.close();
  };
}

/** The last second that the header of a file in a tar archive has room for: 11 octal digits, in the year 2242. */
const LATEST = 8 ** 11 - 1;

async function addFiles(repository: Repository, { files }: Snapshot, add: Add, signal: AbortSignal): Promise<void> {
  for (const page of files)
    for (const { path, size, time, mode, chunks } of await readFilesPage(repository, page))
      if (isInside(path))
        await add(
          `files/${path}`,
          { size, parts: chunksOf(repository, chunks, signal) },
          { mode: mode & 0o777, mtime: new Date(Math.min(Math.max(0, time), LATEST) * 1000) },
        );
}

export async function* chunksOf(
  repository: Repository,
  chunks: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    signal.throwIfAborted();
    yield await repository.read(chunk);
  }
}

/** The tables of a backup as SQL. */
export async function* dump(
  repository: Repository,
  tables: readonly BackedUpTable[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield Buffer.from(DUMP_HEAD);
  for (const table of tables) {
    const chunks = table.slices.flatMap(({ chunk }) => chunk ?? []);
    yield* dumpTable(table, chunksOf(repository, chunks, signal));
  }
  yield Buffer.from(DUMP_TAIL);
}

/** A site may name files as it likes; programs that unpack archives should not have to defend themselves. */
export function isInside(path: string): boolean {
  return !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function hostOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : 'site';
  return host.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 100);
}

function readme(
  { site, started_at, wordpress, php, database, prefix }: Snapshot,
  left: readonly string[],
  rows: readonly string[],
): string {
  return `Backup of ${pathText(site.url, 300)}, made ${isoTime(started_at)}
WordPress ${siteWord(wordpress)}, PHP ${siteWord(php)}, database ${siteWord(database)}, tables beginning with ${siteWord(prefix)}

files/          the folder of WordPress, wp-config.php included: keep this archive secret
database.sql    all tables that were backed up

To restore it by hand, on a machine with PHP, a web server and MariaDB or MySQL:

1. Unpack it where the web server looks:      tar -xf ARCHIVE --no-same-owner --strip-components=1 -C FOLDER files
2. Make a database, and load the tables:      tar -xf ARCHIVE -O database.sql | mariadb --binary-mode DATABASE
   Tables of the same names are replaced.
3. Correct DB_NAME, DB_USER, DB_PASSWORD and DB_HOST in FOLDER/wp-config.php.
4. At another address:                        wp search-replace OLD-ADDRESS NEW-ADDRESS

Not in it: caches, archives of other backup plugins, views, sequences, triggers, earlier versions of rows, links, and the plugins of Sitefleet itself.
${left.length === 0 ? '' : `Not in database.sql, because their definitions are more than a table of one database: ${left.map((name) => siteWord(name)).join(', ')}\n`}${rows.length === 0 ? '' : `Rows that were too large to be read, not in database.sql either:\n${rows.map((row) => `  ${siteWords(row, 400)}\n`).join('')}`}`;
}

/** Archives that are open at once in a process: each holds some 10 MB. */
const MOST_OPEN = 4;

/** Opens archives, few at a time. */
export function createArchives(storage: () => BackupStorage) {
  let open = 0;
  return async (of: ArchiveOf, signal: AbortSignal): Promise<Archive> => {
    if (open >= MOST_OPEN)
      throw new ServiceError('svc_rest_too_many_requests', 'Too many archives are being downloaded at the same time.', {
        advice: 'Try again when one of them has ended.',
        data: { retry_after: 60 },
      });
    open += 1;
    const done = () => {
      open -= 1;
    };
    try {
      const { name, stream } = await openArchive(storage(), of, signal);
      return { name, stream: withEnd(stream, done) };
    } catch (error) {
      done();
      throw error;
    }
  };
}

export type OpenArchive = ReturnType<typeof createArchives>;

/** The same stream; `end` is called once, however it ends. */
function withEnd(stream: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  const once = () => {
    if (!ended) end();
    ended = true;
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        once();
        controller.close();
      } catch (error) {
        once();
        controller.error(error);
      }
    },
    async cancel(reason) {
      once();
      await reader.cancel(reason);
    },
  });
}
