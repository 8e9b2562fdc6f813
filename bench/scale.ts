/**
 * Simulates a large fleet: `npm run bench:scale [-- --sites 100000 --rate 0.1 --workers 2 --minutes 5]`. Stores the
 * fleet on its own libSQL server, starts `sitefleet work` processes of the built program on it, answers for the sites
 * from another process, and reports how much of the due work was done, how late, and at what cost. See docs/scale.md.
 *
 * `--rate` is the share of the real pace: at 0.1 a day's work is spread over ten days. All sites are stored and
 * monitored; the turns of their monitors are ten times as far apart, and ten times fewer syncs come due per minute.
 */

import { generateKeyPair } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import type { Db } from '../src/store/driver/db.js';
import { benchVault, openWriter } from './lib/database.js';
import { type Helper, startHelper } from './lib/process.js';
import { outcomeOf, Ticks } from './lib/scale-outcome.js';
import { report, type Usage, usageOf } from './lib/scale-report.js';
import { dueWithin, type Pace, planFleet, storeFleet } from './lib/scale-seed.js';
import {
  addressesFor,
  type ScaleSitesCounts,
  type ScaleSitesReady,
  type ScaleSitesSpec,
  scaleSiteUrl,
} from './lib/scale-sites.js';
import { databaseOf, startStorageServer } from './lib/sqld.js';
import type { WireCounts, WireReady, WireSpec } from './lib/storage-wire.js';
import { startWorker, type Worker } from './lib/worker.js';

const SERVER = 'https://bench.invalid/wp-admin/';
const PLUGINS = 30;
const KEYS = 100;
/** Time for the processes to find each other and their leases before counting starts. */
const SETTLE_MS = 15_000;
/** Work begun within the counted time may end after it. */
const GRACE_MS = 10_000;
const LONGEST_GRACE_MS = 300_000;

function options() {
  const { values } = parseArgs({
    options: {
      sites: { type: 'string', default: '100000' },
      rate: { type: 'string', multiple: true, default: ['0.1'] },
      workers: { type: 'string', default: '2' },
      minutes: { type: 'string', default: '5' },
      latency: { type: 'string', default: '300' },
      'per-address': { type: 'string', default: '100' },
      checks: { type: 'string', default: '200' },
      log: { type: 'string', default: 'warn' },
    },
  });
  const checked = (name: string, text: string, min: number, max: number, whole: boolean) => {
    const value = Number(text);
    if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
    const kind = whole ? 'a whole number' : 'a number';
    throw new TypeError(`--${name}: expected ${kind} from ${min} to ${max}, got ${JSON.stringify(text)}`);
  };
  const number = (name: Exclude<keyof typeof values, 'rate'>, min: number, max: number) =>
    checked(name, values[name], min, max, true);
  return {
    sites: number('sites', 100, 100_000),
    /** One simulation per rate, on the same database. */
    rates: values.rate.map((rate) => checked('rate', rate, 0.01, 1, false)),
    workers: number('workers', 1, 20),
    minutes: number('minutes', 1, 120),
    latencyMs: number('latency', 0, 60_000),
    perAddress: number('per-address', 1, 10_000),
    checksAtOnce: number('checks', 1, 500),
    log: values.log,
  };
}

export type ScaleOptions = Omit<ReturnType<typeof options>, 'rates'> & { rate: number };

const say = (text: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function keyPairs(): Promise<{ publicKey: string; privateKey: string }[]> {
  const generate = promisify(generateKeyPair);
  return Promise.all(
    Array.from({ length: KEYS }, () =>
      generate('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      }),
    ),
  );
}

interface Parts {
  db: Db;
  sites: Helper<ScaleSitesReady>;
  wire: Helper<WireReady>;
  storagePid: number;
}

async function simulate({ rates, ...chosen }: ReturnType<typeof options>, dir: string): Promise<void> {
  const { sites: count, workers, minutes, perAddress } = chosen;
  const paceOf = (rate: number): Pace => ({ sites: count, rate, runMs: SETTLE_MS + minutes * 60_000 });
  const keys = await keyPairs();
  const closers: (() => Promise<void>)[] = [];
  try {
    const due = dueWithin(paceOf(Math.max(...rates)));
    const sites = await startHelper<ScaleSitesReady>(new URL('./lib/scale-sites-process.js', import.meta.url), {
      sites: count,
      perAddress,
      plugins: PLUGINS,
      latencyMs: chosen.latencyMs,
      connected: Array.from({ length: Math.max(due.syncs, due.looks) }, (_, at) => at + 1),
      publicKeys: keys.map(({ publicKey }) => publicKey),
      server: SERVER,
    } satisfies ScaleSitesSpec);
    closers.push(() => sites.close());
    const addresses = addressesFor({ sites: count, perAddress });
    const began = performance.now();
    // Directly into the file that the server then takes over: over the network it takes many times as long.
    const file = await openWriter(`file:${databaseOf(dir)}`);
    await storeFleet(file, benchVault(), {
      sites: count,
      url: (id) => scaleSiteUrl(id, addresses, sites.ready.port),
      privateKeys: keys.map(({ privateKey }) => privateKey),
      server: SERVER,
      checksAtOnce: chosen.checksAtOnce,
      onProgress: (text) => {
        if (process.stderr.isTTY) process.stderr.write(`\r${text}   `);
      },
    });
    await file.close();
    const storage = await startStorageServer(dir);
    closers.push(() => storage.close());
    const db = await openWriter(`http://${storage.host}`);
    closers.push(() => db.close());
    say(`${count} sites stored in ${Math.round((performance.now() - began) / 1_000)} s`);
    const wire = await startHelper<WireReady>(new URL('./lib/storage-wire-process.js', import.meta.url), {
      target: storage.host,
      wires: workers,
    } satisfies WireSpec);
    closers.push(() => wire.close());
    for (const rate of rates)
      await run({ ...chosen, rate }, paceOf(rate), { db, sites, wire, storagePid: storage.pid });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function run(chosen: ScaleOptions, pace: Pace, parts: Parts): Promise<void> {
  const start = Date.now();
  await planFleet(parts.db, start, pace);
  say(`planned in ${(Date.now() - start) / 1_000} s; the processes start`);
  const workers = await Promise.all(
    parts.wire.ready.ports.map((port) => startWorker(`http://127.0.0.1:${port}`, chosen.log)),
  );
  try {
    await counted(chosen, pace, start, parts, workers);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

async function counted(
  chosen: ScaleOptions,
  pace: Pace,
  start: number,
  { db, sites, wire, storagePid }: Parts,
  workers: readonly Worker[],
): Promise<void> {
  await pause(Math.max(0, start + SETTLE_MS - Date.now()));
  await Promise.all([wire.ask('counts'), sites.ask('counts')]);
  const pids = [storagePid, ...workers.map(({ pid }) => pid), sites.pid, wire.pid];
  const before = pids.map((pid) => usageOf(pid));
  const from = Date.now();
  const ticks = new Ticks(db, from);
  const until = from + chosen.minutes * 60_000;
  say('counting');
  while (Date.now() < until) {
    await ticks.look();
    await pause(Math.min(1_000, Math.max(0, until - Date.now())));
  }
  const usage: Usage[] = pids.map((pid, at) => usageOf(pid, before[at]));
  const counts = await wire.ask<WireCounts[]>('counts');
  const visited = await sites.ask<ScaleSitesCounts>('counts');
  do {
    await pause(GRACE_MS);
    await ticks.look();
  } while (ticks.isRunning('daily-sync') && Date.now() < until + LONGEST_GRACE_MS);
  const outcome = await outcomeOf(db, { from, until, start, pace });
  process.stdout.write(report({ chosen, seconds: (until - from) / 1_000, usage, counts, visited, ticks, outcome }));
}

const dir = mkdtempSync(join(tmpdir(), 'sitefleet-scale-'));
try {
  await simulate(options(), dir);
} catch (error) {
  process.stderr.write(`scale: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 2;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
