/**
 * A typical agency fleet: most sites fine, some broken in every known way. Each site ends up in exactly one list, with
 * the right code.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, testApp } from '../support/harness.js';

const SITES = 100;
const SITE_MS = 8_000;
const KINDS = ['offline', 'hang', 'http500', 'firewall', 'outdated', 'suspended'] as const;
type Kind = (typeof KINDS)[number] | 'fine';

/** 10 offline, then 5 of each other kind, spread over the fleet; the rest is fine. */
const kinds = new Map<number, Kind>();
let app: TestApp;

/** Requests at the sites that never answer, since their time last ran out. */
const silent = { requests: 0 };
const never = () => {
  silent.requests++;
  return new Promise<void>(() => undefined);
};

beforeAll(async () => {
  app = await testApp({
    sites: SITES,
    fleet: { mode: 'address' },
    jobs: false,
    config: { site_timeout_ms: SITE_MS },
  });
  for (let i = 0; i < SITES; i += 10) await Promise.all(Array.from({ length: 10 }, (_, n) => app.connect(i + n)));
  const ids = new Map(
    (await app.call('get-sites-basic')).sites.map((site: { id: number; url: string }) => [site.url, site.id]),
  );
  let next = 0;
  for (const kind of KINDS) {
    for (let n = 0; n < (kind === 'offline' ? 10 : 5); n++, next += 2) {
      const site = app.fleet.site(next);
      const id = Number(ids.get(site.url));
      kinds.set(id, kind);
      if (kind === 'suspended') await app.call('suspend-site', { site_id_or_domain: id });
      else if (kind === 'hang') site.faults.latencyMs = never;
      else if (kind === 'offline' || kind === 'http500') site.faults[kind] = true;
      else if (kind === 'firewall') site.faults.firewall = true;
      else site.faults.outdated = true;
    }
  }
});

interface Item {
  site_id: number;
  slug: string;
}

interface Entry {
  site_id: number;
  code: string;
}

function codes(errors: readonly Entry[]): Map<number, string> {
  const map = new Map(errors.map((error) => [error.site_id, error.code]));
  expect(map.size, 'one entry per site').toBe(errors.length);
  return map;
}

function expectCodes(found: Map<number, string>, expected: Partial<Record<Kind, string>>): void {
  for (let id = 1; id <= SITES; id++)
    expect([id, kinds.get(id), found.get(id)]).toEqual([id, kinds.get(id), expected[kinds.get(id) ?? 'fine']]);
}

/**
 * Lets the time of requests run out whenever all that are under way are at sites that never answer: what works is never
 * late, however busy the machine.
 */
async function withoutWaiting<T>(call: Promise<T>): Promise<T> {
  let over = false;
  const ended = call.finally(() => {
    over = true;
  });
  for (; !over; await nextTurn()) {
    if (silent.requests === 0 || app.clock.limitsWithin(SITE_MS) > silent.requests) continue;
    silent.requests = 0;
    app.clock.move(SITE_MS);
  }
  return ended;
}

describe('100 sites, 35 of them broken', () => {
  it('checks: an unreachable site is a result', async () => {
    const answer = await withoutWaiting(app.call('check-sites', {}));
    expect(answer.errors).toEqual([]);
    expect(answer.summary).toEqual({ total_checked: SITES, reachable: SITES - 20, unreachable: 20 });
    const up = new Map(
      (answer.results as unknown as { site_id: number; reachable: boolean }[]).map((r) => [r.site_id, r.reachable]),
    );
    for (let id = 1; id <= SITES; id++)
      expect([id, up.get(id)]).toEqual([id, !['offline', 'hang', 'http500'].includes(kinds.get(id) ?? 'fine')]);
  });

  it.each([
    [
      'syncs: names each reason',
      'sync-sites',
      'total_synced',
      {
        offline: 'svc_site_offline',
        hang: 'svc_still_running',
        http500: 'svc_sync_failed',
        // A firewall that protects only the admin side lets visitors through.
        firewall: 'svc_sync_failed',
        outdated: 'svc_child_version_outdated',
        suspended: 'svc_site_suspended',
      },
    ],
    [
      'reconnects: tries every site, whatever it was known as',
      'reconnect-sites',
      'total_reconnected',
      {
        offline: 'svc_reconnect_failed',
        hang: 'svc_still_running',
        http500: 'svc_reconnect_failed',
        firewall: 'svc_reconnect_failed',
        outdated: 'svc_child_version_outdated',
      },
    ],
  ])('%s', async (_title, name, total, expected) => {
    const input = { site_ids_or_domains: Array.from({ length: SITES }, (_, i) => i + 1) };
    const answer = await withoutWaiting(app.call(name, input));
    expect(answer[total] + answer.total_errors).toBe(SITES);
    expectCodes(codes(answer.errors as unknown as Entry[]), expected);
  });

  it('updates everything: one site-level entry per broken site, real versions elsewhere', async () => {
    const withUpdates = new Set<number>(
      (await app.call('list-updates', { per_page: 200 })).updates.map((u: { site_id: number }) => u.site_id),
    );
    expect(withUpdates.size).toBeGreaterThan(0);
    const hanging = [...kinds].flatMap(([id, kind]) => (kind === 'hang' && withUpdates.has(id) ? [id] : []));
    // The time of the call runs out once the others are done, and each of the hanging ones was asked.
    let working = SITES;
    const call = app.call(
      'update-all',
      {},
      {
        progress: ({ done, total }) => {
          working = total - done;
        },
      },
    );
    await expect.poll(() => [working, silent.requests], { interval: 10 }).toEqual([hanging.length, hanging.length]);
    app.clock.move(app.service.config.direct_call_ms);
    const answer = await call;
    const errors = answer.errors as unknown as (Entry & { type: string; slug: string; message: string })[];
    const siteLevel = codes(errors.filter((error) => error.type === 'site'));
    // Sites not finished within the time of a direct call are reported, and continue as a job.
    const late = new Set(errors.filter((error) => error.code === 'svc_still_running').map((error) => error.site_id));
    expect([...late].sort((a, b) => a - b)).toEqual(hanging.sort((a, b) => a - b));
    for (const [id, code] of siteLevel) {
      if (late.has(id)) expect(['svc_still_running', 'svc_site_offline']).toContain(code);
      // The earlier check showed that the ones answering 500 are down: they are refused without a call.
      else
        expect([id, code]).toEqual([
          id,
          { outdated: 'svc_child_version_outdated', http500: 'svc_site_offline' }[String(kinds.get(id))],
        ]);
    }
    expect([...siteLevel.keys()].some((id) => kinds.get(id) === 'suspended')).toBe(false);
    expect(answer.summary.total_errors).toBe(errors.length);
    // On a working site, an update is applied, or its refusal is reported.
    const left = new Set(
      (await app.call('list-updates', { per_page: 200 })).updates.map((u: Item) => `${u.site_id} ${u.slug}`),
    );
    const refused = new Set(
      errors.filter((error) => error.type !== 'site').map((error) => `${error.site_id} ${error.slug}`),
    );
    for (const item of left) {
      const id = Number(String(item).split(' ')[0]);
      if (!kinds.has(id) && !late.has(id)) expect(refused).toContain(item);
    }
    expect(answer).toMatchObject({ queued: false, sites_queued: late.size });
    expect(await app.call('get-batch-job-status', { job_id: answer.job_id })).toMatchObject({
      status: 'queued',
      total: late.size,
    });
  });
});
