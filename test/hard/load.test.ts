/** One process under 200 callers of REST and MCP at once, with a job running beside them: an answer, or "later", and bounded memory. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listener, listen } from '../../src/listen.js';
import { type TestApp, testApp } from '../harness.js';
import { shortOrLong } from './soak.js';

const CALLERS = 200;
const SECONDS = shortOrLong(5, 180);
const SITES = 40;

let app: TestApp;
let listener: Listener;
let token: string;

beforeAll(async () => {
  app = await testApp({ sites: SITES, realClock: true, config: { batch_threshold: 5, job_delay_ms: 0 } });
  for (let i = 0; i < SITES; i++) await app.connect(i);
  const key = { scope: 'read_write', description: '', enabled: true, user_id: null, now: Date.now() } as const;
  token = (await app.service.store.keys.add(key)).token;
  listener = await listen(await app.service.http(), { host: '127.0.0.1', port: 0 });
  // The load does not go through the front door of a socket per caller only: it waits for its answers, as clients do.
}, 60_000);
afterAll(async () => {
  await listener.close(1000);
  await app.close();
});

const REST = ['/v2/sites?per_page=20', '/v2/updates', '/v2/sites/1', '/v2/clients', '/v2/sites/basic'];
const TOOLS = ['svc-list-sites-v1', 'svc-list-updates-v1', 'svc-count-sites-v1', 'svc-list-tags-v1'];

async function session(): Promise<string> {
  const { headers, text } = await mcp('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'load', version: '1' },
  });
  expect(text).toContain('"result"');
  return headers.get('mcp-session-id') ?? '';
}

async function mcp(method: string, params: object, id = '') {
  const reply = await fetch(`${listener.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(id === '' ? {} : { 'mcp-session-id': id }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

describe(`${CALLERS} callers for ${SECONDS} s`, () => {
  it('get answers, or are told to come later', async () => {
    for (const site of app.fleet.sites) site.faults.latencyMs = 100;
    const end = Date.now() + SECONDS * 1000;
    const times: number[] = [];
    const counts = { ok: 0, later: 0 };
    const wrong: string[] = [];
    let memory = 0;
    const caller = async (n: number) => {
      const overMcp = n % 2 === 0;
      const id = overMcp ? await session() : '';
      for (let i = n; Date.now() < end && wrong.length < 5; i++) {
        const began = performance.now();
        let status: number;
        let retry: string | null;
        let text = '';
        if (overMcp) {
          const reply = await mcp('tools/call', { name: TOOLS[i % TOOLS.length], arguments: {} }, id);
          ({ status, text } = reply);
          retry = reply.headers.get('retry-after');
          if (status === 200 && !text.includes('structuredContent')) wrong.push(text.slice(0, 300));
        } else {
          const reply = await fetch(`${listener.url}${REST[i % REST.length]}`, {
            headers: { Authorization: `Bearer ${token}` },
          });
          status = reply.status;
          retry = reply.headers.get('retry-after');
          text = await reply.text();
        }
        times.push(performance.now() - began);
        if (status === 200) counts.ok++;
        else if ((status === 429 || status === 503) && retry !== null) counts.later++;
        else wrong.push(`${status} ${text.slice(0, 300)}`);
      }
    };
    const jobs = (async () => {
      while (Date.now() < end) {
        const { job_id } = await app.call('sync-sites', {});
        await expect
          .poll(async () => (await app.call('get-batch-job-status', { job_id })).status, {
            timeout: 120_000,
            interval: 200,
          })
          .toBe('completed');
        memory = Math.max(memory, process.memoryUsage().rss);
      }
    })();
    const before = process.memoryUsage().rss;
    await Promise.all([jobs, ...Array.from({ length: CALLERS }, (_, n) => caller(n))]);
    expect(wrong).toEqual([]);
    expect(counts.ok).toBeGreaterThan(CALLERS);
    times.sort((a, b) => a - b);
    const p = (q: number) => Math.round(times[Math.floor(times.length * q)] ?? 0);
    const grown = Math.round((memory - before) / 1e6);
    process.stderr.write(
      `${JSON.stringify({ seconds: SECONDS, ...counts, p50: p(0.5), p99: p(0.99), grown_mb: grown })}\n`,
    );
    expect(grown).toBeLessThan(600);
  }, 600_000);
});
