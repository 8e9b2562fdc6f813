import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LatencyBook } from '../../src/outbound/child/pacing/latency.js';
import { type PaceClock, type PaceLimits, Pacer } from '../../src/outbound/child/pacing/pacer.js';
import type { Turn } from '../../src/outbound/child/pacing/types.js';
import { ChildFailure } from '../../src/outbound/child/port.js';
import { random } from '../support/processes/program.js';

/** A clock that advances only when everything waits for it. */
class VirtualClock implements PaceClock {
  time = 0;
  #timers: { at: number; order: number; callback: () => void; dead: boolean }[] = [];
  #order = 0;

  now = (): number => this.time;

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, order: this.#order++, callback, dead: false };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#timers[middle];
      if (other !== undefined && (other.at > timer.at || (other.at === timer.at && other.order > timer.order)))
        low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return () => {
      timer.dead = true;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  async drain(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#timers.pop();
      if (next === undefined) return;
      if (next.dead) continue;
      this.time = Math.max(this.time, next.at);
      next.callback();
    }
  }
}

interface Job {
  host: string;
  site: string;
  ms: number;
}

interface Outcome {
  makespan: number;
  maxRunning: number;
  maxPerHost: number;
  starts: Map<string, number[]>;
}

async function simulate(jobs: readonly Job[], limits: PaceLimits, latency = new LatencyBook()): Promise<Outcome> {
  const clock = new VirtualClock();
  const pacer = new Pacer(limits, clock, latency);
  const inFlight = new Map<string, number>();
  const outcome: Outcome = { makespan: 0, maxRunning: 0, maxPerHost: 0, starts: new Map() };
  let running = 0;
  const all = jobs.map((job) =>
    pacer.run({ host: job.host, site: job.site }, async () => {
      const here = (inFlight.get(job.host) ?? 0) + 1;
      inFlight.set(job.host, here);
      outcome.maxRunning = Math.max(outcome.maxRunning, ++running);
      outcome.maxPerHost = Math.max(outcome.maxPerHost, here);
      outcome.starts.set(job.host, [...(outcome.starts.get(job.host) ?? []), clock.time]);
      await clock.sleep(job.ms);
      running--;
      inFlight.set(job.host, (inFlight.get(job.host) ?? 1) - 1);
    }),
  );
  await clock.drain();
  await Promise.all(all);
  outcome.makespan = clock.time;
  return outcome;
}

/** Makespan of assigning each job, in order, to the first free slot. */
function greedyBound(jobs: readonly Job[], slots: number): number {
  const free = new Array<number>(slots).fill(0);
  for (const job of jobs) {
    let best = 0;
    for (let slot = 1; slot < slots; slot++) if ((free[slot] ?? 0) < (free[best] ?? 0)) best = slot;
    free[best] = (free[best] ?? 0) + job.ms;
  }
  return Math.max(...free);
}

function hostBound(jobs: readonly Job[], limits: PaceLimits): number {
  const perHost = new Map<string, number>();
  let total = 0;
  for (const job of jobs) {
    total += job.ms;
    perHost.set(job.host, (perHost.get(job.host) ?? 0) + job.ms);
  }
  return Math.max(total / limits.concurrency, Math.max(...perHost.values()) / limits.perHost);
}

const distributions: Record<string, (index: number, next: () => number) => number> = {
  '50 equal hosts': (index) => index % 50,
  '200 equal hosts': (index) => index % 200,
  'each its own': (index) => index,
  'zipf over 200': (_, next) => Math.floor(200 ** next()),
  'one host has a tenth': (index) => (index % 10 === 0 ? 0 : 1 + (index % 300)),
};

function jobsOf(distribution: (index: number, next: () => number) => number, seed: number, count = 1_000): Job[] {
  const next = random(seed);
  return Array.from({ length: count }, (_, index) => ({
    host: `h${distribution(index, next)}`,
    site: `s${index}`,
    ms: 300 + next() * 1_700,
  }));
}

const limits = (concurrency: number, perHost: number): PaceLimits => ({
  concurrency,
  perHost,
  perHostDelayMs: 0,
  minDelayMs: 0,
});

describe('how close the order of calls comes to the best possible', () => {
  it.each([20, 50, 100, 200])('reaches 0.95 of greedy list scheduling at %i at once', async (concurrency) => {
    const jobs = jobsOf((index) => index, 7);
    const outcome = await simulate(jobs, limits(concurrency, 2));
    expect(greedyBound(jobs, concurrency) / outcome.makespan).toBeGreaterThanOrEqual(0.95);
    expect(outcome.maxRunning).toBeLessThanOrEqual(concurrency);
  });

  for (const [name, distribution] of Object.entries(distributions)) {
    for (const concurrency of [20, 50, 100]) {
      for (const perHost of [1, 2]) {
        it(`reaches 0.9 of the bound with limits per host: ${name}, ${concurrency} at once, ${perHost} per host`, async () => {
          const jobs = jobsOf(distribution, 11);
          const latency = new LatencyBook();
          const bound = hostBound(jobs, limits(concurrency, perHost));
          const first = await simulate(jobs, limits(concurrency, perHost), latency);
          const second = await simulate(jobs, limits(concurrency, perHost), latency);
          for (const outcome of [first, second]) {
            expect(outcome.maxRunning).toBeLessThanOrEqual(concurrency);
            expect(outcome.maxPerHost).toBeLessThanOrEqual(perHost);
          }
          expect(bound / first.makespan).toBeGreaterThanOrEqual(0.9);
          // Once it has learned how long each site takes.
          expect(bound / second.makespan).toBeGreaterThanOrEqual(0.95);
        });
      }
    }
  }
});

describe('limits', () => {
  it('keeps the delays between starts, in all and per host', async () => {
    const jobs = jobsOf((index) => index % 3, 3, 30);
    const outcome = await simulate(jobs, { concurrency: 50, perHost: 5, perHostDelayMs: 500, minDelayMs: 40 });
    const every = [...outcome.starts.values()].flat().sort((a, b) => a - b);
    expect(every).toHaveLength(30);
    for (const starts of outcome.starts.values()) {
      for (let i = 1; i < starts.length; i++)
        expect((starts[i] ?? 0) - (starts[i - 1] ?? 0)).toBeGreaterThanOrEqual(500);
    }
    for (let i = 1; i < every.length; i++) expect((every[i] ?? 0) - (every[i - 1] ?? 0)).toBeGreaterThanOrEqual(40);
    // Ten starts on each host, half a second apart, and not much more.
    expect(outcome.makespan).toBeLessThan(9 * 500 + 2_000 + 500);
  });

  it('a raised limit lets waiting calls go at once', async () => {
    const clock = new VirtualClock();
    const pacer = new Pacer(limits(1, 1), clock);
    const all = [1, 2, 3, 4].map((n) => pacer.run({ host: 'h', site: `s${n}` }, () => clock.sleep(100)));
    expect(pacer.running).toBe(1);
    pacer.configure({ concurrency: 4, perHost: 4 });
    expect(pacer.running).toBe(4);
    await clock.drain();
    await Promise.all(all);
    expect(clock.time).toBe(100);
  });
});

describe('kinds of calls', () => {
  it('a kind at its own limit waits without taking a place from the others or its host', async () => {
    const clock = new VirtualClock();
    const kinds = { sync: 3, update: 1 };
    const pacer = new Pacer({ concurrency: 10, perHost: 2, perHostDelayMs: 0, minDelayMs: 0, kinds }, clock);
    const running = { sync: 0, update: 0, other: 0 };
    const most = { sync: 0, update: 0, other: 0 };
    const ended: string[] = [];
    const run = (kind: keyof typeof running, host: string, ms: number) =>
      pacer.run({ host, site: `${kind} ${host}`, kind }, async () => {
        most[kind] = Math.max(most[kind], ++running[kind]);
        await clock.sleep(ms);
        running[kind]--;
        ended.push(`${kind} ${host} ${clock.time}`);
      });
    const all = [
      ...Array.from({ length: 9 }, (_, i) => run('sync', `s${i}`, 1_000)),
      ...Array.from({ length: 3 }, () => run('update', 's0', 1_000)),
      run('other', 's8', 10),
    ];
    await clock.drain();
    await Promise.all(all);
    expect(most).toEqual({ sync: 3, update: 1, other: 1 });
    expect(ended[0]).toBe('other s8 10');
    expect(clock.time).toBe(3_000);
  });

  it('syncs under a limit of their own are begun in the order that ends soonest', async () => {
    const clock = new VirtualClock();
    const latency = new LatencyBook();
    const limits = { concurrency: 50, perHost: 2, perHostDelayMs: 0, minDelayMs: 0, kinds: { sync: 10 } };
    const pacer = new Pacer(limits, clock, latency);
    const next = random(3);
    const jobs = Array.from({ length: 100 }, (_, i) => ({ host: `h${i}`, ms: 300 + Math.floor(next() * 1_700) }));
    for (const { host, ms } of jobs) latency.learn(host, host, ms);
    const all = jobs.map(({ host, ms }) => pacer.run({ host, site: host, kind: 'sync' }, () => clock.sleep(ms)));
    await clock.drain();
    await Promise.all(all);
    const best = jobs.reduce((total, { ms }) => total + ms, 0) / 10;
    expect(best / clock.time).toBeGreaterThan(0.95);
  });
});

describe('fairness', () => {
  it('a lone site is served while a crowded host keeps getting more work', async () => {
    const clock = new VirtualClock();
    const pacer = new Pacer(limits(1, 1), clock);
    let started = 0;
    let lonelyAfter = -1;
    const crowd = (): Promise<void> =>
      pacer.run({ host: 'crowd', site: 'c' }, async () => {
        started++;
        if (started < 100) void crowd();
        await clock.sleep(10);
      });
    for (let i = 0; i < 20; i++) void crowd();
    void pacer.run({ host: 'lonely', site: 'l' }, async () => {
      lonelyAfter = started;
    });
    await clock.drain();
    expect(lonelyAfter).toBeGreaterThan(0);
    expect(lonelyAfter).toBeLessThan(100);
  });

  it('a call for one site goes before those of a look at many, and both before bulk work that waited longer', async () => {
    const clock = new VirtualClock();
    const pacer = new Pacer(limits(1, 1), clock);
    const order: string[] = [];
    const add = (site: string, host: string, turn: Turn): Promise<void> =>
      pacer.run({ host, site, turn }, async () => {
        order.push(site);
        await clock.sleep(10);
      });
    for (const n of [1, 2]) void add(`bulk${n}`, 'h', 'bulk');
    for (const n of [1, 2]) void add(`many${n}`, n === 1 ? 'h' : 'g', 'many');
    void add('one', 'h', 'one');
    await clock.drain();
    expect(order).toEqual(['bulk1', 'one', 'many1', 'many2', 'bulk2']);
  });
});

describe('cancelling', () => {
  it('takes a queued call out and leaves the slot to the next', async () => {
    const clock = new VirtualClock();
    const pacer = new Pacer(limits(1, 1), clock);
    const control = new AbortController();
    const first = pacer.run({ host: 'h', site: 'a' }, () => clock.sleep(50));
    let ran = false;
    const second = pacer.run({ host: 'h', site: 'b', signal: control.signal }, async () => {
      ran = true;
    });
    const third = pacer.run({ host: 'h', site: 'c' }, () => clock.sleep(50));
    control.abort();
    await expect(second).rejects.toMatchObject({ kind: 'cancelled', mayHaveRun: false });
    await clock.drain();
    await Promise.all([first, third]);
    expect(ran).toBe(false);
    expect(clock.time).toBe(100);
    expect([pacer.running, pacer.queued]).toEqual([0, 0]);
  });

  it('cancels ten thousand waiting calls by one signal, in a time that grows with their number', async () => {
    const cancelAll = async (calls: number): Promise<number> => {
      const pacer = new Pacer(limits(1, 1), new VirtualClock());
      const control = new AbortController();
      setMaxListeners(0, control.signal);
      void pacer.run({ host: 'h', site: 'a' }, () => new Promise(() => undefined));
      const all = Array.from({ length: calls }, (_, i) =>
        pacer
          .run({ host: 'h', site: `s${i}`, signal: control.signal }, () => Promise.resolve())
          .catch((error: unknown) => error),
      );
      // In CPU time: a busy machine slows few and many alike.
      const began = process.cpuUsage();
      control.abort();
      const errors = await Promise.all(all);
      const { user, system } = process.cpuUsage(began);
      expect(errors.every((error) => error instanceof ChildFailure && error.kind === 'cancelled')).toBe(true);
      expect(pacer.queued).toBe(0);
      return user + system;
    };
    const few = Math.max(await cancelAll(1000), await cancelAll(1000));
    // In the square of their number it would take a hundred times as long.
    expect(Math.min(await cancelAll(10_000), await cancelAll(10_000))).toBeLessThan(60 * few);
  });

  it('close cancels what waits and refuses what comes', async () => {
    const pacer = new Pacer(limits(1, 1), new VirtualClock());
    void pacer.run({ host: 'h', site: 'a' }, () => new Promise(() => undefined));
    const waiting = pacer.run({ host: 'h', site: 'b' }, () => Promise.resolve());
    pacer.close();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    await expect(pacer.run({ host: 'x', site: 'c' }, () => Promise.resolve())).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });
});
