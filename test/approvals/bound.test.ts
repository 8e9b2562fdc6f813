/** An approval holds for what the person was shown, and what asks under one name asks under every other. */

import { createHash } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MODES, type Mode } from '../../schemas/approval.js';
import { localActor } from '../../src/cli/local-actor.js';
import { offer } from '../../src/demo/inventory.js';
import { decideApproval } from '../../src/domain/approvals/approvals.js';
import { setApprovalRules } from '../../src/domain/approvals/rules.js';
import { rolloutApp } from '../rollouts/rollout-app.js';
import { ordinary, running, safetyApp } from '../safety/safety-app.js';
import { newKey } from '../support/logins.js';
import { textOf } from '../support/mcp-clients.js';

import { type Ask, type Reply, type Ways, ways } from './client.js';

const SITES = 7;
const ALL = Array.from({ length: SITES }, (_, i) => i + 1);
const SHELL = { actor: localActor('cli') };
const ASKED = 'svc_approval_required';
const idOf = ({ body }: Reply): string => body.data.approval_id;

let app: Ways;
let key: Ask & { token: string };
let person: Ask;

beforeAll(async () => {
  app = await ways({ sites: SITES, connected: SITES });
  person = await app.page(await app.user(['read', 'write', 'approve']));
});
beforeEach(async () => {
  await app.rules({ preset: 'careful' });
  key = await app.key();
});

const statuses = async () =>
  (await app.app.call('list-sites', { per_page: 50 })).items.map(({ status }: { status: string }) => status);

describe('what is shown for approval', () => {
  it('is the whole call, called after its gravest kind', async () => {
    const notes = 'Opening hours and contacts. '.repeat(300);
    const sent = { update: ALL.map((id) => ({ id, notes })), delete: [2, 3] };
    const asked = await key('POST /sites/batch', sent);
    const { data } = (await person(`GET /approvals/${idOf(asked)}`)).body;
    expect(data).toMatchObject({
      kind: 'site_deletions',
      sites: 2,
      changes: [
        { kind: 'site_deletions', sites: 2 },
        { kind: 'connections', sites: SITES },
      ],
      input: sent,
    });
    const urls = [2, 3].map((id) => app.app.fleet.sites[id - 1]?.url);
    expect(Object.keys(data.plan)).toEqual(['delete', 'update']);
    expect(data.plan.delete.map(({ url }: { url: string }) => url)).toEqual(urls);
    expect(data.plan.update).toHaveLength(SITES);
  });

  it('has what comes after long texts', async () => {
    await app.rules({ preset: 'strict' });
    const post_content = `${'Words. '.repeat(400)}<script src="https://elsewhere.example/x.js"></script>`;
    const asked = await key('POST /posts/1/create', { post_title: 'News', post_status: 'publish', post_content });
    const { data } = (await person(`GET /approvals/${idOf(asked)}`)).body;
    expect(data.input).toMatchObject({ post_content });
  });

  it('has what looks like a login, but is a text, and fields whose names look like those of secrets', async () => {
    await app.rules({ preset: 'strict' });
    const script = '<script src="https://elsewhere.example/x.js"></script>';
    const page = { post_title: 'News', post_status: 'publish' };
    for (const text of [
      `//<svg\nonload=alert(1)>@ and more`,
      'https:<svg onload=alert(1)>@shop.example/ hello',
      'https:[run_snippet\tid=7\tas=administrator\tcode=eval()]@shop.example/ is our new partner.',
      'https:[run_snippet]@shop.example/',
      'Call us: //Pay-into-this-account-now@elsewhere',
      `https:ada:clear-1@shop.example/#${script} more`,
    ]) {
      const sent = { ...page, post_content: text, post_custom: { secret_header_code: script, token: text } };
      const asked = await key('POST /posts/1/create', sent);
      expect((await person(`GET /approvals/${idOf(asked)}`)).body.data.input).toMatchObject(sent);
    }
  });

  it('has how long the login is that is left out of an address', async () => {
    await app.rules({ preset: 'strict' });
    const create = [{ url: 'https:ada:clear-1@shop.example/#1', admin: 'x' }];
    const { input } = (await person(`GET /approvals/${idOf(await key('POST /sites/batch', { create }))}`)).body.data;
    expect(input.create[0].url).toBe('https:[redacted: 11 characters]@shop.example/#1');
  });

  it('has the key that is to be changed or deleted, but for its token', async () => {
    const { token } = await app.key();
    const { data } = (await person('GET /rest-api/keys')).body;
    const [newest] = data;
    expect(token.endsWith(newest.truncated_key)).toBe(true);
    for (const [call, body] of [
      [`PUT /rest-api/edit-key/${newest.id}`, { active: false }],
      [`DELETE /rest-api/delete-key/${newest.id}`, undefined],
    ] as const) {
      const asked = (await person(`GET /approvals/${idOf(await key(call, body))}`)).body.data;
      expect(asked.input).toMatchObject({ key_identifier: String(newest.id) });
      const { id, description, truncated_key } = newest;
      expect(asked.plan.key).toMatchObject({ id, description, truncated_key });
      // Its use is no change of what was shown.
      await app.shell.approve(asked.approval_id);
      app.app.clock.move(60_000);
      await app.withToken(token)('GET /sites');
      expect((await key(call, body)).status).toBe(200);
    }
  });

  it('has the user who is to be changed or deleted', async () => {
    const name = await app.user(['read']);
    const { data } = (await person('GET /users')).body;
    const { id } = data.find((one: { name: string }) => one.name === name);
    for (const [call, body] of [
      [`PATCH /users/${id}/edit`, { active: false }],
      [`DELETE /users/${id}/delete`, undefined],
    ] as const) {
      const asked = (await person(`GET /approvals/${idOf(await key(call, body))}`)).body.data;
      expect(asked.plan.user).toMatchObject({ id, name, right: 'read', may_approve: false });
    }
  });

  it('has of an undo first what others had changed, and up to 200 steps', async () => {
    await app.rules({ preset: 'open' });
    app.app.clock.move(3_600_000);
    const since = new Date(app.app.clock.now() - 1000).toISOString();
    await person('POST /sites/6/suspend');
    for (let at = 1; at <= 25; at++) await key('POST /tags/add', { name: `note ${at}` });
    await person('POST /sites/7/suspend');
    await app.rules({ preset: 'strict' });
    const asked = await key('POST /actions/undo', { since, confirm: true });
    const { plan } = (await person(`GET /approvals/${idOf(asked)}`)).body.data;
    expect([plan.total_undo, plan.undo.length, plan.total_by_others]).toEqual([27, 27, 2]);
    expect(
      plan.undo
        .slice(0, 2)
        .map((step: { site_id: number }) => step.site_id)
        .sort(),
    ).toEqual([6, 7]);
    for (const id of [6, 7]) await person(`POST /sites/${id}/unsuspend`);
  });

  it('of an undo of all since a time is the same once it was asked for, although that is in the log', async () => {
    await app.rules({ preset: 'open' });
    app.app.clock.move(3_600_000);
    const since = new Date(app.app.clock.now() - 1000).toISOString();
    const { id } = (await key('POST /tags/add', { name: 'Since' })).body.data;
    await app.rules({ preset: 'strict' });
    const { digest } = (await key('POST /actions/undo', { since, dry_run: true })).body.data;
    const undo = { since, digest, confirm: true };
    const asked = await key('POST /actions/undo', undo);
    app.app.clock.move(5_000);
    await app.shell.approve(idOf(asked));
    app.app.clock.move(5_000);
    expect((await key('POST /actions/undo', undo)).status).toBe(200);
    expect((await person('GET /tags')).body.data.some((tag: { id: number }) => tag.id === id)).toBe(false);
  });

  it('is never a part of it: more than a person can be shown is refused', async () => {
    const update = ALL.map((id) => ({ id, notes: 'x'.repeat(20_000) }));
    const before = (await person('GET /approvals')).body.total;
    const refused = await key('POST /sites/batch', { update });
    expect(refused).toMatchObject({ status: 413, body: { code: 'svc_rest_request_entity_too_large' } });
    expect((await person('GET /approvals')).body.total).toBe(before);
  });
});

describe('an approval is not widened', () => {
  it('by giving a client more sites before it is suspended', async () => {
    const own = { name: 'Old', client_email: 'old@example.com', selected_sites: ALL.slice(0, -1) };
    const { id: client_id } = await app.app.call('add-client', own, SHELL);
    const assistant = await app.assistant();
    const calls: [string, () => Promise<string>][] = [
      ['REST', async () => JSON.stringify((await key(`POST /clients/${client_id}/suspend`)).body)],
      ['MCP', async () => textOf(await assistant.call('svc-suspend-client-v1', { client_id_or_email: client_id }))],
    ];
    for (const [, call] of calls) {
      const [asked = ''] = /apr_[0-9a-f]{24}/.exec(await call()) ?? [];
      const { plan, sites } = (await person(`GET /approvals/${asked}`)).body.data;
      expect([sites, plan.client_name, plan.site_ids]).toEqual([6, 'Old', '1, 2, 3, 4, 5, 6']);
      await app.shell.approve(asked);
    }
    await app.app.call('update-client', { client_id_or_email: client_id, selected_sites: ALL }, SHELL);
    for (const [way, call] of calls) {
      const again = await call();
      expect([way, again]).toEqual([way, expect.stringContaining('What it would do has changed since request')]);
    }
    expect(await statuses()).toEqual(ALL.map(() => 'connected'));
  });

  it('by renaming sites before others are named in the same batch', async () => {
    const fleet = await ways({ sites: 2, connected: 2 });
    await fleet.rules({ preset: 'careful' });
    const [program, approver] = [await fleet.key(), await fleet.key({ approves: true })];
    const sites = async () => (await approver('GET /sites')).body.data as { id: number; name: string }[];
    const nameOf = async (id: number) => (await sites()).find((site) => site.id === id)?.name ?? '';
    const first = await nameOf(1);
    const update = [
      { id: 1, name: 'renamed' },
      { id: 2, name: first },
    ];
    const call = () => program('POST /sites/batch', { update, delete: [first, 'renamed'] });
    const asked = (await approver(`GET /approvals/${idOf(await call())}`)).body.data;
    expect(asked.plan.delete).toMatchObject([{ id: 1, name: first }, { id: 0 }]);
    await fleet.shell.approve(asked.approval_id);
    const { body } = await call();
    expect(body.delete).toMatchObject([
      { id: 1, success: 1 },
      { id: 0, success: 0, error: { code: 'svc_rest_invalid_site_id' } },
    ]);
    expect((await sites()).map(({ id }) => id)).toEqual([2]);
  });

  it('by giving the name to another site while the approved call begins', async () => {
    const count = 26;
    const fleet = await ways({ sites: count, connected: count });
    await fleet.rules({ preset: 'careful' });
    const [program, approver] = [await fleet.key(), await fleet.key({ approves: true })];
    const turns = async (left: number): Promise<void> => {
      if (left > 0) await new Promise((go) => setImmediate(go)).then(() => turns(left - 1));
    };
    // The renaming comes earlier and later, so that it falls between the look at the rules and the deletion, too.
    for (let at = 0; at < count / 2; at++) {
      const [named, other, name] = [count - at, at + 1, `Old test ${at}`];
      await fleet.app.call('update-site', { site_id_or_domain: named, name }, SHELL);
      const remove = () => program(`DELETE /sites/${encodeURIComponent(name)}/remove`);
      await fleet.shell.approve(idOf(await remove()));
      const wait = at - 6;
      const rename = turns(wait).then(() => program(`PUT /sites/${other}/edit`, { name }));
      await Promise.all([turns(-wait).then(remove), rename]);
      const left = (await approver('GET /sites?per_page=100')).body.data.map(({ id }: { id: number }) => id);
      expect([at, left]).toEqual([at, expect.arrayContaining([other])]);
    }
  });

  it.each([
    ['a job', 3],
    ['one call', 200],
  ])('by what is offered after it, where the updates are %s', async (how, batch_threshold) => {
    const fleet = await ways({ sites: 6, connected: 6, jobs: false, config: { job_delay_ms: 0, batch_threshold } });
    const { app: own } = fleet;
    const offered = (shop: string, forum: string | null) => {
      for (const site of own.fleet.sites) {
        for (const one of [...site.state.plugins, ...site.state.themes]) one.update = null;
        const [first, second] = ordinary(site);
        if (first === undefined || second === undefined) throw new Error('the site has no two plugins');
        Object.assign(first, { slug: 'shop/shop.php', active: true, update: offer(shop) });
        Object.assign(second, { slug: 'forum/forum.php', active: true, update: forum === null ? null : offer(forum) });
      }
    };
    const synced = async () => {
      for (const site of ALL.slice(0, 6)) await own.call('sync-sites', { site_ids_or_domains: [site] }, SHELL);
    };
    offered('97.0', null);
    await synced();
    await fleet.rules({ preset: 'strict' });
    const program = await fleet.key();
    const call = () => running(own, program('POST /updates/update', { type: 'plugins', include: ALL.slice(0, 6) }));
    await fleet.shell.approve(idOf(await call()));
    if (how === 'one call') expect((await call()).body.data).toHaveLength(6);
    else {
      const { body } = await call();
      expect(body.job_id).toMatch(/^update/);
      offered('98.0', '99.0');
      await synced();
      await running(own, own.drain());
      const job = await own.call('get-batch-job-status', { job_id: body.job_id });
      expect(job.errors).toHaveLength(6);
      expect(job.errors[0].message).toContain('98.0 was not on offer when the call was approved');
    }
    const versions = own.fleet.sites.flatMap((site) =>
      ordinary(site)
        .slice(0, 2)
        .map(({ version }) => version),
    );
    expect(versions.filter((version) => ['98.0', '99.0'].includes(version))).toEqual([]);
  });

  it('by another update before an item is rolled back', async () => {
    const fleet = await safetyApp();
    const plugin = fleet.offer(fleet.site(0), 0, '98.0');
    const before = plugin.version;
    const update = async () => {
      await fleet.safely('sync-sites', {});
      await fleet.safely('update-site-plugins', { site_id_or_domain: 1 });
    };
    await update();
    await setApprovalRules(fleet.ctx(SHELL), { preset: 'strict' });
    const model = await caller(fleet);
    const back = { type: 'plugin', slug: plugin.slug };
    const asked = await model('POST /sites/1/rollback', back);
    expect(asked.body.data.plan).toMatchObject({ site_id: 1, ...back, version_now: '98.0', back_to: before });
    await decideApproval(fleet.ctx(SHELL), idOf(asked), 'approved', '');
    fleet.offer(fleet.site(0), 0, '99.0');
    await setApprovalRules(fleet.ctx(SHELL), { preset: 'open' });
    await update();
    await setApprovalRules(fleet.ctx(SHELL), { preset: 'strict' });
    expect((await model('POST /sites/1/rollback', back)).body).toMatchObject({
      code: ASKED,
      data: { plan: { version_now: '99.0', back_to: '98.0' } },
    });
    expect(ordinary(fleet.site(0)).find(({ slug }) => slug === plugin.slug)?.version).toBe('99.0');
  });

  it('from one wave of a rollout to the next', async () => {
    const fleet = await rolloutApp(8);
    await setApprovalRules(fleet.ctx(SHELL), { preset: 'careful' });
    const model = await caller(fleet);
    const waves = { canaries: 2, sizes: [3], soak_minutes: 30, approve: true };
    const { plan_id, digest } = await fleet.plan({ waves });
    const planned = await model('POST /rollouts', { plan_id, digest });
    const { total, data } = (await model('POST /updates/plans', { waves: { canaries: 2, sizes: [3] } })).body;
    const request = planned.body.data.plan;
    expect([request.updates, request.would_update.length]).toEqual([total, total]);
    expect(request.would_update).toContainEqual(
      expect.objectContaining({
        slug: data[0].slug,
        old_version: data[0].old_version,
        new_version: data[0].new_version,
      }),
    );
    const start = fleet.call('start-rollout', { plan_id, digest, confirm: true }, SHELL);
    const { rollout_id } = await fleet.running(start);
    await fleet.turn();
    await fleet.after(300);
    const asked = await model(`POST /rollouts/${rollout_id}/approve`);
    expect(asked.body.data.plan).toMatchObject({ rollout_id });
    await decideApproval(fleet.ctx(SHELL), idOf(asked), 'approved', '');
    // A person approves that wave meanwhile.
    const input = { rollout_id, action: 'approve_next_wave', confirm: true };
    await fleet.running(fleet.call('control-rollout', input, SHELL));
    await fleet.turn();
    await fleet.after(300);
    expect((await model(`POST /rollouts/${rollout_id}/approve`)).body.code).toBe('svc_approval_required');
    const [, , third] = (await fleet.read(rollout_id)).waves;
    expect([third.wave, third.approved_by]).toEqual([3, null]);
  });
});

/** A key of an app that has no ways in of its own. */
async function caller(fleet: Awaited<ReturnType<typeof safetyApp>>): Promise<Ask> {
  const { token } = await newKey(fleet.service.store.keys, { scope: 'read_write', description: 'model' });
  const http = await fleet.service.http();
  return async (call, body) => {
    const [method = '', path = ''] = call.split(' ');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fleet.running(
      Promise.resolve(http.request(`http://127.0.0.1:8787/v2${path}`, { method, headers, ...sent })),
    );
    return { status: reply.status, body: await reply.json() };
  };
}

describe('what has to be asked for', () => {
  const asks = async (call: string, body?: object) => {
    const { body: answer } = await key(call, body);
    return [answer.code, answer.data?.kind];
  };

  it('is a deletion of a post or comment by any route', async () => {
    const post = { post_title: 'Mine', post_content: 'x', post_status: 'publish' };
    const { data } = (await key('POST /posts/1/create', post)).body;
    const at = `/posts/1/${data.post_id ?? data.id}`;
    expect(await asks(`DELETE ${at}/delete`)).toEqual([ASKED, 'deletions']);
    expect(await asks(`PUT ${at}/update-status`, { status: 'delete' })).toEqual([ASKED, 'deletions']);
    expect((await key(`PUT ${at}/update-status`, { status: 'trash' })).status).toBe(200);
    const id = app.app.fleet.sites[0]?.state.comments[0]?.id;
    expect(await asks(`PUT /comments/1/${id}/action`, { action: 'delete' })).toEqual([ASKED, 'deletions']);
    const bulk = { action: 'delete', comment_ids: String(id) };
    expect(await asks('PUT /comments/1/bulk-action', bulk)).toEqual([ASKED, 'deletions']);
  });

  it('is who is told of outages, and who may log in, among the settings of a site', async () => {
    const told = { monitoring_emails: 'x@elsewhere.example' };
    expect(await asks('PUT /sites/1/edit', told)).toEqual([ASKED, 'settings']);
    expect(await asks('POST /sites/batch', { update: [{ id: 1, ...told }] })).toEqual([ASKED, 'settings']);
    expect((await key('PUT /sites/1/edit', { notes: 'n' })).status).toBe(200);
    expect(await asks('POST /sites/1/guard', { allow_login: true })).toEqual([ASKED, 'users']);
    const assistant = await app.assistant();
    const install = { site_id_or_domain: 1, allow_login: true };
    expect(textOf(await assistant.call('svc-install-site-guard-v1', install))).toContain(ASKED);
  });

  it('is the guard that a login installs first, where only installs are asked for', async () => {
    const freely = { few: 'auto', many: 'auto', all: 'auto', all_by_assistant: 'auto', unguarded: 'auto' } as const;
    for (const mode of ['ask', 'never'] as const) {
      await app.rules({ preset: 'open', rules: { installs: { ...freely, few: mode } } });
      const code = mode === 'ask' ? ASKED : 'svc_change_not_allowed';
      for (const call of ['guard', 'admin-login'])
        expect([
          call,
          mode,
          ...(await asks(`POST /sites/1/${call}`, call === 'guard' ? {} : { set_up: true })),
        ]).toEqual([call, mode, code, 'installs']);
    }
    // Without it, it is a login and nothing else.
    expect((await asks('POST /sites/1/admin-login', {}))[0]).toBe('svc_guard_refused');
    expect(app.app.fleet.sites[0]?.guard).toBeNull();
  });

  it('is sites that leave a client, as those that come to it', async () => {
    await app.rules({ preset: 'open' });
    const { id } = (await key('POST /clients/add', { name: 'Mill', selected_sites: ALL.slice(0, 6) })).body.data;
    await app.rules({ preset: 'careful' });
    const path = `/clients/${id}/edit`;
    expect(await asks(`POST ${path}`, { selected_sites: '' })).toEqual([ASKED, 'other']);
    expect(await asks(`POST ${path}`, { selected_sites: '7' })).toEqual([ASKED, 'other']);
    const asked = await key(`POST ${path}`, { selected_sites: '' });
    const { sites, plan } = (await person(`GET /approvals/${idOf(asked)}`)).body.data;
    expect([sites, plan.joining, plan.leaving.map((one: { id: number }) => one.id)]).toEqual([6, [], ALL.slice(0, 6)]);
    const model = await app.assistant(key.token);
    const answer = await model.call('svc-update-client-v1', { client_id_or_email: id, selected_sites: [] });
    expect(textOf(answer)).toContain('needs the approval');
    expect((await key(`POST ${path}`, { selected_sites: '1,2,3,4,5,7' })).status).toBe(200);
    await person(`DELETE /clients/${id}/remove`);
  });

  it('is all sites in a batch as elsewhere', async () => {
    const disconnect = ALL;
    expect(await asks('POST /sites/batch', { disconnect })).toEqual([ASKED, 'disconnections']);
    await app.rules({ preset: 'strict' });
    const never = 'svc_change_not_allowed';
    expect((await asks('POST /sites/disconnect', { include: disconnect }))[0]).toBe(never);
    expect((await asks('POST /sites/batch', { disconnect }))[0]).toBe(never);
    // Those that are added are no part of the fleet yet.
    const create = ALL.map(() => ({ url: 'http://127.0.0.1:9/', admin: 'x' }));
    expect((await asks('POST /sites/batch', { create, disconnect: [1] }))[0]).toBe(ASKED);
    // Nor is one that is not connected any more: it could not be disconnected.
    const [gone, ...connected] = ALL;
    await app.app.call('disconnect-site', { site_id_or_domain: gone }, SHELL);
    for (const path of ['/sites/disconnect', '/sites/batch']) {
      const named = path === '/sites/batch' ? { disconnect: connected } : { include: connected };
      expect([path, (await asks(`POST ${path}`, named))[0]]).toEqual([path, never]);
    }
    await app.app.call('reconnect-site', { site_id_or_domain: gone }, SHELL);
  });

  it('is a roll-back that quarantines the version everywhere', async () => {
    const fleet = await safetyApp();
    const plugin = fleet.offer(fleet.site(0));
    const before = plugin.version;
    await fleet.safely('sync-sites', {});
    await fleet.safely('update-site-plugins', { site_id_or_domain: 1 });
    for (const id of [1, 2, 3]) await fleet.call('get-site-guard', { site_id_or_domain: id });
    await setApprovalRules(fleet.ctx(SHELL), { preset: 'careful' });
    const model = await caller(fleet);
    const back = { type: 'plugin', slug: plugin.slug, to_version: before };
    expect((await model('POST /sites/1/rollback', { ...back, hold: true })).body.code).toBe(ASKED);
    expect(await fleet.db.all('SELECT * FROM quarantined_version')).toEqual([]);
    expect((await model('POST /sites/1/rollback', back)).status).toBe(200);
    expect(ordinary(fleet.site(0)).find(({ slug }) => slug === plugin.slug)?.version).toBe(before);
  });

  it('is an undo of what would be asked for itself', async () => {
    const rule = (mode: Mode) => ({ few: mode, many: mode, all: mode, all_by_assistant: mode, unguarded: mode });
    await app.rules({ preset: 'open', rules: { connections: rule(MODES[1]) } });
    await person('POST /sites/4/suspend');
    expect(await asks('POST /sites/4/unsuspend')).toEqual([ASKED, 'connections']);
    const undo = { since: new Date(app.app.clock.now() - 1000).toISOString(), confirm: true };
    expect(await asks('POST /actions/undo', undo)).toEqual([ASKED, 'connections']);
    expect((await statuses())[3]).toBe('suspended');
    await person('POST /sites/4/unsuspend');
  });

  it('is an update of a site whose guard does nothing, as safe updates are off', async () => {
    const off = await ways({ sites: 1, connected: 1, config: { safe_updates: 'off' } });
    await off.rules({ preset: 'careful' });
    const { db } = off.app;
    await db.run('INSERT OR REPLACE INTO site_guard (site_id, present, looked_at) VALUES (1, 1, 0)');
    const model = await off.key();
    expect((await model('POST /updates/1/update')).body.code).toBe(ASKED);
  });
});

describe('the log', () => {
  const logged = async () => JSON.stringify(await app.app.db.all('SELECT input FROM action_log'));

  it('keeps no password that is a number, or that a batch has misspelled', async () => {
    await app.rules({ preset: 'open' });
    const { body } = await key('POST /sites/batch', {
      create: [{ url: 'http://127.0.0.1:9/', admin: 'x', adminpw: 'clear-1' }],
      update: [
        { id: 1, http_user: 'ada', http_pass: 987654321 },
        { id: 2, notes: 'n', http_pwd: 'clear-2' },
      ],
      suspend: [3],
    });
    expect(body.update.map(({ success }: { success: number }) => success)).toEqual([1, 0]);
    const all = await logged();
    expect(all).toContain('http_pass');
    expect(all).toContain('adminpw');
    for (const secret of ['987654321', 'clear-1', 'clear-2']) expect(all).not.toContain(secret);
  });

  it('keeps of custom fields the names only, of which a person who approves sees all', async () => {
    const post_custom = { my_tok: 'clear-3', colours: ['clear-4'], size: 12345678 };
    const post = { post_title: 'News', post_content: 'x', post_status: 'draft', post_custom };
    await app.rules({ preset: 'strict' });
    const asked = await key('POST /posts/1/create', post);
    expect((await person(`GET /approvals/${idOf(asked)}`)).body.data.input).toMatchObject({ post_custom });
    await app.shell.approve(idOf(asked));
    expect((await key('POST /posts/1/create', post)).status).toBe(200);
    const all = await logged();
    for (const name of Object.keys(post_custom)) expect(all).toContain(name);
    for (const value of ['clear-3', 'clear-4', '12345678']) expect(all).not.toContain(value);
  });
});

describe('the database', () => {
  it('has nothing by which a guessed password could be tried without the key', async () => {
    const sent = { name: 'bea', right: 'read', password: 'swordfish-1' };
    expect((await key('POST /users/add', sent)).body.code).toBe('svc_approval_required');
    await app.rules({ preset: 'open' });
    const edit = { http_user: 'bea', http_pass: 'swordfish-2' };
    expect((await key('POST /sites/1/edit', edit, { 'Idempotency-Key': 'once' })).status).toBe(200);
    const { db } = app.app;
    const [approval] = await db.all("SELECT input_digest AS digest FROM approval WHERE operation = 'POST /users/add'");
    const [claim] = await db.all("SELECT fingerprint AS digest FROM idempotency WHERE key = 'once'");
    expect([approval?.digest, claim?.digest]).toEqual([expect.any(String), expect.any(String)]);
    const guess = (text: string) => createHash('sha256').update(text).digest();
    const all = { may_approve: false, ...sent };
    const guesses = [
      guess(JSON.stringify({ may_approve: all.may_approve, name: all.name, password: all.password, right: all.right })),
      guess(JSON.stringify(['POST', '/sites/1/edit', '', JSON.stringify(edit)])),
    ];
    for (const bytes of guesses)
      for (const form of ['hex', 'base64url'] as const)
        expect([approval?.digest, claim?.digest]).not.toContain(bytes.toString(form));
  });

  it('has no login of an address that is to be approved', async () => {
    await app.rules({ preset: 'strict' });
    const create = [{ url: 'https://bea:swordfish-3@shop.example/', admin: 'x' }];
    const { body } = await key('POST /sites/batch', { create });
    expect(body.code).toBe('svc_approval_required');
    expect(JSON.stringify(body)).toContain('shop.example');
    const stored = JSON.stringify(await app.app.db.all('SELECT * FROM approval'));
    for (const text of [JSON.stringify(body), stored]) expect(text).not.toContain('swordfish-3');
  });
});

describe('requests of one caller', () => {
  it('that no person has decided are limited, withdrawn ones too, because each alerts people', async () => {
    const ask = (name: string) => key('POST /tags/add', { name });
    const voided = async (name: string) => {
      const { body } = await key(`POST /approvals/${idOf(await ask(name))}/withdraw`);
      expect(body.data.state).toBe('withdrawn');
    };
    await app.rules({ preset: 'strict' });
    await voided('first');
    // As many more, made at the same time.
    const [first = {}] = await app.app.db.all("SELECT * FROM approval WHERE input LIKE '%first%'");
    const { id: _, input_digest: __, ...same } = first;
    const names = Object.keys(same).join(', ');
    await app.app.db.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 198)
       INSERT INTO approval (id, input_digest, ${names}) SELECT 'apr_' || i, 'd' || i, ${names} FROM n, approval WHERE id = ?`,
      [String(first.id)],
    );
    await voided('last');
    const alerts = () => app.app.db.all("SELECT 1 FROM alert WHERE kind = 'approval.asked'");
    const told = (await alerts()).length;
    const { status, body } = await ask('one more');
    expect([status, body.code, body.message]).toEqual([
      409,
      'svc_rest_conflict',
      expect.stringContaining('200 requests that it withdrew or replaced'),
    ]);
    expect(await alerts()).toHaveLength(told);
    const others = await app.key();
    expect((await others('POST /tags/add', { name: 'one more' })).status).toBe(403);
    // What a person decided does not count, nor does what is a day old.
    await app.app.db.run("UPDATE approval SET state = 'refused' WHERE id = 'apr_7'");
    expect((await ask('decided')).body.code).toBe('svc_approval_required');
    expect((await ask('too much')).status).toBe(409);
    app.app.clock.move(86_400_000 + 1);
    expect((await ask('next day')).body.code).toBe('svc_approval_required');
  });
});
