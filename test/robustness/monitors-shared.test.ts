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
import { createLog } from '../../src/runtime/telemetry/log.js';
import type { Db } from '../../src/store/driver/db.js';
import { bareSite } from '../support/bare-site.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { testConfig } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { type Program, pause, program, random } from '../support/processes/program.js';
import { type Sqld, startSqld } from '../support/sqld.js';
import { shortOrLong } from './soak.js';

const SITES = shortOrLong(24, 150);
/** One is paused and another killed at a time: of three, one continues. */
const PROCESSES = shortOrLong(3, 4);
/** A turn of 2.4 seconds: settings allow whole minutes only, the column any number. */
const INTERVAL_MIN = 0.04;
const INTERVAL_MS = INTERVAL_MIN * 60_000;
/** The service's own, by which a process has to stall for 15 s to lose what it has claimed. */
const CALM_BEAT_MS = 5_000;
/** Claims last three beats. */
const BEAT_MS = 600;
const LEASE_MS = 3 * BEAT_MS;
/** Concurrent checks, of all processes together. */
const LIMIT = 8;
/** Checks of every site before the first test looks. */
const TURNS = shortOrLong(2, 20);
const ROUNDS = shortOrLong(1, 40);
/** One in this many sites is down for a while. */
const DOWN_EVERY = 12;

interface Check {
  site: number;
  by: string;
}

/** All sites behind one address: records who requested what. */
async function startSites() {
  const checks: Check[] = [];
  const state = { down: false, inFlight: 0, most: 0 };
  const server = createServer((request, response) => {
    const site = Number(/^\/s(\d+)\//.exec(request.url ?? '')?.[1] ?? 0);
    // Site 0 is the reference address.
    if (site > 0) checks.push({ site, by: request.headers['user-agent'] ?? '' });
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

let started = 0;

class Members {
  readonly runners: Watcher[] = [];
  readonly events: string[] = [];
  #late = 0;
  readonly #program: Program;
  readonly #parts: object;

  constructor(program: Program, parts: object) {
    this.#program = program;
    this.#parts = parts;
  }

  async start(at: number): Promise<void> {
    const name = `runner-${++started}`;
    const child = await this.#program.start({ ...this.#parts, name });
    if (child.stdout === null) throw new Error('no stdout');
    createInterface(child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as { outcome?: string; event?: string; site_id?: number };
      if (said.event?.startsWith('monitor.') === true) this.events.push(`${said.event} ${said.site_id}`);
      this.#late += Number(/(\d+) late/.exec(said.outcome ?? '')?.[1] ?? 0);
    });
    this.runners[at] = { name, process: child };
  }

  /** How many checks were not stored because another process had taken the turn meanwhile. */
  late(): number {
    return this.#late;
  }

  /** The processes that made none of these checks. */
  idle(checks: readonly Check[]): string[] {
    const busy = new Set(checks.map(({ by }) => by));
    return this.runners.map(({ name }) => name).filter((name) => !busy.has(name));
  }

  /** Lets each store what it has, and end. */
  async stop(): Promise<void> {
    await Promise.all(
      this.runners.splice(0).map(async ({ process: child }) => {
        child.stdin?.end();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }),
    );
  }

  async kill(): Promise<void> {
    await Promise.all(this.runners.map(({ process: child }) => killProcess(child)));
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

/** How often the site that was checked least was checked. */
function fewestChecks(checks: readonly Check[]): number {
  const counts = new Map<number, number>();
  for (const { site } of checks) counts.set(site, (counts.get(site) ?? 0) + 1);
  return counts.size < SITES ? 0 : Math.min(...counts.values());
}

let runners: Program;
beforeAll(async () => {
  runners = await program('monitor-runner');
});

const kinds = [
  { kind: 'a file', needed: {} },
  { kind: 'a libSQL server', needed: needs('sqld') },
];

describe.each(kinds)('monitors shared by processes on $kind', ({ kind, needed }) => {
  let server: Sqld | undefined;
  let sites: Sites;
  let service: Service;
  let raw: Db;
  let ids: number[];
  let members: Members;
  const down = Array.from({ length: Math.floor(SITES / DOWN_EVERY) }, (_, i) => (i + 1) * DOWN_EVERY);

  beforeAll(async () => {
    server = kind === 'a file' ? undefined : await startSqld();
    sites = await startSites();
    const db = server === undefined ? `file:${join(tempFolder('monitors'), 'shared.db')}` : `http://${server.host}`;
    ({ service, raw, ids } = await seed(db, sites));
  });
  afterAll(async () => {
    await members?.kill();
    await service?.stop();
    sites?.close();
    await server?.stop();
  });

  const begin = async (beatMs: number, processes: number) => {
    members = new Members(runners, { config: service.config, beatMs, reference: sites.url(0) });
    await Promise.all(Array.from({ length: processes }, (_, i) => members.start(i)));
  };

  it('each turn is taken once, by any of them', needed, async () => {
    await begin(CALM_BEAT_MS, shortOrLong(2, PROCESSES));
    await expect.poll(() => fewestChecks(sites.checks)).toBeGreaterThanOrEqual(TURNS);
    await expect.poll(() => members.idle(sites.checks)).toEqual([]);
    await members.stop();
    const turns = await storedTurns();
    const late = members.late();
    report({ kind, checks: sites.checks.length, stored: turns.length, late, most: sites.state.most });
    expect(new Set(turns).size).toBe(turns.length);
    // If several took a turn, all but one of them would be too late. A process that stalls for longer than its claims
    // last is late, too.
    expect(late).toBeLessThan(turns.length / 2);
    expect(sites.state.most).toBeLessThanOrEqual(LIMIT);
  });

  it(`outages are reported once, through a pause and a kill, ${ROUNDS} times`, needed, async () => {
    await begin(BEAT_MS, PROCESSES);
    await expect.poll(() => members.idle(sites.checks)).toEqual([]);
    const next = random(20_27);
    sites.state.down = true;
    for (let round = 0; round < ROUNDS; round++) await disturb(members, next);
    const reported = async (kindOfAlert: string) =>
      (await raw.all('SELECT 1 FROM alert WHERE kind = ?', [kindOfAlert])).length;
    await expect.poll(() => reported('monitor.down')).toBeGreaterThanOrEqual(down.length);
    sites.state.down = false;
    await expect.poll(() => reported('monitor.up')).toBeGreaterThanOrEqual(down.length);
    // All work, also the one that was paused, and check every site again: nothing more may be reported.
    const before = sites.checks.length;
    await expect.poll(() => members.idle(sites.checks.slice(before))).toEqual([]);
    await expect.poll(() => fewestChecks(sites.checks.slice(before))).toBeGreaterThan(0);
    await members.stop();
    await expectReportedOnce();
    // No turn has two results: beats of one monitor are of different turns.
    const turns = await storedTurns();
    report({ kind, checks: sites.checks.length, stored: turns.length, rounds: ROUNDS, late: members.late() });
    expect(new Set(turns).size).toBe(turns.length);
  });

  /** The turns of all stored checks. */
  async function storedTurns(): Promise<string[]> {
    const beats = await raw.all('SELECT site_id, at FROM heartbeat');
    return beats.map(({ site_id, at }) => `${site_id} ${turnOf(Number(site_id), Number(at))}`);
  }

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
