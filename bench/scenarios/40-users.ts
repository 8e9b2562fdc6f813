/**
 * What a person waits for, and what a process takes from their machine: the first start, the page, the brief, searches,
 * lists, a sync, memory. With `--beside`, the same of another checkout, in turns with this one.
 */

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unitOfWork } from '../lib/calibrate.js';
import { type Checkout, checkoutAt, OURS } from '../lib/checkout.js';
import { type FirstCall, firstCall } from '../lib/first-call.js';
import { ask, Connection, checked, type Exchange, wireOf } from '../lib/http-client.js';
import { INITIALIZE, INITIALIZED, message, modernExchange } from '../lib/mcp-wire.js';
import { memoryOf } from '../lib/process.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { cpuOf, type Served, shareOf, startServed } from '../lib/served.js';
import { median, quantile, rounded } from '../lib/stats.js';
import { StdioProcess, stdioOurs } from '../lib/stdio.js';
import { startChromium, viewTimes } from '../lib/view-times.js';

export const scenario: Scenario = {
  number: 40,
  name: 'users',
  title: 'What a person waits for: the first start, the page, the brief, searches, lists, a sync; memory',
  async run({ quick, dir, beside }): Promise<Measure[]> {
    const sides = await Promise.all([OURS, ...(beside === undefined ? [] : [beside])].map(checkoutAt));
    const measures = await memory(sides, dir, () => (quick ? Promise.resolve([]) : newcomer(sides, dir)));
    for (const part of [pages, largeFleet, lists, sync]) measures.push(...(await part(sides, dir)));
    return measures;
  },
};

/** One figure of each side in a round. */
type Figures = Readonly<Record<string, number>>;

interface Row {
  name: string;
  /** Largest that is wanted; undefined: it is only shown. */
  atMost?: number;
}

/** Rounds of all sides in turns, as rows: the median of ours, and beside it that of the other. */
async function inTurns(
  sides: readonly Checkout[],
  rounds: number,
  rows: readonly Row[],
  once: (side: Checkout, index: number, round: number) => Promise<Figures>,
): Promise<Measure[]> {
  const all: Figures[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, side] of sides.entries()) all[index]?.push(await once(side, index, round));
  return rows.map(({ name, atMost }) => {
    const of = (figures: readonly Figures[] = []) => figures.map((one) => one[name] ?? Number.NaN);
    const [ours = [], others] = all.map(of);
    const other = others === undefined ? '' : `beside it ${rounded(median(others))}; `;
    return figure(name, atMost === undefined ? null : { atMost }, ours, `${other}each of ${ours.map(rounded)}`);
  });
}

const served = (side: Checkout, db: string, change: Readonly<Record<string, string>> = {}) =>
  startServed(db, change, undefined, side.program);

/** Servers of all sides over databases of so many sites, while `work` runs. */
async function withServers(
  sides: readonly Checkout[],
  dir: string,
  sites: number,
  work: (servers: readonly Served[]) => Promise<Measure[]>,
): Promise<Measure[]> {
  const servers = await Promise.all(
    sides.map(async (side, index) => served(side, await side.seeded(join(dir, String(index)), sites, 'users'))),
  );
  try {
    return await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

/** A clone, and the package, until the demo has answered. One round: each takes most of a minute. */
function newcomer(sides: readonly Checkout[], dir: string): Promise<Measure[]> {
  const rows = [
    { name: 'seconds from a clone to the first answered call', atMost: 15 },
    { name: '… of which npm ci' },
    { name: '… of which prepare', atMost: 3 },
    { name: '… of which the demo until it answers', atMost: 2.5 },
    { name: 'seconds of npx with the package to the first answered call', atMost: 3 },
  ];
  const named = ({ install, prepare, demo, npx }: FirstCall): number[] => [install + demo, install, prepare, demo, npx];
  return inTurns(sides, 1, rows, async ({ root }, index) => {
    const values = named(await firstCall(root, join(dir, `newcomer-${index}`)));
    return Object.fromEntries(rows.map(({ name }, at) => [name, values[at] ?? Number.NaN]));
  });
}

const VIEWS = ['/', '/sites', '/updates', '/monitors'];

async function pages(sides: readonly Checkout[], dir: string): Promise<Measure[]> {
  const browser = await startChromium();
  if (browser === null) return [];
  const namesOf = (view: string) => ({
    cold: `page ${view} at 5,000 sites, ms until complete, cold`,
    warm: `page ${view}, warm`,
    requests: `page ${view}, requests`,
  });
  const rows = VIEWS.map(namesOf).flatMap(({ cold, warm, requests }) => [
    { name: cold, atMost: 250 },
    { name: warm, atMost: 250 },
    { name: requests, atMost: 8 },
  ]);
  try {
    return await withServers(sides, dir, 5_000, (servers) =>
      inTurns(sides, 3, rows, async (_side, index) => {
        const found: Record<string, number> = {};
        for (const view of VIEWS) {
          const { cold, warm } = await viewTimes(browser, servers[index] as Served, view);
          const names = namesOf(view);
          Object.assign(found, { [names.cold]: cold.ms, [names.warm]: warm.ms, [names.requests]: cold.requests });
        }
        return found;
      }),
    );
  } finally {
    await browser.close();
  }
}

const READS: readonly [name: string, tool: string, input: object, atMost: number | undefined][] = [
  ['the brief', 'svc-get-fleet-brief-v1', {}, undefined],
  ['search-fleet, has_update', 'svc-search-fleet-v1', { has_update: ['plugins'], per_page: 50 }, 5],
  ['search-fleet, group_by php', 'svc-search-fleet-v1', { group_by: 'php' }, 5],
];

/** Reads of 10,000 sites over MCP, one after the other, and how long short calls wait beside the brief. */
function largeFleet(sides: readonly Checkout[], dir: string): Promise<Measure[]> {
  const rowOf = (name: string) => `${name} of 10,000 sites, ms`;
  const beside = { name: 'a short call beside the brief of 10,000 sites, p95 in ms', atMost: 10 };
  const rows: Row[] = READS.map(([name, , , atMost]) => ({
    name: rowOf(name),
    ...(atMost === undefined ? {} : { atMost }),
  }));
  return withServers(sides, dir, 10_000, (servers) =>
    inTurns(sides, 5, [...rows, beside], async (_side, index) => {
      const { url, api_key } = servers[index] as Served;
      const found: Record<string, number> = {};
      for (const [name, tool, input] of READS) {
        const exchange = modernExchange('/mcp', `Bearer ${api_key}`, 'tools/call', { name: tool, arguments: input });
        found[rowOf(name)] = await timeOf(url, exchange);
      }
      found[beside.name] = await waitBesideBrief(url, `Bearer ${api_key}`);
      return found;
    }),
  );
}

/** Milliseconds: how long short calls take while one brief follows the other. */
async function waitBesideBrief(url: string, authorization: string): Promise<number> {
  const exchange = modernExchange('/mcp', authorization, 'tools/call', {
    name: 'svc-get-fleet-brief-v1',
    arguments: {},
  });
  const connection = await Connection.open(url);
  const short = wireOf(new URL(url).host, { method: 'GET', path: '/v2/tags', headers: { authorization } });
  let over = false;
  const briefs = (async () => {
    for (let call = 0; call < 10; call++) checked(await ask(url, exchange));
  })().finally(() => {
    over = true;
  });
  const waits: number[] = [];
  while (!over) {
    const began = performance.now();
    checked(await connection.send(short));
    waits.push(performance.now() - began);
  }
  await briefs;
  connection.close();
  return quantile(waits, 0.95);
}

/** Milliseconds of a call: the median of some, once it is warm. */
async function timeOf(url: string, exchange: Exchange): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < 8; call++) {
    const began = performance.now();
    const { body } = checked(await ask(url, exchange));
    if (call > 2) times.push(performance.now() - began);
    if (/"isError":true/.test(body.toString())) throw new Error(body.toString().slice(0, 300));
  }
  return median(times);
}

const LISTS: readonly [name: string, path: string][] = [
  ['list of updates', '/v2/updates'],
  ['list of 100 sites', '/v2/sites?per_page=100'],
  ['search of sites', '/v2/sites?search=bakery&per_page=100'],
  ['count of sites', '/v2/sites/count'],
];
const REQUESTS = 100;

function lists(sides: readonly Checkout[], dir: string): Promise<Measure[]> {
  const rowOf = (name: string) => `${name} of 1,000 sites: CPU in units of work`;
  const rows = LISTS.map(([name]) => ({ name: rowOf(name) }));
  return withServers(sides, dir, 1_000, (servers) =>
    inTurns(sides, 5, rows, async (_side, index) => {
      const { url, api_key, pid } = servers[index] as Served;
      const connection = await Connection.open(url);
      const found: Record<string, number> = {};
      for (const [name, path] of LISTS) {
        const headers = { authorization: `Bearer ${api_key}` };
        const wire = wireOf(new URL(url).host, { method: 'GET', path, headers });
        for (let call = 0; call < 20; call++) checked(await connection.send(wire));
        const unit = unitOfWork();
        const before = cpuOf(pid);
        for (let call = 0; call < REQUESTS; call++) checked(await connection.send(wire));
        found[rowOf(name)] = (cpuOf(pid) - before) / REQUESTS / unit;
      }
      connection.close();
      return found;
    }),
  );
}

const SITES = 200;

/** The first sync of sites that answer in 300 ms, by a server that has just started. */
function sync(sides: readonly Checkout[], dir: string): Promise<Measure[]> {
  const seconds = { name: 'seconds of the first sync of 200 sites that answer in 300 ms', atMost: 1.5 };
  const cpu = { name: 'CPU of it per site, in units of work' };
  return inTurns(sides, 3, [seconds, cpu], async (side, index, round) => {
    const groups = Array<number>(SITES).fill(1);
    const rig = await side.startRig({ dir, name: `sync-${index}-${round}`, groups, latency: 300 });
    const server = await served(side, rig.db, { SITEFLEET_JOB_DELAY_MS: '0' });
    await server.login();
    const unit = unitOfWork();
    const [began, before] = [performance.now(), cpuOf(server.pid)];
    const { synced } = await server.run('sync-sites', { site_ids_or_domains: [] });
    const took = performance.now() - began;
    const used = cpuOf(server.pid) - before;
    if (!Array.isArray(synced) || synced.length !== SITES) throw new Error('Not all sites were synced.');
    await server.close();
    await rig.close();
    return { [seconds.name]: took / 1_000, [cpu.name]: used / SITES / unit };
  });
}

/** Reads of each kind, as an assistant and as a script make them. */
const ASSISTANT: readonly [tool: string, input: object][] = [
  ['svc-list-sites-v1', { per_page: 100 }],
  ['svc-list-updates-v1', { per_page: 100 }],
  ['svc-get-site-v1', { site_id_or_domain: 1 }],
  ['svc-list-clients-v1', {}],
  ['svc-count-sites-v1', {}],
];
const SCRIPT = ['/v2/sites?per_page=100', '/v2/updates', '/v2/sites/count', '/v2/clients', '/v2/tags'];

/** Milliseconds until a reader's memory is looked at. */
const RESTS = { stdio: 10_000, serve: 70_000 };

/**
 * `stdio` alone 10 s after 15 reads, and `serve` 70 s after 2,000, of all sides at once. What `meanwhile` does in that minute
 * takes nothing from their memory; its rows follow.
 */
async function memory(
  sides: readonly Checkout[],
  dir: string,
  meanwhile: () => Promise<Measure[]>,
): Promise<Measure[]> {
  const stdio = await Promise.all(sides.map((side, index) => afterReadsOfAssistant(side, join(dir, `stdio-${index}`))));
  const servers = await Promise.all(sides.map((side, index) => afterReadsOfScript(side, join(dir, `serve-${index}`))));
  const rested = pause(RESTS.serve);
  const others = await meanwhile();
  await rested;
  const serve = servers.map(({ pid }) => shareOf(pid));
  await Promise.all(servers.map((server) => server.close()));
  const row = (title: string, atMost: number, [ours = Number.NaN, other]: readonly number[]) =>
    figure(title, { atMost }, [ours], other === undefined ? '' : `beside it ${rounded(other)}`);
  return [
    row('resident memory of stdio alone after 15 reads, MB', 110, stdio),
    row('memory of serve 70 s after 2,000 reads, MB (PSS)', 150, serve),
    ...others,
  ];
}

async function afterReadsOfAssistant(side: Checkout, dir: string): Promise<number> {
  const command = stdioOurs(dir);
  const assistant = new StdioProcess({
    args: [side.program, 'stdio'],
    env: { ...command.env, SITEFLEET_DB: await side.seeded(dir, 1_000, 'memory') },
  });
  await assistant.request(INITIALIZE, 0);
  assistant.notify(INITIALIZED);
  for (let id = 1; id <= 15; id++) {
    const [name, input] = ASSISTANT[id % ASSISTANT.length] as (typeof ASSISTANT)[number];
    await assistant.request(message('legacy', id, 'tools/call', { name, arguments: input }), id);
  }
  await pause(RESTS.stdio);
  const { now } = memoryOf(assistant.pid);
  await assistant.close();
  return now;
}

async function afterReadsOfScript(side: Checkout, dir: string): Promise<Served> {
  const server = await served(side, await side.seeded(dir, 1_000, 'memory'));
  const connection = await Connection.open(server.url);
  for (let call = 0; call < 2_000; call++) {
    const path = SCRIPT[call % SCRIPT.length] as string;
    const headers = { authorization: `Bearer ${server.api_key}` };
    checked(await connection.send(wireOf(new URL(server.url).host, { method: 'GET', path, headers })));
  }
  connection.close();
  return server;
}
