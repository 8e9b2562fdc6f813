/** Changes that wait for a person: asked for over every way in, approved, refused, used once, expired, and never allowed. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localActor } from '../../src/cli/local-actor.js';
import { keepRevoked, loginsOf } from '../../src/store/access/revoked-logins.js';
import { cheapHash } from '../support/cheap-hash.js';
import type { Answer } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { connect, textOf } from '../support/mcp-clients.js';
import { PASSWORD, type Ways, ways } from './client.js';

const HOUR = 3600_000;
const SITES = 7;

let app: Ways;
let tags = 0;

beforeAll(async () => {
  app = await ways({ sites: SITES, connected: SITES });
});
beforeEach(() => app.rules({ preset: 'careful' }));

/** A tag to delete, which careful asks for. */
async function tag(): Promise<number> {
  return (await app.app.call('add-tag', { name: `tag ${++tags}` }, { actor: localActor('cli') })).id;
}
const tagExists = async (id: number) =>
  (await app.app.call('list-tags', { per_page: 100 })).items.some((one: { id: number }) => one.id === id);

const idIn = (result: CallToolResult) => /"approval_id":"(apr_[0-9a-f]{24})"/.exec(textOf(result))?.[1] ?? '';
const REFUSED = { code: 'svc_rest_insufficient_permission' };

describe('a change that has to be asked for', () => {
  it('waits over MCP with its plan, runs once when it is repeated after approval, and then asks again', async () => {
    const id = await tag();
    const assistant = await app.assistant();
    const call = () => assistant.call('svc-delete-tag-v1', { tag_id: id, confirm: true });
    const asked = await call();
    expect(asked.isError).toBe(true);
    const approval_id = idIn(asked);
    expect(textOf(asked)).toMatch(
      /^svc_approval_required: This change needs the approval of a person, under the rule for deletions \(every such change\)\. /,
    );
    expect(textOf(asked)).toContain(`request ${approval_id} is waiting at`);
    expect(textOf(asked)).toContain(`tag ${tags}`);
    expect(await tagExists(id)).toBe(true);
    // Asked again, it is the same request.
    expect(idIn(await call())).toBe(approval_id);
    const listed = await assistant.call('svc-list-approvals-v1', { states: ['waiting'] });
    expect(listed.structuredContent).toMatchObject({
      approvals: [{ approval_id, state: 'waiting', kind: 'deletions' }],
    });

    await app.shell.approve(approval_id);
    const done = await call();
    expect(done.structuredContent).toMatchObject({ deleted: true });
    expect(await tagExists(id)).toBe(false);
    // Used up: what is not there any more cannot even be previewed.
    expect(textOf(await call())).toMatch(/^svc_tag_not_found/);
  });

  it('ends when somebody else starts the plan meanwhile, and says which rollout that is', async () => {
    const own = await ways({ sites: SITES, connected: SITES, jobs: false });
    await own.rules({ preset: 'careful' });
    const plan = async (soak_minutes: number) => {
      const { plan_id, digest } = await own.app.call('plan-updates', { waves: { canaries: 1, soak_minutes } });
      return { plan_id, digest };
    };
    const [first, second] = [await plan(60), await plan(90)];
    const [one, two] = [await own.key(), await own.key()];
    const asked = (await one('POST /rollouts', first)).body.data.approval_id;
    const other = (await one('POST /rollouts', second)).body.data.approval_id;
    const theirs = (await two('POST /rollouts', first)).body.data.approval_id;
    const waiting = async () => (await one('GET /approvals?state=waiting')).body.data.map((a: Answer) => a.approval_id);
    expect((await waiting()).sort()).toEqual([asked, other].sort());
    await own.shell.approve(theirs);
    const { rollout_id } = (await two('POST /rollouts', first)).body;
    expect(await waiting()).toEqual([other]);
    const ended = (await one(`GET /approvals/${asked}`)).body.data;
    expect(ended).toMatchObject({ state: 'not_needed', decided_by: null, used_at: null });
    expect(ended.note).toContain(rollout_id);
    await expect(own.shell.approve(asked)).rejects.toMatchObject({
      code: 'svc_rest_conflict',
      message: expect.stringContaining(rollout_id),
    });
    expect((await one('POST /rollouts', first)).body).toMatchObject({ rollout_id, already_started: true });
    expect((await one(`GET /approvals/${asked}`)).body.data.state).toBe('not_needed');
    // Those who approved and who asked are named as before.
    expect((await two(`GET /approvals/${theirs}`)).body.data.state).toBe('used');
  });

  it('is not asked for again by one who lost the answer of a start, and gets that rollout', async () => {
    // Nothing carries the rollout out.
    const own = await ways({ sites: SITES, connected: SITES, jobs: false });
    await own.rules({ preset: 'careful' });
    const { plan_id, digest } = await own.app.call('plan-updates', { waves: { canaries: 1, soak_minutes: 60 } });
    const key = await own.key();
    const start = (more = {}) => key('POST /rollouts', { plan_id, digest, ...more });
    const asked = await start();
    expect(asked.body).toMatchObject({ code: 'svc_approval_required', data: { plan: { already_started: false } } });
    await own.shell.approve(asked.body.data.approval_id);
    const { rollout_id } = (await start()).body;
    expect((await start()).body).toMatchObject({ rollout_id, already_started: true });
    expect((await start({ dry_run: true })).body).toMatchObject({ already_started: true });
    expect((await key('GET /approvals?state=waiting')).body.total).toBe(0);
    // Nor by another caller.
    const other = await own.key();
    expect((await other('POST /rollouts', { plan_id, digest })).body).toMatchObject({ rollout_id });
  });

  it('waits over REST and the run endpoint, each for its own caller', async () => {
    const id = await tag();
    const key = await app.key();
    const user = await app.user(['read', 'write']);
    const overRest = await key(`DELETE /tags/${id}/remove`);
    expect(overRest).toMatchObject({ status: 403, body: { success: 0, code: 'svc_approval_required' } });
    const overRun = await app.run(user, 'delete-tag', { tag_id: id, confirm: true });
    expect(overRun).toMatchObject({ status: 403, body: { code: 'svc_approval_required' } });
    const [first, second] = [overRest.body.data.approval_id, overRun.body.data.approval_id];
    expect(first).not.toBe(second);
    await app.shell.approve(second);
    // The approval of another caller's request is none.
    expect((await key(`DELETE /tags/${id}/remove`)).body.code).toBe('svc_approval_required');
    expect((await app.run(user, 'delete-tag', { tag_id: id, confirm: true })).body).toMatchObject({ deleted: true });
  });

  it('is approved for exactly this input', async () => {
    const [id, other] = [await tag(), await tag()];
    const key = await app.key();
    const { body } = await key(`DELETE /tags/${id}/remove`);
    await app.shell.approve(body.data.approval_id);
    expect((await key(`DELETE /tags/${other}/remove`)).status).toBe(403);
    expect((await key(`DELETE /tags/${id}/remove`)).status).toBe(200);
  });

  it('is used once by two calls at the same time, and the other asks again', async () => {
    const key = await app.key();
    const body = { title: 'x' };
    const call = () => key('POST /settings/cost-tracker/payment-methods/add', body);
    const { body: asked } = await call();
    await app.shell.approve(asked.data.approval_id);
    const replies = await Promise.all([call(), call(), call()]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
    const again = replies.filter(({ status }) => status === 403);
    for (const reply of again) expect(reply.body.code).toBe('svc_approval_required');
    const ids = new Set(again.map((reply) => reply.body.data.approval_id));
    expect([ids.size, ids.has(asked.data.approval_id)]).toEqual([1, false]);
  });

  it('asks again when its plan is not the approved one any more', async () => {
    const id = await tag();
    const assistant = await app.assistant();
    const remove = () => assistant.call('svc-delete-tag-v1', { tag_id: id, confirm: true });
    const first = idIn(await remove());
    await app.shell.approve(first);
    // Its preview names the tag and the sites that have it.
    await app.app.call('update-tag', { tag_id: id, name: 'another name' }, { actor: localActor('cli') });
    const second = await remove();
    expect(textOf(second)).toContain(`What it would do has changed since request ${first}`);
    expect(idIn(second)).not.toBe(first);
    expect(await tagExists(id)).toBe(true);
    await app.shell.approve(idIn(second));
    expect((await remove()).structuredContent).toMatchObject({ deleted: true });
  });

  it('stays the same request while time passes', async () => {
    const assistant = await app.assistant();
    const call = () => assistant.call('svc-update-all-v1', {});
    const first = idIn(await call());
    app.app.clock.move(HOUR);
    expect([first, idIn(await call())]).toEqual([expect.stringMatching(/^apr_/), first]);
  });

  it('is refused with what the person said, until the request expires', async () => {
    const id = await tag();
    const key = await app.key();
    const call = () => key(`DELETE /tags/${id}/remove`);
    const { body } = await call();
    await app.shell.refuse(body.data.approval_id, 'We need it.');
    const refused = await call();
    expect(refused).toMatchObject({ status: 403, body: { code: 'svc_approval_refused' } });
    expect(refused.body.message).toBe('local refused this change: "We need it.". Nothing changed.');
    app.app.clock.move(24 * HOUR);
    const again = await call();
    expect(again.body.code).toBe('svc_approval_required');
    expect(again.body.data.approval_id).not.toBe(body.data.approval_id);
  });

  it('expires after a day, waiting or approved, and says so', async () => {
    const id = await tag();
    const key = await app.key();
    const call = () => key(`DELETE /tags/${id}/remove`);
    const first = (await call()).body.data.approval_id;
    app.app.clock.move(24 * HOUR);
    await expect(app.shell.approve(first)).rejects.toMatchObject({ code: 'svc_rest_conflict' });
    const second = await call();
    expect(second.body.message).toContain(`Request ${first} for it has expired`);
    const { approval_id } = second.body.data;
    await app.shell.approve(approval_id);
    app.app.clock.move(24 * HOUR);
    const third = await call();
    expect(third.body).toMatchObject({ code: 'svc_approval_required' });
    expect(third.body.message).toContain(`Request ${approval_id} for it has expired`);
    expect(await tagExists(id)).toBe(true);
  });

  it('is not held back by its idempotency key, with which it runs once', async () => {
    const key = await app.key();
    const call = () => key('POST /users/add', { name: 'Grace', right: 'read' }, { 'Idempotency-Key': 'one' });
    const { status, body } = await call();
    expect([status, body.code]).toEqual([403, 'svc_approval_required']);
    await app.shell.approve(body.data.approval_id);
    const made = await call();
    expect(made.status).toBe(200);
    expect((await call()).body).toEqual(made.body);
  });

  it('is asked for by every change of users and of keys', async () => {
    const key = await app.key();
    const name = await app.user(['read']);
    const { users } = app.app.service.store;
    const { id = 0 } = (await users.find(name)) ?? {};
    const { data } = (await key('GET /rest-api/keys')).body;
    const key_id = data[0].id;
    const logins = () => loginsOf(app.app.db);
    const before = await logins();
    for (const [call, body] of [
      ['POST /users/add', { name: 'Hedy', right: 'read' }],
      [`PUT /users/${id}/edit`, { right: 'write' }],
      [`DELETE /users/${id}/delete`, {}],
      ['POST /rest-api/add-key', { active: true, permissions: 'read', description: 'a second one' }],
      [`PUT /rest-api/edit-key/${key_id}`, { description: 'another name' }],
      [`DELETE /rest-api/delete-key/${key_id}`, {}],
    ] as const) {
      const asked = (await key(call, body)).body;
      expect([call, asked.code, asked.data.kind]).toEqual([call, 'svc_approval_required', 'users']);
    }
    expect(await logins()).toEqual(before);
  });

  it('keeps no secret of what was asked for', async () => {
    const key = await app.key();
    await key('POST /users/add', { name: 'Hopper', right: 'read', password: 'a secret password' });
    const rows = await app.app.db.all('SELECT * FROM approval');
    expect(JSON.stringify(rows)).not.toContain('a secret password');
  });

  it('leaves its story in the log', async () => {
    const id = await tag();
    const key = await app.key();
    const { body } = await key(`DELETE /tags/${id}/remove`);
    await app.shell.approve(body.data.approval_id);
    await key(`DELETE /tags/${id}/remove`);
    const { actions } = await app.app.call('list-actions', { per_page: 100, details: true });
    const story = actions
      .filter((one: { slug: string }) => one.slug === body.data.approval_id)
      .map(({ action, actor_type }: { action: string; actor_type: string }) => [action, actor_type]);
    expect(story).toEqual([
      ['used', 'key'],
      ['approved', 'local'],
      ['asked', 'key'],
    ]);
  });

  it('raises an alert with where it can be approved, and not again while it waits', async () => {
    const id = await tag();
    const key = await app.key();
    const alerts = () => app.app.db.all("SELECT facts FROM alert WHERE kind = 'approval.asked' ORDER BY id DESC");
    const before = (await alerts()).length;
    const { body } = await key(`DELETE /tags/${id}/remove`);
    await key(`DELETE /tags/${id}/remove`);
    const after = await alerts();
    expect(after).toHaveLength(before + 1);
    const facts = JSON.parse(String(after[0]?.facts));
    expect(facts).toMatchObject({ approval_id: body.data.approval_id, title: 'Delete a tag', kind: 'deletions' });
    expect(facts.url).toBe(body.data.approve_at);
  });
});

describe('who may approve', () => {
  let ask: Awaited<ReturnType<Ways['key']>>;
  beforeAll(async () => {
    ask = await app.key();
  });
  const request = async () => (await ask(`DELETE /tags/${await tag()}/remove`)).body.data.approval_id;

  it('a person on the page with the right, once: the second of two is told', async () => {
    const [one, two] = [
      await app.page(await app.user(['read', 'write', 'approve'])),
      await app.page(await app.user(['read', 'approve'])),
    ];
    const id = await request();
    const replies = await Promise.all([one(`POST /approvals/${id}/approve`), two(`POST /approvals/${id}/approve`)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const late = replies.find(({ status }) => status === 409);
    expect(late?.body.message).toMatch(/^The request is approved already, by user-\d+\. Nothing changed\.$/);
    const { body } = await one(`GET /approvals/${id}`);
    expect(body.data).toMatchObject({
      state: 'approved',
      own: false,
      plan: { tag_name: expect.stringMatching(/^tag /) },
    });
  });

  it('a key with the right that is not the asker', async () => {
    const approver = await app.key({ scope: 'read', approves: true });
    expect((await approver(`POST /approvals/${await request()}/approve`, { note: 'ok' })).body).toMatchObject({
      success: 1,
      data: { state: 'approved', note: 'ok' },
    });
    const own = await app.key({ approves: true });
    const { approval_id } = (await own(`DELETE /tags/${await tag()}/remove`)).body.data;
    expect((await own(`POST /approvals/${approval_id}/approve`)).body).toMatchObject(REFUSED);
    expect((await own(`POST /approvals/${approval_id}/refuse`)).body).toMatchObject(REFUSED);
    expect((await approver(`POST /approvals/${approval_id}/refuse`)).status).toBe(200);
  });

  it('no key or page login without the right', async () => {
    const id = await request();
    for (const scope of ['read', 'write', 'read_write'] as const)
      expect((await (await app.key({ scope }))(`POST /approvals/${id}/approve`)).body).toMatchObject(REFUSED);
    const page = await app.page(await app.user(['read', 'write']));
    expect((await page(`POST /approvals/${id}/approve`)).body).toMatchObject(REFUSED);
    expect((await page('PUT /approvals/rules', { preset: 'open' })).body).toMatchObject(REFUSED);
  });

  it('no key that an assistant has used, even for what another asked', async () => {
    const key = await app.key({ approves: true });
    const id = await request();
    await (await app.assistant(key.token)).call('svc-list-tags-v1');
    expect((await key(`POST /approvals/${id}/approve`)).body).toMatchObject({
      ...REFUSED,
      message: 'An assistant has used this key over MCP, so it can never approve.',
    });
    expect((await key('PUT /approvals/rules', { preset: 'open' })).body).toMatchObject(REFUSED);
    // Nor does it see what others ask for.
    expect((await key('GET /approvals')).body).toMatchObject({ total: 0, data: [] });
  });

  it('no user with whose password an assistant has logged in, until somebody else sets another', async () => {
    const name = await app.user(['read', 'write', 'approve']);
    const id = await request();
    const assistant = await connect(['2025-11-25', 'http'], {
      ...app.target,
      authorization: `Basic ${Buffer.from(`${name}:${PASSWORD}`).toString('base64')}`,
    });
    await assistant.call('svc-list-tags-v1');
    expect((await (await app.page(name))(`POST /approvals/${id}/approve`)).body).toMatchObject(REFUSED);
    const { users } = app.app.service.store;
    const { id: user_id = 0 } = (await users.find(name)) ?? {};
    // The assistant could log in on the page, too: it must not help itself.
    await app.rules({ preset: 'open' });
    const own = await app.page(name);
    expect((await own(`PUT /users/${user_id}/edit`, { password: 'a long password' })).body).toMatchObject(REFUSED);
    await users.replacePassword(user_id, cheapHash(PASSWORD), cheapHash('a long password'));
    expect((await (await app.page(name))(`POST /approvals/${id}/approve`)).body).toMatchObject(REFUSED);
    const other = await app.page(await app.user(['read', 'write', 'approve']));
    expect((await other(`PUT /users/${user_id}/edit`, { password: 'a long password' })).status).toBe(200);
    expect((await (await app.page(name))(`POST /approvals/${id}/approve`)).status).toBe(200);
  });

  it('not a user on the page whose own password asked for it', async () => {
    const name = await app.user(['read', 'write', 'approve']);
    const id = await tag();
    const { body } = await app.run(name, 'delete-tag', { tag_id: id, confirm: true });
    expect(body.code).toBe('svc_approval_required');
    const page = await app.page(name);
    expect((await page(`POST /approvals/${body.data.approval_id}/approve`)).body).toMatchObject({
      ...REFUSED,
      message: 'Nobody can decide a request made with their own login or key.',
    });
    // A person with the right needs no approval.
    expect((await page(`DELETE /tags/${id}/remove`)).status).toBe(200);
  });

  it('no assistant: neither over HTTP nor on this machine is there anything to approve with', async () => {
    const stdio = await connect(['2025-11-25', 'stdio'], { ...app.target, actor: localActor('mcp') });
    const names = [await (await app.assistant()).listTools(), await stdio.listTools()].flat().map(({ name }) => name);
    expect(new Set(names.filter((name) => name.includes('approv')))).toEqual(
      // One's own request can be withdrawn; that approves nothing.
      new Set(['svc-list-approvals-v1', 'svc-withdraw-approval-v1']),
    );
    const id = await tag();
    const asked = await stdio.call('svc-delete-tag-v1', { tag_id: id, confirm: true });
    expect(textOf(asked)).toMatch(/^svc_approval_required/);
    // The shell is somebody else.
    await app.shell.approve(idIn(asked));
    expect((await stdio.call('svc-delete-tag-v1', { tag_id: id, confirm: true })).structuredContent).toMatchObject({
      deleted: true,
    });
  });

  it('no program: a password or a key cannot grant the right, and so make itself a second login', async () => {
    await app.rules({ preset: 'open' });
    const name = await app.user(['read', 'write', 'approve']);
    const key = await app.key({ approves: true });
    for (const [call, body] of [
      ['POST /users/add', { name: 'Second', right: 'write', may_approve: true, password: 'a long password' }],
      ['POST /rest-api/add-key', { active: true, permissions: 'read,approve', description: 'second' }],
    ] as const) {
      expect((await key(call, body)).body).toMatchObject(REFUSED);
      expect((await (await app.key())(call, body)).body).toMatchObject(REFUSED);
      expect((await (await app.page(name))(call, body)).status).toBe(200);
    }
    // Nor take over somebody who has it.
    const { id } = (await app.app.service.store.users.find(name)) ?? { id: 0 };
    expect((await key(`PUT /users/${id}/edit`, { password: 'a long password' })).body).toMatchObject(REFUSED);
  });

  it('not a user whose right a restored backup had given back', async () => {
    const { db, service } = app.app;
    const name = await app.user(['read', 'write', 'approve']);
    const { key } = await newKey(service.store.keys, { approves: true });
    await db.run("INSERT OR IGNORE INTO instance (key, value) VALUES ('dashboard_url', 'same')");
    await service.store.users.change(name, { rights: ['read', 'write'] });
    await service.store.keys.change(key.id, { approves: false });
    const replaced = await loginsOf(db);
    await service.store.users.change(name, { rights: ['read', 'write', 'approve'] });
    await service.store.keys.change(key.id, { approves: true });
    await keepRevoked(db, replaced, 1);
    expect((await service.store.users.find(name))?.rights).toEqual(['read', 'write']);
    expect(await service.store.keys.find(key.id)).toMatchObject({ scope: 'read_write', approves: false });
  });

  it('a GET approves nothing', async () => {
    const page = await app.page(await app.user(['read', 'write', 'approve']));
    const id = await request();
    expect((await page(`GET /approvals/${id}/approve`)).status).toBe(405);
    expect((await page(`GET /approvals/${id}`)).body.data.state).toBe('waiting');
  });
});

describe('who sees what', () => {
  it('askers see and count only their own, approvers all', async () => {
    const [one, two] = [await app.key(), await app.key({ scope: 'read' })];
    const id = (await one(`DELETE /tags/${await tag()}/remove`)).body.data.approval_id;
    expect((await one('GET /approvals')).body).toMatchObject({ total: 1, data: [{ approval_id: id, own: true }] });
    expect((await two('GET /approvals')).body).toMatchObject({ total: 0, data: [] });
    expect((await two(`GET /approvals/${id}`)).status).toBe(404);
    const approver = await app.key({ scope: 'read', approves: true });
    const all = (await approver('GET /approvals?per_page=1')).body;
    expect(all.total).toBeGreaterThan(1);
    expect(all.data).toHaveLength(1);
    const { total } = (await approver('GET /approvals?state=waiting&per_page=1')).body;
    const rows = await app.app.db.all("SELECT count(*) AS n FROM approval WHERE state = 'waiting' AND expires_at > ?", [
      app.app.clock.now(),
    ]);
    expect(total).toBe(rows[0]?.n);
  });
});

describe('the rules', () => {
  const modeOf = async (call: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await call;
    return status === 200 ? 'auto' : body.code;
  };
  const disconnect = (ask: Awaited<ReturnType<Ways['key']>>, ids: number[]) =>
    modeOf(ask('POST /sites/suspend', { include: ids }));

  it('let everything happen unless they are set', async () => {
    await app.app.db.run("DELETE FROM setting WHERE key = 'approvals'");
    const key = await app.key();
    expect((await key('GET /approvals/rules')).body.data).toMatchObject({ preset: 'open', few_sites: 5 });
    expect(await modeOf(key(`DELETE /tags/${await tag()}/remove`))).toBe('auto');
    expect((await key('GET /approvals')).body.total).toBe(0);
  });

  it('that cannot be read are the strictest', async () => {
    await app.app.db.run(`UPDATE setting SET value = '{"preset":"lax"}' WHERE key = 'approvals'`);
    const key = await app.key();
    expect((await key('GET /approvals/rules')).body.data.preset).toBe('strict');
    expect(await modeOf(key('POST /tags/add', { name: 'x', color: '#112233' }))).toBe('svc_approval_required');
  });

  it('careful: a few sites at once, more not; however the sites are named', async () => {
    const key = await app.key();
    const all = Array.from({ length: SITES }, (_, i) => i + 1);
    expect(await disconnect(key, all.slice(0, 5))).toBe('auto');
    // The same site named twice is one site.
    expect(await disconnect(key, [1, 1, 1, 2, 2, 3, 4])).toBe('auto');
    expect(await disconnect(key, all.slice(0, 6))).toBe('svc_approval_required');
    await key('POST /sites/unsuspend', { include: all.slice(0, 5) });
  });

  it('careful: updates of a site with a guard at once, of one without not', async () => {
    const assistant = await app.assistant();
    const call = (site_id_or_domain: number) =>
      assistant.call('svc-update-site-translations-v1', { site_id_or_domain });
    const asked = await call(1);
    expect(textOf(asked)).toMatch(/^svc_approval_required/);
    // What would be installed is in the plan.
    expect(textOf(asked)).toContain('"would_affect"');
    await app.app.db.run('INSERT INTO site_guard (site_id, present, looked_at) VALUES (1, 1, 0)');
    expect(textOf(await call(1))).not.toContain('svc_approval');
  });

  it('careful: an assistant never disconnects all, others ask', async () => {
    const all = Array.from({ length: SITES }, (_, i) => i + 1);
    const assistant = await app.assistant();
    expect(textOf(await assistant.call('svc-disconnect-sites-v1', { site_ids_or_domains: all }))).toMatch(
      /^svc_change_not_allowed/,
    );
    const key = await app.key();
    expect(await modeOf(key('POST /sites/disconnect'))).toBe('svc_approval_required');
    expect(await modeOf(key('POST /settings/tools/disconnect-all-sites'))).toBe('svc_approval_required');
  });

  it('careful: reads, syncs, previews and small changes need no approval', async () => {
    const assistant = await app.assistant();
    for (const [tool, input] of [
      ['svc-list-sites-v1', {}],
      ['svc-sync-sites-v1', {}],
      ['svc-update-all-v1', { dry_run: true }],
      ['svc-delete-tag-v1', { tag_id: await tag(), dry_run: true }],
    ] as const)
      expect((await assistant.call(tool, input)).isError ?? false).toBe(false);
    // Without its confirmation it is not even asked for.
    expect(textOf(await assistant.call('svc-delete-tag-v1', { tag_id: await tag() }))).toMatch(/^svc_confirmation_req/);
  });

  it('strict: every change asks; removing a site and disconnecting all are never let happen', async () => {
    await app.rules({ preset: 'strict' });
    const key = await app.key();
    expect(await modeOf(key('POST /tags/add', { name: 'y', color: '#112233' }))).toBe('svc_approval_required');
    expect(await modeOf(key('POST /sites/1/disconnect'))).toBe('svc_approval_required');
    expect(await modeOf(key('POST /sites/disconnect'))).toBe('svc_change_not_allowed');
    expect(await modeOf(key('DELETE /sites/1/remove'))).toBe('svc_change_not_allowed');
    expect(await modeOf(key('POST /sites/batch', { sync: [1], delete: [1] }))).toBe('svc_change_not_allowed');
    expect(await modeOf(key('POST /sites/1/sync'))).toBe('auto');
    expect(await modeOf(key('DELETE /sites/999/remove'))).toBe('svc_site_not_found');
  });

  it('are set by people with the right, one kind after the other', async () => {
    const page = await app.page(await app.user(['read', 'approve']));
    const auto = { few: 'auto', many: 'auto', all: 'auto', all_by_assistant: 'auto', unguarded: 'auto' };
    const { status, body } = await page('PUT /approvals/rules', {
      preset: 'strict',
      rules: { other: auto },
      few_sites: 3,
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ preset: null, few_sites: 3, rules: { other: auto, content: { few: 'ask' } } });
    const key = await app.key();
    expect(await modeOf(key('POST /tags/add', { name: 'z', color: '#112233' }))).toBe('auto');
    for (const wrong of [{ preset: 'lax' }, { rules: { nothing: auto } }, { rules: { other: { few: 'auto' } } }, {}])
      expect((await page('PUT /approvals/rules', wrong)).status).toBe(400);
  });
});
