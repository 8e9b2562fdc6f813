/**
 * Monitors and certificates distributed by claims: several processes on one file, each a separate service, with a
 * manual clock.
 */

import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runDueMonitors } from '../../src/domain/monitoring/due-monitors.js';
import { checkMonitor } from '../../src/domain/monitoring/edit.js';
import { runCertificates } from '../../src/domain/monitoring/expiry-checks.js';
import type { CertificateAnswer, HttpAnswer, Probe } from '../../src/outbound/probe/probe.js';
import type { Members } from '../../src/runtime/cluster/members.js';
import { type Row, StorageError, type Value } from '../../src/store/driver/db.js';
import { tempFolder } from '../support/cleanup.js';
import { type HandClock, handClock } from '../support/harness.js';
import { answers, type MonitoringApp, monitoringApp, silence } from './monitoring-app.js';

const MINUTE = 60_000;
const LEASE = 30_000;

/** One process: the answers of its network, and the requests it received. */
interface Side {
  app: MonitoringApp;
  asked: string[];
  reply(url: string): HttpAnswer | Promise<HttpAnswer>;
  online: boolean;
  references: number;
  members: Members;
  /** This many of the next writes of matching statements find the database busy. */
  busy: { statement: string; times: number };
  run(): Promise<string>;
}

let folder = '';
let clock: HandClock;
let sides: Side[] = [];
let ids: number[] = [];

async function open(file: string, members: Partial<Members>, probe: Partial<Probe>): Promise<Side> {
  const full: Members = {
    host: 'a',
    leaseMs: LEASE,
    join: async () => undefined,
    count: () => 2,
    slots: (limit) => Math.floor(limit / 2),
    part: () => ({ index: 0, of: 2 }),
    ...members,
  };
  const busy: Side['busy'] = { statement: 'INSERT INTO heartbeat', times: 0 };
  const side: Side = {
    app: await monitoringApp(
      {
        http: ({ url }) => {
          side.asked.push(url);
          return side.reply(url);
        },
        probe: {
          online: async () => {
            side.references++;
            return side.online;
          },
          ...probe,
        },
      },
      {
        db: file,
        clock,
        wrapDb: (db) => {
          const refuse = (statement: string) => {
            if (!statement.includes(busy.statement) || busy.times-- <= 0) return;
            throw new StorageError('busy', 'database is locked');
          };
          return {
            ...db,
            kind: db.kind,
            all: async <T extends Row>(text: string, args?: readonly Value[]) => {
              refuse(text);
              return db.all<T>(text, args);
            },
            one: (text, args) => db.one(text, args),
            run: (text, args) => db.run(text, args),
            batch: async (statements) => {
              for (const { sql } of statements) refuse(sql);
              return db.batch(statements);
            },
            read: (statements) => db.read(statements),
            script: (text) => db.script(text),
            close: () => db.close(),
          };
        },
      },
    ),
    asked: [],
    reply: () => answers(200),
    online: true,
    references: 0,
    members: full,
    busy,
    run: () => runDueMonitors(side.app.ctx(), full),
  };
  return side;
}

/** Two processes, on separate machines unless `hosts` says otherwise, and `n` sites checked every five minutes. */
async function start(
  n: number,
  { hosts = ['a', 'b'], probe = {} as Partial<Probe>, settings = {} } = {},
): Promise<[Side, Side]> {
  folder = tempFolder('shared');
  clock = handClock();
  const file = `file:${join(folder, 'shared.db')}`;
  for (const host of hosts) sides.push(await open(file, { host }, probe));
  const [first, second] = sides as [Side, Side];
  ids = await first.app.addSites(n);
  await first.app.settings({
    svc_uptime_monitoring_active: 1,
    svc_uptime_monitoring_interval: 5,
    svc_uptime_monitoring_down_confirmation_check: 0,
    ...settings,
  });
  return [first, second];
}

afterEach(() => {
  sides = [];
});

const beats = async () =>
  (await (sides[0] as Side).app.db.all('SELECT site_id, status FROM heartbeat ORDER BY id')).map((row) => [
    row.site_id,
    row.status,
  ]);
const alerts = async () =>
  (await (sides[0] as Side).app.db.all('SELECT kind FROM alert ORDER BY id')).map(({ kind }) => kind);
const named = (side: Side) =>
  side.app.events.map(({ name }) => name).filter((name) => /^(monitor|network|certificate)\./.test(name));
const turnOf = async (id: number) =>
  Number((await (sides[0] as Side).app.service.store.monitors.one(id))?.next_check_at);

/** An answer that arrives when the test gives it. */
function later(): { answer: Promise<HttpAnswer>; give(answer: HttpAnswer): void } {
  let give: (answer: HttpAnswer) => void = () => undefined;
  const answer = new Promise<HttpAnswer>((resolve) => {
    give = resolve;
  });
  return { answer, give: (value) => give(value) };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Advances the clock until the run is over. */
async function until(running: Promise<unknown>): Promise<void> {
  let over = false;
  running.catch(() => undefined).finally(() => (over = true));
  for (; !over; clock.move(500)) await pause(5);
}

describe('a claim', () => {
  it('is had by one process, and none takes more than its part of what is due', async () => {
    const [first, second] = await start(11);
    await first.run();
    clock.move(10 * MINUTE);
    const take = (side: Side, most: number, members: number) =>
      side.app.service.store.monitorClaims.claim(clock.now(), clock.now() + LEASE, { most, members });
    const portions = [await take(first, 100, 4), await take(second, 100, 4), await take(first, 2, 4)];
    // A quarter of 11, then of the 8 left, and no more than requested.
    expect(portions.map(({ rows }) => rows.length)).toEqual([3, 2, 2]);
    const rest = await take(second, 100, 1);
    const taken = [...portions, rest].flatMap(({ rows }) => rows.map(({ site_id }) => site_id));
    expect(taken.sort((a, b) => a - b)).toEqual(ids);
    expect((await take(first, 100, 1)).rows).toEqual([]);
    expect(rest.rows[0]).toEqual({
      ...(await first.app.service.store.monitors.one(Number(rest.rows[0]?.site_id))),
    });
  });

  it('that many want at once goes to one of them', async () => {
    const [first, second] = await start(200);
    await Promise.all([first.run(), second.run(), first.run(), second.run()]);
    expect(first.asked.length + second.asked.length).toBe(200);
    expect(new Set([...first.asked, ...second.asked]).size).toBe(200);
    expect(Math.min(first.asked.length, second.asked.length)).toBeGreaterThan(50);
    expect(await beats()).toHaveLength(200);
  });

  it('lapses with a process that died, and no sooner', async () => {
    const [first, second] = await start(1);
    await second.run();
    clock.move(5 * MINUTE);
    await first.app.service.store.monitorClaims.claim(clock.now(), clock.now() + LEASE, { most: 9, members: 1 });
    clock.move(LEASE - 1);
    await second.run();
    expect(second.asked).toHaveLength(1);
    clock.move(1);
    await second.run();
    expect(second.asked).toHaveLength(2);
  });

  it('is kept for as long as a slow site takes', async () => {
    const [first, second] = await start(1);
    const slow = later();
    first.reply = () => slow.answer;
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(1);
    for (let s = 0; s < 120; s += 5) {
      const before = await turnOf(ids[0] ?? 0);
      clock.move(5_000);
      // The run checks every two seconds, and renews its claims when a third of their time has passed.
      if (before - clock.now() < (LEASE * 2) / 3) await expect.poll(() => turnOf(ids[0] ?? 0)).toBeGreaterThan(before);
      expect(await second.run()).toBe('0 checked, 0 alerts');
    }
    slow.give(answers(200));
    expect(await running).toBe('1 checked, 0 alerts');
    expect(second.asked).toEqual([]);
  });

  it('goes back at once when its process stops', async () => {
    const [first, second] = await start(3);
    const abort = new AbortController();
    first.reply = () =>
      new Promise((_, reject) => abort.signal.addEventListener('abort', () => reject(abort.signal.reason)));
    const running = runDueMonitors({ ...first.app.ctx(), signal: abort.signal }, first.members);
    await expect.poll(() => first.asked.length).toBe(3);
    abort.abort(new Error('stopping'));
    clock.move(2_000);
    await expect(running).rejects.toThrow('stopping');
    await second.run();
    expect(second.asked).toHaveLength(3);
    expect(second.app.events.filter(({ name }) => name.startsWith('monitor.'))).toEqual([]);
  });

  it('ends with any change of the plan', async () => {
    const [first, second] = await start(1);
    const slow = later();
    first.reply = () => slow.answer;
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(1);
    await second.app.service.store.sites.mark(ids, { suspended: true });
    await second.app.service.store.sites.mark(ids, { suspended: false });
    await second.run();
    expect(second.asked).toHaveLength(1);
    slow.give(answers(500));
    expect(await running).toBe('0 checked, 0 alerts, 1 late');
    expect(await beats()).toEqual([[ids[0], 1]]);
  });
});

describe('a process that was paused', () => {
  it('does not write what another has looked at since', async () => {
    const [first, second] = await start(1);
    const slow = later();
    first.reply = () => slow.answer;
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(1);
    // A process that wakes up has no place before it has registered again.
    Object.assign(first.members, { slots: () => 0 } satisfies Partial<Members>);
    clock.move(LEASE + 1);
    await second.run();
    slow.give(answers(500));
    expect(await running).toBe('0 checked, 0 alerts, 1 late');
    expect(await beats()).toEqual([[ids[0], 1]]);
    expect(await alerts()).toEqual([]);
  });

  it('is refused by the database, should it not notice itself', async () => {
    const [first, second] = await start(1);
    const { store } = first.app.service;
    const until = clock.now() + LEASE;
    const { rows } = await store.monitorClaims.claim(clock.now(), until, { most: 1, members: 1 });
    const [monitor] = rows;
    if (monitor === undefined) throw new Error('nothing was claimed');
    clock.move(LEASE);
    const { rows: again } = await second.app.service.store.monitorClaims.claim(clock.now(), clock.now() + LEASE, {
      most: 1,
      members: 1,
    });
    expect(again[0]?.seq).toBe(monitor.seq);
    const stale = {
      site_id: monitor.site_id,
      seq: monitor.seq,
      claim: until,
      at: clock.now(),
      beat: {
        status: 0,
        important: true,
        ping_ms: null,
        http_code: 500,
        duration: 0,
        down_count: 1,
        msg: 'stale',
      },
      state: { confirmed: 0, reported: 0, failures: 1, flapping_until: null },
      next_check_at: clock.now() + MINUTE,
      hours: [{ hour: 1, up_s: 1, down_s: 0, pending_s: 0, ping_ms: null }],
      incident: 'open' as const,
      alert: {
        key: 'k',
        kind: 'monitor.down' as const,
        site_id: monitor.site_id,
        at: clock.now(),
        facts: { url: monitor.url, name: monitor.name, http_code: 503, msg: 'stale' },
      },
    };
    const before = await store.monitors.one(monitor.site_id);
    expect(await store.monitorResults.record([stale])).toEqual({ stored: new Set(), alerts: [] });
    expect(await store.monitors.one(monitor.site_id)).toEqual(before);
    for (const table of ['heartbeat', 'incident', 'alert', 'monitor_hour'])
      expect(await first.app.db.all(`SELECT * FROM ${table}`)).toEqual([]);
    // Nor does it release, renew or end claims that are not its own.
    const old = [{ site_id: monitor.site_id, until }];
    expect(await store.monitorClaims.move(old, clock.now(), clock.now())).toEqual(new Set());
    await store.monitorClaims.pause(old, clock.now());
    expect(await store.monitors.one(monitor.site_id)).toEqual(before);
    // The holder of the claim may.
    const fresh = { ...stale, claim: clock.now() + LEASE };
    expect((await store.monitorResults.record([fresh])).alerts).toHaveLength(1);
  });

  it('does not start what it had queued, nor believe what it measured before', async () => {
    const [first] = await start(8);
    // Two places: two checks are under way, two more are claimed.
    Object.assign(first.members, { slots: () => 2, count: () => 1 } satisfies Partial<Members>);
    const slow = later();
    first.reply = () => (first.asked.length <= 2 ? slow.answer : answers(200));
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(2);
    clock.move(LEASE + 1);
    slow.give(answers(200));
    expect(await running).toBe('8 checked, 0 alerts, 2 late');
    // The two late ones were checked again, the others once.
    expect(first.asked).toHaveLength(10);
    expect(new Set(first.asked).size).toBe(8);
  });
});

describe('a database that is busy', () => {
  it('for a moment costs no second look', async () => {
    const [first] = await start(5);
    first.busy.times = 3;
    const running = first.run();
    for (let i = 0; i < 3; i++) {
      await expect.poll(() => first.busy.times).toBe(2 - i);
      await pause(5);
      clock.move(1_000);
    }
    expect(await running).toBe('5 checked, 0 alerts');
    expect(first.asked).toHaveLength(5);
    expect(await beats()).toHaveLength(5);
  });

  it('for longer ends the run, and the process that comes first checks again what was seen', async () => {
    const [first, second] = await start(5);
    first.busy.times = Number.POSITIVE_INFINITY;
    const running = first.run();
    running.catch(() => undefined);
    await until(running);
    await expect(running).rejects.toThrow('locked');
    await second.run();
    expect(second.asked).toHaveLength(5);
    expect(await beats()).toHaveLength(5);
  });

  it('does not disturb looks under way when more cannot be claimed', async () => {
    const [first] = await start(60);
    Object.assign(first.members, { slots: () => 10, count: () => 1 } satisfies Partial<Members>);
    await first.run();
    clock.move(5 * MINUTE);
    const slow = later();
    first.asked.length = 0;
    first.reply = () => (first.asked.length <= 20 ? slow.answer : answers(200));
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(10);
    Object.assign(first.busy, { statement: 'UPDATE monitor SET next_check_at = ?1', times: 1 });
    slow.give(answers(200));
    await until(running);
    expect(await running).toBe('20 checked, 0 alerts');
    // The next run takes the rest.
    expect(await first.run()).toBe('40 checked, 0 alerts');
  });
});

describe('a check by hand', () => {
  it('of a claimed monitor counts; the look under way then does not', async () => {
    const [first, second] = await start(1);
    const slow = later();
    first.reply = () => slow.answer;
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(1);
    const seen = await checkMonitor(second.app.ctx(), ids[0] ?? 0);
    expect(seen).toMatchObject({ uptime_status: 'up', status: 'up' });
    slow.give(answers(500));
    expect(await running).toBe('0 checked, 0 alerts, 1 late');
    expect(await beats()).toEqual([[ids[0], 1]]);
  });

  it('that began before a claim is stored, too', async () => {
    const [first, second] = await start(1);
    const slow = later();
    second.reply = () => slow.answer;
    const byHand = checkMonitor(second.app.ctx(), ids[0] ?? 0);
    await expect.poll(() => second.asked.length).toBe(1);
    await first.app.service.store.monitorClaims.claim(clock.now(), clock.now() + LEASE, { most: 1, members: 1 });
    slow.give(answers(200));
    expect((await byHand).status).toBe('up');
    expect(await beats()).toHaveLength(1);
  });
});

describe('the settings', () => {
  it('make one new plan when several processes see that they changed', async () => {
    const [first, second] = await start(3);
    await first.run();
    const seqs = async () =>
      (await first.app.db.all('SELECT seq FROM monitor ORDER BY site_id')).map(({ seq }) => Number(seq));
    const before = await seqs();
    await first.app.settings({ svc_uptime_monitoring_interval: 60 });
    await Promise.all([first.run(), second.run()]);
    expect(await seqs()).toEqual(before.map((seq) => seq + 1));
  });

  it('that were read before another process made the plan do not undo it', async () => {
    const [first] = await start(1);
    await first.run();
    const { monitors } = first.app.service.store;
    const { planned } = await monitors.outlook(clock.now(), 'a');
    const turn = await turnOf(ids[0] ?? 0);
    await monitors.replan({ active: 0, interval_min: 60 }, { before: 'another', after: 'mine' }, clock.now());
    expect((await monitors.outlook(clock.now(), 'a')).planned).toBe(planned);
    expect(await turnOf(ids[0] ?? 0)).toBe(turn);
  });
});

describe('the limit of checks at once', () => {
  it('is respected by a process without a place: it checks and claims nothing', async () => {
    const [first] = await start(3);
    Object.assign(first.members, { slots: () => 0 } satisfies Partial<Members>);
    expect(await first.run()).toBe('nothing: other processes hold all slots');
    expect(first.asked).toEqual([]);
    expect(await turnOf(ids[0] ?? 0)).toBe(0);
  });

  it('that shrinks during a run is kept: what was queued goes to the others', async () => {
    const [first, second] = await start(20);
    let places = 4;
    Object.assign(first.members, { slots: () => places, count: () => 1 } satisfies Partial<Members>);
    const slow = later();
    first.reply = () => slow.answer;
    const running = first.run();
    await expect.poll(() => first.asked.length).toBe(4);
    places = 0;
    slow.give(answers(200));
    clock.move(2_000);
    expect(await running).toBe('4 checked, 0 alerts');
    await second.run();
    expect(second.asked).toHaveLength(16);
  });
});

describe('a cut of the network', () => {
  it('of one machine opens no incident: the others look in its place, at once', async () => {
    const [first, second] = await start(40);
    await Promise.all([first.run(), second.run()]);
    const known = first.asked.length + second.asked.length;
    clock.move(5 * MINUTE);
    first.online = false;
    first.reply = () => silence();
    const outcome = await first.run();
    expect(outcome).toMatch(/^0 checked, 0 alerts, \d+ postponed: our own network is down$/);
    // The monitors it had claimed are due again for the others.
    await second.run();
    expect(await beats()).toHaveLength(known + 40);
    // It takes on nothing while it is offline, and tests its connection only when something is due.
    const asked = first.asked.length;
    const references = first.references;
    await first.run();
    expect([first.asked.length, first.references]).toEqual([asked, references]);
    for (let i = 0; i < 30; i++) {
      clock.move(MINUTE);
      await first.run();
      await second.run();
    }
    expect(first.asked.length).toBe(asked);
    first.online = true;
    first.reply = () => answers(200);
    clock.move(5 * MINUTE);
    await first.run();
    expect(first.asked.length).toBeGreaterThan(asked);
    expect(named(first)).toEqual(['network.down', 'network.up']);
    expect(named(second)).toEqual([]);
    expect(await alerts()).toEqual([]);
  });

  it('of a machine that never saw a reference is known from the others that did', async () => {
    const [first, second] = await start(2);
    Object.assign(first.members, { count: () => 1 } satisfies Partial<Members>);
    await first.run();
    clock.move(5 * MINUTE);
    second.online = false;
    second.reply = () => silence();
    await second.run();
    expect(await alerts()).toEqual([]);
    expect(named(second)).toEqual(['network.down']);
  });

  it('is reported once by several processes of one machine', async () => {
    const [first, second] = await start(40, { hosts: ['a', 'a'] });
    await Promise.all([first.run(), second.run()]);
    for (const side of [first, second]) {
      side.online = false;
      side.reply = () => silence();
    }
    clock.move(5 * MINUTE);
    await Promise.all([first.run(), second.run()]);
    clock.move(2 * MINUTE);
    await Promise.all([first.run(), second.run()]);
    for (const side of [first, second]) {
      side.online = true;
      side.reply = () => answers(200);
    }
    clock.move(2 * MINUTE);
    await Promise.all([first.run(), second.run()]);
    expect([...named(first), ...named(second)].sort()).toEqual(['network.down', 'network.up']);
    expect(await alerts()).toEqual([]);
  });

  it('is not what a portion of one silent site is taken for', async () => {
    const [first, second] = await start(1);
    await first.run();
    clock.move(5 * MINUTE);
    second.reply = () => silence();
    expect(await second.run()).toBe('1 checked, 1 alerts');
    expect(await alerts()).toEqual(['monitor.down']);
  });
});

describe('one outage', () => {
  it('is one incident and one alert, whichever process sees each part of it', async () => {
    const [first, second] = await start(10, {
      settings: { svc_uptime_monitoring_down_confirmation_check: 1 },
    });
    const order = [first, second, first, first, second];
    for (const [turn, one] of order.entries()) {
      for (const side of [first, second]) side.reply = () => (turn >= 1 && turn <= 3 ? answers(500) : answers(200));
      const other = one === first ? second : first;
      Object.assign(one.members, { count: () => (turn % 2) + 1 } satisfies Partial<Members>);
      await Promise.all([one.run(), other.run()]);
      clock.move(5 * MINUTE);
    }
    expect(await alerts()).toEqual([...Array(10).fill('monitor.down'), ...Array(10).fill('monitor.up')]);
    expect([...named(first), ...named(second)].sort()).toEqual([
      ...Array(10).fill('monitor.down'),
      ...Array(10).fill('monitor.up'),
    ]);
    const [count] = await first.app.db.all('SELECT count(*) AS n, sum(ended_at IS NULL) AS open FROM incident');
    expect(count).toEqual({ n: 10, open: 0 });
  });
});

describe('certificates', () => {
  const seen = (): CertificateAnswer => ({ ip: '', facts: null, failure: { kind: 'timed_out', message: 'late' } });

  it('are looked at by one process each', async () => {
    const hosts: string[] = [];
    const probe: Partial<Probe> = {
      certificate: async ({ host }) => {
        hosts.push(host);
        return seen();
      },
    };
    const [first, second] = await start(300, { probe });
    const outcomes = await Promise.all([
      runCertificates(first.app.ctx(), first.members),
      runCertificates(second.app.ctx(), second.members),
    ]);
    expect(hosts).toHaveLength(300);
    expect(new Set(hosts).size).toBe(300);
    const counts = outcomes.map((text) => Number.parseInt(text, 10));
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(300);
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });

  it('that were seen too late leave nothing', async () => {
    const waiting: (() => void)[] = [];
    let message = 'first';
    const probe: Partial<Probe> = {
      certificate: () => {
        const said = message;
        return new Promise((resolve) => {
          const give = () => resolve({ ip: '', facts: null, failure: { kind: 'timed_out', message: said } });
          if (said === 'first') waiting.push(give);
          else give();
        });
      },
    };
    const [first, second] = await start(1, { probe });
    const paused = runCertificates(first.app.ctx(), first.members);
    await expect.poll(() => waiting.length).toBe(1);
    message = 'second';
    expect(await runCertificates(second.app.ctx(), second.members)).toBe('0 checked, 0 alerts');
    clock.move(5 * MINUTE);
    expect(await runCertificates(second.app.ctx(), second.members)).toBe('1 checked, 0 alerts');
    for (const give of waiting) give();
    expect(await paused).toBe('0 checked, 0 alerts');
    const [row] = await first.app.db.all('SELECT error FROM site_certificate');
    expect(row).toEqual({ error: 'second' });
  });
});
