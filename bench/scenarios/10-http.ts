/**
 * Requests per second of CPU of our HTTP stack against `node:http`: a site list with login and validation, and hello.
 */

import { compare, type Slice } from '../lib/ab.js';
import type { BaselineReady, BaselineSpec } from '../lib/baseline-process.js';
import { seededCopy } from '../lib/database.js';
import { closedLoop, type Exchange } from '../lib/http-client.js';
import { type Helper, startHelper } from '../lib/process.js';
import { measureOf, type Scenario } from '../lib/scenario.js';
import type { ServerReady } from '../lib/server-process.js';

const CONNECTIONS = 16;

export const scenario: Scenario = {
  number: 10,
  name: 'http',
  title: 'REST `list-sites` of 20 with login and validation, and hello, against `node:http`',
  async run({ quick, dir }) {
    const db = await seededCopy(dir, quick ? 1_000 : 10_000, 'http');
    const server = await startHelper<ServerReady>(new URL('../lib/server-process.js', import.meta.url), { db });
    const spec: BaselineSpec = { db, toolResult: {} };
    const baseline = await startHelper<BaselineReady>(new URL('../lib/baseline-process.js', import.meta.url), spec);
    const { url, key, login } = server.ready;
    const ms = quick ? 300 : 700;
    const get = (path: string, headers: Record<string, string> = {}): Exchange => ({ method: 'GET', path, headers });
    const ours = (exchange: Exchange) => perCpuSecond(server, url, exchange, ms);
    const bareList = perCpuSecond(baseline, baseline.ready.sites, get('/'), ms);
    const bareHello = perCpuSecond(baseline, baseline.ready.hello, get('/'), ms);
    const rounds = quick ? 3 : 7;
    const unit = 'requests per CPU second';
    const rest = await compare(ours(get('/v2/sites/basic?per_page=20', { authorization: key })), bareList, {
      rounds,
      warmups: 8,
    });
    const page = `/abilities/svc/list-sites-v1/run?input[per_page]=20`;
    const run = await compare(ours(get(page, { authorization: login })), bareList, { rounds, warmups: 8 });
    const hello = await compare(ours(get('/healthz')), bareHello, { rounds, warmups: 8 });
    await server.close();
    await baseline.close();
    return [
      measureOf('REST list of 20 sites against node:http with the same statements', { atLeast: 0.7 }, rest, unit),
      measureOf('run endpoint, list-sites of 20, against the same', null, run, unit),
      measureOf('hello of our HTTP stack against node:http with the same headers', { atLeast: 0.65 }, hello, unit),
    ];
  },
};

/** Per second of the server's CPU, not of wall time: other load on this machine does not count. */
function perCpuSecond(server: Helper<unknown>, url: string, exchange: Exchange, ms: number): Slice {
  return async () => {
    const before = await server.ask<number>('cpu');
    const done = await closedLoop(url, exchange, CONNECTIONS, ms);
    return (done * 1_000) / ((await server.ask<number>('cpu')) - before);
  };
}
