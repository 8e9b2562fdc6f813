/**
 * `serve` on a full volume and on a read-only one: it reports the problem, reads continue, nothing is lost, and it
 * recovers on its own.
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endProcess } from '../support/cleanup.js';
import { needs } from '../support/needs.js';
import { type Commands, commands, type FleetSaid, type Served, type Started } from '../support/processes/commands.js';
import { mountVolume, type Volume, type VolumeKind } from '../support/processes/volume.js';
import { runClient } from './load-callers.js';

const SITES = 12;
const MEGABYTES = 48;
/** Sites of the first part of a job; the others answer much later. */
const QUICK = 4;

/** Indices of the sites that are not in the first part. */
const SLOW = Array.from({ length: SITES - QUICK }, (_, i) => QUICK + i);
/** Long enough that on a busy machine the storage has failed by then. */
const LATE_MS = 10_000;

let programs: Commands;
let fleet: Started<FleetSaid>;
let volume: Volume;
let server: Started<Served>;

beforeAll(async () => {
  programs = await commands();
});
afterEach(async () => {
  for (const started of [server, fleet]) if (started !== undefined) await endProcess(started.child, 'SIGKILL');
  volume?.close();
});
afterAll(() => programs?.close());

const environment = () => ({
  SITEFLEET_DB: `file:${volume.folder}/fleet.db`,
  SITEFLEET_LOG_LEVEL: 'warn',
  SITEFLEET_ALLOW_PRIVATE_SITES: '1',
  SITEFLEET_PER_HOST: '20',
  SITEFLEET_BATCH_THRESHOLD: '1',
  SITEFLEET_JOB_CHUNK: String(QUICK),
  SITEFLEET_JOB_DELAY_MS: '0',
});

type Body = Record<string, unknown>;

async function run(name: string, input: object = {}): Promise<Body> {
  const { status, text } = await runClient(server.said)(name, input);
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return JSON.parse(text) as Body;
}

const latency = (sites: number[], latencyMs: number) =>
  fetch(`http://127.0.0.1:${fleet.said.port}/__control`, {
    method: 'POST',
    body: JSON.stringify({ sites, faults: { latencyMs } }),
  });

/** Starts a server with its database on the volume, and connects all sites. */
async function begin(kind: VolumeKind): Promise<void> {
  volume = mountVolume(kind, MEGABYTES);
  [server, fleet] = await Promise.all([programs.serve(environment()), programs.fleet({ sites: SITES, seed: 7 })]);
  // One after the other: the first part of a job has the lowest ids.
  for (const { password, ...site } of fleet.said.sites) await run('add-site', { ...site, admin_password: password });
}

/** Starts a job: some of its sites are done, none of those in flight can be stored when storage fails now. */
async function jobUnderWay(): Promise<string> {
  await latency(SLOW, LATE_MS);
  const job_id = String((await run('sync-sites')).job_id);
  await expect.poll(async () => Number((await run('get-batch-job-status', { job_id })).processed)).toBe(QUICK);
  return job_id;
}

let written = 0;
/** Writes through REST and the run endpoint; returns the answers' statuses and texts. */
async function writes(): Promise<{ status: number; text: string; retry: string | null }[]> {
  const note = 'n'.repeat(4000);
  const name = `client ${++written}`;
  const bearer = { authorization: `Bearer ${server.said.api_key}`, 'content-type': 'application/json' };
  const rest = await fetch(`${server.said.v2}/clients/add`, {
    method: 'POST',
    headers: bearer,
    body: JSON.stringify({ name: `${name} by REST`, note, client_email: `c${written}@example.com` }),
  });
  const operation = await runClient(server.said)('add-client', { name, note });
  const { status, headers } = rest;
  return [
    { status, text: await rest.text(), retry: headers.get('retry-after') },
    { status: operation.status, text: operation.text, retry: operation.headers.get('retry-after') },
  ];
}

async function ready(): Promise<{ status: number; reasons: string }> {
  const reply = await fetch(`${server.said.url}/readyz`);
  const { reasons = [] } = (await reply.json()) as { reasons?: string[] };
  return { status: reply.status, reasons: reasons.join(' ') };
}

async function refused(words: RegExp): Promise<void> {
  // The log may still have free space; then there is none.
  await expect.poll(async () => (await writes()).map(({ status }) => status), { interval: 1 }).toEqual([503, 503]);
  for (const { status, text, retry } of await writes()) {
    expect({ status, text, retry }).toEqual({
      status: 503,
      text: expect.stringMatching(words),
      retry: expect.any(String),
    });
    expect(JSON.parse(text)).toMatchObject({ code: 'svc_storage_unavailable' });
    expect(text).not.toContain(volume.folder);
  }
  const tool = await fetch(server.said.mcp, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.said.api_key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'svc-add-client-v1',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'svc-add-client-v1',
        arguments: { name: 'By MCP', note: 'n'.repeat(4000) },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'volume', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  expect(await tool.text()).toMatch(words);
  // Reading needs no space.
  expect(await run('list-sites')).toMatchObject({ total: SITES });
  expect(await run('get-site', { site_id_or_domain: 1 })).toMatchObject({ id: 1 });
  await expect.poll(ready).toEqual({ status: 503, reasons: expect.stringMatching(words) });
}

/** Measures and checks the recovery, from the moment that storage works again. */
async function recovered(job_id: string, clientsBefore: number): Promise<void> {
  await latency(SLOW, 0);
  const began = Date.now();
  await expect.poll(ready, { interval: 100 }).toEqual({ status: 200, reasons: '' });
  const readyAfter = Date.now() - began;
  expect((await writes()).map(({ status }) => status)).toEqual([200, 200]);
  await expect
    .poll(() => run('get-batch-job-status', { job_id }), { interval: 100 })
    .toMatchObject({ status: 'completed', total: SITES, processed: SITES, succeeded: SITES, failed: 0, errors: [] });
  process.stderr.write(`${JSON.stringify({ ready_ms: readyAfter, job_done_ms: Date.now() - began })}\n`);
  // No refused change was stored, and no acknowledged one is missing.
  expect(Number((await run('count-clients')).total)).toBe(clientsBefore + 2);
  expect(await endProcess(server.child)).toBe(0);
  const check = await programs.run(environment(), ['check', '--json']);
  expect([check.code, check.err]).toEqual([0, '']);
  expect(JSON.parse(check.out)).toMatchObject({ ok: true, integrity: ['ok'] });
}

describe('a full volume', needs('a volume'), () => {
  it('is reported, reads go on, the job waits with its results, and all is well when there is room again', async () => {
    await begin('memory');
    const job = await jobUnderWay();
    volume.fill();
    await refused(/database’s disk is full/);
    const { total } = await run('count-clients');
    // Calls in flight return, but cannot be stored.
    await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    const waiting = await run('get-batch-job-status', { job_id: job });
    expect(waiting).toMatchObject({ failed: 0, errors: [], completed_at: null });
    expect(Number(waiting.processed)).toBeLessThan(SITES);
    volume.drain();
    await recovered(job, Number(total));
  });
});

describe('a volume that refuses writes', needs('a disk image'), () => {
  it('is reported, reads go on, the job waits with its results, and all is well when it can be written again', async () => {
    await begin('disk');
    const job = await jobUnderWay();
    const files = ['fleet.db', 'fleet.db-wal'];
    volume.protect(files, true);
    let total = 0;
    try {
      await refused(/cannot be read or written/);
      const waiting = await run('get-batch-job-status', { job_id: job });
      expect(waiting).toMatchObject({ failed: 0, errors: [], completed_at: null });
      total = Number((await run('count-clients')).total);
    } finally {
      volume.protect(files, false);
    }
    await recovered(job, total);
  });
});
