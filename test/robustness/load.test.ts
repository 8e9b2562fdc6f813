/**
 * `serve` in its own process under 200 concurrent callers of MCP, REST and the run endpoint, with a job running beside
 * them: an answer, or "later"; no acknowledged data is lost; memory stays stable. Prints response times.
 */

import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { endProcess, tempFolder } from '../support/cleanup.js';
import {
  type Commands,
  commands,
  type FleetSaid,
  memoryOf,
  type Served,
  type Started,
} from '../support/processes/commands.js';
import { type CallerParts, call, newcomers, newTally, open, runClient, type Surface } from './load-callers.js';
import { shortOrLong } from './soak.js';

const CALLERS = 200;
const SECONDS = shortOrLong(5, 180);
const SITES = 24;
const SITE_LATENCY_MS = 100;
/** Allows for heap growth between two collections; in a short run caches fill as well. */
const GROWTH_MB = shortOrLong(150, 60);

const folder = tempFolder('load');
let programs: Commands;
let server: Started<Served>;
let fleet: Started<FleetSaid>;

const operation = async (name: string, input: object): Promise<Record<string, unknown>> => {
  const { status, text } = await runClient(server.said)(name, input);
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
};

let sites: number[] = [];
const clients: number[] = [];

beforeAll(async () => {
  programs = await commands();
  [server, fleet] = await Promise.all([
    programs.serve({
      SITEFLEET_DB: `file:${join(folder, 'fleet.db')}`,
      SITEFLEET_LOG_LEVEL: 'error',
      SITEFLEET_ALLOW_PRIVATE_SITES: '1',
      // All of them are on one address.
      SITEFLEET_PER_HOST: '20',
      SITEFLEET_BATCH_THRESHOLD: '5',
      SITEFLEET_JOB_DELAY_MS: '0',
    }),
    programs.fleet({ sites: SITES, seed: 7 }),
  ]);
  const { port, sites: said } = fleet.said;
  sites = await Promise.all(
    said.map(async ({ password, ...site }) =>
      Number((await operation('add-site', { ...site, admin_password: password })).id),
    ),
  );
  const faults = { sites: 'all', faults: { latencyMs: SITE_LATENCY_MS } };
  await fetch(`http://127.0.0.1:${port}/__control`, { method: 'POST', body: JSON.stringify(faults) });
  for (let n = 0; n < 10; n++) clients.push(Number((await operation('add-client', { name: `Client ${n}` })).id));
});

/** Half are assistants, most of those with sessions; the others call REST and operations. */
const surfaceOf = (n: number): Surface =>
  n % 2 === 0 ? (n % 10 === 0 ? 'mcp-2026' : 'mcp') : n % 4 === 1 ? 'rest' : 'run';

/** Repeatedly syncs all sites in the queue; returns how often. */
async function jobsUntil(until: number): Promise<number> {
  let jobs = 0;
  while (Date.now() < until) {
    const { job_id } = await operation('sync-sites', {});
    for (;;) {
      const status = await operation('get-batch-job-status', { job_id });
      if (status.completed_at !== null) {
        expect(status).toMatchObject({ status: 'completed', total: SITES, succeeded: SITES, errors: [] });
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    jobs++;
  }
  return jobs;
}

const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function spread(times: readonly number[]) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0);
  return { n: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

describe(`${CALLERS} callers for ${SECONDS} s`, () => {
  it('get answers, or a refusal to try again later, and the process stays as large as it was', async () => {
    const pid = server.child.pid ?? 0;
    const tally = newTally();
    const callers = Array.from({ length: CALLERS }, (_, n): CallerParts => {
      return { served: server.said, n, surface: surfaceOf(n), sites, clients, tally };
    });
    // All connect at once, to an idle server: Node accepts one new connection per turn of its loop, and turns are long
    // under load.
    const opened = await Promise.all(callers.map(async (parts) => [await open(parts), parts] as const));

    const until = Date.now() + SECONDS * 1000;
    const memory: number[] = [];
    const start = memoryOf(pid);
    const sampler = setInterval(() => {
      const now = memoryOf(pid);
      if (now !== undefined) memory.push(now.now);
    }, 100);
    const [jobs] = await Promise.all([
      jobsUntil(until),
      newcomers(server.said, until, tally),
      ...opened.map(([run, parts]) => call(run, parts, until)),
    ]);
    clearInterval(sampler);
    const end = memoryOf(pid);
    // By their order: a busy machine takes none for a while.
    const between = (from: number, to: number) => {
      const first = Math.floor(from * (memory.length - 1));
      return middle(memory.slice(first, Math.max(first + 1, Math.ceil(to * memory.length))));
    };
    const grown = memory.length === 0 ? null : between(0.9, 1) - between(0.25, 0.35);

    process.stderr.write(
      `${JSON.stringify({
        seconds: SECONDS,
        requests: tally.ok + tally.later,
        ok: tally.ok,
        later: tally.later,
        overtaken: tally.overtaken,
        jobs,
        opening_ms: spread(tally.opening),
        newcomers_ms: spread(tally.newcomers),
        ms: Object.fromEntries([...tally.times].sort().map(([name, times]) => [name, spread(times)])),
        rss_mb: start === undefined ? 'not reported by this system' : { start: start.now, ...end, grown },
      })}\n`,
    );
    expect(tally.wrong.slice(0, 5)).toEqual([]);
    // The number depends on speed, which the benchmarks measure.
    expect(tally.ok).toBeGreaterThan(CALLERS);
    expect(jobs).toBeGreaterThan(0);
    // Every interface was used, reading and writing.
    expect([...tally.times.keys()]).toEqual(
      expect.arrayContaining(['mcp read', 'mcp write', 'mcp-2026 read', 'rest read', 'rest write', 'run write']),
    );
    // No call is left waiting behind ever new ones.
    expect(tally.overtaken).toBeLessThan(50 * CALLERS);
    if (grown !== null) expect(grown).toBeLessThan(GROWTH_MB);

    // All acknowledged changes are stored, and the process is healthy.
    expect(tally.tags.size).toBeGreaterThan(CALLERS / 2);
    const names = new Map<number, string>();
    for (let page = 1, total = 1; (page - 1) * 100 < total; page++) {
      const found = await operation('list-tags', { page, per_page: 100 });
      total = Number(found.total);
      for (const { id, name } of found.items as { id: number; name: string }[]) names.set(id, name);
    }
    expect([...tally.tags].filter(([id, name]) => names.get(id) !== name)).toEqual([]);
    expect((await fetch(`${server.said.url}/readyz`)).status).toBe(200);
    expect(server.errors()).toBe('');
    expect(await endProcess(server.child)).toBe(0);
  });
});
