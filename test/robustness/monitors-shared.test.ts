/**
 * Several processes share the monitors of one database, and are killed and paused: every turn of every monitor is taken
 * by one of them, the work is spread, and an outage is one incident and one alert. Single claims are tested in
 * test/monitoring/shared.test.ts.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type Service } from '../../src/app/service.js';
import type { Db } from '../../src/store/driver/db.js';
import { createLog } from '../../src/telemetry/log.js';
import { bareSite } from '../support/bare-site.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';
import { shortOrLong } from './soak.js';

const SITES = shortOrLong(120, 150);
/** One is paused and another killed at a time: of three, one continues. */
const PROCESSES = shortOrLong(3, 4);
/** A turn of 2.4 seconds: settings allow whole minutes only, the column any number. */
const INTERVAL_MIN = 0.04;
const INTERVAL_MS = INTERVAL_MIN * 60_000;
/** Claims last three beats. */
const BEAT_MS = 600;
const LEASE_MS = 3 * BEAT_MS;
/** Concurrent checks, of all processes together. */
const LIMIT = 8;
const QUIET_MS = shortOrLong(2 * INTERVAL_MS, 20 * INTERVAL_MS);
const ROUNDS = shortOrLong(1, 40);
/** Maximum wait of a monitor for a check, with any disturbance of the processes and on a busy machine. */
const LONGEST_GAP_MS = 10 * INTERVAL_MS;
/** One in this many sites is down for a while. */
const DOWN_EVERY = 12;

interface Check {
  site: number;
  at: number;
  by: string;
}

/** All sites behind one address: records who requested what, and when. */
async function startSites() {
  const checks: Check[] = [];
  const state = { down: false, inFlight: 0, most: 0 };
  const server = createServer((request, response) => {
    const site = Number(/^\/s(\d+)\//.exec(request.url ?? '')?.[1] ?? 0);
    // Site 0 is the reference address.
    if (site > 0) checks.push({ site, at: Date.now(), by: request.headers['user-agent'] ?? '' });
    if (site > 0) state.most = Math.max(state.most, ++state.inFlight);
    const ended = setTimeout(
      () => {
        if (site > 0) state.inFlight--;
        response.writeHead(state.down && site % DOWN_EVERY === 0 ? 500 : 200).end('a page');
      },
      20 + (site % 7) * 15,
    );
    ended.unref();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    checks,
    state,
    url: (site: number) => `http://127.0.0.1:${port}/s${site}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Sites = Awaited<ReturnType<typeof startSites>>;

interface Watcher {
  name: string;
  process: ChildProcess;
}

class Members {
  readonly runners: Watcher[] = [];
  readonly outcomes: { at: number; late: number; checked: number }[] = [];
  readonly events: string[] = [];
  #count = 0;
  readonly #program: Program;
  readonly #parts: object;

  constructor(program: Program, parts: object) {
    this.#program = program;
    this.#parts = parts;
  }

  async start(at: number): Promise<void> {
    const name = `runner-${++this.#count}`;
    const child = await this.#program.start({ ...this.#parts, name });
    if (child.stdout === null) throw new Error('no stdout');
    createInterface(child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as { outcome?: string; event?: string; site_id?: number };
      if (said.event?.startsWith('monitor.') === true) this.events.push(`${said.event} ${said.site_id}`);
      if (said.outcome === undefined) return;
      const number = (pattern: RegExp) => Number(pattern.exec(said.outcome ?? '')?.[1] ?? 0);
      this.outcomes.push({ at: Date.now(), late: number(/(\d+) came too late/), checked: number(/^(\d+) checked/) });
    });
    this.runners[at] = { name, process: child };
  }
}

/** Stores sites with a turn of seconds in the database, and returns a connection to it. */
async function seed(db: string, sites: Sites): Promise<{ service: Service; raw: Db; ids: number[] }> {
  let raw: Db | undefined;
  const service = await createService({
    config: testConfig({ db }),
    log: createLog('silent'),
    engine: 'inline',
    jobs: false,
    wrapDb: (opened) => {
      raw = opened;
      return opened;
    },
  });
  if (raw === undefined) throw new Error('the database was not opened');
  const add = async (site: number) => {
    const bare = bareSite(sites.url(site), { name: `Site ${site}` });
    return (await service.store.sites.add(bare, Date.now(), () => [])) ?? 0;
  };
  const ids: number[] = [];
  for (let first = 1; first <= SITES; first += 30)
    ids.push(...(await Promise.all(Array.from({ length: 30 }, (_, i) => add(first + i)))));
  await service.store.settings.write(
    [
      { key: 'monitoring.svc_uptime_monitoring_active', value: 1 },
      { key: 'monitoring.svc_uptime_monitoring_method', value: 'get' },
      { key: 'monitoring.svc_uptime_monitoring_down_confirmation_check', value: 1 },
      { key: 'advanced.svc_maximum_uptime_monitoring_requests', value: LIMIT },
    ],
    Date.now(),
  );
  await raw.run('UPDATE monitor SET interval_min = ?', [INTERVAL_MIN]);
  return { service, raw, ids };
}

/** The turn of its grid in which a site was checked: each stored check is followed by one of a later turn. */
function turnOf(id: number, at: number): number {
  const phase = (id * 0.6180339887498949) % 1;
  return Math.floor((at - Math.floor(phase * INTERVAL_MS)) / INTERVAL_MS);
}

/** Number of checks beyond one per turn of a site. Failing sites are left out: they are requested twice in a check. */
function extraChecks(checks: readonly Check[], ids: readonly number[]): number {
  const perTurn = new Map<string, number>();
  for (const { site, at } of checks) {
    if (site % DOWN_EVERY === 0) continue;
    const turn = `${site} ${turnOf(ids[site - 1] ?? 0, at)}`;
    perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
  }
  return [...perTurn.values()].reduce((sum, n) => sum + n - 1, 0);
}

/** Longest time that any site was not checked, within a span. */
function longestGap(checks: readonly Check[], from: number, until: number): number {
  const last = new Map(Array.from({ length: SITES }, (_, i) => [i + 1, from]));
  let longest = 0;
  for (const { site, at } of checks) {
    if (at < from || at > until) continue;
    longest = Math.max(longest, at - (last.get(site) ?? from));
    last.set(site, at);
  }
  return Math.max(longest, ...[...last.values()].map((at) => until - at));
}

async function until(what: () => Promise<boolean>, ms: number): Promise<void> {
  for (const end = Date.now() + ms; !(await what()); await pause(200)) if (Date.now() > end) return;
}

let runners: Program;
beforeAll(async () => {
  runners = await program('monitor-runner');
});

const kinds = [
  { kind: 'a file', needed: {} },
  { kind: 'a libSQL server', needed: needs('sqld') },
];

describe.each(kinds)(`monitors shared by ${PROCESSES} processes on $kind`, ({ kind, needed }) => {
  let folder: string;
  let server: Sqld | undefined;
  let sites: Sites;
  let members: Members;
  let service: Service;
  let raw: Db;
  let ids: number[];
  const down = Array.from({ length: Math.floor(SITES / DOWN_EVERY) }, (_, i) => (i + 1) * DOWN_EVERY);

  beforeAll(async () => {
    folder = tempFolder('monitors');
    server = kind === 'a file' ? undefined : await startSqld();
    sites = await startSites();
    const db = server === undefined ? `file:${join(folder, 'shared.db')}` : `http://${server.host}`;
    ({ service, raw, ids } = await seed(db, sites));
    members = new Members(runners, { config: service.config, beatMs: BEAT_MS, reference: sites.url(0) });
    await Promise.all(Array.from({ length: PROCESSES }, (_, i) => members.start(i)));
  });
  afterAll(async () => {
    await Promise.all((members?.runners ?? []).map((runner) => killProcess(runner.process)));
    await service?.stop();
    sites?.close();
    await server?.stop();
  });

  it('each turn is taken once, by any of them', needed, async () => {
    // Every process knows of the others, and the first round, of all sites at once, has begun.
    await pause(2 * BEAT_MS + 1_500);
    const from = Date.now();
    sites.state.most = 0;
    await pause(QUIET_MS);
    const till = Date.now();
    // Late results are reported at the end of a run.
    await pause(500);
    const checks = sites.checks.filter(({ at }) => at >= from && at < till);
    const late = members.outcomes.filter(({ at }) => at >= from).reduce((sum, outcome) => sum + outcome.late, 0);
    const shares = new Map(members.runners.map(({ name }) => [name, checks.filter(({ by }) => by === name).length]));
    const gap = longestGap(sites.checks, from, till);
    const extra = extraChecks(checks, ids);
    report({ kind, checks: checks.length, shares: [...shares.values()], gap, late, extra, most: sites.state.most });
    // Only checks that could not be stored in time are repeated, which may happen on a very busy machine.
    expect(extra).toBeLessThanOrEqual(late + checks.length / 100);
    expect(late).toBeLessThan(checks.length / 20);
    expect(checks.length).toBeGreaterThan(SITES * (QUIET_MS / INTERVAL_MS) * 0.5);
    expect(gap).toBeLessThan(LONGEST_GAP_MS);
    for (const share of shares.values()) expect(share).toBeGreaterThan(checks.length / PROCESSES / 3);
    expect(sites.state.most).toBeLessThanOrEqual(LIMIT);
  });

  it(`outages are reported once, through a pause and a kill, ${ROUNDS} times`, needed, async () => {
    const next = random(20_27);
    const from = Date.now();
    const lateBefore = members.outcomes.reduce((sum, { late }) => sum + late, 0);
    sites.state.down = true;
    for (let round = 0; round < ROUNDS; round++) await disturb(members, next);
    const isReported = (word: string) => async () =>
      (await raw.all('SELECT 1 FROM alert WHERE kind = ?', [word])).length >= down.length;
    await until(isReported('monitor.down'), 20_000);
    sites.state.down = false;
    await until(isReported('monitor.up'), 20_000);
    // A paused process has noticed by now; no more results may follow.
    await pause(INTERVAL_MS + 1_000);
    const till = Date.now();
    const checks = sites.checks.filter(({ at }) => at >= from);
    const late = members.outcomes.reduce((sum, outcome) => sum + outcome.late, 0) - lateBefore;
    const extra = extraChecks(checks, ids);
    const gap = longestGap(sites.checks, from, till);
    report({ kind, checks: checks.length, rounds: ROUNDS, late, extra, gap });

    await expectReportedOnce();
    // No turn has two results: beats of one monitor are of different turns.
    const beats = await raw.all('SELECT site_id, at FROM heartbeat');
    const turns = beats.map(({ site_id, at }) => `${site_id} ${turnOf(Number(site_id), Number(at))}`);
    expect(new Set(turns).size).toBe(turns.length);
    // Only checks that a killed or paused process had under way or could not store are repeated in a turn: its
    // places, and a portion.
    expect(extra).toBeLessThanOrEqual(late + ROUNDS * 2 * 3 * LIMIT);
    expect(gap).toBeLessThan(LONGEST_GAP_MS);
    const living = members.runners.map(({ name }) => checks.filter(({ by }) => by === name).length);
    expect(Math.min(...living)).toBeGreaterThan(0);
  });

  async function expectReportedOnce(): Promise<void> {
    const alerts = await raw.all('SELECT kind, site_id FROM alert ORDER BY kind, site_id');
    const expected = ['monitor.down', 'monitor.up'].flatMap((word) =>
      down.map((site) => ({ kind: word, site_id: ids[site - 1] })),
    );
    expect(alerts).toEqual(expected);
    const incidents = await raw.all('SELECT site_id, ended_at IS NULL AS open FROM incident ORDER BY site_id');
    expect(incidents).toEqual(down.map((site) => ({ site_id: ids[site - 1], open: 0 })));
    // A process may be killed between the alert and its event, but no event is sent twice.
    expect(new Set(members.events).size).toBe(members.events.length);
    const reported = new Set(expected.map((alert) => `${alert.kind} ${alert.site_id}`));
    expect(members.events.filter((event) => !reported.has(event))).toEqual([]);
  }
});

/** Stops one process for longer than its claims last, and meanwhile kills and restarts another. */
async function disturb(members: Members, next: () => number): Promise<void> {
  const paused = Math.floor(next() * PROCESSES);
  const killed = (paused + 1 + Math.floor(next() * (PROCESSES - 1))) % PROCESSES;
  // At a random moment of a second, so that some are hit in the middle of their checks.
  await pause(next() * 700);
  const sleeper = members.runners[paused]?.process;
  sleeper?.kill('SIGSTOP');
  // A process stopped during a write holds the lock of a file, so nothing waits for another process before it is woken.
  const awake = pause(LEASE_MS + 300 + next() * 500).then(() => sleeper?.kill('SIGCONT'));
  await pause(next() * 400);
  await killProcess(members.runners[killed]?.process as ChildProcess);
  await members.start(killed);
  await awake;
}

function report(facts: object): void {
  process.stderr.write(`${JSON.stringify(facts)}\n`);
}
