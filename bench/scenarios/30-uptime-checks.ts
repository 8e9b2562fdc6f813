/** The total cost of an uptime check: claiming it, checking over a fresh connection, judging and storing the result. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { unitOfWork } from '../lib/calibrate.js';
import { certificateChain } from '../lib/chain.js';
import type { ChecksCost, ChecksSpec } from '../lib/checks-process.js';
import { openWriter } from '../lib/database.js';
import { startHelper } from '../lib/process.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { SEED_TIME, seedFleet } from '../lib/seed.js';
import { rounded, sum } from '../lib/stats.js';

/** Distance in ids between two sites that are due together: turns are spread over the whole fleet. */
const APART = 50;
const PAGE = Buffer.from(`<!DOCTYPE html><title>A site</title><p>${'A page as it is visited. '.repeat(320)}</p>\n`);

export const scenario: Scenario = {
  number: 30,
  name: 'uptime-checks',
  title: 'CPU, writes and disk space of an uptime check on a database file, over http and over https',
  async run({ quick, dir }): Promise<Measure[]> {
    const { root, ...certificate } = certificateChain();
    const trusted = join(dir, 'root.pem');
    writeFileSync(trusted, root);
    const measures: Measure[] = [];
    for (const scheme of ['http', 'https'] as const) {
      const server = scheme === 'http' ? createHttp() : createHttps(certificate);
      server.on('request', (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length }).end(PAGE);
      });
      let bytes = 0;
      server.on('connection', (socket) => {
        socket.once('close', () => {
          bytes += socket.bytesRead + socket.bytesWritten;
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const sites = quick ? 10_000 : 100_000;
      const db = await stored(join(dir, `${scheme}.db`), sites, `${scheme}://127.0.0.1:${port}`);
      const helper = await startHelper<void>(
        new URL('../lib/checks-process.js', import.meta.url),
        { db, apart: APART } satisfies ChecksSpec,
        { NODE_EXTRA_CA_CERTS: trusted },
      );
      const costs: (ChecksCost & { unit: number })[] = [];
      for (let round = 0; round < (quick ? 2 : 4); round++) {
        const unit = unitOfWork();
        costs.push({ ...(await helper.ask<ChecksCost>('run')), unit });
      }
      await helper.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      const checked = sum(costs.map((cost) => cost.checked));
      measures.push(
        ...measuresOf(scheme, sites, costs.slice(1)),
        figure(`KB on the wire for an uptime check over ${scheme}`, null, [bytes / checked / 1_000], 'HEAD, both ways'),
      );
    }
    return [...measures, await space(join(dir, 'space.db'), quick ? 1_000 : 10_000)];
  },
};

/** Rounds of turns stored to measure how much space they take. */
const TURNS = 100;

/** Stores beats in the order the service does: turn by turn, and in each turn site by site. */
async function space(file: string, sites: number): Promise<Measure> {
  const db = await openWriter(`file:${file}`);
  await seedFleet(db, { sites, plugins: 0 });
  const pages = async () =>
    Number(
      (await db.one('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()'))?.bytes,
    );
  const before = await pages();
  for (let turn = 0; turn < TURNS; turn++) {
    await db.run(
      `INSERT INTO heartbeat (site_id, at, status, important, ping_ms, http_code, duration, down_count, msg)
       SELECT site_id, ? + CAST(phase * 300000 AS INTEGER), 1, 0, 300 + site_id % 100, 200, 300, 0, '' FROM monitor ORDER BY phase`,
      [SEED_TIME + turn * 300_000],
    );
  }
  const bytes = ((await pages()) - before) / TURNS / sites;
  await db.close();
  return figure(
    'bytes of disk that a stored beat takes',
    null,
    [bytes],
    `${TURNS} turns of ${sites} sites, index included`,
  );
}

async function stored(file: string, sites: number, base: string): Promise<string> {
  const db = await openWriter(`file:${file}`);
  await seedFleet(db, { sites, plugins: 0, url: (id) => `${base}/site-${id}/` });
  await db.run("UPDATE site SET suspended = 0, sync_error = ''");
  await db.run(
    "INSERT INTO setting (key, value, updated_at) VALUES ('monitoring.svc_uptime_monitoring_active', '1', 0)",
  );
  await db.run('UPDATE monitor_engine SET planned = ?', [JSON.stringify({ active: 1, interval_min: 60 })]);
  // Marks this machine as just seen online: the network references are on the internet.
  await db.run('INSERT OR REPLACE INTO monitor_network (host, asked_at, ok_at) VALUES (?1, ?2, ?2)', [
    hostname(),
    Date.now(),
  ]);
  await db.close();
  return `file:${file}`;
}

/** The first round is left out: it compiles the code. */
function measuresOf(scheme: string, sites: number, costs: readonly (ChecksCost & { unit: number })[]): Measure[] {
  if (costs.some(({ checked }) => checked < sites / APART))
    throw new Error(`${sum(costs.map(({ checked }) => checked))} checks of ${sites} in the rounds.`);
  const each = (name: string, values: readonly number[]) =>
    figure(
      name,
      null,
      values,
      `${sites / APART} of ${sites} sites in a round, 50 at once; each of ${values.map(rounded).join(', ')}`,
    );
  return [
    each(
      `CPU of an uptime check over ${scheme}, in units of work`,
      costs.map(({ cpuMs, checked, unit }) => cpuMs / checked / unit),
    ),
    each(
      `KB written for an uptime check over ${scheme}`,
      costs.map(({ written, checked }) => written / checked / 1_000),
    ),
  ];
}
