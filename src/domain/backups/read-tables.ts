/** Reads the tables of a site, in slices that are each from one snapshot of the database. */

import { createHash } from 'node:crypto';
import type { RowRange, SiteTable } from '../../outbound/guard/guards.js';
import { ServiceError } from '../../runtime/errors.js';
import type { ChunkWriter } from '../../store/backups/repository/types.js';
import type { SiteBackup } from './plugin.js';
import { type BackedUpSlice, type BackedUpTable, type Consistency, rowsOf } from './snapshot.js';

/** Ranges of one request. */
const REQUEST_RANGES = 200;
/**
 * Slices of a backup, and characters of the keys at their ends: half a megabyte is in most. All of them are one text that is
 * read at once.
 */
const MAX_SLICES = 200_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Storage engines whose rows can be read as they were at one instant. */
const WITH_SNAPSHOTS = /^innodb$/i;

export interface ReadTablesParts {
  site: SiteBackup;
  writer: ChunkWriter;
  signal: AbortSignal;
  turn: () => Promise<void>;
}

export interface TablesRead {
  tables: BackedUpTable[];
  rows: number;
  /** Bytes that were sent by the site. */
  bytes: number;
  consistency: 'one_instant' | 'per_table' | 'per_slice' | 'best_effort';
}

interface Asked {
  table: string;
  known: BackedUpSlice | null;
  after: BackedUpSlice['after'];
  to: BackedUpSlice['to'];
}

interface Read {
  slices: BackedUpSlice[];
  /** Numbers of the requests that it took. */
  requests: Set<number>;
  /** A slice was not as it was known. */
  changed: boolean;
}

/**
 * Reads all rows; slices of the last backup whose digests are the same are not sent. A table that takes several requests
 * is compared once more with what was read: where nothing has changed, all of it is from one instant.
 */
export async function readSiteTables(
  listed: readonly SiteTable[],
  before: readonly BackedUpTable[],
  parts: ReadTablesParts,
): Promise<TablesRead> {
  const counters = { requests: 0, bytes: 0, slices: 0, characters: 0 };
  const known = new Map(before.map((table) => [table.name, table]));
  const ranges = listed.flatMap((table): Asked[] => {
    const last = known.get(table.name);
    return last !== undefined && structureOf(last.create) === structureOf(table.create)
      ? last.slices.map((slice) => ({ table: table.name, known: slice, after: slice.after, to: slice.to }))
      : [{ table: table.name, known: null, after: null, to: null }];
  });
  const first = await readRanges(ranges, parts, counters);
  const together = counters.requests <= 1;
  const several = [...first].filter(([, { requests }]) => requests.size > 1).map(([name]) => name);
  const again = several.flatMap((table) =>
    (first.get(table)?.slices ?? []).map((slice): Asked => ({ table, known: slice, after: slice.after, to: slice.to })),
  );
  const second = again.length === 0 ? new Map<string, Read>() : await readRanges(again, parts, counters);
  const tables = listed.map((table): BackedUpTable => {
    const later = second.get(table.name);
    const { slices } = later ?? first.get(table.name) ?? { slices: [] };
    const consistency: Consistency = !WITH_SNAPSHOTS.test(table.engine)
      ? 'best_effort'
      : later?.changed === true
        ? 'slices'
        : 'instant';
    const { name, engine, create } = table;
    return { name, engine, create, consistency, slices, ...(table.ordered ? {} : { unordered: true }) };
  });
  const has = (one: Consistency) => tables.some(({ consistency }) => consistency === one);
  return {
    tables,
    rows: tables.reduce((sum, table) => sum + rowsOf(table), 0),
    bytes: counters.bytes,
    consistency: has('best_effort')
      ? 'best_effort'
      : has('slices')
        ? 'per_slice'
        : together
          ? 'one_instant'
          : 'per_table',
  };
}

/** Without the counter of the next row, which changes all the time. */
function structureOf(create: string): string {
  return create.replace(/ AUTO_INCREMENT=\d+/, '');
}

async function readRanges(
  ranges: readonly Asked[],
  { site, writer, signal, turn }: ReadTablesParts,
  counters: { requests: number; bytes: number; slices: number; characters: number },
): Promise<Map<string, Read>> {
  const found = new Map<string, Read>();
  let left = [...ranges];
  while (left.length > 0) {
    await turn();
    const asked = left.slice(0, REQUEST_RANGES);
    const request = ++counters.requests;
    const answer = await site.rows(asked.map(rangeOf), { signal });
    let [done, rest]: [number, Asked | null] = [0, null];
    for (const slice of answer) {
      const range = asked[slice.range];
      if (range === undefined || slice.range < done) throw disordered();
      // Each gets further: otherwise a table would have no end.
      if (!slice.end && slice.rows + slice.left_out.length < 1) throw disordered();
      counters.slices += 1;
      for (const value of [...(slice.after ?? []), ...(slice.to ?? []), ...slice.left_out])
        counters.characters += value.length;
      if (counters.slices > MAX_SLICES || counters.characters > MAX_CHARACTERS)
        throw new ServiceError('svc_backup_failed', 'The tables of the site are too large.');
      const read = found.get(range.table) ?? { slices: [], requests: new Set(), changed: false };
      found.set(range.table, read);
      read.requests.add(request);
      const same = slice.lines === null ? range.known : null;
      if (slice.lines !== null) {
        if (createHash('sha256').update(slice.lines).digest('hex') !== slice.sha256) throw disordered();
        counters.bytes += slice.lines.length;
        read.changed ||= range.known !== null;
      } else if (same === null) throw disordered();
      const chunk =
        slice.lines === null ? (same?.chunk ?? null) : slice.lines.length === 0 ? null : await writer.put(slice.lines);
      const { after, to, rows, sha256, left_out } = slice;
      read.slices.push({ after, to, rows, sha256, chunk, ...(left_out.length === 0 ? {} : { left_out }) });
      done = slice.end ? slice.range + 1 : slice.range;
      rest = slice.end ? null : { table: range.table, known: null, after: slice.to, to: range.to };
    }
    left = [...(rest === null ? [] : [rest]), ...left.slice(done + (rest === null ? 0 : 1))];
  }
  return found;
}

function rangeOf({ table, known, after, to }: Asked): RowRange {
  return { table, after, to, ...(known === null ? {} : { sha256: known.sha256 }) };
}

function disordered(): ServiceError {
  return new ServiceError('svc_backup_failed', 'The site sent rows that do not match the request.', {
    advice: 'Something in front of the site may change its answers. Try again.',
  });
}
