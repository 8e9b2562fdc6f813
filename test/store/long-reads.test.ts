/**
 * No statement of the serving thread is long, however large the fleet: every read of every way in, on ten thousand sites, in
 * steps of SQLite's machine, which do not depend on the computer. What needs more goes to the engine.
 */

import { beforeAll, expect, it } from 'vitest';
import { benchVault } from '../../bench/lib/database.js';
import { readOnlyContexts } from '../../src/app/read-only-context.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { createEvents } from '../../src/runtime/events.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import type { Db, Row, Statement } from '../../src/store/driver/db.js';
import { openEmbedded } from '../../src/store/driver/embedded.js';
import { readsBy } from '../../src/store/driver/gathered-reads.js';
import { createStore } from '../../src/store/store.js';
import { routes } from '../../src/surfaces/rest/index.js';
import { operations } from '../../tools/index.js';
import { type Read, readsOf } from '../support/all-reads.js';
import { closing } from '../support/cleanup.js';
import { testConfig } from '../support/config.js';
import { ADMIN, handClock, START } from '../support/harness.js';
import { fillLargeFleet } from '../support/large-fleet.js';
import { fillMigrated } from '../support/migrated.js';

/** Ten milliseconds, at 33 nanoseconds a step. */
const STEPS = 300_000;

let db: Db;
/** Statements of the serving thread since they were last looked at. */
const served = new Set<string>();
let call: (read: Read) => Promise<unknown>;

beforeAll(async () => {
  // SQLite counts for each statement that is kept.
  db = closing(openEmbedded(':memory:', { mode: 'writer', cacheStatements: 5_000 }));
  await fillMigrated(db);
  await fillLargeFleet(db, START);
  const main = readsBy((statements) => {
    for (const { sql } of statements) served.add(sql);
    return db.read(statements);
  });
  // The engine reads each statement once, whatever its arguments: how long it takes is no matter here.
  const known = new Map<string, Promise<Row[][]>>();
  const engine = readsBy((statements: readonly Statement[]) => {
    const key = JSON.stringify(statements.map(({ sql }) => sql));
    const rows = known.get(key) ?? db.read(statements);
    known.set(key, rows);
    return rows;
  });
  const clock = handClock();
  const log = createLog('silent');
  const store = createStore({ ...main, kind: db.kind } as Db, benchVault(), engine);
  const contexts = readOnlyContexts({ store, clock, config: testConfig(), log, events: createEvents(clock, log) });
  const ctx = contexts({
    actor: { ...ADMIN, rights: ['read', 'write', 'approve'] },
    request_id: 'test',
    signal: new AbortController().signal,
    base_url: 'http://127.0.0.1/',
  });
  call = async ({ of, input }) => {
    const operation = operations.find(({ id }) => id === of);
    if (operation !== undefined) return operation.call(input, ctx);
    const route = routes.find(({ key }) => key === of);
    if (route === undefined) throw new Error(`There is no ${of}.`);
    if (route.module !== undefined) requireModule(ctx, route.module);
    return route.answer(route.params().parse(input), ctx);
  };
});

const TARGETS = [
  ...operations
    .filter(({ effect, engine }) => effect === 'read' && !engine)
    .map(({ id, input }) => readsOf(id, input().shape)),
  ...routes
    .filter(({ needs, engine }) => needs === 'read' && !engine)
    .map((route) => readsOf(route.key, route.params().shape, route.pathParams)),
];

it('are none on the serving thread', async () => {
  const counted = new Map<string, { nstep: number; run: number }>();
  const long: string[] = [];
  const unanswered: string[] = [];
  for (const reads of TARGETS) {
    const refusals: unknown[] = [];
    for (const read of reads) {
      await call(read).catch((error: unknown) => refusals.push(error));
      const rows = await db.all<{ sql: string; nstep: number; run: number }>(
        'SELECT sql, nstep, run FROM sqlite_stmt WHERE sql IN (SELECT value FROM json_each(?))',
        [JSON.stringify([...served])],
      );
      served.clear();
      for (const { sql, nstep, run } of rows) {
        const before = counted.get(sql) ?? { nstep: 0, run: 0 };
        counted.set(sql, { nstep, run });
        const steps = Math.round((nstep - before.nstep) / (run - before.run));
        if (steps > STEPS) long.push(`${steps} steps: ${read.of} ${JSON.stringify(read.input)}: ${sql}`);
      }
    }
    if (refusals.length === reads.length) unanswered.push(`${reads[0]?.of}: ${refusals[0]}`);
  }
  expect(long).toEqual([]);
  // Figures of tools that have reported none.
  expect(unanswered.filter((text) => !text.includes('No tool has reported'))).toEqual([]);
});
