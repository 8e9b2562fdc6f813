/** Calls over many sites: global actions, their jobs, and the batch. */

import { beforeEach, describe, expect, it } from 'vitest';
import { runNextChunk } from '../support/chunks.js';
import { SYSTEM } from '../support/harness.js';
import { newUser } from '../support/logins.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeEach(async () => {
  app = await restApp({ sites: 4, config: { batch_threshold: 3 }, jobs: false });
  for (const i of [0, 1, 2]) await app.connect(i);
});

const results = (body: { data: Record<string, { result: string }> }) =>
  Object.fromEntries(Object.entries(body.data).map(([id, { result }]) => [id, result]));

describe('global actions', () => {
  it('synchronises all but suspended sites, and keys the outcome by site', async () => {
    await app.rest('POST /sites/3/suspend');
    app.fleet.site(1).faults.offline = true;
    const { status, body } = await app.rest('PUT /sites/sync');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, total: 2, message: '1 of 2 sites were synchronised.' });
    expect(body.data[1]).toEqual({
      result: 'success',
      id: 1,
      name: expect.any(String),
      url: app.fleet.site(0).url,
      status: 'connected',
    });
    expect(body.data[2]).toMatchObject({ result: 'failed', status: 'disconnected', code: 'svc_site_offline' });
    expect(body.errors).toMatchObject([{ site_id: 2, code: 'svc_site_offline' }]);
    const named = await app.rest('POST /sites/sync', { body: { include: '3' } });
    expect(named.body.data[3]).toMatchObject({ result: 'failed', code: 'svc_site_suspended' });
  });

  it('names ids of include that no site has, beside the work on the others', async () => {
    const unknown = [{ site_id: 99, code: 'svc_site_not_found', message: 'include: no site has the id 99.' }];
    for (const dry_run of [true, false]) {
      const { body } = await app.rest('POST /sites/check', { body: { include: '1,99', dry_run } });
      expect(body).toMatchObject({ total: 1, errors: unknown });
      expect(Object.keys(body.data)).toEqual(['1']);
    }
    const leftOut = unknown.map((entry) => ({ ...entry, message: 'exclude: no site has the id 99.' }));
    for (const dry_run of [true, false]) {
      for (const action of ['sync', 'reconnect', 'disconnect', 'check']) {
        const { body } = await app.rest(`POST /sites/${action}`, { body: { exclude: '1,2,3,99', dry_run } });
        expect([action, body.total, body.errors]).toEqual([action, 0, leftOut]);
      }
      const updates = await app.rest('POST /updates/update', { body: { include: '1,99', exclude: '99,3', dry_run } });
      expect(updates.body.errors).toMatchObject(leftOut);
      const named = await app.rest('POST /updates/update', { body: { include: '1,99', type: 'wp', dry_run } });
      expect(named.body.errors).toMatchObject(unknown);
    }
    const again = await app.rest('POST /updates/update', { body: { include: [1, 99], type: 'wp' } });
    expect(again.body.errors).toContainEqual(unknown[0]);
  });

  it('never takes an empty or unknown filter for "every site"', async () => {
    for (const body of [
      { include: '' },
      { exclude: [] },
      { include: '99' },
      { include: '1', exclude: '1' },
      { exclude: '98,99' },
    ]) {
      for (const action of ['sync', 'reconnect', 'disconnect', 'check']) {
        const reply = await app.rest(`POST /sites/${action}`, { body });
        expect([action, reply.status, reply.body.code]).toEqual([action, 400, 'svc_invalid_input']);
      }
    }
    expect((await app.rest('POST /sites/disconnect', { body: { include: 'all' } })).body.code).toBe(
      'rest_invalid_param',
    );
    expect((await app.rest('GET /sites/count?status=connected')).body.count).toBe(3);
  });

  it('disconnects and reconnects: connected sites do not end the run', async () => {
    const preview = await app.rest('POST /sites/disconnect', { body: { dry_run: true } });
    expect(preview.body).toMatchObject({ dry_run: true, total: 3 });
    expect((await app.rest('GET /sites/count?status=connected')).body.count).toBe(3);
    const off = await app.rest('PATCH /sites/disconnect', { body: { include: [1, 3] } });
    expect(results(off.body)).toEqual({ 1: 'success', 3: 'success' });
    expect(app.fleet.site(0).state.connection).toBeNull();
    expect(app.fleet.site(1).state.connection).not.toBeNull();
    const on = await app.rest('POST /sites/reconnect');
    expect(on.body).toMatchObject({ total: 2 });
    expect(results(on.body)).toEqual({ 1: 'success', 3: 'success' });
    expect((await app.rest('GET /sites/count?status=connected')).body.count).toBe(3);
    expect((await app.rest('POST /sites/reconnect')).body).toMatchObject({ success: 1, total: 0, data: {} });
  });

  it('checks every site', async () => {
    app.fleet.site(2).faults.http500 = true;
    const { body } = await app.rest('POST /sites/check');
    expect(body.data[1]).toMatchObject({ result: 'success', http_code: 200, reachable: true });
    expect(body.data[3]).toMatchObject({ result: 'success', http_code: 500, reachable: false });
  });
});

describe('jobs', () => {
  it('queues over the threshold, and tells how far it is to a key or a login', async () => {
    await app.connect(3);
    const { body } = await app.rest('POST /sites/disconnect');
    expect(body).toMatchObject({ success: 1, queued: true, sites_queued: 4, total: 4 });
    expect(body.status_url).toBe(`http://127.0.0.1:8787/v2/jobs/${body.job_id}`);
    const waiting = await app.rest(`GET /jobs/${body.job_id}`);
    expect(waiting.body).toMatchObject({
      success: 1,
      job_id: body.job_id,
      type: 'disconnect',
      status: 'queued',
      total: 4,
    });
    expect(waiting.headers.get('retry-after')).toBe('30');
    expect(waiting.headers.get('cache-control')).toBe('no-store');
    await runNextChunk(app.ctx({ actor: SYSTEM }), 'test');
    await newUser(app.service.store.users, 'anna', 'pass word');
    const Authorization = `Basic ${Buffer.from('anna:pass word').toString('base64')}`;
    const done = await app.rest(`GET /jobs/${body.job_id}`, { token: null, headers: { Authorization } });
    expect(done.body).toMatchObject({ status: 'completed', progress: 100, succeeded: 4, failed: 0, errors: [] });
    expect(done.headers.get('retry-after')).toBeNull();
    // A queued disconnection notifies the children too.
    expect(app.fleet.sites.map((site) => site.state.connection)).toEqual([null, null, null, null]);
    const elsewhere = await app.rest('GET /sites', { token: null, headers: { Authorization } });
    expect(elsewhere.status).toBe(401);
  });

  it('knows unknown and malformed ids apart', async () => {
    const unknown = await app.rest('GET /jobs/sync_00000000-0000-4000-8000-000000000000');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'svc_job_not_found']);
    const malformed = await app.rest('GET /jobs/5');
    expect([malformed.status, malformed.body.code]).toEqual([400, 'svc_invalid_job_id']);
  });
});

describe('batch', () => {
  it('runs each item, keeps its index, and lets no failure stop the rest', async () => {
    const { url, admin, password } = app.fleet.site(3);
    const { status, body } = await app.rest('POST /sites/batch', {
      body: {
        create: [
          { url: 'nowhere', name: 'x', admin: 'y' },
          { name: 'no url' },
          { url, admin, adminpassword: password },
        ],
        update: [
          { id: 1, name: 'One' },
          { id: 99, name: 'x' },
          { id: 1, name: 'Uno' },
          { id: 2, force_use_ipv4: 7 },
        ],
        delete: [2, 'abc', 2],
        suspend: [3],
        sync: [3],
      },
    });
    expect(status).toBe(200);
    expect(body.success).toBe(1);
    expect(body.create).toMatchObject([
      { id: 0, success: 0, error: { code: 'rest_invalid_param', data: { status: 400 } } },
      { id: 0, success: 0, error: { code: 'rest_missing_callback_param', data: { params: ['url', 'admin'] } } },
      { id: 4, success: 1 },
    ]);
    expect(body.update).toMatchObject([
      { id: 1, success: 1 },
      { id: 99, success: 0, error: { code: 'svc_rest_invalid_site_id', data: { status: 404, field: 'id' } } },
      { id: 1, success: 1 },
      { id: 2, success: 0, error: { data: { params: { force_use_ipv4: expect.any(String) } } } },
    ]);
    expect(body.delete.map((item: { success: number }) => item.success).sort()).toEqual([0, 0, 1]);
    expect(body.delete[1]).toMatchObject({
      id: 0,
      success: 0,
      error: { code: 'svc_rest_invalid_site_id', data: { field: 'id' } },
    });
    // Groups run in a fixed order: synchronising comes before suspending.
    expect(body.sync).toEqual([{ id: 3, success: 1 }]);
    expect(body.suspend).toEqual([{ id: 3, success: 1 }]);
    expect(body).not.toHaveProperty('check');
    expect((await app.rest('GET /sites/1')).body.data.name).toBe('Uno');
    expect((await app.rest('GET /sites/basic?orderby=id')).body.data.map((s: { id: number }) => s.id)).toEqual([
      1, 3, 4,
    ]);
  });

  it('refuses more than 100 items, and does nothing', async () => {
    const body = { delete: [1, 2, 3], suspend: Array.from({ length: 98 }, (_, i) => i + 1) };
    const reply = await app.rest('POST /sites/batch', { body });
    expect([reply.status, reply.body.code]).toEqual([413, 'svc_rest_request_entity_too_large']);
    expect((await app.rest('GET /sites/count?status=connected')).body.count).toBe(3);
    expect((await app.rest('POST /sites/batch', { body: {} })).body.code).toBe('empty_body');
  });
});
