/**
 * A whole service in one process, over real storage and a simulated fleet; only the network and the clock are
 * simulated.
 */

import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { createService, type Service } from '../../src/app/service.js';
import { type Fleet, type FleetOptions, startFleet } from '../../src/demo/fleet.js';
import type { Ctx } from '../../src/domain/context.js';
import type { Pictures } from '../../src/outbound/pictures/pictures.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import type { Probe } from '../../src/outbound/probe/probe.js';
import type { Actor } from '../../src/runtime/actor.js';
import type { Clock } from '../../src/runtime/clock.js';
import { createClock, systemClock } from '../../src/runtime/clock.js';
import type { Config } from '../../src/runtime/config/types.js';
import { ServiceError } from '../../src/runtime/errors.js';
import type { Log } from '../../src/runtime/log.js';
import type { Progress } from '../../src/runtime/progress.js';
import { createLog } from '../../src/runtime/telemetry/log.js';
import { copyAndVerify } from '../../src/store/backups/copy.js';
import type { Db } from '../../src/store/driver/db.js';
import { runNextChunk } from './chunks.js';
import { closing } from './cleanup.js';
import { testConfig } from './config.js';
import { type CountingDb, countingDb } from './counting-db.js';
import { START } from './dates.js';
import { fillMigrated } from './migrated.js';

export { START, testConfig };

/** A clock that stands still until a test moves it. Sleepers wake and limits end when it passes their time. */
export interface HandClock extends Clock {
  /** Returns how many limits of requests ended. */
  move(ms: number): number;
  /** How many limits of requests would end if it moved by so much. */
  limitsWithin(ms: number): number;
  /** How many wait for time to pass. */
  sleeping(): number;
  /** Sets the wall clock forward or back, as a time service does: no time passes, so no sleeper wakes. */
  step(ms: number): void;
  /**
   * From now on time passes wherever something sleeps, and only there: it moves on to the moment for which the next
   * sleeper waits. Requests, however slow on a busy machine and whoever else sleeps meanwhile, take no time, so that
   * their own limits wait for `move`. Returns what ends this.
   */
  flow(): () => void;
}

export function handClock(start = START): HandClock {
  /** Elapsed time, and the offset of the wall clock from it. */
  let now = start;
  let off = 0;
  let sleepers: { at: number; wake: () => void }[] = [];
  let flows = 0;
  const timers = new Map<object, { at: number; run: () => void }>();
  const limits = new Map<AbortController, number>();
  const pass = (ms: number) => {
    now += ms;
    for (const [limit, at] of limits) if (at <= now) limit.abort();
    const due = sleepers.filter((sleeper) => sleeper.at <= now);
    sleepers = sleepers.filter((sleeper) => sleeper.at > now);
    for (const sleeper of due) sleeper.wake();
  };
  const move = (ms: number) => {
    pass(ms);
    let ended = 0;
    for (const [key, { at, run }] of timers) {
      if (at > now) continue;
      timers.delete(key);
      run();
      ended += 1;
    }
    return ended;
  };
  const moveOn = () => {
    if (flows > 0 && sleepers.length > 0) pass(Math.max(0, Math.min(...sleepers.map(({ at }) => at)) - now));
  };
  const clock = createClock({
    now: () => now + off,
    elapsed: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = {
          at: now + ms,
          // One signal often serves many sleeps.
          wake: () => {
            signal?.removeEventListener('abort', give);
            resolve();
          },
        };
        const give = () => {
          sleepers = sleepers.filter((each) => each !== sleeper);
          reject(signal?.reason);
        };
        if (signal?.aborted) give();
        else {
          signal?.addEventListener('abort', give, { once: true });
          sleepers.push(sleeper);
          if (flows > 0) setImmediate(moveOn);
        }
      }),
    after(ms, run) {
      const key = {};
      timers.set(key, { at: now + ms, run });
      return () => void timers.delete(key);
    },
    // Tests run the tasks of the timetable themselves, when they want them.
    cron: () => ({ stop: () => undefined }),
  });
  return {
    ...clock,
    deadline(ms) {
      const limit = new AbortController();
      limits.set(limit, now + ms);
      return { signal: limit.signal, clear: () => limits.delete(limit) };
    },
    step(ms) {
      off += ms;
    },
    move,
    sleeping: () => sleepers.length,
    limitsWithin: (ms) => [...timers.values()].filter(({ at }) => at <= now + ms).length,
    flow() {
      flows += 1;
      // One move for each that waits already, as each later one brings its own.
      for (let each = Math.max(sleepers.length, 1); each > 0; each--) setImmediate(moveOn);
      return () => {
        flows -= 1;
      };
    },
  };
}

export const ADMIN: Actor = {
  type: 'user',
  id: 1,
  name: 'admin',
  rights: ['read', 'write'],
  via: 'run',
};

/** The service itself, at scheduled work. */
export { SYSTEM } from '../../src/app/engine-services.js';

/** One key for all tests of a file, and shorter than those of the service: its signatures cost a fifth. */
export const testKey = promisify(generateKeyPair)('rsa', {
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).then(({ publicKey, privateKey }) => ({ public_key: publicKey, private_key: privateKey }));

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field; the schemas are checked elsewhere
export type Answer = any;

export interface TestApp {
  service: Service;
  clock: HandClock;
  db: CountingDb;
  fleet: Fleet;
  /** Runs an operation by its short name, e.g. `list-sites`. */
  call(
    name: string,
    input?: unknown,
    options?: { actor?: Actor; signal?: AbortSignal; progress?: (p: Progress) => void },
  ): Promise<Answer>;
  /** The same, for a call that must fail; returns the error. */
  fail(name: string, input?: unknown, options?: { actor?: Actor }): Promise<ServiceError>;
  /** The context of a call, for tests of functions that operations use. */
  ctx(options?: { actor?: Actor; signal?: AbortSignal | undefined }): Ctx;
  /** Works off the queued jobs, with the pauses between their chunks; for apps made with `jobs: false`. */
  drain(): Promise<void>;
  /** Connects site number `i` of the fleet and returns its id. */
  connect(i: number): Promise<number>;
  /** For tests of what happens then: an app is closed after its test, or after the file if it was made outside of one. */
  close(): Promise<void>;
}

export interface TestOptions {
  config?: Partial<Config>;
  fleet?: Partial<FleetOptions>;
  sites?: number;
  /** The monitors' network; by default one that reaches only the fleet. */
  probe?: Probe;
  /** The browser that looks at pages; by default none does. */
  pictures?: Pictures;
  /** Use the wall clock instead of a manual one. */
  realClock?: boolean;
  /** False: queued jobs wait until the test runs them. */
  jobs?: boolean;
  /** The folder of the built page. */
  pageFolder?: string;
  /** Where log lines go; by default nowhere. */
  log?: Log;
}

/** Reaches loopback only: without reference sites for the online check, and without registries. */
function localProbe(): Probe {
  const probe = createProbe({
    allowPrivate: true,
    references: [],
    rdapBootstrapUrl: 'http://127.0.0.1:9/',
    whoisRoot: '127.0.0.1:9',
  });
  // Requests to the archive of wordpress.org fail.
  const there = (url: string) => /^(127\.|\[::1\]|localhost)/.test(new URL(url).host);
  return {
    ...probe,
    http: (asked) => probe.http(there(asked.url) ? asked : { ...asked, url: 'http://127.0.0.1:9/' }),
  };
}

export async function testApp(options: TestOptions = {}): Promise<TestApp> {
  const clock = handClock();
  const used = options.realClock ? systemClock : clock;
  const fleet = await startFleet({
    sites: options.sites ?? 3,
    seed: 7,
    password: 'secret',
    now: used.now,
    ...options.fleet,
  });
  let counting: CountingDb | undefined;
  const config = testConfig(options.config);
  const service = await createService({
    config,
    clock: used,
    log: options.log ?? createLog(config.log_level),
    engine: 'inline',
    sharedKey: await testKey,
    probe: options.probe ?? localProbe(),
    pictures: options.pictures,
    ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
    copyDatabase: copyAndVerify,
    prepareDb: config.db === ':memory:' ? fillMigrated : undefined,
    ...(options.pageFolder === undefined ? {} : { pageFolder: options.pageFolder }),
    wrapDb: (db: Db) => {
      counting = countingDb(db);
      return counting;
    },
  });
  const operation = (name: string) => {
    const found = service.operations.find(({ id }) => id === `svc/${name}-v1`);
    if (found === undefined) throw new Error(`no operation ${name}`);
    return found;
  };
  let closed: Promise<void> | undefined;
  const app: TestApp = {
    service,
    get clock() {
      if (options.realClock === true)
        throw new Error('This app runs by the wall clock; the manual one says nothing of it.');
      return clock;
    },
    get db() {
      if (counting === undefined) throw new Error('the database was not opened');
      return counting;
    },
    fleet,
    call: async (name, input = {}, { actor = ADMIN, signal, progress } = {}) =>
      (await service.invoke(operation(name), input, {
        actor,
        request_id: 'test',
        signal: signal ?? new AbortController().signal,
        progress,
      })) as Answer,
    fail: async (name, input, options) => {
      try {
        await app.call(name, input, options);
      } catch (error) {
        if (error instanceof ServiceError) return error;
        throw error;
      }
      throw new Error(`${name} was expected to fail`);
    },
    ctx: ({ actor = ADMIN, signal = new AbortController().signal } = {}) =>
      service.ctx({ actor, request_id: 'test', signal }),
    async drain() {
      if (options.jobs !== false)
        throw new Error('the jobs of this app run in the background: make it with `jobs: false`');
      while (await runNextChunk(app.ctx(), 'test')) clock.move(60_000);
    },
    async connect(i) {
      const site = fleet.site(i);
      const added = await app.call('add-site', {
        url: site.url,
        admin: site.admin,
        admin_password: site.password,
        unique_id: site.uniqueId,
      });
      return Number(added.id);
    },
    close() {
      closed ??= service.stop().then(() => fleet.close());
      return closed;
    },
  };
  return closing(app);
}
