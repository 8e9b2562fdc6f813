/** State changes of sites, one by one and several at once (operations §5.2, §6). */

import { beforeEach, describe, expect, it } from 'vitest';
import { holdBack } from '../support/hold-back.js';
import { type CheckedApp, checkedApp, codesOf } from './checked-app.js';

describe('moves between the states', () => {
  let app: CheckedApp;
  beforeEach(async () => {
    app = await checkedApp({ sites: 3 });
    await app.connectAll(3);
  });
  const status = async (id: number) => (await app.call('get-site', { site_id_or_domain: id })).status;

  it('can be repeated, with the same answer', async () => {
    const { url } = await app.call('get-site', { site_id_or_domain: 1 });
    for (const [name, answer] of [
      ['disconnect-site', { disconnected: true, status: 'disconnected' }],
      ['suspend-site', { suspended: true, status: 'suspended' }],
      ['reconnect-site', { reconnected: true, status: 'suspended' }],
      ['unsuspend-site', { unsuspended: true, status: 'connected' }],
      ['reconnect-site', { reconnected: true, status: 'connected' }],
    ] as const)
      for (let i = 0; i < 2; i++)
        expect([name, await app.call(name, { site_id_or_domain: 1 })]).toEqual([
          name,
          { site_id: 1, site_url: url, ...answer },
        ]);
  });

  describe('the end of a suspension', () => {
    const one = { site_id_or_domain: 1 };
    beforeEach(async () => {
      await app.call('disconnect-site', one);
      await app.call('suspend-site', one);
    });

    it('connects a site again that was disconnected by hand, also when its key must be renewed', async () => {
      const { connection } = app.site(0).state;
      if (connection !== null) connection.publicKey = 'not a key';
      expect(await app.call('unsuspend-site', one)).toEqual({
        unsuspended: true,
        site_id: 1,
        site_url: app.site(0).url,
        status: 'connected',
      });
      expect(await app.call('sync-sites', { site_ids_or_domains: [1] })).toMatchObject({ total_synced: 1 });
    });

    it('connects a site whose last sync had failed', async () => {
      app.site(1).faults.offline = true;
      await app.call('sync-sites', { site_ids_or_domains: [2] });
      await app.call('suspend-site', { site_id_or_domain: 2 });
      app.site(1).faults = {};
      expect(await app.call('unsuspend-site', { site_id_or_domain: 2 })).toMatchObject({ status: 'connected' });
    });

    it('is an error with the reason when the site cannot be connected, and the suspension is lifted all the same', async () => {
      app.site(0).faults.offline = true;
      const error = await app.fail('unsuspend-site', one);
      expect(error).toMatchObject({ code: 'svc_reconnect_failed', status: 503, data: { site_id: 1 } });
      expect(error.message).toMatch(
        /^The suspension of site 1 is lifted, but it could not be reconnected: .*127\.0\.0\.1/,
      );
      expect(error.advice).toContain('reconnect-site-v1');
      expect(await app.call('get-site', one)).toMatchObject({ status: 'disconnected' });
      app.site(0).faults = {};
      expect(await app.call('reconnect-site', one)).toMatchObject({ status: 'connected' });
    });

    it('leaves a site that was not suspended as it is', async () => {
      await app.call('disconnect-site', { site_id_or_domain: 2 });
      const before = app.fleet.stats().requests;
      expect(await app.call('unsuspend-site', { site_id_or_domain: 2 })).toMatchObject({
        unsuspended: true,
        status: 'disconnected',
        status_reason: expect.stringContaining('reconnect-site-v1'),
      });
      expect(app.fleet.stats().requests).toBe(before);
    });

    it('connects each of several sites, and names those that did not answer', async () => {
      await app.call('disconnect-sites', { site_ids_or_domains: [2, 3] });
      await app.call('suspend-sites', { site_ids_or_domains: [2, 3] });
      app.site(1).faults.offline = true;
      expect(await app.call('unsuspend-sites', { site_ids_or_domains: [1, 2, 3] })).toMatchObject({
        unsuspended: [
          { id: 1, status: 'connected' },
          { id: 3, status: 'connected' },
        ],
        errors: [
          {
            identifier: 2,
            code: 'svc_reconnect_failed',
            message: expect.stringContaining('suspension of site 2 is lifted'),
          },
        ],
        total_unsuspended: 2,
        total_errors: 1,
      });
      expect(await status(2)).toBe('disconnected');
    });

    it('of a client connects the sites that were suspended with it, and names those that did not answer', async () => {
      await app.call('add-client', { name: 'Ada', selected_sites: [1, 2, 3] });
      await app.call('disconnect-site', { site_id_or_domain: 2 });
      const ada = { client_id_or_email: 1 };
      const answer = { unsuspended: true, client_id: 1, client_name: 'Ada', sites_unsuspended: 3 };
      await app.call('suspend-client', ada);
      expect(await app.call('unsuspend-client', ada)).toEqual({ ...answer, sites_reconnected: 2, errors: [] });
      expect([await status(1), await status(2), await status(3)]).toEqual(['connected', 'connected', 'connected']);
      await app.call('disconnect-sites', { site_ids_or_domains: [1, 2] });
      await app.call('suspend-client', ada);
      app.site(1).faults.offline = true;
      expect(await app.call('unsuspend-client', ada)).toEqual({
        ...answer,
        sites_reconnected: 1,
        errors: [{ identifier: 2, site_id: 2, code: 'svc_reconnect_failed', message: expect.any(String) }],
      });
      expect([await status(1), await status(2), await status(3)]).toEqual(['connected', 'disconnected', 'connected']);
      expect(await app.call('unsuspend-client', ada)).toEqual({ ...answer, sites_unsuspended: 0 });
    });
  });

  it.each([
    ['sync-sites', 'synced'],
    ['reconnect-sites', 'reconnected'],
  ])('%s answers the address that the child brought, as the lists do', async (name, list) => {
    const site = app.site(0);
    const url = site.url.replace('127.0.0.1', 'localhost');
    const www = url.replace('localhost', 'www.localhost');
    const { admin, password: admin_password, uniqueId: unique_id } = site;
    await app.call('delete-site', { site_id_or_domain: 1, confirm: true });
    Object.defineProperty(site, 'siteUrl', { get: () => url.slice(0, -1), configurable: true });
    const { id } = await app.call('add-site', { url, admin, admin_password, unique_id });
    Object.defineProperty(site, 'siteUrl', { get: () => www.slice(0, -1) });
    const answer = await app.call(name, { site_ids_or_domains: [id] });
    expect(answer[list]).toEqual([expect.objectContaining({ id, url: www })]);
    expect(await app.call('get-site', { site_id_or_domain: id })).toMatchObject({ url: www });
  });

  it('an address that the site itself writes otherwise is refused, not silently left as it was', async () => {
    const site = app.site(0);
    const url = site.url.replace('127.0.0.1', 'localhost');
    const www = url.replace('localhost', 'www.localhost');
    await app.db.run('UPDATE site SET url = ?, url_key = ? WHERE id = 1', [www, url.replace('http://', '')]);
    Object.defineProperty(site, 'siteUrl', { get: () => www.slice(0, -1) });
    const refused = await app.fail('update-site', { site_id_or_domain: 1, url, name: 'New' });
    expect(refused).toMatchObject({ code: 'svc_invalid_url', field: 'url' });
    expect(refused.message).toContain(www);
    expect((await app.call('get-site', { site_id_or_domain: 1 })).name).not.toBe('New');
  });

  it('a failed sync disconnects, the next good one connects', async () => {
    app.site(0).faults.offline = true;
    expect(await app.call('sync-sites', { site_ids_or_domains: [1] })).toMatchObject({
      errors: [{ identifier: 1, site_id: 1, code: 'svc_site_offline' }],
    });
    const failed = await app.call('get-site', { site_id_or_domain: 1 });
    expect(failed).toMatchObject({ status: 'disconnected', last_sync: '2026-11-20T12:00:00Z' });
    expect(failed.child_version).not.toBe('');
    app.site(0).faults = {};
    app.clock.move(60_000);
    expect(await app.call('sync-sites', { site_ids_or_domains: [1] })).toMatchObject({ total_synced: 1 });
    expect(await app.call('get-site', { site_id_or_domain: 1 })).toMatchObject({
      status: 'connected',
      last_sync: '2026-11-20T12:01:00Z',
    });
  });

  it('an outdated child can be synced again once it is new', async () => {
    app.site(0).faults.outdated = true;
    expect(codesOf(await app.call('sync-sites', { site_ids_or_domains: [1] }))).toEqual(['svc_child_version_outdated']);
    expect(await app.call('get-site', { site_id_or_domain: 1 })).toMatchObject({
      status: 'disconnected',
      child_version: '3.5.4',
    });
    app.site(0).faults = {};
    expect(await app.call('sync-sites', { site_ids_or_domains: [1] })).toMatchObject({ total_synced: 1 });
    expect(await status(1)).toBe('connected');
  });

  it('an outdated child is disconnected after every sync and reconnection, and what it reports is kept', async () => {
    const seen: unknown[] = [];
    const ways: (() => Promise<unknown>)[] = [
      () => app.call('sync-sites', { site_ids_or_domains: [1] }),
      () => app.call('sync-sites'),
      () => app.fail('reconnect-site', { site_id_or_domain: 1 }),
      () => app.call('sync-sites', { site_ids_or_domains: [1] }),
    ];
    app.site(0).faults.outdated = true;
    for (const [at, way] of ways.entries()) {
      // As time goes on between and during calls.
      app.clock.move(60_000);
      app.site(0).state.wpVersion = `6.9.${at}`;
      await way();
      const {
        status: state,
        status_reason,
        wp_version,
        last_sync,
      } = await app.call('get-site', { site_id_or_domain: 1 });
      seen.push([state, status_reason, wp_version, last_sync]);
    }
    const reason = expect.stringContaining('MainWP Child 3.5.4');
    expect(seen).toEqual(ways.map((_way, at) => ['disconnected', reason, `6.9.${at}`, '2026-11-20T12:00:00Z']));
  });

  it('a check tells up from down, and down from no answer', async () => {
    expect(await app.call('check-site', { site_id_or_domain: 1 })).toMatchObject({
      site_id: 1,
      reachable: true,
      http_status: 200,
      response_time_ms: expect.any(Number),
    });
    app.site(0).faults = { http500: true };
    expect(await app.call('check-site', { site_id_or_domain: 1 })).toMatchObject({
      reachable: false,
      http_status: 500,
    });
    app.site(0).faults = { maintenance: true };
    expect(await app.call('check-site', { site_id_or_domain: 1 })).toMatchObject({
      reachable: false,
      http_status: 503,
    });
    app.site(0).faults = { offline: true };
    expect(await app.call('check-site', { site_id_or_domain: 1 })).toMatchObject({ reachable: false, http_status: 0 });
    const { reason, ...seen } = await app.call('check-site', { site_id_or_domain: 1 });
    expect(reason).toMatch(/^127\.0\.0\.1.* (closed|cannot|refuses) /);
    app.site(1).faults = { http500: true };
    expect((await app.call('check-sites')).results).toEqual([
      { ...seen, response_time_ms: expect.any(Number), http_status: 0, reason },
      {
        ...{ site_id: 2, site_url: app.site(1).url, reachable: false, response_time_ms: expect.any(Number) },
        ...{ http_status: 500, reason: 'The front page answered with HTTP 500.' },
      },
      {
        ...{ site_id: 3, site_url: app.site(2).url, reachable: true, response_time_ms: expect.any(Number) },
        http_status: 200,
      },
    ]);
    app.site(0).faults = {};
    app.site(1).faults = {};
    await app.call('suspend-site', { site_id_or_domain: 2 });
    expect(await app.call('check-sites')).toMatchObject({
      queued: false,
      results: [{ site_id: 1 }, { site_id: 2 }, { site_id: 3 }],
      summary: { total_checked: 3, reachable: 3, unreachable: 0 },
      errors: [],
    });
  });

  it('a refused key is registered again without a password', async () => {
    const [connection] = [app.site(0).state.connection];
    if (connection === null || connection === undefined) throw new Error('not connected');
    connection.publicKey = 'not a key';
    expect(codesOf(await app.call('sync-sites', { site_ids_or_domains: [1] }))).toEqual(['svc_sync_failed']);
    expect(await app.call('reconnect-site', { site_id_or_domain: 1 })).toMatchObject({
      reconnected: true,
      status: 'connected',
    });
    expect(await app.call('sync-sites', { site_ids_or_domains: [1] })).toMatchObject({ total_synced: 1 });
  });

  it('a site disconnected while it is being synced stays disconnected', async () => {
    const held = holdBack(app.site(0), /^stats$/);
    const syncing = app.call('sync-sites', { site_ids_or_domains: [1] });
    await held.waiting;
    await app.call('disconnect-site', { site_id_or_domain: 1 });
    held.letGo();
    await syncing;
    expect(await status(1)).toBe('disconnected');
  });

  it('several sites end each in one list, in the order given', async () => {
    const { url } = app.site(1);
    const given = [3, url, 'nowhere.example', 2, '3', 3];
    const errors = [
      { identifier: 'nowhere.example', site_id: null, code: 'svc_site_not_found', message: expect.any(String) },
    ];
    expect(await app.call('suspend-sites', { site_ids_or_domains: given })).toMatchObject({
      queued: false,
      suspended: [{ id: 3 }, { id: 2, url }],
      errors,
      total_suspended: 2,
      total_errors: 1,
    });
    expect(await app.call('sync-sites')).toMatchObject({ synced: [{ id: 1 }], total_errors: 0 });
    expect(codesOf(await app.call('sync-sites', { site_ids_or_domains: [2] }))).toEqual(['svc_site_suspended']);
    await app.call('unsuspend-site', { site_id_or_domain: 2 });
    expect(await app.call('disconnect-sites', { site_ids_or_domains: given })).toMatchObject({
      disconnected: [{ id: 3 }, { id: 2 }],
      errors,
      total_disconnected: 2,
    });
    app.site(2).faults.offline = true;
    await app.fail('unsuspend-site', { site_id_or_domain: 3 });
    expect(await app.call('reconnect-sites')).toMatchObject({
      reconnected: [{ id: 2 }],
      errors: [{ identifier: 3, site_id: 3, code: 'svc_reconnect_failed' }],
      total_reconnected: 1,
      total_errors: 1,
    });
    app.site(2).faults = {};
    expect(await app.call('reconnect-sites', { site_ids_or_domains: [3, 1] })).toMatchObject({
      reconnected: [{ id: 3 }, { id: 1 }],
    });
    expect(await app.call('reconnect-sites')).toMatchObject({ reconnected: [], errors: [], total_reconnected: 0 });
  });

  it('an empty fleet is nothing to work on', async () => {
    for (const id of [1, 2, 3]) await app.call('delete-site', { site_id_or_domain: id, confirm: true });
    expect(await app.call('sync-sites')).toEqual({
      queued: false,
      synced: [],
      errors: [],
      total_synced: 0,
      total_errors: 0,
    });
    expect(await app.call('reconnect-sites')).toMatchObject({ reconnected: [], total_errors: 0 });
    expect(await app.call('check-sites')).toMatchObject({ results: [], summary: { total_checked: 0 } });
    expect(await app.call('update-all')).toMatchObject({ updated: { core: 0 }, errors: [] });
    expect(await app.call('run-updates')).toMatchObject({ updated: [], errors: [] });
  });
});
