/** The idle cost of a server and an assistant beside it: CPU and memory, with 1,000 synced sites. */

import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unitOfWork } from '../lib/calibrate.js';
import { startRig } from '../lib/fleet.js';
import { INITIALIZE, INITIALIZED, message } from '../lib/mcp-wire.js';
import { memoryOf } from '../lib/process.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { cpuOf, shareOf, startServed } from '../lib/served.js';
import { rounded } from '../lib/stats.js';
import { StdioProcess, stdioDatabase, stdioOurs } from '../lib/stdio.js';

const SITES = 1_000;

export const scenario: Scenario = {
  number: 22,
  name: 'at-rest',
  title: 'CPU and memory of `serve` at rest with 1,000 sites, and of `stdio` beside it after a few reads',
  async run({ quick, dir }): Promise<Measure[]> {
    const rig = await startRig({ dir, name: 'rest', groups: Array<number>(SITES).fill(1) });
    const command = stdioOurs(dir);
    const db = stdioDatabase(dir);
    mkdirSync(join(dir, 'stdio', 'sitefleet'), { recursive: true });
    copyFileSync(rig.db.slice('file:'.length), db.slice('file:'.length));
    const before = await startServed(db, { SITEFLEET_JOB_DELAY_MS: '0' });
    const { job_id } = await before.run('sync-sites', { site_ids_or_domains: [] });
    while ((await before.rest('GET', `/v2/jobs/${job_id}`)).status !== 'completed') await pause(100);
    // Wait for the follow-up work of a first sync: an abandoned-items check of each site.
    await pause(quick ? 30_000 : 60_000);
    const afterWork = shareOf(before.pid);
    const login = { user: before.user, password: before.password, api_key: before.api_key };
    await before.close();

    const server = await startServed(db, {}, login);
    await server.rest('GET', '/v2/sites?per_page=100');
    await pause(60_000);
    const shares: number[] = [];
    const loads: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const used = cpuOf(server.pid);
      await pause(60_000);
      loads.push((cpuOf(server.pid) - used) / 60 / unitOfWork());
      shares.push(shareOf(server.pid));
    }
    const stdio = await readingStdio(command);
    await server.close();
    await rig.close();
    const each = (values: readonly number[]) => `each of ${values.map(rounded).join(', ')}`;
    return [
      figure(
        'CPU of serve at rest after its first minute, in units of work a second',
        { atMost: 1.1 },
        loads,
        each(loads),
      ),
      figure('memory of serve at rest, MB (PSS)', { atMost: 120 }, shares, each(shares)),
      figure(
        'the same after it synced all of them for the first time',
        null,
        [afterWork],
        quick ? '30 s after' : '60 s after',
      ),
      figure(
        'resident memory of stdio beside it after a few reads, MB',
        { atMost: 110 },
        [stdio],
        'ten seconds after them',
      ),
    ];
  },
};

async function readingStdio(command: ReturnType<typeof stdioOurs>): Promise<number> {
  const assistant = new StdioProcess(command);
  await assistant.request(INITIALIZE, 0);
  assistant.notify(INITIALIZED);
  const reads: [name: string, input: object][] = [
    ['svc-list-sites-v1', { per_page: 100 }],
    ['svc-list-updates-v1', { per_page: 100 }],
    ['svc-get-site-v1', { site_id_or_domain: 1 }],
    ['svc-list-clients-v1', {}],
    ['svc-count-sites-v1', {}],
  ];
  for (const [index, [name, input]] of reads.entries()) {
    const line = message('legacy', index + 1, 'tools/call', { name, arguments: input });
    await assistant.request(line, index + 1);
  }
  await pause(10_000);
  const { now } = memoryOf(assistant.pid);
  await assistant.close();
  return now;
}
