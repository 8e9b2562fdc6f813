/** Typed client of the plugin for backups, which answers through the guard of a site: files, tables, and restores. */

import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { isObject } from '../../runtime/plain-json.js';
import { GuardShapeError } from './answers.js';
import type { GuardCallOptions } from './call-options.js';

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

/** A file as the site lists it. Times in unix seconds. */
export interface SiteFile {
  path: string;
  size: number;
  time: number;
  inode: number;
  /** When its contents, mode or owner last changed: not to be set by programs. */
  changed: number;
  mode: number;
}

export interface ManifestPage {
  files: SiteFile[];
  /** Files and folders; why: `unreadable`, `name`, `cache`, `link` or `special`. */
  left_out: { path: string; why: string }[];
  /** The path after which the next page begins, in bytes as a URL has them; null = this was the last. */
  next: string | null;
}

/** Files that run, or steer PHP or the web server, in folders that are never backed up. */
export interface Strays {
  folders: string[];
  /** Not more than 200. */
  paths: string[];
  count: number;
  /** All of the folders were looked through. */
  whole: boolean;
}

/** Part of a file. `error`: `gone` or `unreadable`; otherwise what the file was when it was read. */
export type FilePart =
  | { error: string }
  | {
      error?: undefined;
      bytes: Buffer;
      size: number;
      time: number;
      inode: number;
      /** It was not the same before and after it was read. */
      changed: boolean;
    };

export interface SiteTable {
  name: string;
  engine: string;
  /** An estimate of the database. */
  rows: number;
  bytes: number;
  /** The statement that makes it. */
  create: string;
  /** It has a key by which its rows are in order. */
  ordered: boolean;
}

export interface SiteTables {
  prefix: string;
  tables: SiteTable[];
  /** Views and triggers, which are not part of a backup. */
  others: { kind: string; name: string }[];
  server: string;
}

/** Values of a key, in hex; null = before the first row, or after the last. */
export type TableKey = string[] | null;

export interface RowRange {
  table: string;
  after: TableKey;
  to: TableKey;
  /** What is known of the range: rows are sent only if they have another digest. */
  sha256?: string;
}

/** Rows of a range, one line of JSON each; a range is sent in as many slices as it takes. */
export interface RowSlice {
  /** Index of the range in the request. */
  range: number;
  after: TableKey;
  to: TableKey;
  /** The range ends with it. */
  end: boolean;
  rows: number;
  /** Rows that are too large, by their keys: they are not in it. */
  left_out: string[];
  sha256: string;
  /** Null: the rows have the digest that is known. */
  lines: Buffer | null;
}

/** A file, or a part of one, to write beside the live ones. */
export interface WrittenPart {
  /** Place in the plan. */
  index: number;
  offset: number;
  bytes: Buffer;
  /** Of the whole file. */
  size: number;
  time: number;
  mode: number;
}

/** A part of a row that is larger than a request. */
export interface RowPart {
  offset: number;
  bytes: Buffer;
  /** Of the whole line. */
  size: number;
}

/** `put`: the restored file takes the place of the live one; `remove`: there was none. */
export type PlannedFile = [path: string, what: 'put' | 'remove'];

export interface Restoring {
  id: string;
  phase: 'staging' | 'swapping' | 'swapped' | 'backing';
  /** Tables that are not restored, with foreign keys to some that are. */
  others: string[];
}

export interface Finished {
  /** False = not all of it is removed yet: ask again. */
  finished: boolean;
  /** Triggers of the replaced tables that were made again on the restored ones. */
  triggers: string[];
  /** Those that the database refused. */
  triggers_lost: string[];
}

type Fields = Record<string, unknown>;

/** Sends one action; `read` gets the checked answer. */
export type Ask = <T>(
  action: string,
  parameters: Fields,
  read: (value: Fields) => T | Promise<T>,
  options: GuardCallOptions | undefined,
) => Promise<T>;

/** Answers unpack to at most this: 2 MB of data, and one row. */
const MAX_DATA = 16 * 1024 * 1024;
/** Characters that name a row. */
const MAX_ROW_NAME = 400;
/** Characters of a table's definition: 4,096 columns, the most that MySQL has, of 64 each, or partitions by day of ten years. */
const MAX_CREATE = 256 * 1024;
/** Of a path of 4,096 bytes, each as three letters. */
const MOST_NEXT = 3 * 4_096;

export class BackupClient {
  /** Whether the site rests between pieces of what it reads, for the sake of its visitors: it takes about twice as long. */
  gentle = false;
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  #pace(): { rest?: true } {
    return this.gentle ? { rest: true } : {};
  }

  /** Files after a path, in the order of the site: `next` of the page before, or an empty text. */
  manifest(after: string, options?: GuardCallOptions): Promise<ManifestPage> {
    return this.#ask('manifest', { after }, manifestOf, options);
  }

  /** What runs in folders that are never backed up. */
  strays(options?: GuardCallOptions): Promise<Strays> {
    return this.#ask('strays', {}, straysOf, options);
  }

  /** Parts of files, at least one: as many as fit into an answer. */
  read(
    parts: readonly [path: string, offset: number, length: number][],
    options?: GuardCallOptions,
  ): Promise<FilePart[]> {
    return this.#ask('read', { parts, ...this.#pace() }, partsOf, options);
  }

  /** SHA-256 of files, at least of one; null = there is no such file. */
  digest(paths: readonly string[], options?: GuardCallOptions): Promise<(string | null)[]> {
    return this.#ask(
      'digest',
      { paths },
      (value) => list(value, 'digests').map((one) => (one === null ? null : digest(one))),
      options,
    );
  }

  tables(options?: GuardCallOptions): Promise<SiteTables> {
    return this.#ask('tables', {}, tablesOf, options);
  }

  /** Rows of ranges, from one snapshot of the database: at least one slice. */
  rows(ranges: readonly RowRange[], options?: GuardCallOptions): Promise<RowSlice[]> {
    return this.#ask('rows', { ranges, ...this.#pace() }, slicesOf, options);
  }

  /** The restore that is under way on the site; null = none. */
  restoring(options?: GuardCallOptions): Promise<Restoring | null> {
    return this.#ask('restoring', {}, restoringOf, options);
  }

  /** Begins a restore, or finds it begun. */
  stage(job: string, tables: readonly string[], options?: GuardCallOptions): Promise<Restoring | null> {
    return this.#ask('stage', { job, tables }, restoringOf, options);
  }

  /** Names the files that are swapped, from a place in the list on. */
  plan(job: string, from: number, entries: readonly PlannedFile[], options?: GuardCallOptions): Promise<number> {
    return this.#ask('plan', { job, from, entries }, (value) => number(value, 'planned'), options);
  }

  /** Returns the digest of each file that is complete, otherwise null. */
  async write(job: string, parts: readonly WrittenPart[], options?: GuardCallOptions): Promise<(string | null)[]> {
    const files = parts.map(({ index, offset, bytes, size, time, mode }) => [
      index,
      offset,
      bytes.length,
      size,
      time,
      mode,
    ]);
    const data = await packed(Buffer.concat(parts.map(({ bytes }) => bytes)));
    const read = (value: Fields) => list(value, 'digests').map((one) => (one === null ? null : digest(one)));
    return this.#ask('write', { job, files, ...data }, read, options);
  }

  /** Makes a table beside the live one, if `create` is given, and adds rows. Returns the name it has until the swap. */
  async load(
    job: string,
    table: string,
    create: string | null,
    lines: Buffer,
    options?: GuardCallOptions,
  ): Promise<string> {
    const made = create === null ? {} : { create };
    const read = (value: Fields) => text(value, 'table', 64);
    return this.#ask('load', { job, table, ...made, ...(await packed(lines)) }, read, options);
  }

  /** Sends a part of one row; with the last part the row is added. Parts follow one another, from the first byte on. */
  async loadPart(
    job: string,
    table: string,
    { bytes, offset, size }: RowPart,
    options?: GuardCallOptions,
  ): Promise<string> {
    const read = (value: Fields) => text(value, 'table', 64);
    return this.#ask('load', { job, table, part: [offset, size], ...(await packed(bytes)) }, read, options);
  }

  /** Exchanges the restored files and tables with the live ones. */
  swap(job: string, options?: GuardCallOptions): Promise<Restoring | null> {
    return this.#ask('swap', { job }, restoringOf, options);
  }

  /** Rolls back to what was replaced. */
  back(job: string, options?: GuardCallOptions): Promise<Restoring | null> {
    return this.#ask('back', { job }, restoringOf, options);
  }

  /** Removes what is not live any more. */
  finish(job: string, options?: GuardCallOptions): Promise<Finished> {
    return this.#ask('finish', { job }, finishedOf, options);
  }
}

async function packed(bytes: Buffer): Promise<{ data: string; deflated: boolean }> {
  const small = bytes.length < 200 ? null : await compress(bytes, { level: 6 });
  const deflated = small !== null && small.length < bytes.length;
  return { data: (deflated ? small : bytes).toString('base64'), deflated };
}

async function dataOf(value: Fields): Promise<Buffer> {
  if (typeof value.data !== 'string') throw wrong('data');
  const bytes = Buffer.from(value.data, 'base64');
  if (value.deflated !== true) return bytes;
  return decompress(bytes, { maxOutputLength: MAX_DATA }).catch(() => {
    throw wrong('data');
  });
}

function manifestOf(value: Fields): ManifestPage {
  const files = list(value, 'entries').map((one) => {
    if (!Array.isArray(one)) throw wrong('entries');
    const [path, size, time, inode, changed, mode] = one as unknown[];
    if (typeof path !== 'string' || path.length > 4_096) throw wrong('entries');
    return {
      path,
      size: whole(size),
      time: whole(time),
      inode: whole(inode),
      changed: whole(changed),
      mode: whole(mode),
    };
  });
  const left_out = list(value, 'left_out').map((one) => {
    const [path, why] = Array.isArray(one) ? (one as unknown[]) : [];
    return { path: word(path, 'left_out', 4_096), why: word(why, 'left_out', 40) };
  });
  const { next } = value;
  if (next !== null && (typeof next !== 'string' || next.length > MOST_NEXT)) throw wrong('next');
  return { files, left_out, next };
}

function straysOf(value: Fields): Strays {
  const [folders = [], paths = []] = ['folders', 'paths'].map((name) =>
    list(value, name).map((one) => word(one, name, 4_096)),
  );
  return { folders, paths, count: number(value, 'count'), whole: value.whole === true };
}

async function partsOf(value: Fields): Promise<FilePart[]> {
  const data = await dataOf(value);
  let at = 0;
  const parts = list(value, 'parts').map((one): FilePart => {
    if (!isObject(one)) throw wrong('parts');
    if (typeof one.error === 'string') return { error: one.error.slice(0, 40) };
    const length = number(one, 'length');
    if (length < 0 || at + length > data.length) throw wrong('parts');
    const bytes = data.subarray(at, at + length);
    at += length;
    return {
      bytes,
      size: number(one, 'size'),
      time: number(one, 'time'),
      inode: number(one, 'inode'),
      changed: one.changed !== false,
    };
  });
  if (parts.length === 0) throw wrong('parts');
  return parts;
}

function tablesOf(value: Fields): SiteTables {
  return {
    prefix: text(value, 'prefix', 64),
    server: text(value, 'server', 200),
    tables: list(value, 'tables').map((one) => {
      if (!isObject(one)) throw wrong('tables');
      return {
        name: text(one, 'name', 64),
        engine: text(one, 'engine', 64),
        rows: number(one, 'rows'),
        bytes: number(one, 'bytes'),
        create: text(one, 'create', MAX_CREATE),
        ordered: one.ordered === true,
      };
    }),
    others: list(value, 'others').map((one) => {
      if (!isObject(one)) throw wrong('others');
      return { kind: text(one, 'kind', 40), name: text(one, 'name', 64) };
    }),
  };
}

async function slicesOf(value: Fields): Promise<RowSlice[]> {
  const data = await dataOf(value);
  let at = 0;
  const slices = list(value, 'slices').map((one): RowSlice => {
    if (!isObject(one)) throw wrong('slices');
    const same = one.same === true;
    const length = same ? 0 : number(one, 'bytes');
    if (length < 0 || at + length > data.length) throw wrong('slices');
    const lines = data.subarray(at, at + length);
    at += length;
    return {
      range: number(one, 'range'),
      after: keyOf(one.after),
      to: keyOf(one.to),
      end: one.end === true,
      rows: number(one, 'rows'),
      // The plugin before 1.0.4 refused tables with such rows.
      left_out:
        one.left_out === undefined ? [] : list(one, 'left_out').map((row) => word(row, 'left_out', MAX_ROW_NAME)),
      sha256: digest(one.sha256),
      lines: same ? null : lines,
    };
  });
  if (slices.length === 0) throw wrong('slices');
  return slices;
}

function keyOf(value: unknown): TableKey {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length > 64) throw wrong('key');
  return value.map((one) => {
    if (typeof one !== 'string' || !/^([0-9a-f]{2}){0,3072}$/.test(one)) throw wrong('key');
    return one;
  });
}

const PHASES = ['staging', 'swapping', 'swapped', 'backing'] as const;

function restoringOf({ job }: Fields): Restoring | null {
  if (job === null) return null;
  if (!isObject(job)) throw wrong('job');
  const phase = PHASES.find((one) => one === job.phase);
  if (phase === undefined) throw wrong('phase');
  return { id: text(job, 'id', 64), phase, others: names(job, 'others') };
}

function finishedOf(value: Fields): Finished {
  const [triggers, triggers_lost] = [names(value, 'triggers'), names(value, 'triggers_lost')];
  return { finished: value.finished === true, triggers, triggers_lost };
}

/** Of tables or triggers; the plugin before 1.0.5 names none. */
function names(from: Fields, name: string): string[] {
  return from[name] === undefined ? [] : list(from, name).map((one) => word(one, name, 64));
}

function list(from: Fields, name: string): unknown[] {
  const value = from[name];
  if (!Array.isArray(value) || value.length > 10_000) throw wrong(name);
  return value;
}

function text(from: Fields, name: string, most: number): string {
  const value = from[name];
  if (typeof value !== 'string' || value.length > most) throw wrong(name);
  return value;
}

/** A text, or a number: PHP makes one of a name of digits. Nothing else, as an object may have a `toString` that is no function. */
function word(value: unknown, name: string, most: number): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong(name);
  return String(value).slice(0, most);
}

function number(from: Fields, name: string): number {
  return whole(from[name], name);
}

function whole(value: unknown, name = 'entries'): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(name);
  return value;
}

function digest(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw wrong('digest');
  return value;
}

function wrong(name: string): GuardShapeError {
  return new GuardShapeError(`The answer of the plugin for backups has no usable "${name}".`);
}
