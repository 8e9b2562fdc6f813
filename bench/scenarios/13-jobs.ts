/** The cost of queueing, leasing and counting a job against the time of its actual work. */

import { deepStrictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { seededCopy } from '../lib/database.js';
import { type Rig, startEngine } from '../lib/fleet.js';
import { cpuMs } from '../lib/process.js';
import { figure, type Scenario } from '../lib/scenario.js';
import { rounded } from '../lib/stats.js';

const LATENCY_MS = 300;
const CHUNK = 20;

export const scenario: Scenario = {
  number: 13,
  name: 'jobs',
  title: 'Bookkeeping of a 10,000-site job against its own work at 300 ms latency',
  async run({ quick, dir }) {
    const sites = quick ? 1_000 : 10_000;
    const db = await seededCopy(dir, sites, 'jobs');
    const ids = Array.from({ length: sites }, (_, i) => i + 1);
    const engine = await startEngine({ db, ids } as unknown as Rig, { job_delay_ms: 0 });
    const { jobs } = engine.store;
    // Sites of a chunk run concurrently, the chunks of a job one after the other.
    const work = Math.ceil(sites / CHUNK) * LATENCY_MS;
    const shares: number[] = [];
    let ms = 0;
    for (let round = 0; round < (quick ? 2 : 3); round++) {
      const id = `sync_${randomUUID()}`;
      const began = cpuMs();
      await jobs.add(
        {
          id,
          type: 'sync',
          params: {},
          sites: ids,
          refused: [],
          begun: false,
          chunk: CHUNK,
          delay_ms: 0,
          timeout_ms: 3_600_000,
          next_run_at: 0,
        },
        Date.now(),
      );
      // The same steps the engine takes for a chunk, without its work.
      for (;;) {
        const job = await jobs.claim('bench', Date.now(), 60_000);
        if (job === undefined) break;
        for (const { position } of await jobs.startChunk(job))
          await jobs.finishSite(job, { position, code: '', message: '' }, Date.now());
        await jobs.release(job, Date.now(), 0);
      }
      ms = cpuMs() - began;
      const done = await jobs.find(id);
      deepStrictEqual([done?.status, done?.succeeded], ['completed', sites]);
      shares.push(ms / work);
    }
    await engine.close();
    const detail = `${rounded(ms)} ms of CPU for ${sites} sites in chunks of ${CHUNK}, ${rounded(ms / sites)} ms a site; work ${work / 1_000} s`;
    return [figure(`bookkeeping of a job of ${sites} sites against its work`, { atMost: 0.01 }, shares, detail)];
  },
};
