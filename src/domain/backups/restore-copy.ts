/** Restores a backup into a throw-away copy of its site, and compares the copy with what was recorded about the site. */

import type { DrillFacts } from '../../../schemas/backup.js';
import { CopyRefused, type SiteCopy } from '../../outbound/copies/copies.js';
import type { Ctx } from '../context.js';
import { UNCACHED } from '../updates/safe/probe.js';
import { chunksOf, dump, isInside } from './archive.js';
import type { BackupFacts } from './back-up-site.js';
import { type CompleteBackup, factsOf } from './backups.js';
import { type CopyFacts, compareCopy, named } from './compare-copy.js';
import { otherCause } from './other-cause.js';
import { pathWord } from './plugin.js';
import type { SiteRecord } from './record.js';
import { siteConstants } from './site-constants.js';
import {
  type BackedUpFile,
  type BackedUpTable,
  leftOutOf,
  readFilesPage,
  readTables,
  rowsOf,
  type Snapshot,
} from './snapshot.js';
import { quoted } from './sql-dump.js';
import { isDumpable } from './table-definition.js';

const MOST_BYTES = 20 * 1024 ** 3;
/** What the copy needs besides the files: an empty database, and its logs. */
const DATABASE_BYTES = 512 * 1024 * 1024;
const MOST_CONFIG = 256 * 1024;
/** Tables that are counted by one statement. */
const COUNTED = 50;
/** Of every drill in WordPress Playground. */
const IN_PLAYGROUND = 'whether MariaDB takes the tables: the copy ran in WordPress Playground, with SQLite';
/** Characters of a reason. */
export const REASON = 600;

const CONFIG = 'wp-config.php';
/** Without these there is nothing to run. */
const CORE = ['index.php', 'wp-settings.php', 'wp-includes/version.php'];
/** They speak to servers of the site, and load before everything else. */
const NOT_RUN = ['wp-content/object-cache.php', 'wp-content/advanced-cache.php', 'wp-content/db.php'];

/** What a drill has found. */
export interface Found extends Pick<DrillFacts, 'result' | 'reason'> {
  compared?: string[];
  not_compared?: string[];
  copy?: Pick<SiteCopy, 'php' | 'means' | 'network'>;
  /** From the first file to the answer of the front page. */
  restored_ms?: number;
}

export function unverified(reason: string): Found {
  return { result: 'could_not_verify', reason };
}

/** The database here refused the tables of the site's. */
export class TablesRefused extends Error {
  constructor(
    message: string,
    readonly here: string,
    readonly site: string,
  ) {
    super(message);
  }
}

/** One trial restore. */
export class CopyOfBackup {
  readonly #ctx: Ctx;
  readonly #row: CompleteBackup['row'];
  readonly #record: SiteRecord;
  readonly #snapshot: Snapshot;
  readonly #repository: CompleteBackup['repository'];

  constructor(ctx: Ctx, { row, snapshot, repository }: CompleteBackup) {
    this.#ctx = ctx;
    this.#row = row;
    // A complete backup has facts.
    this.#record = (factsOf(row) as BackupFacts).recorded;
    this.#snapshot = snapshot;
    this.#repository = repository;
  }

  async drill(): Promise<Found> {
    const { clock, copies, signal } = this.#ctx;
    const tables = await readTables(this.#repository, this.#snapshot);
    const odd = tables.find((table) => !isDumpable(table));
    if (odd !== undefined)
      return unverified(`Table ${pathWord(odd.name)} is defined in a way that is not loaded outside its site.`);
    const { bytes, paths } = await this.#list();
    const missing = CORE.find((path) => !paths.has(path));
    if (missing !== undefined)
      return unverified(`The backup has no ${missing}: WordPress itself is elsewhere on the site.`);
    if (bytes > MOST_BYTES) return unverified(`The site has more than ${MOST_BYTES / 1024 ** 3} GB of files.`);
    const copy = await copies.open(bytes + DATABASE_BYTES, signal);
    try {
      const began = clock.elapsed();
      const { config, different } = await this.#putFiles(copy, paths.size);
      try {
        await copy.load(dump(this.#repository, tables, signal));
      } catch (error) {
        if (!(error instanceof CopyRefused)) throw error;
        throw new TablesRefused(error.message, copy.database, this.#snapshot.database);
      }
      await copy.configure({
        prefix: this.#snapshot.prefix,
        constants: siteConstants(config),
        php: this.#record.php,
      });
      const found = await this.#compare(copy, tables, different);
      return { ...found, copy, restored_ms: clock.elapsed() - began };
    } finally {
      await copy.close();
    }
  }

  async *#files(): AsyncGenerator<BackedUpFile> {
    for (const page of this.#snapshot.files)
      for (const file of await readFilesPage(this.#repository, page)) {
        this.#ctx.signal.throwIfAborted();
        if (isInside(file.path) && !NOT_RUN.includes(file.path)) yield file;
      }
  }

  async #list(): Promise<{ bytes: number; paths: Set<string> }> {
    const paths = new Set<string>();
    let bytes = 0;
    for await (const { path, size } of this.#files()) {
      paths.add(path);
      bytes += size;
    }
    return { bytes, paths };
  }

  /** Returns the text of the site's configuration, which is not part of the copy, and the files that are not what they were. */
  async #putFiles(copy: SiteCopy, total: number): Promise<{ config: string; different: string[] }> {
    const different: string[] = [];
    let [config, done] = ['', 0];
    for await (const { path, size, sha256, chunks } of this.#files()) {
      const parts = chunksOf(this.#repository, chunks, this.#ctx.signal);
      if (path !== CONFIG) {
        if ((await copy.put(path, parts)) !== sha256)
          different.push(`file ${pathWord(path)} is not what the site sent`);
      } else if (size <= MOST_CONFIG) for await (const part of parts) config += part.toString('utf8');
      this.#ctx.progress({ done: ++done, total, message: this.#row.site_url });
    }
    return { config, different };
  }

  async #compare(copy: SiteCopy, tables: readonly BackedUpTable[], files: readonly string[]): Promise<Found> {
    const { prefix } = this.#snapshot;
    const record = this.#record;
    const options = quoted(`${prefix}options`);
    const rows = await this.#rows(copy, tables);
    const own = rows.has(`${prefix}options`);
    const facts: CopyFacts = {
      rows,
      options: own ? await this.#options(copy, options) : null,
      active_plugins: own ? await activePlugins(copy, options) : [],
      page: null,
    };
    // Before any page: a page may change the tables.
    if (record.front !== null) {
      const { protocol, host, pathname, search } = new URL(record.front.url);
      facts.page = await copy.ask({
        https: protocol === 'https:',
        host,
        path: `${pathname}${search}`,
        cookie: UNCACHED,
      });
    }
    const expected = tables.map((table) => ({ name: table.name, rows: rowsOf(table), left_out: leftOutOf(table) }));
    const { compared, different, not_compared, page } = compareCopy(record, prefix, expected, facts);
    const all = [...named(files, (text) => text, 'files'), ...different];
    if (copy.means === 'playground') not_compared.push(IN_PLAYGROUND);
    const points = { compared: files.length === 0 ? ['files', ...compared] : compared, not_compared };
    if (all.length > 0) {
      const cause = page && files.length === 0 ? otherCause(facts.page, copy, record.php) : null;
      const differs = all.join('; ').slice(0, REASON);
      return cause === null
        ? { result: 'failed', reason: differs, ...points }
        : { ...unverified(`${cause}. Apart from that: ${differs}`), ...points };
    }
    if (record.front === null) {
      const why = not_compared.find((text) => text.startsWith('front page')) ?? 'nothing was recorded about it';
      return { ...unverified(`The front page could not be compared: ${why.replace(/^front page: /, '')}.`), ...points };
    }
    return { result: 'proven', reason: null, ...points };
  }

  async #rows(copy: SiteCopy, tables: readonly BackedUpTable[]): Promise<Map<string, number | null>> {
    const rows = new Map<string, number | null>();
    for (let at = 0; at < tables.length; at += COUNTED) {
      const portion = tables.slice(at, at + COUNTED);
      const each = portion.map(({ name }, index) => `SELECT ${index}, COUNT(*) FROM ${quoted(name)}`);
      for (const [index, count] of await copy.query(each.join(' UNION ALL ')))
        rows.set(portion[Number(index)]?.name ?? '', Number(count));
    }
    return rows;
  }

  async #options(copy: SiteCopy, table: string): Promise<number> {
    const transient = (like: string) => `option_name NOT LIKE '${like}\\_transient\\_%'`;
    const [row] = await copy.query(`SELECT COUNT(*) FROM ${table} WHERE ${transient('\\_site')} AND ${transient('')}`);
    return Number(row?.[0]);
  }
}

/** As WordPress stores them: a list of texts. */
async function activePlugins(copy: SiteCopy, options: string): Promise<string[]> {
  const [row] = await copy.query(`SELECT HEX(option_value) FROM ${options} WHERE option_name = 'active_plugins'`);
  const text = Buffer.from(row?.[0] ?? '', 'hex').toString('utf8');
  return [...text.matchAll(/s:\d+:"([^"]*)";/g)].map(([, slug = '']) => slug).sort();
}
