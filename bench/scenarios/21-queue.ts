/** The queue as a user experiences it: how long a job takes, and how long updating a site takes while a job runs. */

import { setTimeout as pause } from 'node:timers/promises';
import { type Rig, startRig } from '../lib/fleet.js';
import { figure, type Measure, type Scenario } from '../lib/scenario.js';
import { type Served, startServed } from '../lib/served.js';
import { rounded } from '../lib/stats.js';

const LATENCY_MS = 300;
const AT_ONCE = 50;

export const scenario: Scenario = {
  number: 21,
  name: 'queue',
  title: 'A queued sync of 400 sites without a pause; an update by a person while 2,000 are synced',
  async run({ quick, dir }): Promise<Measure[]> {
    return [await jobOf400(dir, quick), await updateBesideJob(dir, quick)];
  },
};

async function jobOf400(dir: string, quick: boolean): Promise<Measure> {
  const sites = 400;
  const rig = await startRig({ dir, name: 'queue', groups: Array<number>(sites).fill(1), latency: LATENCY_MS });
  const server = await startServed(rig.db, { SITEFLEET_JOB_DELAY_MS: '0' });
  const times: number[] = [];
  // The first round is not reported: its follow-up work (abandoned-items checks) is awaited as well.
  for (let round = 0; round < (quick ? 2 : 4); round++) {
    const began = performance.now();
    await jobEnded(server, await queued(server), sites);
    if (round > 0) times.push((performance.now() - began) / 1_000);
    await pause(round === 0 ? 30_000 : 5_000);
  }
  await server.close();
  await rig.close();
  const detail = `each of ${times.map(rounded).join(', ')}; bound ${(sites * LATENCY_MS) / AT_ONCE / 1_000} s; chunks of 20`;
  return figure(
    `seconds of a job of ${sites} sites that answer in ${LATENCY_MS} ms, pause 0`,
    { atMost: 3 },
    times,
    detail,
  );
}

/** The wait that the job adds to the user's call, in multiples of a site call. */
async function updateBesideJob(dir: string, quick: boolean): Promise<Measure> {
  const sites = quick ? 500 : 2_000;
  const rig = await startRig({ dir, name: 'beside', groups: Array<number>(sites).fill(1), latency: 0 });
  const server = await startServed(rig.db, { SITEFLEET_JOB_DELAY_MS: '0' });
  await jobEnded(server, await queued(server), sites);
  await rig.latency(LATENCY_MS);
  await pause(quick ? 10_000 : 30_000);
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < 3; round++) {
    alone.push(await updated(server, rig, sites - 2 * round));
    const job = await queued(server);
    await pause(1_500);
    beside.push(await updated(server, rig, sites - 2 * round - 1));
    const { status } = await server.rest('GET', `/v2/jobs/${job}`);
    if (status === 'completed') throw new Error('The job had ended before the update.');
    await jobEnded(server, job, sites);
  }
  await server.close();
  await rig.close();
  const waits = beside.map((ms, round) => (ms - (alone[round] ?? 0)) / LATENCY_MS);
  const detail = `${beside.map(rounded).join(', ')} ms against ${alone.map(rounded).join(', ')} alone`;
  return figure(
    `wait that a sync of ${sites} queued sites adds to an update, in calls of a site`,
    { atMost: 1 },
    waits,
    detail,
  );
}

async function queued(server: Served): Promise<string> {
  const { job_id } = await server.run('sync-sites', { site_ids_or_domains: [] });
  return String(job_id);
}

async function jobEnded(server: Served, id: string, sites: number): Promise<void> {
  for (;;) {
    const { status, succeeded } = await server.rest('GET', `/v2/jobs/${id}`);
    if (status === 'failed') throw new Error('The job failed.');
    if (status === 'completed' && succeeded === sites) return;
    if (status === 'completed') throw new Error(`${succeeded} of ${sites} sites were synced.`);
    await pause(25);
  }
}

/** Milliseconds of an update of one site's plugins. */
async function updated(server: Served, rig: Rig, site: number): Promise<number> {
  const id = rig.ids[site - 1];
  const began = performance.now();
  const answer = await server.run('run-updates', { site_ids_or_domains: [id], types: ['plugins'] });
  const ms = performance.now() - began;
  if (!Array.isArray(answer.updated) || answer.updated.length === 0)
    throw new Error(`Site ${id}: nothing was updated.`);
  return ms;
}
