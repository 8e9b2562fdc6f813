/** Writes tables of a backup as SQL that the client of a database server loads. */

import { siteWord } from '../../../schemas/site-text.js';
import { ServiceError } from '../../runtime/errors.js';
import type { BackedUpTable } from './snapshot.js';
import { LITERALS } from './table-definition.js';

/** Bytes of one INSERT statement, well below any max_allowed_packet. */
const INSERT_BYTES = 256 * 1024;

/** As in the plugin for backups: bytes are stored as they were, and times are in UTC. */
export const DUMP_HEAD = `-- Rows and tables as they were backed up. Load it with: mariadb --binary-mode DATABASE < database.sql
SET NAMES binary;
SET SESSION time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', foreign_key_checks = 0, unique_checks = 0;
`;
export const DUMP_TAIL = 'SET SESSION foreign_key_checks = 1, unique_checks = 1;\n';

interface Column {
  name: string;
  /** Of `text` the server does not take bytes. */
  kind: 'bit' | 'text' | 'other';
}

const NAME = '`(?:[^`]|``)+`';
/** A table, statement by statement. @param slices its rows, as the plugin for backups sent them */
export async function* dumpTable(table: BackedUpTable, slices: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const name = quoted(table.name);
  const create = table.create.replace(new RegExp(`^CREATE TABLE ${NAME}`), () => `CREATE TABLE ${name}`);
  // A definition is text: of the bytes of UTF-8 a table in another character set would have other defaults and values of ENUM.
  yield Buffer.from(`DROP TABLE IF EXISTS ${name};\nSET NAMES utf8mb4;\n${create};\nSET NAMES binary;\n`);
  const columns = columnsOf(table.create);
  const insert = `INSERT INTO ${name} (${columns.map((column) => quoted(column.name)).join(', ')}) VALUES\n`;
  for await (const slice of slices) {
    let rows: string[] = [];
    let length = 0;
    for (const line of linesOf(slice)) {
      const row = rowOf(line, columns, table.name);
      rows.push(row);
      length += row.length;
      if (length < INSERT_BYTES) continue;
      yield Buffer.from(`${insert}${rows.join(',\n')};\n`);
      [rows, length] = [[], 0];
    }
    if (rows.length > 0) yield Buffer.from(`${insert}${rows.join(',\n')};\n`);
  }
}

/** A name in a statement. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** The columns that are stored, in their order; those that the server computes are left out, as in the rows. */
function columnsOf(create: string): Column[] {
  const columns: Column[] = [];
  for (const line of create.split('\n')) {
    const [, name, type = ''] = new RegExp(`^\\s+(${NAME})\\s+([a-z0-9]+)`, 'i').exec(line) ?? [];
    if (name === undefined || isComputed(line.slice(line.indexOf(name) + name.length))) continue;
    const kind = /^bit$/i.test(type) ? 'bit' : /^(json|uuid|inet[46])$/i.test(type) ? 'text' : 'other';
    columns.push({ name: name.slice(1, -1).replaceAll('``', '`'), kind });
  }
  return columns;
}

function isComputed(definition: string): boolean {
  return /\bGENERATED ALWAYS AS\b|\)\s+(VIRTUAL|STORED|PERSISTENT)\b/i.test(definition.replace(LITERALS, ''));
}

function* linesOf(slice: Buffer): Generator<string> {
  for (let at = 0; at < slice.length; ) {
    const end = slice.indexOf(10, at);
    const stop = end === -1 ? slice.length : end;
    yield slice.toString('utf8', at, stop);
    at = stop + 1;
  }
}

/** A cell is a text, null, or, where it is no UTF-8, a list with its bytes in base64. */
type Cell = string | null | [string];

function rowOf(line: string, columns: readonly Column[], table: string): string {
  const cells = cellsOf(line);
  if (cells?.length !== columns.length)
    throw new ServiceError('svc_backup_storage', `The rows of ${siteWord(table)} do not fit its columns.`, {
      advice: 'Restore this backup with restore-backup-v1 instead.',
      data: { reason: 'damaged' },
    });
  return `(${cells.map((cell, at) => literalOf(cell, columns[at]?.kind ?? 'other')).join(',')})`;
}

/** Undefined for what the plugin for backups would not have sent. */
function cellsOf(line: string): Cell[] | undefined {
  try {
    const cells: unknown = JSON.parse(line);
    return Array.isArray(cells) && cells.every(isCell) ? cells : undefined;
  } catch {
    return undefined;
  }
}

function isCell(cell: unknown): cell is Cell {
  const isBytes = Array.isArray(cell) && cell.length === 1 && typeof cell[0] === 'string' && BASE64.test(cell[0]);
  return isBytes || cell === null || typeof cell === 'string';
}

/** Its letters and its padding, in one pass. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const ESCAPED: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\x1a': '\\Z',
  '\\': '\\\\',
  "'": "\\'",
};

function literalOf(cell: Cell, kind: Column['kind']): string {
  if (cell === null) return 'NULL';
  if (typeof cell !== 'string') {
    const hex = Buffer.from(cell[0], 'base64').toString('hex');
    return hex === '' ? "''" : `0x${hex}`;
  }
  if (kind === 'bit' && /^\d+$/.test(cell)) return cell;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the client of the server stops at them
  const text = `'${cell.replace(/[\0\n\r\x1a\\']/g, (one) => ESCAPED[one] ?? one)}'`;
  return kind === 'text' ? `CONVERT(${text} USING utf8mb4)` : text;
}
