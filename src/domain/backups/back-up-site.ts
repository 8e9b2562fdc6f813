/** Backs up one site: reads what the last backup does not have, and stores it. A repeated call resumes an interrupted backup. */

import { randomBytes } from 'node:crypto';
import type { SiteFile } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ChunkWriter, Repository } from '../../store/backups/repository/types.js';
import type { BackupRow } from '../../store/backups/site-backups.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { isRoomFor, listFiles } from './list-files.js';
import { backupError, isPassing, type OpenPlugin, openPlugin } from './plugin.js';
import { EMPTY_SHA256, readSiteFiles } from './read-files.js';
import { readSiteTables, type TablesRead } from './read-tables.js';
import { lookAtSite, recordOf, type SiteRecord } from './record.js';
import {
  type BackedUpFile,
  type BackedUpTable,
  putFiles,
  putTables,
  readFiles,
  readFilesPage,
  readTables,
  rowsLeftOut,
  type Snapshot,
} from './snapshot.js';

/** A backup without a sign of work for this long was left by a process that died. */
export const SILENT_MS = 120_000;
/** How often a process notes that it is at work. */
const BEAT_MS = 15_000;
/** What is stored is noted after so many files, or bytes. */
const NOTED_FILES = 2_000;
const NOTED_BYTES = 64 * 1024 * 1024;
/** A site that takes longer to answer is given a pause of the same length, up to a limit. */
const SLOW_MS = 2_500;
const LONGEST_PAUSE_MS = 10_000;
/** A site that has worked for this long is asked to rest between pieces of its work. A first backup takes longer anyway. */
const AT_ONCE_MS = 5_000;
/** Of files that seem unchanged so many are read again: what only seems so is found in time. */
const READ_AGAIN = 0.01;
/** Everything is read again in a backup when the last one that did so is older. */
const READ_ALL_MS = 30 * 24 * 3_600_000;
/**
 * Times of files are whole seconds: one that changed shortly before it was read may have changed again since, in the same
 * second.
 */
const SETTLE_MS = 10_000;
/** Chunks that are looked up together. */
const LOOKED_UP = 500;
/** Names in an answer. */
const NAMED = 50;

/** What is to be known of a backup; stored with it as JSON. */
export interface BackupFacts {
  files: number;
  /** Of all files, and of all rows as they were sent. */
  file_bytes: number;
  tables: number;
  rows: number;
  /** Bytes that the site sent for it, and that it added to the repository. */
  sent_bytes: number;
  added_bytes: number;
  consistency: TablesRead['consistency'];
  /** Files that changed each time they were read: at most some are named. */
  changed_while_read: string[];
  changed_count: number;
  /** What is not part of it: folders and files, and of the database views and triggers. */
  left_out: { path: string; why: string }[];
  left_out_count: number;
  /** How many of these are rows of tables. Absent in backups from before rows were left out. */
  rows_left_out?: number;
  /** Every file was read, none taken from the last backup by its size and time. */
  read_all: boolean;
  wordpress: string;
  /** What the site was, for a trial restore. */
  recorded: SiteRecord;
}

/** The figures of a backup that every list shows. */
export function figuresOf({
  files,
  file_bytes,
  tables,
  rows,
  sent_bytes,
  added_bytes,
  consistency,
  changed_count,
  left_out_count,
  rows_left_out = 0,
}: BackupFacts) {
  return {
    ...{ files, file_bytes, tables, rows, sent_bytes, added_bytes, consistency, changed_count },
    ...{ left_out_count, rows_left_out },
  };
}

interface Progress {
  /** Chunks that list files which are stored already. */
  pages: string[];
  /** Chunks with the tables as they were read; empty until they all were. */
  tables: string[];
  /** Bytes that the site sent, and that were added to the repository, before this process. */
  sent: number;
  added: number;
}

export interface BackedUp {
  backup_id: string;
  facts: BackupFacts;
}

/** @throws ServiceError if the site cannot be read, or another process is backing it up */
export async function backUpSite(ctx: Ctx, target: LoadedSite): Promise<BackedUp> {
  const { site } = target;
  const store = ctx.store.siteBackups;
  const plugin = await openPlugin(ctx, target).catch((error: unknown) => {
    throw backupError(error, site.id, 'svc_backup_failed');
  });
  const repository = await ctx.backupStorage.open().catch((error: unknown) => {
    throw backupError(error, site.id, 'svc_backup_failed');
  });
  if ((await store.restore(site.id)) !== undefined)
    throw new ServiceError('svc_backup_running', `A restore of site ${site.id} has not ended.`, {
      advice: 'Repeat restore-backup-v1 to complete it first.',
      data: { site_id: site.id },
    });
  const now = ctx.clock.now();
  const id = `backup_${randomBytes(12).toString('hex')}`;
  const row = await store.begin({ id, site_id: site.id, site_url: site.url }, now, now - SILENT_MS);
  if (row === undefined)
    throw new ServiceError('svc_backup_running', `A backup of site ${site.id} is under way.`, {
      data: { site_id: site.id },
    });
  const work = new BackupWork(ctx, target, plugin, repository, row);
  try {
    return await work.run();
  } catch (error) {
    const failure = backupError(error, site.id, 'svc_backup_failed');
    if (ctx.signal.aborted || isPassing(error)) await store.release(row.id, work.alive).catch(() => undefined);
    else await store.fail(row.id, work.alive, failure.message, ctx.clock.now());
    throw ctx.signal.aborted ? error : failure;
  }
}

class BackupWork {
  /** The fence: who holds the row has written this last. */
  alive: number;
  readonly #ctx: Ctx;
  readonly #target: LoadedSite;
  readonly #plugin: OpenPlugin;
  readonly #repository: Repository;
  readonly #writer: ChunkWriter;
  readonly #row: { id: string; started_at: number; progress: string | null };
  readonly #progress: Progress;
  #asked = 0;
  /** Milliseconds that the site has worked. */
  #busy = 0;
  /** Bytes that the site sent to this process. */
  #sent = 0;

  constructor(
    ctx: Ctx,
    target: LoadedSite,
    plugin: OpenPlugin,
    repository: Repository,
    row: { id: string; started_at: number; alive_at: number; progress: string | null },
  ) {
    this.#ctx = ctx;
    this.#target = target;
    this.#plugin = plugin;
    this.#repository = repository;
    this.#writer = repository.writer();
    this.#row = row;
    this.alive = row.alive_at;
    const noted = row.progress === null ? {} : (JSON.parse(row.progress) as Partial<Progress>);
    this.#progress = { pages: [], tables: [], sent: 0, added: 0, ...noted };
  }

  async run(): Promise<BackedUp> {
    const { siteBackups } = this.#ctx.store;
    const last = await siteBackups.lastDone(this.#target.site.id);
    const before = last === undefined ? null : await this.#earlier(last.id);
    const readAll = before === null || this.#row.started_at - (await this.#lastReadAll()) > READ_ALL_MS;
    this.#plugin.site.gentle = before === null;
    const turn = () => this.#turn();
    const parts = { site: this.#plugin.site, writer: this.#writer, signal: this.#ctx.signal, turn };
    const began = await lookAtSite(this.#ctx, this.#target, this.#plugin, turn);
    // Tables first: a file that a row names is then there, unless it was removed since.
    await turn();
    const listed = await this.#plugin.site.tables({ signal: this.#ctx.signal });
    const resumed = this.#progress.tables.length === 0 ? null : await readTables(this.#repository, this.#progress);
    const tables = await readSiteTables(listed.tables, resumed ?? before?.tables ?? [], parts);
    this.#sent += tables.bytes;
    this.#progress.tables = await putTables(this.#writer, tables.tables);
    // Otherwise with the files, in the same pack.
    if (tables.bytes >= NOTED_BYTES) await this.#note();
    const listing = await listFiles(this.#plugin.site, this.#ctx.signal, turn);
    const unreadable: { path: string; why: string }[] = [];
    const files = await this.#read(listing.files, before?.files ?? [], before?.began ?? 0, readAll, parts, (path) =>
      unreadable.push({ path, why: 'unreadable' }),
    );
    const others = listed.others.map(({ kind, name }) => ({ path: name, why: kind }));
    const rows = rowsLeftOut(tables.tables).map((path) => ({ path, why: 'too_large' }));
    // Rows first: of a long list only the beginning is kept, and names of files can be made up to fill it.
    const left_out = [...rows, ...listing.left_out, ...unreadable, ...others];
    const snapshot = await this.#store(files.all, listed);
    const recorded = recordOf(began, await lookAtSite(this.#ctx, this.#target, this.#plugin, turn));
    await this.#note();
    const facts: BackupFacts = {
      files: files.all.length,
      file_bytes: files.all.reduce((sum, { size }) => sum + size, 0),
      tables: tables.tables.length,
      rows: tables.rows,
      sent_bytes: this.#progress.sent + this.#sent,
      added_bytes: this.#progress.added + this.#writer.added,
      consistency: tables.consistency,
      changed_while_read: files.unstable.slice(0, NAMED),
      changed_count: files.unstable.length,
      left_out: left_out.slice(0, NAMED),
      left_out_count: left_out.length,
      rows_left_out: rows.length,
      read_all: readAll,
      wordpress: this.#plugin.hello.wordpress,
      recorded,
    };
    // First the snapshot: from then on a sweep keeps what it needs.
    await this.#repository.saveSnapshot(this.#row.id, { ...snapshot, facts } satisfies Snapshot);
    if (!(await siteBackups.finish(this.#row.id, this.alive, JSON.stringify(facts), this.#ctx.clock.now())))
      throw this.#takenOver();
    const event = { site_id: this.#target.site.id, facts: { backup_id: this.#row.id } };
    this.#ctx.events.emit({ name: 'site.backed_up', ...event });
    return { backup_id: this.#row.id, facts };
  }

  /**
   * What can be taken from the last backup: all of it but what was lost in the repository. Null if it cannot be read any
   * more: then everything is read again.
   */
  async #earlier(id: string): Promise<{ began: number; files: BackedUpFile[]; tables: BackedUpTable[] } | null> {
    try {
      const snapshot = (await this.#repository.snapshot(id)) as Snapshot;
      const { files: count = 0 } = snapshot.facts as Partial<BackupFacts>;
      if (!isRoomFor(count)) throw new Error(`The list of its ${count} files takes more memory than there is.`);
      const [files, tables] = [
        await readFiles(this.#repository, snapshot),
        await readTables(this.#repository, snapshot),
      ];
      const slices = tables.flatMap((table) => table.slices);
      const lost = await this.#lost([
        ...files.flatMap(({ chunks }) => chunks),
        ...slices.flatMap(({ chunk }) => chunk ?? []),
      ]);
      return {
        began: snapshot.started_at,
        files: files.filter(({ chunks }) => !chunks.some((chunk) => lost.has(chunk))),
        tables: tables.filter((table) => !table.slices.some(({ chunk }) => chunk !== null && lost.has(chunk))),
      };
    } catch (error) {
      this.#ctx.log.warn({ err: error, site_id: this.#target.site.id }, 'the last backup cannot be read');
      return null;
    }
  }

  async #lost(chunks: readonly string[]): Promise<Set<string>> {
    const lost = new Set<string>();
    for (let at = 0; at < chunks.length; at += LOOKED_UP)
      for (const chunk of await this.#repository.absent(chunks.slice(at, at + LOOKED_UP))) lost.add(chunk);
    return lost;
  }

  async #lastReadAll(): Promise<number> {
    const rows = await this.#ctx.store.siteBackups.done(this.#target.site.id);
    const full = rows.find(({ facts }) => facts !== null && (JSON.parse(facts) as BackupFacts).read_all);
    return full?.started_at ?? 0;
  }

  /** Files as they are in the backup: taken from the last one where nothing has changed, otherwise read. */
  async #read(
    listing: SiteFile[],
    before: readonly BackedUpFile[],
    settled: number,
    readAll: boolean,
    parts: Parameters<typeof readSiteFiles>[1] extends infer P ? Omit<P & object, 'unreadable'> : never,
    unreadable: (path: string) => void,
  ): Promise<{ all: BackedUpFile[]; unstable: string[] }> {
    const known = new Map(readAll ? [] : before.map((file) => [file.path, file]));
    const resumed = new Set<string>();
    for (const page of this.#progress.pages)
      for (const file of await readFilesPage(this.#repository, page)) {
        known.set(file.path, file);
        resumed.add(file.path);
      }
    const isSettled = ({ path, changed }: BackedUpFile) =>
      changed * 1000 + SETTLE_MS < (resumed.has(path) ? this.#row.started_at : settled);
    // Each file takes its place in the list, so that the list is not held twice.
    const all: (SiteFile | BackedUpFile | null)[] = listing;
    const wanted: SiteFile[] = [];
    const places: number[] = [];
    let [done, next] = [0, 0];
    for (const [place, file] of listing.entries()) {
      const same = known.get(file.path);
      const again = !resumed.has(file.path) && Math.random() < READ_AGAIN;
      if (file.size === 0) all[place] = { ...file, sha256: EMPTY_SHA256, chunks: [] };
      else if (same !== undefined && isUnchanged(same, file) && isSettled(same) && !again)
        all[place] = Object.assign(same, { mode: file.mode });
      else {
        wanted.push(file);
        places.push(place);
        all[place] = null;
        continue;
      }
      done += 1;
    }
    known.clear();
    let [fresh, noted]: [BackedUpFile[], number] = [[], this.#sent];
    const unstable: string[] = [];
    const note = async () => {
      if (fresh.length === 0) return;
      this.#progress.pages.push(...(await putFiles(this.#writer, fresh)));
      await this.#note();
      [fresh, noted] = [[], this.#sent];
    };
    for await (const read of readSiteFiles(wanted, { ...parts, unreadable })) {
      // They come in the order in which they are wanted, without those that are gone.
      while (next < wanted.length && wanted[next]?.path !== read.file.path) next += 1;
      all[places[next++] as number] = read.file;
      done += 1;
      this.#sent += read.bytes;
      if (read.unstable) unstable.push(read.file.path);
      // One that is still changing is read again by the next process.
      else fresh.push(read.file);
      this.#ctx.progress({ done, total: listing.length, message: this.#target.site.url });
      if (fresh.length >= NOTED_FILES || this.#sent - noted >= NOTED_BYTES) await note();
    }
    return { all: all.filter((file) => file !== null) as BackedUpFile[], unstable };
  }

  async #store(
    files: readonly BackedUpFile[],
    { prefix, server }: { prefix: string; server: string },
  ): Promise<Omit<Snapshot, 'facts'>> {
    return {
      format: 1,
      id: this.#row.id,
      site: { id: this.#target.site.id, url: this.#target.site.url },
      started_at: this.#row.started_at,
      finished_at: this.#ctx.clock.now(),
      wordpress: this.#plugin.hello.wordpress,
      php: this.#plugin.hello.php,
      prefix,
      database: server,
      files: await putFiles(this.#writer, files),
      tables: this.#progress.tables,
    };
  }

  /** Writes what is in memory, and notes what is stored. */
  async #note(): Promise<void> {
    await this.#writer.flush();
    const { pages, tables, sent, added } = this.#progress;
    const progress = { pages, tables, sent: sent + this.#sent, added: added + this.#writer.added } satisfies Progress;
    await this.#advance(JSON.stringify(progress));
  }

  async #advance(progress?: string): Promise<void> {
    // Always later than before, as it is the fence, too; unless the clock was set back.
    const clock = this.#ctx.clock.now();
    const now = this.#isAhead(clock) ? clock : Math.max(clock, this.alive + 1);
    if (!(await this.#ctx.store.siteBackups.advance(this.#row.id, this.alive, now, progress))) throw this.#takenOver();
    this.alive = now;
  }

  /** Before each request. A site that has become slow is left alone for a while. */
  async #turn(): Promise<void> {
    const { clock, signal } = this.#ctx;
    signal.throwIfAborted();
    const took = this.#asked === 0 ? 0 : clock.elapsed() - this.#asked;
    if (took > SLOW_MS) await clock.sleep(Math.min(took, LONGEST_PAUSE_MS), signal);
    this.#busy += took;
    if (this.#busy > AT_ONCE_MS) this.#plugin.site.gentle = true;
    const now = clock.now();
    if (now - this.alive > BEAT_MS || this.#isAhead(now)) await this.#advance();
    this.#asked = clock.elapsed();
  }

  #isAhead(now: number): boolean {
    return this.alive > now && isSilent({ alive_at: this.alive }, now);
  }

  #takenOver(): ServiceError {
    return new ServiceError('svc_backup_running', 'Another process has taken this backup over.', {
      data: { site_id: this.#target.site.id },
    });
  }
}

/** Programs can set the time of a file, but neither its inode nor when it was last changed. */
function isUnchanged(before: BackedUpFile, now: SiteFile): boolean {
  return (
    before.size === now.size && before.time === now.time && before.inode === now.inode && before.changed === now.changed
  );
}

/** From when on an unfinished backup of the site has shown no sign of work for long enough. */
export async function leftAt(ctx: Ctx, siteId: number): Promise<number> {
  const row = await ctx.store.siteBackups.running(siteId);
  return row === undefined || isSilent(row, ctx.clock.now()) ? 0 : row.alive_at + SILENT_MS;
}

/** Whether the process of a backup is taken for dead. A sign of work in the future was noted before the clock was set back. */
export function isSilent({ alive_at }: Pick<BackupRow, 'alive_at'>, now: number): boolean {
  return Math.abs(now - alive_at) > SILENT_MS;
}

/** Waits until then. */
export async function leftAlone(ctx: Ctx, siteId: number): Promise<void> {
  for (;;) {
    const left = (await leftAt(ctx, siteId)) - ctx.clock.now();
    if (left <= 0) return;
    await ctx.clock.sleep(Math.min(left, BEAT_MS), ctx.signal);
  }
}
