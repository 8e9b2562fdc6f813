/** Policies of updates: who may set them, what they do at their times, and what they ask a person for. */

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { refreshVulnerabilities } from '../../src/domain/vulnerabilities/refresh.js';
import { type RestApp, restApp } from '../rest/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { ADMIN, SYSTEM } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { withoutLog } from '../support/unwritable-log.js';
import { entry, type FeedServer, feedServer, feedText } from '../vulnerabilities/feed.js';

const SITES = 3;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SHOP = 'shop/shop.php';

let app: RestApp;
let feed: FeedServer;
let token = '';

beforeAll(async () => {
  feed = await feedServer();
  app = await restApp({
    sites: SITES,
    fleet: { plugins: 3 },
    config: { vulnerability_feed: feed.url, job_delay_ms: 0, direct_call_ms: 86_400_000 },
    jobs: false,
  });
  for (const [index, site] of app.fleet.sites.entries()) {
    for (const item of [...site.state.plugins, ...site.state.themes]) item.update = null;
    site.state.translations = [];
    site.state.wpUpdate = null;
    const [plugin] = ordinary(site);
    if (plugin === undefined) throw new Error('a site without a plugin');
    const update = { version: '1.1', requiresPhp: '', requiresWp: '' };
    Object.assign(plugin, { slug: SHOP, name: 'Shop', version: '1.0', active: true, premium: false, update });
    await app.connect(index);
  }
  token = (await newKey(app.service.store.keys, { approves: true })).token;
});

const own = (call: string, body?: object) => app.rest(call, { token, body });
const tick = () => runPolicies(app.ctx({ actor: SYSTEM }));
/** Every site gets its update, and rollouts come to their end. */
async function finish() {
  for (let turns = 0; turns < 4; turns++) {
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    await running(app, app.drain());
  }
}
/** Offers the next version on every site. */
async function offer(version: string) {
  for (const site of app.fleet.sites) {
    const plugin = ordinary(site)[0];
    if (plugin !== undefined) plugin.update = { version, requiresPhp: '', requiresWp: '' };
  }
  await running(app, app.call('sync-sites', {}));
}
/** The clock is set to the next time of day, UTC, which is the zone of the dashboard. */
function until(hour: number, minute = 0) {
  const now = app.clock.now();
  const at = now - (now % DAY) + hour * HOUR + minute * 60_000;
  app.clock.move(at > now ? at - now : at + DAY - now);
}
const rollouts = async () => (await app.rest('GET /rollouts')).body.total as number;
const last = async (id: number) => (await app.rest(`GET /policies/${id}`)).body.data.last;
let made = 0;
/** Only one policy is enabled at a time. */
async function policy(more: object = {}): Promise<number> {
  await app.db.run('UPDATE policy SET enabled = 0');
  const body = { name: `Policy ${++made}`, schedule: { at: '02:00' }, approval: 'auto', ...more };
  const { status, body: reply } = await own('POST /policies', body);
  expect([status, reply.message]).toEqual([200, 'The policy was created.']);
  return reply.data.policy_id;
}

describe('setting a policy', () => {
  it('needs the right to approve, and refuses what it does not know', async () => {
    const body = { name: 'Night', schedule: { at: '02:00' } };
    expect((await app.rest('POST /policies', { body })).status).toBe(403);
    // A key that an assistant has used over MCP never can.
    const { token: known } = await newKey(app.service.store.keys, { approves: true, description: 'an assistant' });
    await app.db.run("UPDATE api_key SET assistant_at = 1 WHERE description = 'an assistant'");
    expect((await app.rest('POST /policies', { body, token: known })).body).toMatchObject({
      code: 'svc_rest_insufficient_permission',
      message: expect.stringContaining('assistant'),
    });
    // What may not change sites sets nothing that will.
    const reader = await newKey(app.service.store.keys, { approves: true, scope: 'read' });
    const refused = { code: 'svc_rest_insufficient_permission', data: { needed: 'write' } };
    const id = await policy({ name: 'Kept' });
    for (const call of ['POST /policies', `PUT /policies/${id}`, `DELETE /policies/${id}`]) {
      const asked = call.startsWith('DELETE') ? {} : { body };
      expect((await app.rest(call, { ...asked, token: reader.token })).body, call).toMatchObject(refused);
    }
    expect((await own(`DELETE /policies/${id}`)).status).toBe(200);
    expect((await own('POST /policies', { ...body, shedule: 1 })).status).toBe(400);
    expect((await own('POST /policies', { ...body, schedule: { at: '26:00' } })).status).toBe(400);
    expect((await own('POST /policies', { ...body, tag_ids: [99] })).body).toMatchObject({ code: 'svc_tag_not_found' });
    expect((await own('POST /policies', { ...body, site_ids_or_domains: ['none.example'] })).status).toBe(400);
    expect((await own('POST /policies', { ...body, window: { from: '01:00', to: '01:00' } })).status).toBe(400);
    expect((await app.rest('GET /policies')).body.total).toBe(0);
  });

  it('is read by anyone, changed in parts, and deleted', async () => {
    const window = { days: ['sat'], from: '01:00', to: '05:00' };
    const id = await policy({ name: 'Weekend', approval: 'ask', types: ['plugins'], minimum_age_days: 3, window });
    const path = `/policies/${id}`;
    expect((await app.rest(`GET ${path}`, { token: app.tokens.read })).body.data).toMatchObject({
      ...{ name: 'Weekend', enabled: true, acts: true, approval: 'ask', types: ['plugins'], window },
      summary:
        'Updates of plugins, 3 days after they were first offered, on all sites. Planned daily at 02:00, and started once a person has approved it. Sites are changed from 01:00 to 05:00 in their own time only.',
      last: null,
    });
    expect((await own('POST /policies', { name: 'WEEKEND', schedule: { at: '02:00' } })).status).toBe(409);
    expect((await app.rest(`PATCH ${path}`, { body: { enabled: false } })).status).toBe(403);
    const changed = await own(`PATCH ${path}`, { enabled: false, window: null });
    expect(changed.body.data).toMatchObject({
      enabled: false,
      acts: false,
      next_at: null,
      window: null,
      minimum_age_days: 3,
    });
    expect((await app.rest(`DELETE ${path}`)).status).toBe(403);
    expect((await own(`DELETE ${path}`)).body.message).toBe('The policy was deleted.');
    expect((await app.rest(`GET ${path}`)).body).toMatchObject({ code: 'svc_policy_not_found' });
    const { actions } = await app.call('list-actions', { contexts: ['policy'] });
    const ofIt = actions.filter(({ name }: { name: string }) => name === 'Weekend');
    expect(ofIt.map(({ action }: { action: string }) => action)).toEqual(['deleted', 'changed', 'created']);
  });
});

describe('a policy that is due', () => {
  it('starts one rollout, however many processes try, and none before or after', async () => {
    const id = await policy();
    expect([await tick(), await rollouts()]).toEqual(['0 ran', 0]);
    until(2);
    await Promise.all([tick(), tick(), tick()]);
    await tick();
    expect(await rollouts()).toBe(1);
    const { at, state, rollout_id, detail } = await last(id);
    expect([at.slice(11, 16), state]).toEqual(['02:00', 'started']);
    expect(detail).toMatch(new RegExp(`^3 updates on 3 sites.* Rollout ${rollout_id}\\.$`));
    // The same time comes again by a clock that was set back.
    app.clock.step(-HOUR);
    await tick();
    app.clock.step(HOUR);
    await tick();
    expect(await rollouts()).toBe(1);
    // The day after its rollout still goes on.
    until(2);
    await tick();
    expect(await last(id)).toMatchObject({ state: 'skipped', detail: `Its rollout ${rollout_id} has not ended yet.` });
    app.clock.move(2 * HOUR);
    await finish();
    app.clock.move(2 * HOUR);
    await finish();
    expect((await app.rest(`GET /rollouts/${rollout_id}`)).body.rollout).toMatchObject({
      ...{ state: 'completed', by: `policy Policy ${made}`, counts: { kept: SITES } },
    });
    until(2);
    await tick();
    expect(await last(id)).toMatchObject({ state: 'nothing', rollout_id: null });
    expect(await rollouts()).toBe(1);
  });

  it('runs a time once that was missed on the same day, and tells of one of another day', async () => {
    const id = await policy({ schedule: { at: '02:00', days: ['mon'] } });
    // 23 November 2026 is a Monday.
    app.clock.move(Date.UTC(2026, 10, 30, 15) - app.clock.now());
    await tick();
    expect(await last(id)).toMatchObject({ at: '2026-11-30T02:00:00Z', state: 'nothing' });
    app.clock.move(9 * DAY);
    await tick();
    expect(await last(id)).toMatchObject({
      ...{ at: '2026-12-07T02:00:00Z', state: 'missed' },
      detail: 'The service was not running on that day: 2026-12-07T02:00:00Z was missed.',
    });
    const { actions } = await app.call('list-actions', { contexts: ['policy'], since: '2026-11-29', per_page: 2 });
    expect(actions.map(({ action }: { action: string }) => action)).toEqual(['skipped', 'ran']);
  });

  it('is due again after a clock that was far ahead', async () => {
    const id = await policy();
    /** The list of actions shows none that are in the future. */
    const ran = async () => {
      await app.call('list-policies');
      const rows = await app.db.all(
        "SELECT id FROM action_log WHERE context = 'policy' AND action = 'ran' AND slug = ?",
        [String(id)],
      );
      return rows.length;
    };
    app.clock.step(3 * DAY);
    until(2);
    await tick();
    expect(await ran()).toBe(1);
    app.clock.step(-3 * DAY);
    await tick();
    expect(await ran()).toBe(1);
    until(2);
    await tick();
    await tick();
    expect(await ran()).toBe(2);
  });

  it('is finished by another process after a crash at any step, once', async () => {
    await offer('1.2');
    const before = await rollouts();
    const id = await policy();
    until(2);
    // It died after it had taken up the time.
    await app.db.run("UPDATE policy SET state = 'begun', due_at = ? WHERE id = ?", [app.clock.now(), id]);
    await Promise.all([tick(), tick()]);
    expect([await rollouts(), (await last(id)).state]).toEqual([before + 1, 'started']);
    // It died before it could note that it had started.
    await app.db.run("UPDATE policy SET state = 'planned' WHERE id = ?", [id]);
    await tick();
    expect([await rollouts(), (await last(id)).state]).toEqual([before + 1, 'started']);
    app.clock.move(2 * HOUR);
    await finish();
    app.clock.move(2 * HOUR);
    await finish();
  });

  it('is changed by a person while it plans: that plan never begins', async () => {
    await offer('1.25');
    const before = await rollouts();
    const id = await policy();
    until(2);
    const { rolloutPlans } = app.service.store;
    const save = rolloutPlans.save.bind(rolloutPlans);
    vi.spyOn(rolloutPlans, 'save').mockImplementationOnce(async (...of) => {
      expect((await own(`PATCH /policies/${id}`, { approval: 'ask' })).status).toBe(200);
      return save(...of);
    });
    await tick();
    expect(await rollouts()).toBe(before);
    await tick();
    expect([await rollouts(), (await last(id)).state]).toEqual([before, 'asked']);
    await own(`DELETE /policies/${id}`);
  });

  it('says why it could not plan, and widens nothing', async () => {
    const { body } = await app.rest('POST /tags/add', { body: { name: 'shops' } });
    const id = await policy({ tag_ids: [body.data.id] });
    await app.rest(`DELETE /tags/${body.data.id}/remove`);
    until(2);
    const before = await rollouts();
    await tick();
    expect(await last(id)).toMatchObject({ state: 'failed', detail: expect.stringContaining('no tag has the id') });
    expect(await rollouts()).toBe(before);
  });
});

describe('a policy that asks', () => {
  const request = async (state: string) =>
    (await own(`GET /approvals?state=${state}`)).body.data[0] as Record<string, never> & { approval_id: string };

  it('leaves one request; approved, its plan starts once', async () => {
    await offer('1.3');
    const before = await rollouts();
    const id = await policy({ approval: 'ask' });
    until(2);
    await Promise.all([tick(), tick()]);
    await tick();
    const asked = await request('waiting');
    expect((await own('GET /approvals?state=waiting')).body.total).toBe(1);
    expect(asked).toMatchObject({
      ...{ operation: 'policy', title: `Updates of the policy Policy ${made}`, kind: 'rollouts', sites: SITES },
      ...{ asked_by: `policy Policy ${made}`, own: false, plan: { updates: SITES } },
    });
    expect(await last(id)).toMatchObject({ state: 'asked', approval_id: asked.approval_id, rollout_id: null });
    // Who may not decide it learns of it as from the list of policies.
    const { needs_attention } = await app.call(
      'get-fleet-brief',
      {},
      { actor: { ...ADMIN, rights: ['read', 'write'] } },
    );
    expect(needs_attention).toContainEqual({
      matter: "plans of policies waiting for a person's approval",
      count: 1,
      first: [`${asked.approval_id}: Updates of the policy Policy ${made} on ${SITES} sites`],
      next: 'svc-list-policies-v1 {}',
    });
    expect(await rollouts()).toBe(before);
    const { actions } = await app.call('list-actions', { contexts: ['policy'], per_page: 1 });
    expect(actions[0]).toMatchObject({ action: 'asked', actor: `policy Policy ${made}`, via: 'jobs' });
    const path = `/approvals/${asked.approval_id}/approve`;
    expect((await app.rest(`POST ${path}`)).status).toBe(403);
    const replies = await Promise.all([own(`POST ${path}`), own(`POST ${path}`)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 200)?.body.data.state).toBe('used');
    expect(await rollouts()).toBe(before + 1);
    expect((await last(id)).rollout_id).toMatch(/^rollout_/);
    app.clock.move(2 * HOUR);
    await finish();
    app.clock.move(2 * HOUR);
    await finish();
  });

  it('starts what was approved when the process died before', async () => {
    await offer('1.4');
    const before = await rollouts();
    await policy({ approval: 'ask' });
    until(2);
    await tick();
    const { approval_id } = await request('waiting');
    // Its plan is kept, although many others are made meanwhile.
    app.clock.move(1000);
    for (let other = 1; other <= 60; other++) await app.call('plan-updates', { waves: { soak_minutes: other } });
    await app.db.run("UPDATE approval SET state = 'approved' WHERE id = ?", [approval_id]);
    await Promise.all([tick(), tick()]);
    expect([await rollouts(), (await request('used')).approval_id]).toEqual([before + 1, approval_id]);
    app.clock.move(2 * HOUR);
    await finish();
    app.clock.move(2 * HOUR);
    await finish();
  });

  it('asks again after it was changed for a later time of the same day, although its plan is the same', async () => {
    await offer('1.45');
    const id = await policy({ approval: 'ask' });
    until(2);
    await tick();
    const first = await request('waiting');
    await own(`PATCH /policies/${id}`, { schedule: { at: '03:00' } });
    expect((await own('GET /approvals?state=waiting')).body.total).toBe(0);
    until(3);
    await tick();
    const again = await request('waiting');
    expect(again.approval_id).not.toBe(first.approval_id);
    expect((await last(id)).approval_id).toBe(again.approval_id);
    await own(`DELETE /policies/${id}`);
  });

  it('asks anew for each plan; a request lapses with its plan, or when the policy is changed', async () => {
    await offer('1.5');
    const before = await rollouts();
    const id = await policy({ approval: 'ask' });
    until(2);
    await tick();
    const first = await request('waiting');
    until(2);
    await tick();
    const second = await request('waiting');
    expect(second.approval_id).not.toBe(first.approval_id);
    expect((await own('GET /approvals?state=waiting')).body.total).toBe(1);
    await own(`PATCH /policies/${id}`, { minimum_age_days: 1 });
    for (const { approval_id } of [first, second])
      expect((await own(`POST /approvals/${approval_id}/approve`)).status).toBe(409);
    expect(await rollouts()).toBe(before);
  });
});

describe('a preview', () => {
  it('says what it would do now, and what it would have begun, as far as is known', async () => {
    const id = await policy({ types: ['plugins'], minimum_age_days: 5 });
    const now = app.clock.now();
    const day = now - (now % DAY);
    await app.db.run('DELETE FROM offered_version');
    const seen = (version: string, at: number) =>
      app.db.run(
        'INSERT INTO offered_version (type, slug, version, first_seen, first_site, second_seen) VALUES (1, ?1, ?2, ?3, 1, ?3)',
        [SHOP, version, at],
      );
    // Due at 02:00: 5 days after noon of day -20 is noon of day -15, so it would have begun on day -14.
    await seen('0.9', day - 20 * DAY + 12 * HOUR);
    // Too young yet, and too long ago.
    await seen('1.5', day - 2 * DAY);
    await seen('0.1', day - 60 * DAY);
    const updated = (site_id: number, at: number) =>
      ({ site_id, context: 'plugin', action: 'updated', slug: SHOP, name: 'Shop', new_version: '0.9', at }) as const;
    await app.service.store.actionLog.add([
      updated(1, day - 18 * DAY),
      updated(2, day - 10 * DAY),
      updated(3, day - 9 * DAY),
    ]);
    const { body } = await app.rest(`GET /policies/${id}/preview`, { token: app.tokens.read });
    expect(body.data.now).toMatchObject({ updates: 0, left_out: [{ reason: 'too_young', updates: SITES }] });
    const iso = (ms: number) => new Date(ms).toISOString().replace('.000', '');
    expect(body.data.past.versions).toEqual([
      {
        ...{ type: 'plugin', slug: SHOP, version: '0.9', first_offered_at: iso(day - 20 * DAY + 12 * HOUR) },
        would_have_begun_at: iso(day - 14 * DAY + 2 * HOUR),
        ...{ still_offered: 0, updated_before: 1, updated_after: 2 },
      },
    ]);
    expect(body.data.past.not_known).toHaveLength(3);
    expect(await app.call('preview-policy', { policy_id: id })).toMatchObject({ past: { more_versions: 0 } });
    expect(await app.fail('preview-policy', { policy_id: 999 })).toMatchObject({ code: 'svc_policy_not_found' });
  });

  it('is given before anything is stored, to those who may approve, and keeps no plan that could be started', async () => {
    const draft = {
      name: 'Draft',
      types: ['plugins'],
      minimum_age_days: 5,
      approval: 'auto',
      schedule: { at: '02:00' },
    };
    const preview = (body: object, as = token) => app.rest('POST /policies/preview', { token: as, body });
    const id = await policy({ types: ['plugins'], minimum_age_days: 5 });
    const stored = (await own(`GET /policies/${id}/preview`)).body.data;
    const before = await own('GET /policies');
    const { data } = (await preview(draft)).body;
    expect(data).toEqual({ summary: stored.summary, now: stored.now, past: stored.past });
    expect(data.now).not.toHaveProperty('plan_id');
    expect((await own('GET /policies')).body).toEqual(before.body);
    expect((await preview(draft, app.tokens.read)).status).toBe(403);
    expect((await app.rest('POST /policies/preview', { body: draft })).status).toBe(403);
    expect((await preview({ ...draft, tag_ids: [999] })).body.code).toBe('svc_tag_not_found');
    expect((await preview({ ...draft, minimum_age: 5 })).body.code).toBe('rest_invalid_param');
    const { body } = await app.rest('POST /tags/add', { body: { name: 'shops & bars' } });
    expect((await preview({ ...draft, tag_ids: [body.data.id] })).body.data.summary).toContain(
      'on sites with the tag "shops & bars".',
    );
  });

  it('lets fixes of known vulnerabilities pass at any age, if the policy says so', async () => {
    const young = { types: ['plugins'], minimum_age_days: 5 };
    const planned = async (more: object) =>
      (await own(`GET /policies/${await policy({ ...young, ...more })}/preview`)).body.data.now.updates;
    expect(await planned({ vulnerable_at_once: true })).toBe(0);
    feed.serve(feedText([entry(1, { slug: 'shop', affected: [['*', true, '1.4', true]], fixed: ['1.5'] })]));
    await refreshVulnerabilities(app.ctx({ actor: SYSTEM }));
    expect([await planned({}), await planned({ vulnerable_at_once: true })]).toEqual([0, SITES]);
    expect(await planned({ vulnerable_at_once: true, exclude_slugs: ['shop'] })).toBe(0);
  });
});

describe('without the log', () => {
  it('a policy starts nothing and asks nobody, and does so once the log can be written', async () => {
    await offer('1.6');
    const before = await rollouts();
    const log =
      "SELECT action, actor FROM action_log WHERE id > ? AND context IN ('policy', 'rollout', 'approval') ORDER BY id";
    const head = async () => Number((await app.db.one('SELECT max(id) AS id FROM action_log'))?.id);
    for (const approval of ['ask', 'auto'] as const) {
      const id = await policy({ approval });
      const from = await head();
      until(2);
      await withoutLog(app.db, tick);
      expect([await rollouts(), (await own('GET /approvals?state=waiting')).body.total, await head()]).toEqual([
        ...[before, 0, from],
      ]);
      await tick();
      await tick();
      const did = approval === 'ask' ? ['asked', 'asked'] : ['started', 'wave-started', 'ran'];
      const actor = `policy Policy ${made}`;
      expect(await app.db.all(log, [from])).toEqual(did.map((action) => ({ action, actor })));
      expect((await last(id)).state).toBe(approval === 'ask' ? 'asked' : 'started');
      await own(`PATCH /policies/${id}`, { minimum_age_days: 1 });
    }
    expect(await rollouts()).toBe(before + 1);
    app.clock.move(2 * HOUR);
    await finish();
    app.clock.move(2 * HOUR);
    await finish();
  });
});
