/**
 * Which processes may be declared dead: a process id is meaningless outside its own boot and PID namespace, as between
 * containers.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ProcessLocation, processId, processLocation } from '../../src/runtime/cluster/process-id.js';
import { killProcess, tempFolder } from '../support/cleanup.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { IN_NAMESPACE, needs } from '../support/needs.js';
import { type Program, program } from '../support/processes/program.js';

const SITES = 3;
/** Much longer than a test waits: a job taken over sooner was taken from a process declared dead. */
const LEASE_MS = 60_000;
const HERE = { host: 'box', boot: 'b1', pids: '1' };

let app: TestApp;
let folder: string;
let workers: Program;

beforeAll(async () => {
  folder = tempFolder('owner');
  workers = await program('job-runner');
  app = await testApp({
    sites: SITES,
    jobs: false,
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, batch_threshold: 1, job_chunk: SITES, job_delay_ms: 0 },
  });
  for (let i = 0; i < SITES; i++) await app.connect(i);
});

const start = async (location: ProcessLocation | undefined, under: readonly string[]) =>
  workers.start({ config: app.service.config, sharedKey: await testKey, jobLeaseMs: LEASE_MS, location }, under);

/** A process id that is not in use. */
function deadPid(): number {
  const { pid } = spawnSync('true');
  return pid;
}

/**
 * Queues a job held by `holder`, starts a process at `newcomer`, and expects who holds it once that process has looked
 * for work: it has done another job.
 */
async function expectAfterStart(
  expected: 'holder' | 'newcomer',
  holder: ProcessLocation,
  newcomer: ProcessLocation | undefined,
  under: readonly string[] = [],
): Promise<void> {
  const { jobs } = app.service.store;
  const queued = await app.call('sync-sites', {});
  const owner = processId(holder);
  const held = await jobs.claim(owner, Date.now(), LEASE_MS);
  expect(held?.id).toBe(queued.job_id);
  const other = await app.call('sync-sites', { site_ids_or_domains: [1, 2] });
  const worker = await start(newcomer, under);
  await expect.poll(async () => (await jobs.find(String(other.job_id)))?.completed_at ?? null).not.toBeNull();
  const now = async () => ((await jobs.find(String(queued.job_id)))?.owner === owner ? 'holder' : 'newcomer');
  await expect.poll(now).toBe(expected);
  await killProcess(worker);
  if (held !== undefined) await jobs.dropLeases([owner]);
  await app.db.run("UPDATE job SET completed_at = 1, status = 'failed' WHERE completed_at IS NULL", []);
}

describe('a job whose process cannot be seen', () => {
  it.each<[string, Partial<ProcessLocation>, 'holder' | 'newcomer']>([
    ['of this boot and namespace is taken over at once', {}, 'newcomer'],
    ['of another PID namespace is left alone', { pids: '2' }, 'holder'],
    ['of another boot, or machine of the same name, is left alone', { boot: 'b2' }, 'holder'],
    ['of another host is left alone', { host: 'other' }, 'holder'],
    ['is left alone where the namespace cannot be told', { pids: null }, 'holder'],
    ['is left alone where the boot cannot be told', { boot: null }, 'holder'],
  ])('%s', async (_name, other, expected) => {
    const pid = deadPid();
    await expectAfterStart(expected, { ...HERE, pid }, { ...HERE, ...other, pid: process.pid });
  });

  it('is left alone by a process that says it runs in another PID namespace', async () => {
    const own = { ...processLocation(), pid: deadPid() };
    await expectAfterStart('holder', own, { ...processLocation(), pids: 'another' });
    await expectAfterStart(own.boot === null || own.pids === null ? 'holder' : 'newcomer', own, undefined);
  });

  it('is left alone by a process that really runs in a PID namespace of its own', needs('a namespace'), async () => {
    const own = { ...processLocation(), pid: deadPid() };
    await expectAfterStart('holder', own, undefined, IN_NAMESPACE);
  });

  it('is left alone when neither of the two can tell where it runs', async () => {
    const place = { host: 'box', boot: null, pids: null };
    await expectAfterStart('holder', { ...place, pid: deadPid() }, { ...place, pid: process.pid });
  });
});

describe('the name of a process', () => {
  it.runIf(process.platform === 'linux')('carries the boot and the PID namespace that the kernel tells', () => {
    const tell = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' }).trim();
    const boot = tell('cat', '/proc/sys/kernel/random/boot_id');
    const pids = tell('readlink', '/proc/self/ns/pid').replace(/\D/g, '');
    expect(processLocation()).toMatchObject({ boot, pids, pid: process.pid });
    expect(processId().split('/').slice(1, 4)).toEqual([String(process.pid), boot, pids]);
  });
});
