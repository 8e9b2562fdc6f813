/** Values on their way into SQLite and rows on their way out, the same for both drivers. */

import type { Row, Value } from './db.js';
import { StorageError } from './db.js';
import { excerpt } from './sql-text.js';

/** What reaches a driver: numbers are reals, bigints are integers, booleans have been converted. */
export type Bound = string | number | bigint | null | Uint8Array;

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;
const MAX_SAFE = Number.MAX_SAFE_INTEGER;

/**
 * Arguments as both drivers take them. Native libsql aborts the process on a boolean or an object, cuts text at NUL
 * and stores missing arguments as NULL; both drivers send every JS number as a real, which turns 5 into '5.0' in a TEXT
 * column and in JSON. So whole numbers travel as bigint, and whatever cannot be stored as it is, is refused here. Half a
 * surrogate pair is stored as U+FFFD.
 * @throws TypeError naming the argument's position (from 1), what it is and what to bind instead
 */
export function bindValues(sql: string, args: readonly Value[], parameters: number): Bound[] {
  if (!Array.isArray(args)) throw new TypeError(`The arguments must be an array: ${excerpt(sql)}`);
  if (args.length !== parameters) {
    throw new TypeError(`${parameters} arguments needed, ${args.length} given: ${excerpt(sql)}`);
  }
  const bound = new Array<Bound>(parameters);
  for (let i = 0; i < parameters; i++) bound[i] = bindValue(sql, args[i], i);
  return bound;
}

/**
 * JSON.stringify writes half a surrogate pair as an escape, of which SQLite's JSON functions make bytes that are no UTF-8:
 * native libsql aborts the process when it reads them.
 */
const HALF = /\\ud[89a-f]/i;
/** Escapes of JSON, one after the other; the group is half a pair. */
const ESCAPES = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u(d[89a-f][0-9a-f]{2})|\\[\s\S]/gi;

function bindValue(sql: string, value: unknown, index: number): Bound {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0')) throw refused(sql, index, 'text with a NUL character', 'remove control characters');
      return HALF.test(value)
        ? value.replace(ESCAPES, (whole, half) => (half === undefined ? whole : '\\ufffd'))
        : value;
    case 'number':
      if (Number.isInteger(value)) {
        if (Number.isSafeInteger(value)) return BigInt(value);
        throw refused(sql, index, 'a number beyond 2^53', 'bind a bigint');
      }
      if (Number.isFinite(value)) return value;
      throw refused(sql, index, String(value), 'bind null or a finite number');
    case 'boolean':
      return value ? 1n : 0n;
    case 'bigint':
      if (value >= MIN_INTEGER && value <= MAX_INTEGER) return value;
      throw refused(sql, index, 'a bigint beyond 64 bits', 'bind it as text');
    case 'undefined':
      throw refused(sql, index, 'undefined', 'bind null for no value');
    case 'object':
      if (value === null) return null;
      if (value instanceof Uint8Array) return value;
      if (value instanceof Date) throw refused(sql, index, 'a Date', 'bind its time as a number or ISO text');
      throw refused(sql, index, 'an object', 'bind JSON text');
    default:
      throw refused(sql, index, `a ${typeof value}`, 'bind text, a number, null or bytes');
  }
}

function refused(sql: string, index: number, what: string, instead: string): TypeError {
  return new TypeError(`Argument ${index + 1} is ${what}; ${instead}: ${excerpt(sql)}`);
}

/**
 * Makes row objects of a result's values. When two columns share a name, the later one wins.
 *
 * Each row is a copy of one object that has all columns, so that all rows share a hidden class. Objects that grow by one
 * assignment per column are slower, and a column called `__proto__` would set the prototype.
 * @throws StorageError `other` for a number beyond ±2^53: the drivers would round it silently
 */
export function rowBuilder(columns: readonly string[]): (values: ArrayLike<unknown>) => Row {
  const empty: Row = Object.fromEntries(columns.map((name) => [name, null]));
  return (values) => {
    const row = { ...empty };
    for (let i = 0; i < columns.length; i++) {
      const name = columns[i] as string;
      const value = values[i];
      if (typeof value === 'number' && (value > MAX_SAFE || value < -MAX_SAFE)) throw unsafeNumber(name);
      row[name] = value as Row[string];
    }
    return row;
  };
}

export function unsafeNumber(column?: string): StorageError {
  const which = column === undefined ? 'A column' : `The column "${column}"`;
  return new StorageError('other', `${which} holds a number beyond 2^53; select it as CAST(… AS TEXT).`);
}
