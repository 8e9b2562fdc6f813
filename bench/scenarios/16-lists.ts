/** The server cost of a page of a list: over HTTP with a login, from a fleet of 1,000 and of 10,000 sites. */

import { compare, type Slice } from '../lib/ab.js';
import { unitOfWork } from '../lib/calibrate.js';
import { seededCopy } from '../lib/database.js';
import { ask, Connection, checked, type Exchange, wireOf } from '../lib/http-client.js';
import { message, openSession } from '../lib/mcp-wire.js';
import { type Helper, startHelper } from '../lib/process.js';
import { figure, type Measure, measureOf, type Scenario } from '../lib/scenario.js';
import type { ServerReady } from '../lib/server-process.js';

type Server = Helper<ServerReady>;

/** Name, path, maximum CPU in units of work. */
const PAGES: readonly [name: string, path: string, units: number][] = [
  ['GET /v2/sites, 100 full records', '/v2/sites?per_page=100', 1.3],
  ['the same with _fields=id,url,name,status', '/v2/sites?per_page=100&_fields=id,url,name,status', 0.22],
  ['GET /v2/updates, 200 sites', '/v2/updates', 0.66],
];
const RUNS: typeof PAGES = [
  ['search with 100 hits', '/abilities/svc/list-sites-v1/run?input[search]=bakery&input[per_page]=100', 0.22],
  ['get-sites-basic, 1,000 sites', '/abilities/svc/get-sites-basic-v1/run', 0.9],
];

export const scenario: Scenario = {
  number: 16,
  name: 'lists',
  title: 'CPU of the server for a page of a list over HTTP, and its growth with the fleet',
  async run({ quick, dir }) {
    const small = await serverOf(dir, 1_000);
    const rounds = quick ? 5 : 15;
    const measures: Measure[] = [];
    const { key, login } = small.ready;
    for (const [pages, authorization] of [
      [PAGES, key],
      [RUNS, login],
    ] as const) {
      for (const [name, path, units] of pages) {
        const requests = await perRequest(small, get(path, authorization));
        const costs: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const unit = unitOfWork();
          costs.push((await requests.slice()) / unit);
        }
        requests.close();
        measures.push(
          figure(`${name}: CPU in units of work`, { atMost: units }, costs, `${requests.bytes} bytes, uncompressed`),
        );
      }
    }
    const updates = await perRequest(small, get('/v2/updates', key));
    const tag = /^etag: *(\S+)/im.exec(updates.headers)?.[1] ?? '';
    const held = await perRequest(small, get('/v2/updates', key, { 'if-none-match': tag }));
    const options = { rounds, warmups: 2 };
    const unchanged = await compare(held.slice, updates.slice, options);
    measures.push(measureOf('304 of /v2/updates against the answer', { atMost: 0.5 }, unchanged, 'ms of CPU'));
    const large = await serverOf(dir, 10_000);
    const grown = await perRequest(large, get('/v2/updates', large.ready.key));
    const growth = await compare(grown.slice, updates.slice, options);
    measures.push(measureOf('/v2/updates of 10,000 sites against 1,000', { atMost: 1.3 }, growth, 'ms of CPU'));
    for (const one of [updates, held, grown]) one.close();
    await large.close();
    const wire = (name: string, atMost: number, bytes: number) =>
      measures.push(figure(name, { atMost }, [bytes / 1_000], 'gzip, as fetch asks'));
    wire('tools/list over HTTP in KB, with output schemas', 50, await compressedBytes(small, 'tools/list'));
    const page = { name: 'svc-list-sites-v1', arguments: { per_page: 100 } };
    wire('100 sites over MCP in KB, as data and as text', 12, await compressedBytes(small, 'tools/call', page));
    await small.close();
    return measures;
  },
};

async function serverOf(dir: string, sites: number): Promise<Server> {
  const db = await seededCopy(dir, sites, 'lists');
  return startHelper<ServerReady>(new URL('../lib/server-process.js', import.meta.url), { db });
}

function get(path: string, authorization: string, more: Readonly<Record<string, string>> = {}): Exchange {
  return { method: 'GET', path, headers: { authorization, ...more } };
}

const WARMUPS = 30;
const REQUESTS = 20;

interface Requests {
  /** Milliseconds of the server's own CPU per request: other load on this machine is not included. */
  slice: Slice;
  headers: string;
  bytes: number;
  close(): void;
}

/** The same request repeated over one connection, once it is warm. */
async function perRequest(server: Server, exchange: Exchange): Promise<Requests> {
  const { url } = server.ready;
  const connection = await Connection.open(url);
  const wire = wireOf(new URL(url).host, exchange);
  const request = async () => {
    const reply = await connection.send(wire);
    return reply.status === 304 ? reply : checked(reply);
  };
  for (let i = 0; i < WARMUPS; i++) await request();
  const { body, headers } = await request();
  const slice = async () => {
    const before = await server.ask<number>('cpu');
    for (let i = 0; i < REQUESTS; i++) await request();
    return ((await server.ask<number>('cpu')) - before) / REQUESTS;
  };
  return { slice, headers, bytes: body.length, close: () => connection.close() };
}

/** Bytes on the wire for a client that accepts compressed answers, as those built on `fetch` do. */
async function compressedBytes({ ready: { url, key } }: Server, method: string, params: object = {}): Promise<number> {
  const session = await openSession(url, '/mcp', key);
  const headers = { ...session, 'accept-encoding': 'gzip, deflate' };
  const exchange: Exchange = { method: 'POST', path: '/mcp', headers, body: message('legacy', 1, method, params) };
  return (await ask(url, exchange)).body.length;
}
