/**
 * Metrics and readiness for operators: metrics follow events, readiness gives reasons, and both are closed to
 * strangers.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';

const TOKEN = 'metrics-token-of-this-test';
let app: TestApp;
let http: Hono<HttpEnv>;

beforeAll(async () => {
  app = await testApp({ sites: 3, jobs: false, config: { metrics_token: TOKEN } });
  for (let i = 0; i < 3; i++) await app.connect(i);
  http = await app.service.http();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  http.request(`http://127.0.0.1:8787${path}`, { headers });

async function numbers(): Promise<Map<string, number>> {
  const reply = await get('/metrics', { Authorization: `Bearer ${TOKEN}` });
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await reply.text()).trimEnd().split('\n');
  const values = new Map<string, number>();
  const typed = new Set<string>();
  for (const line of lines) {
    if (line.startsWith('# TYPE ')) {
      const name = line.split(' ')[2] ?? '';
      expect([name, typed.has(name)]).toEqual([name, false]);
      typed.add(name);
    }
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([a-z0-9_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)+\})?) (-?[0-9.e+-]+)$/.exec(line);
    expect([line, match !== null]).toEqual([line, true]);
    expect(values.has(match?.[1] ?? '')).toBe(false);
    values.set(match?.[1] ?? '', Number(match?.[2]));
  }
  return values;
}

describe('metrics', () => {
  it('count calls, child calls by how they failed, the queue and the database', async () => {
    const before = await numbers();
    await app.call('list-sites', {});
    await app.fail('get-site', { site_id_or_domain: 99 });
    app.fleet.site(1).faults.http500 = true;
    app.fleet.site(2).faults.offline = true;
    await app.call('sync-sites', { site_ids_or_domains: [1, 2, 3] });
    await app.service.store.jobs.add(
      {
        id: 'sync_1',
        type: 'sync',
        params: {},
        sites: [1],
        begun: false,
        refused: [],
        chunk: 1,
        delay_ms: 0,
        timeout_ms: 1000,
        next_run_at: app.clock.now(),
      },
      app.clock.now(),
    );
    app.clock.move(7_000);
    const now = await numbers();
    const moved = (name: string) => (now.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(moved('sitefleet_calls_total{name="svc/list-sites-v1",outcome="ok"}')).toBe(1);
    expect(moved('sitefleet_calls_total{name="svc/get-site-v1",outcome="svc_site_not_found"}')).toBe(1);
    expect(moved('sitefleet_call_seconds_count{name="svc/sync-sites-v1"}')).toBe(1);
    expect(moved('sitefleet_child_calls_total{function="stats",outcome="ok"}')).toBe(1);
    expect(moved('sitefleet_child_calls_total{function="stats",outcome="unframed"}')).toBe(1);
    expect(moved('sitefleet_child_calls_total{function="stats",outcome="unreachable"}')).toBe(1);
    expect(moved('sitefleet_child_received_bytes_total')).toBeGreaterThan(1000);
    expect(now.get('sitefleet_jobs_unfinished')).toBe(1);
    expect(now.get('sitefleet_jobs_oldest_age_seconds')).toBe(7);
    expect(now.get('sitefleet_child_calls_running')).toBe(0);
    expect(now.get('sitefleet_sites{status="connected"}')).toBe(1);
    const sites = [...now].filter(([name]) => name.startsWith('sitefleet_sites{'));
    expect(sites.reduce((sum, [, n]) => sum + n, 0)).toBe(3);
    const pending = [...now].filter(([name]) => name.startsWith('sitefleet_updates_pending{type="plugin"'));
    const offered = (await app.call('list-updates', { types: ['plugins'], per_page: 1 })).total;
    expect(pending.reduce((sum, [, n]) => sum + n, 0)).toBe(offered);
    expect(now.get('sitefleet_alert_deliveries{state="dead"}')).toBe(0);
    const [dbTime] = [...now].filter(([name]) => name.startsWith('sitefleet_db_seconds_total'));
    expect(dbTime?.[1]).toBeGreaterThan(0);
    expect([...now.keys()].filter((name) => name.startsWith('sitefleet_event_loop_lag_'))).toHaveLength(3);
    expect(now.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    // Buckets ascend, and the last contains all.
    const buckets = [...now].filter(([name]) => /^sitefleet_child_call_seconds_bucket/.test(name)).map(([, n]) => n);
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    expect(buckets.at(-1)).toBe(now.get('sitefleet_child_call_seconds_count'));
  });

  it('are as Prometheus wants them: promtool has nothing to say', needs('promtool'), async () => {
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    await numbers();
    const text = await (await get('/metrics', { Authorization: `Bearer ${TOKEN}` })).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'])
      expect(text).toContain(`\n${name} `);
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes', 'nodejs_version_info'])
      expect(text).toMatch(new RegExp(`^${name}[ {]`, 'm'));
  });

  it('are all there that the dashboard shows', async () => {
    await app.db.run("INSERT INTO site_certificate (site_id, status, valid_to, last_check) VALUES (1, 'valid', ?, 0)", [
      app.clock.now() + 86_400_000,
    ]);
    const names = new Set([...(await numbers()).keys()].map((name) => name.replace(/\{.*/, '')));
    const dashboard = readFileSync('docs/monitoring/grafana.json', 'utf8');
    const shown = new Set(dashboard.match(/\b(?:sitefleet|http|process|nodejs)_[a-z0-9_]+/g));
    expect(shown.size).toBeGreaterThan(12);
    expect([...shown].filter((name) => !names.has(name))).toEqual([]);
    const panels = (JSON.parse(dashboard) as { panels: { id: number }[] }).panels.map(({ id }) => id);
    expect(new Set(panels).size).toBe(panels.length);
    const [days] = [...(await numbers())].filter(([name]) => name.startsWith('sitefleet_certificates'));
    expect(days).toEqual(['sitefleet_certificates{days_left="0-7"}', 1]);
    expect((await numbers()).get('sitefleet_certificate_first_expiry_timestamp_seconds')).toBe(
      app.clock.now() / 1000 + 86_400,
    );
  });

  it('name no site and no caller', async () => {
    await app.fail('get-site', { site_id_or_domain: 'secret-customer.example' });
    const text = [...(await numbers()).keys()].join('\n');
    expect(text).not.toContain('secret-customer');
    expect(text).not.toContain('127.0.0.1');
  });

  it.each([
    ['no token', {}],
    ['a wrong token', { Authorization: 'Bearer wrong-token-of-this-test-x' }],
    ['the beginning of the token', { Authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` }],
  ])('are not for %s', async (_name, headers) => {
    const reply = await get('/metrics', headers as Record<string, string>);
    expect(reply.status).toBe(401);
    expect(await reply.text()).not.toContain('sitefleet_');
  });

  it('without a token set are for this machine itself, called by its own name and not through a proxy', async () => {
    const open = await testApp({ sites: 1, jobs: false });
    const local = await open.service.http();
    const ask = async (host: string, headers: Record<string, string> = {}) =>
      (await local.request(`http://${host}/metrics`, { headers })).status;
    expect(await ask('127.0.0.1:8787')).toBe(200);
    expect(await ask('localhost')).toBe(200);
    expect(await ask('rebound.example:8787')).toBe(403);
    expect(await ask('127.0.0.1:8787', { 'X-Forwarded-For': '203.0.113.9' })).toBe(403);
    expect(await ask('127.0.0.1.evil.example')).toBe(403);
  });
});

describe('readiness', () => {
  it('says why not, and is ready again on its own', async () => {
    expect((await get('/readyz')).status).toBe(200);
    app.clock.move(60_000);
    await app.db.all('PRAGMA query_only=ON');
    const reply = await get('/readyz');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(await reply.json()).toEqual({
      status: 'not ready',
      reasons: ['Writing to the database failed: The database is read-only, so nothing was saved.'],
    });
    await app.db.all('PRAGMA query_only=OFF');
    expect((await get('/readyz')).status).toBe(200);
  });

  it('is not given while writes are refused, although a small one would still fit', async () => {
    expect((await get('/readyz')).status).toBe(200);
    // SQLite reports the same error as for a full disk. The small write of the check needs no further page.
    const [pages] = await app.db.all('PRAGMA page_count');
    await app.db.all(`PRAGMA max_page_count=${Number(pages?.page_count)}`);
    const add = async () => {
      for (let i = 0; i < 200; i++) await app.call('add-client', { name: `Big ${i}`, note: 'n'.repeat(4000) });
    };
    await expect(add()).rejects.toMatchObject({ code: 'svc_storage_unavailable' });
    // At once, and however often it is asked.
    for (const wait of [0, 1000, 10_000, 60_000]) {
      app.clock.move(wait);
      const reply = await get('/readyz');
      expect([wait, reply.status, await reply.json()]).toEqual([
        wait,
        503,
        {
          status: 'not ready',
          reasons: [expect.stringMatching(/^Writing to the database failed: .*full/)],
        },
      ]);
    }
    await app.db.all('PRAGMA max_page_count=4294967294');
    expect((await get('/readyz')).status).toBe(200);
    expect(await app.db.all("SELECT key FROM instance WHERE key = 'room'")).toEqual([]);
  });
});
