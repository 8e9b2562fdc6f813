/** `POST /v2/sites/{site}/admin-login`: a one-time address of the guard that opens the WordPress admin. */

import { beforeAll, describe, expect, it } from 'vitest';
import { putGuard } from '../../src/demo/guard/state.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
beforeAll(async () => {
  app = await restApp({ sites: 4 });
  for (let i = 0; i < 4; i += 1) await app.connect(i);
  putGuard(app.fleet.site(0)).login = true;
  putGuard(app.fleet.site(1));
});

const ask = (site: number, body: object = {}, token = app.tokens.read_write) =>
  app.rest(`POST /sites/${site}/admin-login`, { body, token });
const visit = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } });
const enteredAt = (reply: Response) => [reply.status, reply.headers.get('location')];

describe('a login through the guard', () => {
  it('opens the administration once, as whom the site is connected by, without the token in the address', async () => {
    const { url: address, admin } = app.fleet.site(0);
    const { status, body, headers } = await ask(1);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const { data } = body;
    expect(data).toEqual({
      url: expect.stringMatching(/^http.*\/\?sitefleet-login=[0-9a-f]{64}$/),
      expires_at: new Date(app.clock.now() + 60_000).toISOString().replace('.000', ''),
      user: admin,
    });
    const first = await visit(data.url);
    expect(enteredAt(first)).toEqual([302, `${address}wp-admin/`]);
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await (await visit(`${address}wp-admin/`, cookie)).text()).toContain(`Logged in as ${admin}.`);
    const again = await visit(data.url);
    expect([again.status, again.headers.get('set-cookie')]).toEqual([200, null]);
  });

  it('is worth nothing after a minute', async () => {
    const { data } = (await ask(1)).body;
    app.clock.move(61_000);
    expect((await visit(data.url)).status).toBe(200);
  });

  it('stands in the log of actions with who asked, and no token stands anywhere', async () => {
    const { data } = (await ask(1)).body;
    const log = await app.db.all("SELECT * FROM action_log WHERE action = 'admin-login' ORDER BY id DESC");
    expect(log[0]).toMatchObject({
      site_id: 1,
      actor_type: 'key',
      actor: 'read_write',
      via: 'rest',
      context: 'site',
      detail: `as ${data.user}`,
      code: '',
    });
    expect(JSON.stringify(log)).not.toContain(data.url.split('=')[1]);
  });

  it('sets the guard up first where the caller agrees, in one step', async () => {
    const site = app.fleet.site(0);
    for (const missing of [false, true]) {
      if (missing) site.guard = null;
      else putGuard(site, undefined, false);
      const refused = await ask(1);
      expect([refused.status, refused.body.code]).toEqual([409, 'svc_guard_refused']);
      expect(site.guard?.login ?? null).toBe(missing ? null : false);
      const { status, body } = await ask(1, { set_up: true });
      expect([status, site.guard?.login]).toEqual([200, true]);
      expect(enteredAt(await visit(body.data.url))).toEqual([302, `${site.url}wp-admin/`]);
    }
  });

  it('needs the right to write, and a site that is not on trial or suspended', async () => {
    expect((await ask(1, {}, app.tokens.read)).body.code).toBe('svc_rest_insufficient_permission');
    await app.call('suspend-site', { site_id_or_domain: 3 });
    expect((await ask(3)).body.code).toBe('svc_site_suspended');
    await app.call('unsuspend-site', { site_id_or_domain: 3 });
    await app.db.run('UPDATE site_detail SET on_trial = 1 WHERE site_id = 3');
    expect((await ask(3)).body.code).toBe('svc_site_on_trial');
    await app.db.run('UPDATE site_detail SET on_trial = 0 WHERE site_id = 3');
  });

  it.each<[string, number, object, string, string | undefined]>([
    ['there is no guard', 3, {}, 'no_guard', undefined],
    ['the owner has not allowed it', 2, {}, 'login_not_allowed', undefined],
    ['the site has no such administrator', 1, { user: 'edith' }, 'not_found', 'user'],
  ])("says why not and shows the site's own login where %s", async (_why, site, given, reason, field) => {
    const { status, body } = await ask(site, given);
    expect([status, body.code, body.data.reason, body.data.field]).toEqual([409, 'svc_guard_refused', reason, field]);
    expect(body.data.login_page).toBe(`${app.fleet.site(site - 1).url}wp-admin/`);
    expect(body.data.advice).not.toBe('');
  });

  it('takes a code that names a member of every object for what it is: an unknown one', async () => {
    app.fleet.site(0).faults.guardRefuses = { login: 'constructor' };
    const { status, body } = await ask(1);
    app.fleet.site(0).faults.guardRefuses = {};
    expect([status, body.code, body.data.reason]).toEqual([409, 'svc_guard_refused', 'constructor']);
    expect(body.message).toContain('refused: constructor.');
  });

  it('tells a site that cannot be reached from one without a guard', async () => {
    app.fleet.site(3).faults.offline = true;
    const { status, body } = await ask(4);
    app.fleet.site(3).faults.offline = false;
    expect([status, body.code]).toEqual([503, 'svc_site_offline']);
  });

  it('refuses members that it does not know', async () => {
    expect((await ask(1, { usr: 'admin' })).body).toMatchObject({
      code: 'rest_invalid_param',
      data: { field: 'usr' },
    });
  });

  it('is no operation: assistants cannot ask for it', () => {
    const ids = app.service.operations.map(({ id }) => id).filter((id) => /login/.test(id));
    expect(ids).toEqual([]);
  });
});
