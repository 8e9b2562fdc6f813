/**
 * Sends the files and tables of a restore to the site, beside the live ones; each is compared with its digest. What was sent
 * before an interruption is not sent again.
 */

import { createHash } from 'node:crypto';
import { GuardFailure } from '../../outbound/guard/failure.js';
import type { PlannedFile, RowSlice, TableKey, WrittenPart } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Repository } from '../../store/backups/repository/types.js';
import { pathWord, type SiteBackup } from './plugin.js';
import type { RestorePlan } from './restore-plan.js';
import type { BackedUpTable } from './snapshot.js';

export interface SendParts {
  job: string;
  site: SiteBackup;
  repository: Repository;
  signal: AbortSignal;
  /** What the site has already. */
  sent: Sent;
  /** Done and total bytes and tables, as one number. */
  progress: (done: number, total: number) => void;
  /** Called from time to time with what the site has. */
  note: (sent: Sent) => Promise<void>;
}

/** How far a restore is: so many of the files and tables of its plan, from the first, are complete beside the live ones. */
export interface Sent {
  /** Digest of what the plan puts onto the site, and in which order. */
  puts: string;
  files: number;
  tables: number;
}

/** What the site has of a plan, by what was noted of an earlier one: nothing if that put anything else. */
export function sentOf({ sources, tables }: RestorePlan, noted: Sent | null): Sent {
  const files = [...sources].map(([index, { path, sha256, mode, time }]) => [index, path, sha256, mode, time]);
  const put = [files, tables.map(({ name, create, slices }) => [name, create, slices.map(({ sha256 }) => sha256)])];
  const puts = createHash('sha256').update(JSON.stringify(put)).digest('hex');
  return noted?.puts === puts ? noted : { puts, files: 0, tables: 0 };
}

/** Entries of the plan in one request, of at most so many bytes. */
const REQUEST_ENTRIES = 1_000;
const ENTRIES_BYTES = 10_000;
/** Bytes in one request, as long as the site takes so many; encoded it stays below the 1 MB of many web servers. */
const REQUEST_BYTES = 600_000;
/** Where PHP has no folder for temporary files it reads no request of more than 16 KB. */
const LEAST_BYTES = 9_000;
const REQUEST_FILES = 200;
const ATTEMPTS = 3;
/** Ranges of rows that are compared in one request. */
const REQUEST_RANGES = 100;
/** What was sent is noted after so many bytes. */
const NOTED_BYTES = 8 * 1024 * 1024;
/** A table counts as much as so many bytes in the progress. */
const TABLE_WEIGHT = 100_000;

/** @throws ServiceError, GuardFailure or ChildFailure; what was sent stays beside the live site, and is noted */
export async function sendRestore(plan: RestorePlan, parts: SendParts): Promise<void> {
  const { job, site, signal } = parts;
  for (let from = 0; from < plan.entries.length || from === 0; ) {
    const entries = entriesFrom(plan.entries, from);
    await site.plan(job, from, entries, { signal });
    from += Math.max(entries.length, 1);
  }
  const sender = new Sender(plan, parts);
  try {
    await sender.files();
    await sender.tables();
  } catch (error) {
    await sender.note().catch(() => undefined);
    throw error;
  }
}

function entriesFrom(entries: readonly PlannedFile[], from: number): PlannedFile[] {
  const part: PlannedFile[] = [];
  let bytes = 0;
  for (const entry of entries.slice(from, from + REQUEST_ENTRIES)) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (part.length > 0 && bytes > ENTRIES_BYTES) break;
    part.push(entry);
  }
  return part;
}

class Sender {
  readonly #plan: RestorePlan;
  readonly #parts: SendParts;
  /** What the site has; changed as it gets more. */
  readonly #sent: Sent;
  #most = REQUEST_BYTES;
  #done = 0;
  #noted = 0;

  constructor(plan: RestorePlan, parts: SendParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.#sent = { ...parts.sent };
  }

  async note(): Promise<void> {
    await this.#parts.note({ ...this.#sent });
    this.#noted = this.#done;
  }

  async files(): Promise<void> {
    const { repository } = this.#parts;
    let group: WrittenPart[] = [];
    let bytes = 0;
    const sources = [...this.#plan.sources];
    this.#advance(sources.slice(0, this.#sent.files).reduce((sum, [, { size }]) => sum + size, 0));
    this.#noted = this.#done;
    for (const [index, file] of sources.slice(this.#sent.files)) {
      let offset = 0;
      for (const chunk of file.chunks.length === 0 ? [null] : file.chunks) {
        const whole = chunk === null ? Buffer.alloc(0) : await repository.read(chunk);
        // At least once: an empty file is written, too.
        for (let at = 0; at < whole.length || at === 0; ) {
          const piece = whole.subarray(at, at + Math.max(this.#most - bytes, LEAST_BYTES));
          group.push({ index, offset, bytes: piece, size: file.size, time: file.time, mode: file.mode });
          bytes += piece.length;
          offset += piece.length;
          at += Math.max(piece.length, 1);
          if (bytes < this.#most && group.length < REQUEST_FILES) continue;
          await this.#write(group);
          [group, bytes] = [[], 0];
        }
      }
    }
    await this.#write(group);
  }

  /** Writes parts; a site that takes no requests of that size gets smaller ones. */
  async #write(group: readonly WrittenPart[]): Promise<void> {
    if (group.length === 0) return;
    const { job, site, signal } = this.#parts;
    let digests: (string | null)[];
    try {
      digests = await retried(() => site.write(job, group, { signal }));
    } catch (error) {
      if (!isTooLarge(error) || group.reduce((sum, part) => sum + part.bytes.length, 0) <= LEAST_BYTES) throw error;
      this.#most = LEAST_BYTES;
      for (const part of smaller(group, this.#most)) await this.#write(part);
      return;
    }
    for (const [at, part] of group.entries()) {
      const ended = part.offset + part.bytes.length === part.size;
      const source = this.#plan.sources.get(part.index);
      if (ended && digests[at] !== source?.sha256) throw damaged(`file ${pathWord(source?.path ?? '')}`);
      if (ended) this.#sent.files += 1;
      this.#advance(part.bytes.length);
    }
    if (this.#done - this.#noted >= NOTED_BYTES) await this.note();
  }

  async tables(): Promise<void> {
    const { tables } = this.#plan;
    this.#advance(this.#sent.tables * TABLE_WEIGHT);
    for (const table of tables.slice(this.#sent.tables)) {
      await this.#table(table);
      this.#advance(TABLE_WEIGHT);
      this.#sent.tables += 1;
      await this.note();
    }
  }

  /** A table is loaded as a whole: what an interrupted attempt has loaded is not kept. */
  async #table(table: BackedUpTable): Promise<void> {
    const { job, site, signal, repository } = this.#parts;
    let name = await site.load(job, table.name, table.create, Buffer.alloc(0), { signal });
    for (const { chunk } of table.slices) {
      if (chunk !== null) name = await this.#rows(table.name, await repository.read(chunk));
    }
    let left = table.slices.map(({ after, to, sha256 }) => ({ table: name, after, to, sha256 }));
    while (left.length > 0) {
      const slices = await site.rows(left.slice(0, REQUEST_RANGES), { signal });
      if (slices.some(({ lines, end }) => lines !== null || !end)) {
        if (table.unordered === true && (await this.#hasAllRows(name, table))) return;
        throw damaged(`rows of table ${pathWord(table.name)}`);
      }
      left = left.slice(slices.length);
    }
  }

  /**
   * Whether a table without a key has the rows that were sent, in any order. Where a row is missing from its backup, or visitors added some
   * while it was read, its slices end at other places now: so all of it is read.
   */
  async #hasAllRows(name: string, table: BackedUpTable): Promise<boolean> {
    const { site, signal, repository } = this.#parts;
    const [sent, there] = [new SumOfRows(), new SumOfRows()];
    for (const { chunk } of table.slices) if (chunk !== null) sent.add(await repository.read(chunk));
    for (let after: TableKey = null, ended = false; !ended; ) {
      const slices = await site.rows([{ table: name, after, to: null }], { signal });
      for (const { lines, left_out } of slices) {
        if (left_out.length > 0) return false;
        there.add(lines ?? Buffer.alloc(0));
      }
      // Each has rows, so that this ends; more than were sent are too many.
      if (there.rows > sent.rows) return false;
      const last: RowSlice | undefined = slices.at(-1);
      ended = last?.end !== false;
      if (!ended && slices.every(({ rows }) => rows < 1)) return false;
      after = last?.to ?? null;
    }
    return there.rows === sent.rows && there.sum === sent.sum;
  }

  /** A request that did not arrive is sent again in smaller ones: PHP has seen nothing of it. */
  async #rows(table: string, bytes: Buffer): Promise<string> {
    const { job, site, signal } = this.#parts;
    let name = '';
    for (const lines of linesOf(bytes, this.#most)) {
      if (lines.length > this.#most) {
        name = await this.#largeRow(table, lines);
        continue;
      }
      try {
        name = await site.load(job, table, null, lines, { signal });
      } catch (error) {
        if (!isTooLarge(error) || lines.length <= LEAST_BYTES) throw error;
        this.#most = LEAST_BYTES;
        name = await this.#rows(table, lines);
      }
    }
    return name;
  }

  /** A row that does not fit into one request: part by part. */
  async #largeRow(table: string, line: Buffer): Promise<string> {
    const { job, site, signal } = this.#parts;
    let name = '';
    for (let offset = 0; offset < line.length; ) {
      const part = { bytes: line.subarray(offset, offset + this.#most), offset, size: line.length };
      try {
        name = await site.loadPart(job, table, part, { signal });
        offset += part.bytes.length;
      } catch (error) {
        if (!isTooLarge(error) || part.bytes.length <= LEAST_BYTES) throw error;
        this.#most = LEAST_BYTES;
      }
    }
    return name;
  }

  #advance(amount: number): void {
    this.#done += amount;
    this.#parts.progress(this.#done, this.#plan.bytes + this.#plan.tables.length * TABLE_WEIGHT);
  }
}

function damaged(what: string): ServiceError {
  return new ServiceError('svc_restore_failed', `On the site, ${what} differ from what was sent. Nothing was changed.`);
}

/** A part that arrived is written again to the same place. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GuardFailure) || error.code !== 'busy' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The web server refuses requests of that length, or PHP cannot read them: WordPress has not seen the request. */
function isTooLarge(error: unknown): boolean {
  return error instanceof GuardFailure && error.code === 'no_guard';
}

function smaller(group: readonly WrittenPart[], most: number): WrittenPart[][] {
  return group.flatMap((part) => {
    const pieces: WrittenPart[][] = [];
    for (let at = 0; at < part.bytes.length || at === 0; at += most)
      pieces.push([{ ...part, offset: part.offset + at, bytes: part.bytes.subarray(at, at + most) }]);
    return pieces;
  });
}

/** Adds up digests of rows: the same for the same rows in another order. */
class SumOfRows {
  rows = 0;
  sum = 0n;

  add(lines: Buffer): void {
    for (const line of linesOf(lines, 1)) {
      this.rows += 1;
      this.sum = BigInt.asUintN(256, this.sum + BigInt(`0x${createHash('sha256').update(line).digest('hex')}`));
    }
  }
}

/** Whole lines of at most so many bytes together, but one line at least. */
function* linesOf(bytes: Buffer, most: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    let end = bytes.length;
    if (end - at > most) {
      const last = bytes.lastIndexOf(10, at + most - 1);
      end = last >= at ? last + 1 : bytes.indexOf(10, at) + 1 || bytes.length;
    }
    yield bytes.subarray(at, end);
    at = end;
  }
}
