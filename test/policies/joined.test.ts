/** Sites that join an automatic policy after a person set it: programs can bring that about, so a person is asked for them. */

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runPolicies } from '../../src/domain/policies/run.js';
import { advanceRollouts } from '../../src/domain/updates/rollouts/advance.js';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import { ordinary, running } from '../safety/safety-app.js';
import { SYSTEM } from '../support/harness.js';
import { textOf } from '../support/mcp-clients.js';

const SITES = 8;
const DAY = 86_400_000;
/** 13:00. */
const DUE = 13 * 3_600_000;
const SHOP = 'shop/shop.php';

let way: Ways;
let person: Ask;
/** For what comes days later, when the person is logged out. */
let approver: Ask;
let key: Ask;

beforeEach(async () => {
  way = await ways({ sites: SITES, connected: SITES, jobs: false, fleet: { plugins: 3 }, config: { job_delay_ms: 0 } });
  person = await way.page(await way.user(['read', 'write', 'approve']));
  approver = await way.key({ approves: true });
  key = await way.key();
  await way.rules({ preset: 'careful' });
  await offer('2.0');
});

/** Every site of the fleet gets one update, of a plugin, and has no other; none has a guard. */
async function offer(version: string) {
  const { app } = way;
  for (const { state } of app.fleet.sites) {
    for (const item of [...state.plugins, ...state.themes]) item.update = null;
    state.translations = [];
    state.wpUpdate = null;
  }
  for (const site of app.fleet.sites) {
    const update = { version, requiresPhp: '', requiresWp: '' };
    const shop = ordinary(site)[0];
    if (shop === undefined) throw new Error('a site without a plugin');
    if (shop.slug !== SHOP) Object.assign(shop, { slug: SHOP, name: 'Shop', version: '1.0', active: true });
    Object.assign(shop, { premium: false, update });
  }
  await running(app, app.call('sync-sites', {}));
}
const tick = () => runPolicies(way.app.ctx({ actor: SYSTEM }));
/** Until the next time at which the policies are due, in the zone of the dashboard, which is UTC. */
function untilDue() {
  const now = way.app.clock.now();
  const at = now - (now % DAY) + DUE;
  way.app.clock.move(at > now ? at - now : at + DAY - now);
}
async function nextDay() {
  untilDue();
  await tick();
}
async function finish() {
  const { app } = way;
  for (let turn = 0; turn < 6; turn++) {
    await advanceRollouts(app.ctx({ actor: SYSTEM }));
    await running(app, app.drain());
    app.clock.move(70 * 60_000);
  }
}
/** Numbers of the sites that have this version, by their own state. */
const having = (version: string) =>
  way.app.fleet.sites.flatMap((site, at) => (ordinary(site)[0]?.version === version ? [at + 1] : []));
const policy = async (more: object): Promise<number> => {
  const body = { name: 'Nightly', approval: 'auto', schedule: { at: '13:00' }, types: ['plugins'], ...more };
  const reply = await person('POST /policies', body);
  expect([reply.status, reply.body.message]).toEqual([200, 'The policy was created.']);
  return reply.body.data.policy_id;
};
const stored = async (id: number) => (await approver(`GET /policies/${id}`)).body.data;
const waiting = async () => (await approver('GET /approvals?state=waiting')).body.data;
const ok = async (reply: ReturnType<Ask>) => expect((await reply).status).toBe(200);

async function tagged(...ids: number[]): Promise<number> {
  const tag = (await person('POST /tags/add', { name: 'Staging' })).body.data.id;
  for (const id of ids) await ok(person(`POST /sites/${id}/edit`, { groupids: [tag] }));
  return tag;
}

describe('a site that a program brings into an automatic policy', () => {
  it('by its tag waits for a person, the others do not', async () => {
    const tag = await tagged(1, 2);
    const id = await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    await nextDay();
    const [request, ...others] = await waiting();
    expect(others).toEqual([]);
    expect(request).toMatchObject({ title: 'Updates of the policy Nightly on 1 site that joined it', sites: 1 });
    expect(request.plan.from_then_on).toMatch(/without being asked from then on/);
    expect(request.plan.would_update).toMatchObject([{ site_id: 8, slug: SHOP, new_version: '2.0' }]);
    const { last } = await stored(id);
    expect(last).toMatchObject({ state: 'started', approval_id: request.approval_id });
    expect(last.detail).toContain(`Request ${request.approval_id}, for sites that joined`);
    await finish();
    expect(having('2.0')).toEqual([1, 2]);

    // Once a person has agreed, it is one of them.
    await ok(approver(`POST /approvals/${request.approval_id}/approve`));
    await finish();
    expect(having('2.0')).toEqual([1, 2, 8]);
    await offer('3.0');
    await nextDay();
    expect(await waiting()).toEqual([]);
    await finish();
    expect(having('3.0')).toEqual([1, 2, 8]);
  });

  it('by its tag, as the only site of the policy, waits for a person, and nothing starts', async () => {
    const tag = await tagged();
    const id = await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/5/edit', { groupids: [tag] }));
    await nextDay();
    const [request] = await waiting();
    expect((await stored(id)).last).toMatchObject({
      ...{ state: 'asked', approval_id: request.approval_id, rollout_id: null },
      detail: expect.stringContaining('No person has agreed to all of its sites so far.'),
    });
    await finish();
    expect(having('2.0')).toEqual([]);
    await ok(approver(`POST /approvals/${request.approval_id}/approve`));
    await finish();
    expect(having('2.0')).toEqual([5]);
    expect((await stored(id)).last.rollout_id).toMatch(/^rollout_/);
  });

  it('by its name does not: policies keep which site had it', async () => {
    await ok(person('POST /sites/1/edit', { name: 'Playground' }));
    await ok(person('POST /sites/2/edit', { name: 'Production' }));
    const id = await policy({ site_ids_or_domains: ['Playground'], waves: { canary_sites: ['Playground'] } });
    expect(await stored(id)).toMatchObject({ site_ids_or_domains: [1], waves: { canary_sites: [1] } });
    const but = await policy({ name: 'Other', site_ids_or_domains: [2, 3], exclude_sites: ['Production'] });
    expect(await stored(but)).toMatchObject({ exclude_sites: [2] });
    for (const [site, name] of [
      [1, 'Old'],
      [8, 'Playground'],
      [2, 'Older'],
      [4, 'Production'],
    ])
      await ok(key(`POST /sites/${site}/edit`, { name }));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1, 3]);
    expect(await waiting()).toEqual([]);
  });

  it('by what the policy excludes waits for a person', async () => {
    const sites = [2, 3, 4];
    const added = await person('POST /clients/add', { name: 'Do not touch', selected_sites: sites });
    const client = added.body.data.id;
    const id = await policy({ site_ids_or_domains: [1, ...sites], exclude_client_ids: [client] });
    expect((await stored(id)).summary).toContain('on 4 sites except sites of the client "Do not touch". Planned');
    await ok(key(`POST /clients/${client}/edit`, { selected_sites: '' }));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1]);
    expect(await waiting()).toMatchObject([{ sites: 3 }]);
  });

  it('by its automatic_update waits for a person, where the settings make the policy', async () => {
    await ok(person('POST /sites/1/edit', { automatic_update: 1 }));
    const settings = {
      plugin_automatic_daily_update: 1,
      trusted_plugins: 'shop',
      time_auto_update: '13:00',
      delay_autoupdate: 0,
    };
    await ok(person('PATCH /settings/general/edit', settings));
    await ok(key('POST /sites/8/edit', { automatic_update: 1 }));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1]);
    expect(await waiting()).toMatchObject([{ sites: 1, plan: { would_update: [{ site_id: 8 }] } }]);
  });
});

describe('a site that a person has taken out of an automatic policy', () => {
  it.each([
    ['by a tag that it excludes', { exclude: true }],
    ['by its own tag', { exclude: false }],
  ])('%s, and that a program brings back, waits for a person', async (_how, { exclude }) => {
    const tag = await tagged(...(exclude ? [] : [1, 5]));
    await policy(exclude ? { site_ids_or_domains: [1, 5], exclude_tag_ids: [tag] } : { tag_ids: [tag] });
    const [out, back] = exclude ? [[tag], []] : [[], [tag]];
    await ok(person('POST /sites/5/edit', { groupids: out }));
    await tick();
    await ok(key('POST /sites/5/edit', { groupids: back }));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1]);
    expect(await waiting()).toMatchObject([{ sites: 1, plan: { would_update: [{ site_id: 5 }] } }]);
  });

  it('by suspending it, waits for a person, too', async () => {
    await policy({ site_ids_or_domains: [1, 5] });
    await ok(person('POST /sites/5/suspend'));
    await tick();
    await ok(key('POST /sites/5/unsuspend'));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1]);
    expect(await waiting()).toMatchObject([{ sites: 1 }]);
  });

  it('by ignoring its update, keeps it: a program may not offer it again where it may not make it', async () => {
    await ok(person('POST /updates/5/ignore/plugins', { slug: SHOP }));
    await policy({ site_ids_or_domains: [1, 5] });
    await ok(person('POST /sites/6/edit', { backup_before_upgrade: 1 }));
    const whole = { is_ignorePluginUpdates: 1 };
    await ok(person('POST /sites/6/edit', whole));
    for (const [call, body] of [
      ['DELETE /updates/5/ignore/plugins', { slug: SHOP }],
      ['POST /sites/6/edit', { is_ignorePluginUpdates: 0 }],
      ['POST /sites/6/edit', { backup_before_upgrade: 0 }],
      ['POST /sites/batch', { update: [{ id: 6, is_ignorePluginUpdates: 0 }] }],
    ] as const)
      expect([call, (await key(call, body)).body.code]).toEqual([call, 'svc_approval_required']);
    const { token } = key as Ask & { token: string };
    const model = await way.assistant(token);
    const site = { site_id_or_domain: 5 };
    for (const [name, input] of [
      ['svc-ignore-site-plugins-v1', { ...site, action: 'remove', slugs: [SHOP] }],
      ['svc-set-ignored-updates-v1', { ...site, action: 'unignore', type: 'plugin', slug: SHOP }],
      ['svc-ignore-update-everywhere-v1', { action: 'unignore', type: 'plugin', slug: SHOP }],
    ] as const)
      expect([name, textOf(await model.call(name, input))]).toEqual([
        name,
        expect.stringContaining('svc_approval_required'),
      ]);
    await ok(key('POST /updates/7/ignore/plugins', { slug: SHOP }));
    await ok(key('POST /sites/7/edit', whole));
  });
});

describe('a site that joins an automatic policy', () => {
  it('is taken in where the rules let a program update it anyway', async () => {
    await way.rules({ preset: 'open' });
    const tag = await tagged(1);
    await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    await nextDay();
    await finish();
    expect(having('2.0')).toEqual([1, 8]);
    expect(await waiting()).toEqual([]);
  });

  it('is agreed to when a person changes the policy, not when it gets another name or is switched off and on', async () => {
    const tag = await tagged(1);
    const id = await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    await ok(approver(`PATCH /policies/${id}`, { name: 'Each night' }));
    for (const enabled of [false, true]) await ok(approver(`PATCH /policies/${id}`, { enabled }));
    await nextDay();
    expect(await waiting()).toMatchObject([{ sites: 1 }]);
    await finish();
    expect(having('2.0')).toEqual([1]);
    await ok(approver(`PATCH /policies/${id}`, { minimum_age_days: 0, level: ['major', 'minor', 'patch'] }));
    expect(await waiting()).toEqual([]);
    await nextDay();
    await finish();
    expect([having('2.0'), await waiting()]).toEqual([[1, 8], []]);
  });

  it('has one request, whatever crashes between, and its plan starts once', async () => {
    const tag = await tagged(1);
    const id = await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    untilDue();
    await Promise.all([tick(), tick(), tick()]);
    const [request, ...others] = await waiting();
    expect(others).toEqual([]);
    // The process died after the request, after the plan, and after the approval.
    for (const step of [
      "DELETE FROM rollout; UPDATE policy SET state = 'begun', plan_id = NULL, approval_id = NULL",
      "UPDATE policy SET state = 'planned'",
      "UPDATE approval SET state = 'approved'",
    ]) {
      for (const statement of step.split(';')) await way.app.db.run(statement);
      await Promise.all([tick(), tick()]);
    }
    expect((await stored(id)).last).toMatchObject({ state: 'started', approval_id: request.approval_id });
    const all = (await approver('GET /approvals')).body.data;
    expect(all.map((one: { state: string }) => one.state)).toEqual(['used']);
    expect((await approver('GET /rollouts')).body.total).toBe(2);
    await finish();
    expect(having('2.0')).toEqual([1, 8]);
  });

  it('while its policy plans, is in no plan that begins without a person', async () => {
    const tag = await tagged(1);
    await policy({ tag_ids: [tag] });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    untilDue();
    const { rolloutPlans } = way.app.service.store;
    const items = rolloutPlans.items.bind(rolloutPlans);
    vi.spyOn(rolloutPlans, 'items').mockImplementationOnce(async (id) => {
      await ok(key('POST /sites/7/edit', { groupids: [tag] }));
      return items(id);
    });
    await tick();
    await finish();
    expect(having('2.0')).toEqual([1]);
    expect(await waiting()).toMatchObject([{ sites: 1, plan: { would_update: [{ site_id: 8 }] } }]);
  });

  it('and is the only one that may be the first, leaves the whole plan to a person', async () => {
    const first = (await person('POST /tags/add', { name: 'First' })).body.data.id;
    const tag = await tagged(1);
    const id = await policy({ tag_ids: [tag], waves: { canary_tag_ids: [first] } });
    await ok(key('POST /sites/8/edit', { groupids: [tag, first] }));
    await nextDay();
    const [request] = await waiting();
    expect(request).toMatchObject({ title: 'Updates of the policy Nightly', sites: 2, plan: { waves: 2 } });
    expect((await stored(id)).last.state).toBe('asked');
    await finish();
    expect(having('2.0')).toEqual([]);
    await ok(approver(`POST /approvals/${request.approval_id}/approve`));
    await finish();
    expect(having('2.0')).toEqual([1, 8]);
  });

  it('has a rollout of its own, which has to end before the policy plans again', async () => {
    const tag = await tagged(1);
    const id = await policy({ tag_ids: [tag], waves: { canaries: 1, soak_minutes: 0 } });
    await ok(key('POST /sites/8/edit', { groupids: [tag] }));
    await nextDay();
    const [request] = await waiting();
    await finish();
    await ok(approver(`POST /approvals/${request.approval_id}/approve`));
    await nextDay();
    expect((await stored(id)).last).toMatchObject({
      state: 'skipped',
      detail: expect.stringContaining('has not ended yet'),
    });
    await finish();
    await nextDay();
    expect((await stored(id)).last.state).not.toBe('skipped');
  });

  it('does not keep a policy from being switched off that names what is gone', async () => {
    const id = await policy({ site_ids_or_domains: [3] });
    await ok(person('DELETE /sites/3/remove'));
    await ok(person(`GET /policies/${id}/preview`));
    await ok(person(`PATCH /policies/${id}`, { enabled: false }));
    expect((await stored(id)).enabled).toBe(false);
  });
});
