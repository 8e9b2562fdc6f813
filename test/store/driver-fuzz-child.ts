/**
 * Drives the embedded wrapper with random arguments in random order and compares every answer with a model. It runs in
 * its own process, because native libsql aborts the process on some arguments. Arguments: seed, milliseconds. Prints
 * one line of JSON with statistics; exits with 1 at the first difference.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Db, Row, Statement, Value } from '../../src/store/driver/db.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';

const [seed = 1, duration = 1000] = process.argv.slice(2).map(Number);

let state = seed >>> 0;
function random(below: number): number {
  // mulberry32: small, seeded, good enough to pick cases
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) % below;
}
function pick<T>(from: readonly T[]): T {
  return from[random(from.length)] as T;
}

/** The value expected back for a bound one; `REFUSED` for arguments that must not reach the driver. */
const REFUSED = Symbol('refused');
const specimens: ReadonlyArray<readonly [given: unknown, back: unknown]> = [
  [null, null],
  ['', ''],
  ['text', 'text'],
  ['ü🦊', 'ü🦊'],
  ['x'.repeat(5000), 'x'.repeat(5000)],
  [0, 0],
  [-0, 0],
  [42, 42],
  [-7, -7],
  [0.25, 0.25],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [5n, 5],
  [true, 1],
  [false, 0],
  [new Uint8Array([1, 0, 2]), Buffer.from([1, 0, 2])],
  [Buffer.alloc(0), Buffer.alloc(0)],
  [Buffer.from('abc').subarray(1), Buffer.from('bc')],
  [new Uint8Array(new SharedArrayBuffer(4)), Buffer.alloc(4)],
  [undefined, REFUSED],
  [Number.NaN, REFUSED],
  [Number.NEGATIVE_INFINITY, REFUSED],
  [2 ** 53, REFUSED],
  [2n ** 63n, REFUSED],
  ['a\0b', REFUSED],
  [{}, REFUSED],
  [{ a: 1 }, REFUSED],
  [[], REFUSED],
  [[1, 2], REFUSED],
  [new Date(0), REFUSED],
  [new Map(), REFUSED],
  [new ArrayBuffer(2), REFUSED],
  [new Float64Array(1), REFUSED],
  [new DataView(new ArrayBuffer(2)), REFUSED],
  [new Proxy({}, {}), REFUSED],
  [Object.create(null), REFUSED],
  [Symbol('s'), REFUSED],
  [() => 1, REFUSED],
  [Promise.resolve(1), REFUSED],
  [/x/, REFUSED],
  [new Boolean(true), REFUSED],
  [new String('s'), REFUSED],
];

const INSERT = 'INSERT INTO t (k, v) VALUES (?, ?)';
const RETURNING = 'INSERT INTO t (k, v) VALUES (?, ?), (?, ?) RETURNING k, v';
const UPDATE = 'UPDATE t SET v = ? WHERE k = ?';
const DELETE = 'DELETE FROM t WHERE k = ?';
const SELECT = 'SELECT k, v FROM t WHERE k = ?';
const RANGE = 'SELECT k, v FROM t WHERE k >= ? AND k < ? ORDER BY k';
const ECHO = 'SELECT ? AS a, ? AS b';
const MIXED = 'SELECT count(*) AS n FROM t';

const done: Record<string, number> = {};
/** The expected keys and values of the table. */
const model = new Map<number, unknown>();
let db = await open();

function differ(step: string, got: unknown, want: unknown): never {
  const show = (value: unknown) =>
    JSON.stringify(value, (_key, inner) =>
      typeof inner === 'symbol' || typeof inner === 'bigint' ? String(inner) : inner,
    );
  process.stdout.write(
    `${JSON.stringify({ seed, step, got: show(got)?.slice(0, 500), want: show(want)?.slice(0, 500) })}\n`,
  );
  process.exit(1);
}

const UNIQUE = 'unique';
async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError) return REFUSED;
    if (error instanceof Error && 'kind' in error) return error.kind;
    throw error;
  }
}
async function check(step: string, work: () => Promise<unknown>, want: unknown): Promise<void> {
  done[step] = (done[step] ?? 0) + 1;
  const got = await outcome(work);
  if (!isDeepStrictEqual(got, want)) differ(step, got, want);
}

function anyCall(on: Db, text: string, args?: readonly Value[]): Promise<unknown> {
  return pick([() => on.all(text, args), () => on.one(text, args), () => on.run(text, args)])();
}

const range = (from: number, to: number): Row[] =>
  [...model.entries()]
    .filter(([k]) => k >= from && k < to)
    .sort(([a], [b]) => a - b)
    .map(([k, v]) => ({ k, v }) as Row);

const steps: Array<() => Promise<void>> = [
  async function insert() {
    const k = random(60);
    const [given, back] = pick(specimens);
    const args = [k, given] as Value[];
    const want = back === REFUSED ? REFUSED : model.has(k) ? UNIQUE : { changes: 1, lastId: k };
    if (typeof want === 'object') model.set(k, back);
    await check('insert', () => db.run(INSERT, args), want);
  },
  async function insertReturning() {
    const [a, b] = [random(60), random(60)];
    const [given1, back1] = pick(specimens);
    const [given2, back2] = pick(specimens);
    const args = [a, given1, b, given2] as Value[];
    const refused = back1 === REFUSED || back2 === REFUSED;
    const clash = a === b || model.has(a) || model.has(b);
    const rows = [
      { k: a, v: back1 },
      { k: b, v: back2 },
    ];
    if (!refused && !clash) for (const { k, v } of rows) model.set(k, v);
    const fails = refused ? REFUSED : UNIQUE;
    if (random(2)) await check('returning.all', () => db.all(RETURNING, args), refused || clash ? fails : rows);
    else
      await check('returning.run', () => db.run(RETURNING, args), refused || clash ? fails : { changes: 2, lastId: 0 });
  },
  async function update() {
    const k = random(60);
    const [given, back] = pick(specimens);
    const want = back === REFUSED ? REFUSED : { changes: model.has(k) ? 1 : 0, lastId: 0 };
    if (back !== REFUSED && model.has(k)) model.set(k, back);
    await check('update', () => db.run(UPDATE, [given, k] as Value[]), want);
  },
  async function remove() {
    const k = random(60);
    const want = { changes: model.delete(k) ? 1 : 0, lastId: 0 };
    await check('delete', () => db.run(DELETE, [k]), want);
  },
  async function one() {
    const k = random(60);
    await check('one', () => db.one(SELECT, [k]), range(k, k + 1)[0]);
  },
  async function all() {
    const from = random(60);
    await check('all', () => db.all(RANGE, [from, from + 20]), range(from, from + 20));
  },
  async function runSelect() {
    await check('run a select', () => db.run(RANGE, [0, random(60)]), { changes: 0, lastId: 0 });
  },
  async function echo() {
    const [given1, back1] = pick(specimens);
    const [given2, back2] = pick(specimens);
    const refused = back1 === REFUSED || back2 === REFUSED;
    const want = refused ? REFUSED : [{ a: back1, b: back2 }];
    await check('echo', () => db.all(ECHO, [given1, given2] as Value[]), want);
  },
  async function wrongCount() {
    const args = Array.from({ length: pick([0, 1, 3, 4]) }, () => pick(specimens)[0]) as Value[];
    await check('wrong count', () => anyCall(db, ECHO, args), REFUSED);
  },
  async function noArray() {
    const args = pick([{ 0: 1, 1: 2 }, null, 'ab', 2, new Uint8Array(2), true]) as unknown as Value[];
    await check('no array', () => anyCall(db, ECHO, args), REFUSED);
  },
  async function read() {
    const [from, k] = [random(60), random(60)];
    const statements: Statement[] = [
      { sql: RANGE, args: [from, 60] },
      { sql: SELECT, args: [k] },
      { sql: MIXED, args: [] },
    ];
    await check('read', () => db.read(statements), [range(from, 60), range(k, k + 1), [{ n: model.size }]]);
  },
  async function batch() {
    // Keys beyond 100 are only written here; the batch fails as a whole when one of its statements does.
    const draft = new Map(model);
    const statements: Statement[] = [];
    const results: unknown[] = [];
    let failure: unknown;
    for (let i = 1 + random(4); i > 0 && failure === undefined; i--) {
      const k = 100 + random(8);
      const [given, back] = pick(specimens);
      statements.push({ sql: INSERT, args: [k, given] as Value[] }, { sql: SELECT, args: [k] });
      if (back === REFUSED) failure = REFUSED;
      else if (draft.has(k)) failure = UNIQUE;
      draft.set(k, back);
      results.push({ rows: [], changes: 1, lastId: k }, { rows: [{ k, v: back }], changes: 0, lastId: 0 });
    }
    if (failure === undefined) for (const [k, v] of draft) model.set(k, v);
    await check('batch', () => db.batch(statements), failure ?? results);
    if (model.size > 90) await clear();
  },
  async function errors() {
    await check('no table', () => anyCall(db, 'SELECT * FROM missing'), 'other');
    await check('syntax', () => db.all('SELEKT 1'), 'other');
  },
  async function reopen() {
    const old = db;
    if (random(10) > 0) return;
    await old.close();
    await check('closed', () => anyCall(old, MIXED), 'unavailable');
    model.clear();
    db = await open();
  },
];

async function clear(): Promise<void> {
  model.clear();
  await db.run('DELETE FROM t');
}

async function open(): Promise<Db> {
  // A cache smaller than the number of statements, so that they are constantly prepared and dropped.
  const opened = openEmbedded(':memory:', { mode: 'writer', cacheStatements: pick([1, 3, 100]) });
  await opened.script('CREATE TABLE t (k INTEGER PRIMARY KEY, v)');
  return opened;
}

const end = Date.now() + duration;
while (Date.now() < end) for (let i = 0; i < 200; i++) await pick(steps)();
await db.close();
process.stdout.write(`${JSON.stringify({ seed, done })}\n`);
