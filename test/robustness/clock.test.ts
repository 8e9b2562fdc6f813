/** A server process whose clock is set back and forward while it works, by libfaketime (Debian: `faketime`). */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { tempFolder } from '../support/cleanup.js';
import { FAKETIME } from '../support/faketime.js';
import { needs } from '../support/needs.js';
import { type Commands, commands, type FleetSaid, type Served, type Started } from '../support/processes/commands.js';
import { pause } from '../support/processes/program.js';
import { runClient } from './load-callers.js';
import { SOAK } from './soak.js';

const HOUR_S = 3600;
const SITES = 8;
const JOB_PAUSE_MS = 1_000;
/** Much longer than a pause between chunks or an interval of the schedule, much shorter than any step. */
const PATIENCE_MS = 300_000;
/** Successive offsets of the clock: steps of an hour, and of a day. */
const OFFSETS_S = SOAK ? [-HOUR_S, 0, 24 * HOUR_S, 0, -24 * HOUR_S, HOUR_S, 0] : [-HOUR_S, 0];

const folder = tempFolder('clock');
const offsetFile = join(folder, 'offset');
let programs: Commands;
let server: Started<Served>;
let fleet: Started<FleetSaid>;
let env: Record<string, string> = {};

const setOffset = (seconds: number) => writeFileSync(offsetFile, `${seconds < 0 ? '' : '+'}${seconds}\n`);

async function operation(name: string, input: object): Promise<Record<string, unknown>> {
  const { status, text } = await runClient(server.said)(name, input);
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

const statusOf = async (token: string) =>
  (await fetch(`${server.said.v2}/sites?per_page=1`, { headers: { authorization: `Bearer ${token}` } })).status;

async function newKey(): Promise<{ id: string; token: string }> {
  const { out } = await programs.run(env, ['key', 'add', '--scope', 'read', '--description', 'k', '--json']);
  const made = JSON.parse(out) as { id?: number; key_id?: number; token?: string; api_key?: string };
  return { id: String(made.id ?? made.key_id), token: String(made.token ?? made.api_key) };
}

/** Waits until the condition holds; returns whether it did. @param everyMs polling interval */
async function comes(what: () => Promise<boolean>, everyMs = 200): Promise<boolean> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await pause(everyMs))
    if (await what()) return true;
  return false;
}

/** When an entry of the schedule last began, by the stepped clock. */
async function lastRun(name: string): Promise<number> {
  const { out } = await programs.run(env, ['schedule', 'list', '--json']);
  const { entries } = JSON.parse(out) as { entries: { name: string; last_run: string | null }[] };
  return Date.parse(entries.find((entry) => entry.name === name)?.last_run ?? '');
}

beforeAll(async () => {
  setOffset(0);
  programs = await commands();
  env = {
    SITEFLEET_DB: `file:${join(folder, 'fleet.db')}`,
    SITEFLEET_LOG_LEVEL: 'warn',
    SITEFLEET_ALLOW_PRIVATE_SITES: '1',
    SITEFLEET_BATCH_THRESHOLD: '1',
    SITEFLEET_JOB_CHUNK: '2',
    SITEFLEET_JOB_DELAY_MS: String(JOB_PAUSE_MS),
    LD_PRELOAD: String(FAKETIME),
    DYLD_INSERT_LIBRARIES: String(FAKETIME),
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_NO_CACHE: '1',
    // A time service changes only the wall clock.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  [server, fleet] = await Promise.all([programs.serve(env), programs.fleet({ sites: SITES, seed: 7 })]);
  for (const { password, ...site } of fleet.said.sites)
    await operation('add-site', { ...site, admin_password: password });
});

it('works on when its clock is stepped: keys, jobs and the schedule', needs('faketime'), async () => {
  const token = String(server.said.api_key);
  let offset = 0;
  for (const next of OFFSETS_S) {
    const step = `from ${offset} s to ${next} s`;
    const queued = await operation('sync-sites', {});
    const doomed = await newKey();
    expect(await statusOf(doomed.token)).toBe(200);
    setOffset(next);
    offset = next;
    expect(await statusOf(token), step).toBe(200);

    expect((await programs.run(env, ['key', 'remove', doomed.id])).code).toBe(0);
    await pause(1_100);
    expect(await statusOf(doomed.token), step).toBe(401);

    let status: Record<string, unknown> = {};
    const done = await comes(async () => {
      status = await operation('get-batch-job-status', { job_id: queued.job_id });
      return status.completed_at !== null;
    });
    expect({ done, ...status }, step).toMatchObject({ done: true, status: 'completed', succeeded: SITES });

    for (const name of ['monitors', 'reap-jobs']) {
      const now = () => Date.now() + offset * 1000;
      const fresh = async () => Math.abs(now() - (await lastRun(name))) < 60_000;
      // Each check is a process.
      expect(await comes(fresh, 2_000), `${name} ${step}`).toBe(true);
    }
    expect(await statusOf(token), step).toBe(200);
  }
  expect(server.child.exitCode).toBeNull();
  expect(server.errors().match(/this machine's clock was changed/g)?.length).toBe(OFFSETS_S.length);
});
