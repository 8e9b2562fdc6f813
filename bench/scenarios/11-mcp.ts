/** The cost of MCP here against the cheapest way to send the same answers: cached bytes, and the SDKs' bare servers. */

import { compare, type Slice } from '../lib/ab.js';
import type { BaselineReady, BaselineSpec } from '../lib/baseline-process.js';
import { seededCopy } from '../lib/database.js';
import { Connection, checked, type Exchange, wireOf } from '../lib/http-client.js';
import { INITIALIZE, INITIALIZED, message, modernExchange, openSession } from '../lib/mcp-wire.js';
import { placeClient, placeServer } from '../lib/place.js';
import { startHelper } from '../lib/process.js';
import { type Measure, measureOf, type Scenario } from '../lib/scenario.js';
import type { ServerReady } from '../lib/server-process.js';
import { median } from '../lib/stats.js';
import { StdioProcess, stdioBare, stdioDatabase, stdioOurs } from '../lib/stdio.js';

const TOOL = 'svc-count-sites-v1';
const RESULT = { total: 1_000 };

export const scenario: Scenario = {
  number: 11,
  name: 'mcp',
  title: 'MCP `tools/list` against cached bytes, `tools/call` against the bare SDK, HTTP and stdio, both eras',
  async run({ quick, dir }) {
    const placed = placeClient();
    const measures = [...(await overHttp(dir, quick)), ...(await overStdio(dir, quick))];
    const where = placed ? 'client and server on a processor each' : 'client and server wherever they ran';
    return measures.map((measure) => ({ ...measure, detail: `${measure.detail}; ${where}` }));
  },
};

/** Steady states are compared: a fresh server runs its first thousand requests in unoptimized code. */
const optionsOf = (quick: boolean) => ({ rounds: quick ? 3 : 9, warmups: quick ? 2 : 10 });

async function overHttp(dir: string, quick: boolean): Promise<Measure[]> {
  const db = await seededCopy(dir, 1_000, 'mcp');
  const server = await startHelper<ServerReady>(new URL('../lib/server-process.js', import.meta.url), { db });
  const spec: BaselineSpec = { db: null, toolResult: RESULT };
  const baseline = await startHelper<BaselineReady>(new URL('../lib/baseline-process.js', import.meta.url), spec);
  for (const { pid } of [server, baseline]) placeServer(pid);
  const { url, key } = server.ready;
  const ourSession = await openSession(url, '/mcp', key);
  const bareSession = await openSession(baseline.ready.legacy, '/', null);
  const call = { name: TOOL, arguments: {} };
  const legacy = (path: string, headers: Record<string, string>, method: string, params: object = {}): Exchange => ({
    method: 'POST',
    path,
    headers,
    body: message('legacy', 1, method, params),
  });
  const options = optionsOf(quick);
  const n = quick ? 150 : 400;
  const measures: Measure[] = [];
  for (const era of ['legacy', 'modern'] as const) {
    const list =
      era === 'legacy' ? legacy('/mcp', ourSession, 'tools/list') : modernExchange('/mcp', key, 'tools/list');
    const ours = await Trips.open(url, list);
    await baseline.ask('setBytes', ours.answer);
    const bytes = await Trips.open(baseline.ready.bytes, { ...list, path: '/' });
    const listed = await compare(ours.slice(n / 4), bytes.slice(n / 4), options);
    const size = `${Math.round(ours.answer.length / 1024)} KB, ${count(ours.answer)} tools`;
    measures.push(measureOf(`tools/list over HTTP, ${era}, against cached bytes`, { atMost: 3 }, listed, 'ms', size));
    const bareList = await Trips.open(
      baseline.ready[era],
      era === 'legacy' ? legacy('/', bareSession, 'tools/list') : modernExchange('/', null, 'tools/list'),
    );
    const bareListed = await compare(ours.slice(n / 4), bareList.slice(n / 4), options);
    measures.push(measureOf(`the same list against the bare SDK, HTTP, ${era}`, { atMost: 1.7 }, bareListed, 'ms'));
    const ourCall = await Trips.open(
      url,
      era === 'legacy'
        ? legacy('/mcp', ourSession, 'tools/call', call)
        : modernExchange('/mcp', key, 'tools/call', call),
    );
    const bareCall = await Trips.open(
      baseline.ready[era],
      era === 'legacy' ? legacy('/', bareSession, 'tools/call', call) : modernExchange('/', null, 'tools/call', call),
    );
    const called = await compare(ourCall.slice(n), bareCall.slice(n), options);
    measures.push(measureOf(`tools/call over HTTP, ${era}, against the bare SDK`, { atMost: 1.7 }, called, 'ms'));
    for (const trips of [ours, bytes, bareList, ourCall, bareCall]) trips.close();
  }
  await server.close();
  await baseline.close();
  return measures;
}

function count(answer: Buffer): number {
  const { result } = JSON.parse(answer.toString('utf8')) as { result?: { tools?: unknown[] } };
  return result?.tools?.length ?? 0;
}

/** The same request repeated over one connection. */
class Trips {
  readonly #connection: Connection;
  readonly #wire: Buffer;
  readonly answer: Buffer;

  private constructor(connection: Connection, wire: Buffer, answer: Buffer) {
    this.#connection = connection;
    this.#wire = wire;
    this.answer = answer;
  }

  static async open(url: string, exchange: Exchange): Promise<Trips> {
    const connection = await Connection.open(url);
    const wire = wireOf(new URL(url).host, exchange);
    const { body } = checked(await connection.send(wire));
    if (/"error"|"isError":true/.test(body.toString('utf8', 0, 300))) throw new Error(body.toString('utf8', 0, 300));
    return new Trips(connection, wire, body);
  }

  /** Median milliseconds of `n` round trips. */
  slice(n: number): Slice {
    return async () => {
      const times: number[] = [];
      for (let i = 0; i < n; i++) {
        const began = performance.now();
        await this.#connection.send(this.#wire);
        times.push(performance.now() - began);
      }
      return median(times);
    };
  }

  close(): void {
    this.#connection.close();
  }
}

async function overStdio(dir: string, quick: boolean): Promise<Measure[]> {
  const options = optionsOf(quick);
  const n = quick ? 150 : 400;
  const measures: Measure[] = [];
  for (const era of ['legacy', 'modern'] as const) {
    const ours = new StdioProcess(stdioOurs(dir));
    const bare = new StdioProcess(stdioBare(era, RESULT));
    if (era === 'legacy') for (const one of [ours, bare]) await begin(one);
    const call = (id: number) => message(era, id, 'tools/call', { name: TOOL, arguments: {} });
    const list = (id: number) => message(era, id, 'tools/list');
    const text = await ours.request(list(900_000), 900_000);
    await bare.request(call(900_000), 900_000);
    const answer = JSON.parse(text) as { result: object };
    const cached = new StdioProcess(stdioBare('bytes', answer));
    const lister = new StdioProcess(stdioBare(era, answer.result));
    if (era === 'legacy') await begin(lister);
    await lister.request(list(900_000), 900_000);
    await cached.request(list(900_000), 900_000);
    for (const { pid } of [ours, bare, cached, lister]) placeServer(pid);
    const listed = await compare(trips(ours, list, n / 4), trips(cached, list, n / 4), options);
    measures.push(measureOf(`tools/list over stdio, ${era}, against cached bytes`, { atMost: 3 }, listed, 'ms'));
    const bareListed = await compare(trips(ours, list, n / 4), trips(lister, list, n / 4), options);
    measures.push(measureOf(`the same list against the bare SDK, stdio, ${era}`, { atMost: 1.7 }, bareListed, 'ms'));
    const called = await compare(trips(ours, call, n), trips(bare, call, n), options);
    measures.push(measureOf(`tools/call over stdio, ${era}, against the bare SDK`, { atMost: 1.7 }, called, 'ms'));
    const reading = new StdioProcess(stdioBare(era, RESULT, stdioDatabase(dir)));
    if (era === 'legacy') await begin(reading);
    await reading.request(call(900_000), 900_000);
    placeServer(reading.pid);
    const read = await compare(trips(ours, call, n), trips(reading, call, n), options);
    measures.push(measureOf(`the same, where the bare tool reads the same count, ${era}`, null, read, 'ms'));
    for (const one of [ours, bare, cached, lister, reading]) await one.close();
  }
  return measures;
}

async function begin(server: StdioProcess): Promise<void> {
  await server.request(INITIALIZE, 0);
  server.notify(INITIALIZED);
}

function trips(server: StdioProcess, request: (id: number) => string, n: number): Slice {
  let id = 1;
  return async () => {
    const times: number[] = [];
    for (let i = 0; i < n; i++) {
      const began = performance.now();
      await server.request(request(++id), id);
      times.push(performance.now() - began);
    }
    return median(times);
  };
}
