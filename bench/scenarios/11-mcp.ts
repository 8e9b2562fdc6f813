/** The cost of `tools/list`, which every conversation begins with, against the cheapest way to send the same: cached bytes. */

import { compare, type Slice } from '../lib/ab.js';
import { seededCopy } from '../lib/database.js';
import { Connection, checked, type Exchange, wireOf } from '../lib/http-client.js';
import { INITIALIZE, INITIALIZED, message, modernExchange, openSession } from '../lib/mcp-wire.js';
import { placeClient, placeServer } from '../lib/place.js';
import { startHelper } from '../lib/process.js';
import { type Measure, measureOf, type Scenario } from '../lib/scenario.js';
import type { ServerReady } from '../lib/server-process.js';
import { median } from '../lib/stats.js';
import { StdioProcess, stdioBytes, stdioOurs } from '../lib/stdio.js';

const GOAL = { atMost: 5 };

export const scenario: Scenario = {
  number: 11,
  name: 'mcp',
  title: 'MCP `tools/list` against cached bytes, HTTP and stdio, both eras',
  async run({ quick, dir }) {
    const placed = placeClient();
    const measures = [...(await overHttp(dir, quick)), ...(await overStdio(dir, quick))];
    const where = placed ? 'client and server on a processor each' : 'client and server wherever they ran';
    return measures.map((measure) => ({ ...measure, detail: `${measure.detail}; ${where}` }));
  },
};

/** Steady states are compared: a fresh server runs its first thousand requests in unoptimized code. */
const optionsOf = (quick: boolean) => ({ rounds: quick ? 3 : 9, warmups: quick ? 2 : 10 });
const requestsOf = (quick: boolean) => (quick ? 40 : 100);

async function overHttp(dir: string, quick: boolean): Promise<Measure[]> {
  const db = await seededCopy(dir, 1_000, 'mcp');
  const server = await startHelper<ServerReady>(new URL('../lib/server-process.js', import.meta.url), { db });
  const cached = await startHelper<{ url: string }>(new URL('../lib/bytes-process.js', import.meta.url), {});
  for (const { pid } of [server, cached]) placeServer(pid);
  const { url, key } = server.ready;
  const headers = await openSession(url, '/mcp', key);
  const measures: Measure[] = [];
  for (const era of ['legacy', 'modern'] as const) {
    const list: Exchange =
      era === 'legacy'
        ? { method: 'POST', path: '/mcp', headers, body: message('legacy', 1, 'tools/list') }
        : modernExchange('/mcp', key, 'tools/list');
    const ours = await Trips.open(url, list);
    await cached.ask('setBytes', ours.answer);
    const bytes = await Trips.open(cached.ready.url, { ...list, path: '/' });
    const n = requestsOf(quick);
    const listed = await compare(ours.slice(n), bytes.slice(n), optionsOf(quick));
    const size = `${Math.round(ours.answer.length / 1024)} KB, ${count(ours.answer)} tools`;
    measures.push(measureOf(`tools/list over HTTP, ${era}, against cached bytes`, GOAL, listed, 'ms', size));
    for (const trips of [ours, bytes]) trips.close();
  }
  await server.close();
  await cached.close();
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
  const measures: Measure[] = [];
  for (const era of ['legacy', 'modern'] as const) {
    const ours = new StdioProcess(stdioOurs(dir));
    if (era === 'legacy') await begin(ours);
    const list = (id: number) => message(era, id, 'tools/list');
    const text = await ours.request(list(900_000), 900_000);
    const cached = new StdioProcess(stdioBytes(JSON.parse(text) as { result: object }));
    await cached.request(list(900_000), 900_000);
    for (const { pid } of [ours, cached]) placeServer(pid);
    const n = requestsOf(quick);
    const listed = await compare(trips(ours, list, n), trips(cached, list, n), optionsOf(quick));
    measures.push(measureOf(`tools/list over stdio, ${era}, against cached bytes`, GOAL, listed, 'ms'));
    for (const one of [ours, cached]) await one.close();
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
