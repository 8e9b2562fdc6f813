/**
 * What the log costs a call, for every operation: one row in the batch of its first change, and if it contacted sites one
 * about its end in the batch of what it did. Reads cost nothing.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { approvalRules } from '../../src/domain/approvals/rules.js';
import { type Ctx, withOperation } from '../../src/domain/context.js';
import type { Operation } from '../../src/operation/operation.js';
import type { Statement, Value } from '../../src/store/driver/db.js';
import { everyOperation } from '../operations/cases.js';
import { type TestApp, testApp } from '../support/harness.js';

const SITES = 4;

/** One round trip: its statements. */
type Trip = readonly Statement[];

interface Cost {
  name: string;
  effect: Operation['effect'];
  /** Whether it contacted sites: then what it stores depends on how long that took. */
  reached: boolean;
  /** On several sites at once, whose changes may share a transaction or not. */
  multi: boolean;
  /** Rows about the call itself. */
  called: number;
  ended: number;
  /** Round trips that only store a row about the call. */
  alone: number;
  /** All rows of the log, by the round trips that stored them. */
  rows: string[][];
  /** All that was stored and read, but what the recorder of events does. */
  trips: number;
  statements: number;
}

/** Which rows of the log a statement stores: about a call, or what was done. */
const rowsOf = ({ sql, args }: Statement) =>
  sql.includes('INTO action_log (')
    ? (JSON.parse(String(args[0])) as { context: string; action: string }[]).map(({ context, action }) =>
        context === 'call' ? action : 'done',
      )
    : [];
/** What the recorder of events does for any call, and the first look at the end of the log. */
const isOther = (statement: Statement) =>
  /nullif\(name, ''\)|FROM action_log_head/.test(statement.sql) ||
  (rowsOf(statement).length > 0 && rowsOf(statement).every((row) => row === 'done'));

function costOf(name: string, { effect, multi }: Operation, reached: boolean, trips: readonly Trip[]): Cost {
  const own = trips.filter((trip) => !trip.every(isOther));
  const stored = trips.map((trip) => trip.flatMap(rowsOf)).filter((rows) => rows.length > 0);
  const count = (action: string) => stored.flat().filter((row) => row === action).length;
  const aboutCall = (rows: readonly string[]) => rows.length > 0 && !rows.includes('done');
  return {
    ...{ name, effect, reached, multi, called: count('called'), ended: count('ended') },
    alone: own.filter((trip) => trip.every((statement) => aboutCall(rowsOf(statement)))).length,
    ...{ rows: stored, trips: own.length, statements: own.flat().length },
  };
}

/** Notes every round trip from now on. */
function noted({ db }: TestApp): Trip[] {
  const trips: Trip[] = [];
  const { all, one, run, batch, read } = db;
  const alone =
    <T>(call: (sql: string, args: readonly Value[]) => T) =>
    (sql: string, args: readonly Value[] = []) => {
      trips.push([{ sql, args }]);
      return call(sql, args);
    };
  const together =
    <T>(call: (trip: Trip) => T) =>
    (trip: Trip) => {
      trips.push(trip);
      return call(trip);
    };
  Object.assign(db, {
    all: alone(all),
    one: alone(one),
    run: alone(run),
    batch: together(batch),
    read: together(read),
  });
  return trips;
}

/** The cost of every working call. */
async function costs(context: (ctx: Ctx) => Ctx): Promise<Cost[]> {
  const app = await testApp({ sites: SITES, jobs: false, config: { batch_threshold: 3, job_delay_ms: 0 } });
  for (let i = 0; i < SITES; i++) await app.connect(i);
  const trips = noted(app);
  const requests = () => app.fleet.sites.reduce((sum, site) => sum + site.requests, 0);
  const found: Cost[] = [];
  await everyOperation(app, SITES, async ({ name, input }) => {
    const operation = app.service.operations.find(({ id }) => id === `svc/${name}-v1`);
    if (operation === undefined) throw new Error(`no operation ${name}`);
    // What is waiting to be logged is stored before.
    await app.call('list-tags');
    trips.length = 0;
    const before = requests();
    const answer = await operation.call(input, context(withOperation(app.ctx(), operation.id)));
    await app.call('list-tags');
    found.push(costOf(name, operation, requests() > before, trips));
    return answer;
  });
  return found;
}

let logged: Cost[];
let bare: Cost[];
beforeAll(async () => {
  logged = await costs((ctx) => ctx);
  bare = await costs((ctx) => ({
    ...ctx,
    record: (_ctx, _input, work) => work(),
    async change(own, { input }, work) {
      // Whatever is logged, the rules of approvals are read.
      if ((input as { dry_run?: boolean }).dry_run !== true) await approvalRules(own);
      return work();
    },
  }));
});

/** Each call with the same one without the log. */
const pairs = () => logged.map((cost, at) => [cost, bare[at] as Cost] as const);

describe('the log', () => {
  it('costs no call that reads anything', () => {
    const reads = pairs().filter(([{ effect }]) => effect === 'read');
    expect(reads.length).toBeGreaterThan(50);
    for (const [cost, without] of reads)
      expect(cost).toMatchObject(cost.reached ? { called: 0, ended: 0 } : { ...without });
  });

  it('costs a change of records one row, in the batch of the change', () => {
    const records = pairs().filter(([{ effect, reached }]) => effect !== 'read' && !reached);
    expect(records.length).toBeGreaterThan(30);
    for (const [cost, without] of records) {
      const { name, called, multi } = cost;
      expect([name, called <= 1]).toEqual([name, true]);
      expect(cost).toMatchObject({ name: without.name, ended: 0, alone: 0, statements: without.statements + called });
      // Changes of several sites that would share a transaction wait for the first of them.
      if (!multi) expect(cost).toMatchObject({ name, trips: without.trips });
    }
  });

  it('costs a call that changes sites a row before that, and one about its end; a sync or a check one', () => {
    const onSites = pairs().filter(([{ effect, reached }]) => effect !== 'read' && reached);
    expect(onSites.length).toBeGreaterThan(20);
    for (const [{ name, called, ended, alone }] of onSites) {
      const most = /^(sync|check|suspend|unsuspend|disconnect|reconnect)-/.test(name) ? [1, 0, 0] : [1, 1, 2];
      expect([name, [called, ended, alone].map((n, at) => n <= Number(most[at]))]).toEqual([name, [true, true, true]]);
    }
  });

  it('stores the end of a call after all that the call did, and in the batch of that', () => {
    const acted = logged.filter(({ ended, rows }) => ended > 0 && rows.flat().includes('done'));
    expect(acted.length).toBeGreaterThan(15);
    for (const { name, rows } of acted) expect([name, rows.flat().at(-1)]).toEqual([name, 'ended']);
    // What a slow call did may have been stored before.
    const together = acted.filter(({ rows }) => rows.at(-1)?.includes('done'));
    expect(together.length).toBeGreaterThan(acted.length / 2);
    for (const { name, alone } of together) expect([name, alone <= 1]).toEqual([name, true]);
  });
});
