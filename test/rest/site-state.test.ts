/** The known state of a site, and what it forbids: over operations and REST (operations §5.1, §5.2, §5.12). */

import { createServer } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import type { Faults } from '../../src/demo/faults.js';
import type { DemoSite } from '../../src/demo/fleet.js';
import { syncDueSites } from '../../src/domain/connection/maintenance.js';
import { ALWAYS } from '../support/dates.js';
import { holdBack, runOutOfTime } from '../support/hold-back.js';
import { listenLocally } from '../support/local-server.js';
import { type RestApp, restApp } from './client.js';

const ONE = { site_id_or_domain: 1 };
const NOON = '2026-11-20T12:00:00Z';

let app: RestApp;
let site: DemoSite;
beforeEach(async () => {
  app = await restApp({ sites: 3, jobs: false });
  for (const i of [0, 1, 2]) await app.connect(i);
  site = app.fleet.site(0);
});

const get = (id = 1) => app.call('get-site', { site_id_or_domain: id });
const status = async (id = 1) => (await get(id)).status;
const calls = (name: string) => app.fleet.stats().calls[name] ?? 0;
const due = () => app.service.store.dueSites.forSync(app.clock.now(), 10);

describe('a visit of the front page', () => {
  it.each<[string, Faults, boolean, number]>([
    ['a server error', { http500: true }, false, 500],
    ['no answer', { offline: true }, false, 0],
    ['a maintenance page', { maintenance: true }, false, 503],
    ['a page to log in', { httpAuth: { user: 'u', pass: 'p' } }, false, 401],
    ['a redirect elsewhere', { redirect: { to: 'https://elsewhere.example/', status: 302 } }, true, 302],
    ['a redirect to itself', { redirect: { to: './', status: 301 } }, false, 301],
    ['a redirect to nowhere', { redirect: { to: '', status: 302 } }, false, 302],
    ['an answer that is no page', { redirect: { to: 'https://elsewhere.example/', status: 304 } }, false, 304],
  ])('that meets %s is a fact and forbids no call', async (_, faults, reachable, http_status) => {
    site.faults = faults;
    app.clock.move(60_000);
    expect(await app.call('check-site', ONE)).toMatchObject({ reachable, http_status });
    const decided = faults.maintenance === true ? null : reachable;
    const last_check = { reachable: decided, http_status, checked_at: '2026-11-20T12:01:00Z' };
    const standing =
      http_status === 0
        ? { status: 'disconnected', status_reason: expect.stringContaining('gave no answer to the last check') }
        : { status: 'connected', status_reason: null };
    expect(await get()).toMatchObject({ ...standing, last_check });
    const { data } = (await app.rest('GET /sites/1')).body;
    expect(data).toMatchObject({ last_check, http_code: http_status });
    site.faults = {};
    expect(await due()).toContain(1);
    expect(await app.call('sync-sites', {})).toMatchObject({ total_synced: 3, errors: [] });
    expect((await app.rest('GET /sites/1/security')).status).toBe(200);
  });

  it('follows a redirect within the site to the page that answers', async () => {
    const { url } = (await app.rest('GET /sites/1')).body.data;
    const before = site.requests;
    // A localized or custom login page: only the front page redirects.
    Object.defineProperty(site.faults, 'redirect', {
      configurable: true,
      get: () => (site.requests === before + 1 ? { to: `${url}de/`, status: 302 } : undefined),
    });
    app.clock.move(60_000);
    const outcome = { reachable: true, http_status: 200 };
    expect(await app.call('check-site', ONE)).toMatchObject(outcome);
    expect(site.requests - before).toBe(2);
    const { data } = (await app.rest('GET /sites/1')).body;
    expect(data).toMatchObject({ last_check: { ...outcome, checked_at: '2026-11-20T12:01:00Z' }, http_code: 200 });
  });

  it('says on every way in that a front page redirects without end, as the monitor does', async () => {
    site.faults = { redirect: { to: './', status: 301 } };
    const reason = 'The front page redirects more than 8 times.';
    expect(await app.call('check-site', ONE)).toMatchObject({ reachable: false, reason });
    const { results } = await app.call('check-sites', { site_ids_or_domains: [1] });
    expect(results).toMatchObject([{ reachable: false, reason }]);
    expect((await app.rest('POST /sites/1/check')).body.data).toMatchObject({ reachable: false });
    expect((await app.rest('PATCH /sites/check', { body: { include: [1] } })).body.data).toMatchObject({
      1: { reachable: false },
    });
    await app.rest('PUT /monitors/1/settings', { body: { active: 1 } });
    const { data } = (await app.rest('POST /monitors/1/check')).body;
    expect(data).toMatchObject({ uptime_status: 'down', msg: expect.stringContaining('redirects more than 8 times.') });
  });

  it('knows the maintenance page of a site in another language', async () => {
    site.state.language = 'de_DE';
    site.faults = { maintenance: true };
    app.clock.move(60_000);
    await app.call('check-site', ONE);
    expect((await get()).last_check).toMatchObject({ reachable: null, http_status: 503 });
  });

  describe('without an answer', () => {
    const silent = { reachable: false, http_status: 0, checked_at: '2026-11-20T12:01:00Z' };
    const dead = {
      status: 'disconnected',
      status_reason: 'The front page gave no answer to the last check.',
      status_since: '2026-11-20T12:01:00Z',
      last_check: silent,
    };
    beforeEach(async () => {
      await app.call('add-client', { name: 'Ada', selected_sites: [1, 2] });
      await app.call('add-tag', { name: 'Shops' });
      for (const id of [1, 2]) await app.call('update-site', { site_id_or_domain: id, tags: [1] });
      app.clock.move(60_000);
      site.faults = { offline: true };
    });

    it.each<[string, () => Promise<unknown>]>([
      ['check-site', () => app.call('check-site', ONE)],
      ['check-sites', () => app.call('check-sites', { site_ids_or_domains: [1] })],
      ['REST of one', () => app.rest('POST /sites/1/check')],
      ['REST of many', () => app.rest('PATCH /sites/check', { body: { include: [1] } })],
      ['a batch', () => app.rest('POST /sites/batch', { body: { check: [1] } })],
    ])('the site is disconnected in every list after %s, with what was seen', async (_, check) => {
      await check();
      const lists = await Promise.all([
        app.call('list-sites').then(({ items }) => items),
        app.call('list-sites', { cursor: '' }).then(({ items }) => items),
        app.call('get-client-sites', { client_id_or_email: 1 }).then(({ sites }) => sites),
        app.call('get-tag-sites', { tag_id: 1 }).then(({ sites }) => sites),
        ...['/sites', '/sites?full_data=0', '/sites/basic', '/clients/1/sites', '/tags/1/sites'].map(
          async (path) => (await app.rest(`GET ${path}`)).body.data,
        ),
        app.rest('POST /sites/check?dry_run=1').then(({ body }) => Object.values(body.data)),
      ]);
      for (const list of lists) {
        expect(list.find(({ id }: { id: number }) => id === 1)).toMatchObject(dead);
        expect(list.find(({ id }: { id: number }) => id === 2).status).toBe('connected');
      }
      expect((await app.rest('GET /sites/1/plugins')).body.site).toMatchObject(dead);
      expect((await app.call('search-fleet', { status: 'disconnected' })).total).toBe(1);
      expect((await app.call('count-sites', { status: 'connected' })).total).toBe(2);
      expect((await app.rest('GET /sites/count?status=disconnected')).body.count).toBe(1);
      const { items } = await app.call('list-sites');
      expect(Object.keys(items[1])).toEqual(['id', 'url', 'name', 'status', 'client_id']);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['a visit', () => app.call('check-site', ONE)],
      ['a sync', () => app.call('sync-sites', { site_ids_or_domains: [1] })],
      ['a monitor', () => app.rest('POST /monitors/1/check')],
      ['a call of the child', () => app.rest('GET /posts?websites=1')],
      ['a reconnection', () => app.call('reconnect-site', ONE)],
    ])('ends with the first answer: %s', async (_, look) => {
      await app.call('check-site', ONE);
      expect(await status()).toBe('disconnected');
      site.faults = {};
      app.clock.move(60_000);
      await look();
      expect(await get()).toMatchObject({ status: 'connected', status_reason: null });
      expect(await app.db.all("SELECT n FROM site_count WHERE status <> 'connected' AND n <> 0")).toEqual([]);
      expect(await app.db.all('SELECT 1 FROM site_detail WHERE status_since = 0')).toEqual([]);
    });
  });

  it('that found an error is shown beside the status, which stays', async () => {
    site.faults = { http500: true };
    expect((await app.rest('POST /sites/1/check')).body.data).toMatchObject({
      status: 'connected',
      http_code: 500,
      reachable: false,
      last_check: { reachable: false, http_status: 500 },
    });
    for (const path of ['/sites/basic', '/sites?full_data=0&with_tags=0'])
      expect((await app.rest(`GET ${path}`)).body.data.find(({ id }: { id: number }) => id === 1)).toMatchObject({
        status: 'connected',
        last_check: { reachable: false, http_status: 500 },
      });
    expect((await app.call('list-sites')).items[0]).toMatchObject({
      status: 'connected',
      last_check: { reachable: false, http_status: 500 },
    });
  });

  it('never brings a connection back that a sync found broken', async () => {
    site.faults = { refused: true };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    for (const faults of [{ refused: true, http500: true }, { offline: true }, {}]) {
      site.faults = faults;
      await app.call('check-site', ONE);
      expect(await status()).toBe('disconnected');
    }
  });

  it('lists unreachable sites of a queued check in its errors', async () => {
    const { job_id } = await queuedCheck({ 1: { http500: true }, 2: { offline: true } });
    const job = (await app.rest(`GET /jobs/${job_id}`)).body;
    expect(job).toMatchObject({ status: 'completed', succeeded: 1, failed: 2 });
    expect(job.errors).toEqual([
      { site_id: 1, code: 'svc_site_offline', message: 'The front page answered with HTTP 500.' },
      { site_id: 2, code: 'svc_site_offline', message: 'The front page did not answer.' },
    ]);
    expect(job.items_total).toBe(3);
    const second = (await app.rest(`GET /jobs/${job_id}?page=2&per_page=2`)).body;
    const found = [...(await app.call('get-batch-job-status', { job_id, per_page: 2 })).items, ...second.items];
    expect(found.map(({ site_id, reachable, http_status }) => [site_id, reachable, http_status]).sort()).toEqual([
      [1, false, 500],
      [2, false, 0],
      [3, true, 200],
    ]);
  });

  async function queuedCheck(faults: Record<number, Faults>) {
    for (const [id, fault] of Object.entries(faults)) app.fleet.site(Number(id) - 1).faults = fault;
    Object.assign(app.service.config, { batch_threshold: 2 });
    const answer = await app.call('check-sites', {});
    await app.drain();
    return answer;
  }

  it('and the look of a monitor are one fact: the newer counts', async () => {
    site.faults = { http500: true };
    await app.call('check-site', ONE);
    site.faults = {};
    app.clock.move(60_000);
    expect((await app.rest('POST /monitors/1/check')).status).toBe(200);
    expect((await get()).last_check).toEqual({ reachable: true, http_status: 200, checked_at: '2026-11-20T12:01:00Z' });
    site.faults = { http500: true };
    app.clock.move(60_000);
    await app.call('check-site', ONE);
    expect((await get()).last_check).toMatchObject({ reachable: false, http_status: 500 });
  });
});

describe('a site whose last sync failed', () => {
  beforeEach(async () => {
    app.clock.move(60_000);
    site.faults = { offline: true };
    await app.call('sync-sites', { site_ids_or_domains: [1] });
    app.clock.move(60_000);
    await app.call('sync-sites', { site_ids_or_domains: [1] });
  });

  it('tells why and since when, alone and in lists', async () => {
    const facts = {
      status: 'disconnected',
      status_reason: expect.stringMatching(/^The last sync failed: .*127\.0\.0\.1/),
      status_since: '2026-11-20T12:01:00Z',
    };
    expect(await get()).toMatchObject(facts);
    const { items } = await app.call('list-sites');
    expect(items[0]).toMatchObject(facts);
    expect(Object.keys(items[1])).toEqual(['id', 'url', 'name', 'status', 'client_id']);
    expect((await app.rest('GET /sites/1')).body.data).toMatchObject(facts);
  });

  it('is tried by the daily round and by a call that names it, and any answer of the child connects it', async () => {
    expect(await due()).toContain(1);
    expect(await status()).toBe('disconnected');
    site.faults = {};
    expect((await app.rest('GET /posts?websites=1')).status).toBe(200);
    expect(await get()).toMatchObject({ status: 'connected', status_reason: null, status_since: null });
    expect(await app.db.all('SELECT status, n FROM site_count ORDER BY status')).toEqual([
      { status: 'connected', n: 3 },
      { status: 'disconnected', n: 0 },
      { status: 'suspended', n: 0 },
    ]);
  });
});

describe('marks set by hand', () => {
  it('stay whatever the child answers, and a call that names the site says so without calling it', async () => {
    app.clock.move(60_000);
    await app.call('disconnect-site', ONE);
    expect(await due()).not.toContain(1);
    const before = app.fleet.stats().requests;
    expect((await app.call('sync-sites', { site_ids_or_domains: [1] })).errors).toMatchObject([
      { code: 'svc_site_offline' },
    ]);
    expect(app.fleet.stats().requests).toBe(before);
    expect(await get()).toMatchObject({
      status: 'disconnected',
      status_reason: expect.stringContaining('manually'),
      status_since: '2026-11-20T12:01:00Z',
    });
  });

  it('the later of two shows: disconnecting a suspended site, suspending a disconnected one', async () => {
    await app.call('suspend-site', ONE);
    expect(await app.call('disconnect-site', ONE)).toMatchObject({ status: 'disconnected' });
    expect(await get()).toMatchObject({
      status: 'disconnected',
      status_reason: expect.stringMatching(/manually.*Suspended/),
    });
    expect((await app.call('list-sites', { status: 'disconnected' })).total).toBe(1);
    expect(await app.call('suspend-site', ONE)).toMatchObject({ status: 'suspended' });
    expect(await app.call('unsuspend-site', ONE)).toMatchObject({ status: 'connected' });
    await app.call('suspend-site', ONE);
    const { status: answered, status_reason } = await app.call('unsuspend-site', ONE);
    expect([answered, status_reason]).toEqual(['connected', undefined]);
  });

  it('unsuspend-sites lifts many at once, also as a job; on REST they are named', async () => {
    const all = { site_ids_or_domains: [1, 2, 3] };
    await app.call('suspend-sites', all);
    await app.call('disconnect-site', { site_id_or_domain: 2 });
    expect(await app.call('unsuspend-sites', all)).toMatchObject({
      queued: false,
      unsuspended: [
        { id: 1, status: 'connected' },
        { id: 2, status: 'connected' },
        { id: 3, status: 'connected' },
      ],
      total_unsuspended: 3,
    });
    for (const path of ['suspend', 'unsuspend']) {
      const refused = await app.rest(`POST /sites/${path}`, { body: {} });
      expect([refused.status, refused.body.data?.field]).toEqual([400, 'include']);
    }
    expect((await app.rest('POST /sites/suspend', { body: { include: [1, 3] } })).body).toMatchObject({ total: 2 });
    expect([await status(1), await status(3)]).toEqual(['suspended', 'suspended']);
    expect((await app.rest('PUT /sites/unsuspend', { body: { include: [1] } })).body.data).toMatchObject({
      1: { result: 'success', status: 'connected' },
    });
    await app.call('disconnect-site', { site_id_or_domain: 3 });
    Object.assign(app.service.config, { batch_threshold: 1 });
    const { job_id } = await app.call('unsuspend-sites', all);
    expect(job_id).toMatch(/^unsuspend_/);
    await app.drain();
    expect(await status(3)).toBe('connected');
  });

  describe('the end of a suspension connects a site that was disconnected', () => {
    beforeEach(async () => {
      await app.call('disconnect-site', ONE);
      await app.call('suspend-site', ONE);
    });
    const ways: [string, string, object?][] = [
      ['its own route', 'POST /sites/1/unsuspend'],
      ['the route of several sites', 'POST /sites/unsuspend', { include: [1] }],
      ['a batch', 'POST /sites/batch', { unsuspend: [1] }],
      ['an edit', 'PUT /sites/1/edit', { suspended: 0 }],
    ];

    it.each(ways)('by %s', async (_, call, body) => {
      expect((await app.rest(call, { body })).status).toBe(200);
      expect(await get()).toMatchObject({ status: 'connected', status_reason: null });
    });

    it.each(ways)('by %s, which says why it could not', async (_, call, body) => {
      site.faults = { offline: true };
      const { body: answer } = await app.rest(call, { body });
      expect(JSON.stringify(answer)).toContain('The suspension of site 1 is lifted, but it could not be reconnected');
      expect(JSON.stringify(answer)).toContain('svc_reconnect_failed');
      expect(await status()).toBe('disconnected');
    });

    it('by its client, which names the sites that did not answer', async () => {
      await app.call('add-client', { name: 'Ada', selected_sites: [1, 2] });
      await app.call('disconnect-site', { site_id_or_domain: 2 });
      await app.call('suspend-client', { client_id_or_email: 1 });
      app.fleet.site(1).faults = { offline: true };
      const { body } = await app.rest('POST /clients/1/unsuspend');
      expect(body).toMatchObject({
        success: 1,
        suspended: 0,
        sites: 2,
        sites_reconnected: 1,
        errors: [{ site_id: 2, code: 'svc_reconnect_failed', message: expect.any(String) }],
      });
      expect(body.message).toContain('1 of 2 disconnected sites are connected again');
      expect([await status(1), await status(2)]).toEqual(['connected', 'disconnected']);
    });
  });
});

describe('the suspension of a client', () => {
  const client = { client_id_or_email: 1 };
  beforeEach(async () => {
    await app.call('add-client', { name: 'Ada', selected_sites: [1] });
    await app.call('suspend-client', client);
  });
  const all = () => Promise.all([1, 2, 3].map((id) => status(id)));
  const since = async () => (await get()).status_since;

  it.each<[string, (to: number) => Promise<unknown>]>([
    ['update-site', (to) => app.call('update-site', { ...ONE, client_id: to })],
    ['REST', (to) => app.rest('PUT /sites/1/edit', { body: { client_id: to } })],
    ['a batch', (to) => app.rest('POST /sites/batch', { body: { update: [{ id: 1, client_id: to }] } })],
    ['update-client', (to) => app.call('update-client', { client_id_or_email: to, selected_sites: [1] })],
    ['REST of clients', (to) => app.rest(`PUT /clients/${to}/edit`, { body: { selected_sites: [1] } })],
  ])('moves with no site: %s', async (_, move) => {
    await app.call('add-client', { name: 'Bea' });
    const before = await since();
    app.clock.move(60_000);
    await move(2);
    expect([await all(), await since()]).toEqual([['suspended', 'connected', 'connected'], before]);
    expect((await get()).status_reason).toBe('Suspended; lift it with unsuspend-site-v1.');
    await app.call('unsuspend-client', client);
    expect(await status()).toBe('suspended');
    await app.call('suspend-client', client);
    await app.call('unsuspend-site', ONE);
    await move(1);
    expect(await status()).toBe('connected');
  });

  it('is taken by a site that is added to it', async () => {
    const { url, admin, password, uniqueId } = site;
    await app.call('delete-site', { ...ONE, confirm: true });
    const added = { url, admin, admin_password: password, unique_id: uniqueId, client_id: 1 };
    expect(await app.call('add-site', added)).toMatchObject({ status: 'suspended', client_id: 1 });
  });

  it.each(['operation', 'REST'])('stays with its sites when it is deleted, and the answer says so: %s', async (way) => {
    await app.call('update-client', { ...client, selected_sites: [1, 2] });
    expect(await app.call('suspend-client', client)).toMatchObject({ sites_suspended: 2 });
    await app.call('unsuspend-site', { site_id_or_domain: 2 });
    if (way === 'operation') {
      const said = { sites_affected: 2, sites_suspended: 1 };
      expect(await app.call('delete-client', { ...client, dry_run: true })).toMatchObject(said);
      expect(await app.call('delete-client', { ...client, confirm: true })).toMatchObject(said);
    } else {
      const { body } = await app.rest('DELETE /clients/1/remove');
      expect(body.message).toBe('The client was deleted. Its sites stay. 1 of them are suspended and stay so.');
    }
    expect(await all()).toEqual(['suspended', 'connected', 'connected']);
    expect((await get()).status_reason).toBe('Suspended; lift it with unsuspend-site-v1.');
    expect(await app.call('unsuspend-site', ONE)).toMatchObject({ status: 'connected' });
  });
});

it('lists what suspended sites are offered on both surfaces, each with the status of its site', async () => {
  await app.call('suspend-site', ONE);
  const { updates } = await app.call('list-updates', { per_page: 200 });
  const states = new Map(
    updates.map((entry: { site_id: number; site_status: string }) => [entry.site_id, entry.site_status]),
  );
  expect(states.get(1)).toBe('suspended');
  expect(states.get(2)).toBe('connected');
  const { data } = (await app.rest('GET /updates')).body;
  expect(Object.keys(data).map(Number)).toEqual([...states.keys()].sort());
  const entries = Object.values(data[1]).flatMap((ofType) => Object.values(ofType as object));
  expect(entries.length).toBeGreaterThan(0);
  for (const entry of entries) expect(entry).toMatchObject({ site_status: 'suspended' });
});

it.each(['sync', 'reconnect'])(
  '%s of a slow site answers 504 with the job, and names it when asked again',
  async (action) => {
    if (action === 'reconnect') await app.call('disconnect-site', ONE);
    const held = holdBack(site, /^stats$/);
    const first = await runOutOfTime(app, held, app.rest(`POST /sites/1/${action}`));
    expect([first.status, first.body.code]).toEqual([504, 'svc_still_running']);
    const { job_id } = first.body.data;
    expect((await app.rest(`POST /sites/1/${action}`)).body.data).toMatchObject({ job_id });
    expect((await app.rest(`GET /jobs/${job_id}`)).body).toMatchObject({ type: action });
  },
);

describe('a firewall in front of wp-admin', () => {
  it.each(['word', 'not_found', 'cut'] as const)(
    'does not stop the registration with "%s" for its page',
    async (as) => {
      await app.call('delete-site', { ...ONE, confirm: true });
      site.faults = { firewall: 'wp-admin', firewallAnswer: as };
      const before = calls('register');
      const id = await app.connect(0);
      // One that breaks off is tried again at the same address first.
      expect(calls('register') - before).toBe(as === 'cut' ? 3 : 2);
      expect((await get(id)).last_sync).not.toBeNull();
    },
  );

  it('stops neither the registration nor a change, and nothing is sent twice once the way is known', async () => {
    await app.call('delete-site', { ...ONE, confirm: true });
    site.faults = { firewall: 'wp-admin' };
    const id = await app.connect(0);
    const plugin = site.state.plugins.find(({ active, slug }) => active && !slug.includes('mainwp'))?.slug;
    const sent = calls('plugin_action');
    const answer = await app.call('deactivate-site-plugins', { site_id_or_domain: id, slugs: [plugin] });
    expect(answer).toMatchObject({ deactivated: [plugin], errors: [] });
    expect(calls('plugin_action') - sent).toBe(1);
    expect(site.state.plugins.find(({ slug }) => slug === plugin)?.active).toBe(false);
  });
});

it('opens two WordPress sessions on a site, however many calls it makes', async () => {
  const user = site.state.users.find(({ login }) => login === site.admin);
  const before = user?.sessions ?? 0;
  for (let i = 0; i < 5; i++) await app.call('sync-sites', { site_ids_or_domains: [1] });
  expect((user?.sessions ?? 0) - before).toBe(0);
  app.clock.move(3 * 86_400_000);
  for (let i = 0; i < 5; i++) await app.call('sync-sites', { site_ids_or_domains: [1] });
  expect((user?.sessions ?? 0) - before).toBe(2);
});

describe('what an error advises to change', () => {
  it('is changed by update-site: the login in front of the site, the check of its certificate', async () => {
    site.faults = { httpAuth: { user: 'web', pass: 'secret' } };
    expect((await app.call('sync-sites', { site_ids_or_domains: [1] })).total_errors).toBe(1);
    const { advice } = (await app.rest('POST /sites/1/sync')).body.data;
    expect(advice).toMatch(/http_user and http_pass.*POST \/v2\/sites\/\{id_or_domain\}\/edit/);
    const changed = await app.call('update-site', { ...ONE, http_user: 'web', http_pass: 'secret', ssl_verify: false });
    expect(JSON.stringify(changed)).not.toContain('secret');
    expect((await app.call('sync-sites', { site_ids_or_domains: [1] })).total_synced).toBe(1);
    expect((await app.rest('GET /sites/1')).body.data).toMatchObject({ verify_certificate: 0 });
    await app.call('update-site', { ...ONE, http_user: '', http_pass: '' });
    expect((await app.call('sync-sites', { site_ids_or_domains: [1] })).total_errors).toBe(1);
  });

  it.each(['update-site', 'PUT /sites/1/edit'])(
    '%s takes a new address where the same site answers, with its history',
    async (way) => {
      const change = async (url: string) => {
        if (way === 'update-site') return app.call(way, { ...ONE, url }).catch((error) => error);
        const { body } = await app.rest(way, { body: { url } });
        return body.success === 1 ? body.data : body;
      };
      const moved = site.url.replace('127.0.0.1', 'localhost');
      const before = (await app.call('get-site-plugins', ONE)).plugins;
      const other = app.fleet.site(1).url;
      for (const [url, code] of [
        [moved.replace('site-0000', 'site-0099'), 'svc_connection_failed'],
        [other, way === 'update-site' ? 'svc_site_already_exists' : 'svc_rest_site_exists'],
        ['ftp://example.com/', way === 'update-site' ? 'svc_invalid_url' : 'rest_invalid_param'],
      ] as const)
        expect([url, await change(url)]).toEqual([url, expect.objectContaining({ code })]);
      await app.call('delete-site', { site_id_or_domain: 2, confirm: true });
      const foreign = await change(other);
      expect(foreign).toMatchObject({
        code: 'svc_connection_failed',
        message: expect.stringContaining('another site'),
      });
      expect((await get()).url).toBe(site.url);
      expect(await change(moved)).toMatchObject({ id: 1, url: moved });
      expect((await app.call('get-site', { site_id_or_domain: moved })).id).toBe(1);
      expect((await app.call('get-site-plugins', ONE)).plugins).toEqual(before);
      const { updates } = await app.call('list-updates', { site_ids_or_domains: [1] });
      for (const entry of updates) expect(entry.site_url).toBe(moved);
    },
  );

  it('does not send the stored login to another server that is named as the address', async () => {
    site.faults = { httpAuth: { user: 'web', pass: 'secret' } };
    await app.call('update-site', { ...ONE, http_user: 'web', http_pass: 'secret' });
    const logins: (string | undefined)[] = [];
    const { url, close } = await listenLocally(
      createServer((incoming, outgoing) => {
        logins.push(incoming.headers.authorization);
        outgoing.writeHead(401).end();
      }),
    );
    const to = (more: object = {}) => app.fail('update-site', { ...ONE, url, ...more });
    expect((await to()).code).toBe('svc_connection_failed');
    expect((await to({ http_user: 'web' })).code).toBe('svc_connection_failed');
    expect(logins.length).toBeGreaterThan(0);
    expect(logins.filter((login) => login !== undefined && atob(login.slice(6)).includes('secret'))).toEqual([]);
    await close();
    // Who knows it may send it along.
    const moved = site.url.replace('127.0.0.1', 'localhost');
    const { advice } = await app.fail('update-site', { ...ONE, url: moved });
    expect(advice).toContain('http_user and http_pass');
    expect(await app.call('update-site', { ...ONE, url: moved, http_user: 'web', http_pass: 'secret' })).toMatchObject({
      url: moved,
    });
  });

  describe('does not send the stored login without encryption where it had it', () => {
    const login = { http_user: 'web', http_pass: 'secret' };
    const synced = async () => (await app.call('sync-sites', { site_ids_or_domains: [1] })).total_synced === 1;
    beforeEach(async () => {
      await app.call('update-site', { ...ONE, ...login });
      await app.db.run('UPDATE site SET url = ? WHERE id = 1', [site.url.replace('http:', 'https:')]);
      site.faults = { httpAuth: { user: 'web', pass: 'secret' } };
    });

    it('to ask whether the same site answers there', async () => {
      expect((await app.fail('update-site', { ...ONE, url: site.url })).code).toBe('svc_connection_failed');
      expect((await app.rest('PUT /sites/1/edit', { body: { url: site.url } })).body.success).not.toBe(1);
      expect(await app.call('update-site', { ...ONE, url: site.url, ...login })).toMatchObject({ url: site.url });
      expect(await synced()).toBe(true);
    });

    it('after a change of the scheme alone', async () => {
      await app.rest('PUT /sites/1/edit', { body: { protocol: 'http' } });
      expect((await get()).url).toBe(site.url);
      expect(await synced()).toBe(false);
      await app.rest('PUT /sites/1/edit', { body: login });
      expect(await synced()).toBe(true);
    });

    it('nor after a move, to another server or in plain text, that needed none', async () => {
      for (const url of [site.url, site.url.replace('127.0.0.1', 'localhost')]) {
        site.faults = {};
        await app.call('update-site', { ...ONE, url, http_user: 'web' });
        site.faults = { httpAuth: { user: 'web', pass: 'secret' } };
        expect(await synced()).toBe(false);
        await app.call('update-site', { ...ONE, ...login });
        expect(await synced()).toBe(true);
      }
    });
  });
});

it('looks at the certificate when a site is added; before, nothing is said of it', async () => {
  await app.close();
  app = await restApp({ sites: 1, jobs: false, fleet: { tls: selfSigned(ALWAYS) } });
  const { url, admin, password: admin_password, uniqueId: unique_id } = app.fleet.site(0);
  await app.call('add-site', { url, admin, admin_password, unique_id, ssl_verify: false });
  const ssl = async () => (await app.call('get-site-security', ONE)).ssl_status;
  expect(await ssl()).toEqual({ valid: false, expires: expect.any(String), checked_at: NOON });
  await app.db.run('DELETE FROM site_certificate');
  expect(await ssl()).toEqual({ valid: null, expires: null, checked_at: null });
  app.clock.move(60_000);
  await app.call('sync-sites', {});
  expect((await ssl()).checked_at).toBe('2026-11-20T12:01:00Z');
});

describe('syncs by the clock', () => {
  const sharer = (part: { index: number; of: number } | null) => ({ join: async () => undefined, part: () => part });

  it('are shared out among processes: each site by one, all by all', async () => {
    app.clock.move(86_400_000);
    app.fleet.resetStats();
    const outcomes = [];
    for (const index of [0, 1]) outcomes.push(await syncDueSites(app.ctx(), sharer({ index, of: 2 })));
    expect(outcomes.sort()).toEqual(['1 synced, 0 failed', '2 synced, 0 failed']);
    expect(calls('stats')).toBe(3);
    expect(await syncDueSites(app.ctx())).toBe('nothing due');
  });

  it('wait while other processes may not have counted this one', async () => {
    app.clock.move(86_400_000);
    app.fleet.resetStats();
    expect(await syncDueSites(app.ctx(), sharer(null))).toMatch(/^nothing: /);
    expect(app.fleet.stats().requests).toBe(0);
  });
});

describe('a call on every site', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['suspended', async () => undefined],
    // The status shows the later of the two: the site is suspended all the same.
    ['suspended and disconnected since', () => app.rest('POST /sites/1/disconnect')],
  ])('leaves out a site that is %s', async (_, further) => {
    await app.call('suspend-site', ONE);
    await further();
    const ids = (body: { data: object }) => Object.keys(body.data).map(Number);
    for (const call of ['sync', 'check']) expect(ids((await app.rest(`POST /sites/${call}`)).body)).toEqual([2, 3]);
    expect(ids((await app.rest('POST /sites/check?exclude=2')).body)).toEqual([3]);
    expect(ids((await app.rest('POST /sites/reconnect')).body)).toEqual([]);
    expect(await app.call('sync-sites', {})).toMatchObject({ total_synced: 2, errors: [] });
    expect(await app.call('reconnect-sites', {})).toMatchObject({ total_reconnected: 0, errors: [] });
    expect(await app.call('run-updates', { dry_run: true })).toMatchObject({ errors: [] });
    // One that is named may be visited.
    expect(ids((await app.rest('POST /sites/check?include=1')).body)).toEqual([1]);
  });
});

it('lifting the suspension of a site that its last check found silent tries the connection, and says why it is off', async () => {
  site.faults = { offline: true };
  app.clock.move(60_000);
  await app.call('check-site', ONE);
  await app.call('suspend-site', ONE);
  const lifted = await app.rest('POST /sites/1/unsuspend');
  expect([lifted.status, lifted.body.code]).toEqual([503, 'svc_reconnect_failed']);
  expect(await status()).toBe('disconnected');
  await app.call('suspend-site', ONE);
  site.faults = {};
  expect((await app.rest('POST /sites/1/unsuspend')).status).toBe(200);
  expect(await status()).toBe('connected');
});
