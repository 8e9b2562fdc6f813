/** Results of the last sync of a site (operations §5.7, §5.10, §5.11). */

import { beforeEach, describe, expect, it } from 'vitest';
import { type LoggedChange, logEntry } from '../../src/demo/change-log.js';
import { type CheckedApp, checkedApp } from './checked-app.js';

const pluck = (items: Record<string, unknown>[], name: string) => items.map((item) => item[name]);

describe('what a check found', () => {
  let app: CheckedApp;
  beforeEach(async () => {
    app = await checkedApp({ sites: 2 });
    await app.connectAll(2);
  });

  it('security findings and the certificate', async () => {
    const site = app.site(0);
    site.state.debug = true;
    site.state.dbReporting = 'N_UNABLE';
    site.state.phpReporting = 'Y';
    await app.call('sync-sites');
    const { security_issues, ssl_status } = await app.call('get-site-security', { site_id_or_domain: 1 });
    // Served without TLS: there is no certificate, which is known without a look.
    expect(ssl_status).toEqual({ valid: false, expires: null, checked_at: null });
    const types = pluck(security_issues, 'type');
    expect(types).toEqual(expect.arrayContaining(['debug_disabled', 'db_reporting', 'sslprotocol']));
    expect(types).not.toContain('php_reporting');
    for (const { type, severity, message } of security_issues) {
      expect(severity).toBe(['wp_uptodate', 'sslprotocol'].includes(type) ? 'high' : 'medium');
      expect(message).toMatch(/\.$/);
    }
    const never = await app.row('https://never.example/');
    expect(await app.call('get-site-security', { site_id_or_domain: never })).toMatchObject({
      security_issues: [],
      ssl_status: { valid: null, expires: null, checked_at: null },
    });
  });

  it('changes made on the site, newest first, page by page', async () => {
    const all = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 100 });
    expect(all.total).toBe(all.changes.length);
    const times = pluck(all.changes, 'timestamp');
    expect(times).toEqual([...times].sort().reverse());
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const second = await app.call('get-site-changes', { site_id_or_domain: 1, page: 2, per_page: 2 });
    expect(second).toMatchObject({ site_id: 1, total: all.total, changes: all.changes.slice(2, 4) });
  });

  it('tells whom and what a change concerns, and leaves out what is none', async () => {
    const { state } = app.site(0);
    const now = app.clock.now() / 1000;
    const jane = { username: 'jane', firstname: '', lastname: '' };
    const page = { id: 7, type: 'page', status: 'publish' };
    const user = (type: number, action: string, meta: Record<string, unknown>) => ({
      type,
      context: 'user',
      action,
      user: 'ada',
      meta,
    });
    const logged: [Omit<LoggedChange, 'created'>, string][] = [
      [
        user(1610, 'created', { newuserid: 5, newuserdata: { ...jane, userroles: 'editor' } }),
        'Created user: jane (role editor)',
      ],
      [
        user(1615, 'modified', {
          changeusername: 'jane',
          oldrole: 'Editor',
          newrole: 'Administrator',
          changeuserdata: { ...jane, userroles: 'Administrator' },
        }),
        'Promoted to administrator: jane (from Editor to Administrator)',
      ],
      [
        user(1615, 'modified', { changeusername: 'tom', oldrole: 'Author', newrole: 'Editor' }),
        'Changed role of user: tom (from Author to Editor)',
      ],
      // WordPress' REST API, as the child logs it: the role that is restored is in no entry.
      [
        user(1615, 'modified', { changeusername: 'eve', oldrole: 'Administrator', newrole: '' }),
        'Changed role of user: eve (from Administrator, the new role is not in the log of the site)',
      ],
      [
        user(1615, 'modified', { changeusername: 'eve', oldrole: '', newrole: 'Author' }),
        'Changed role of user: eve (to Author)',
      ],
      [
        user(1640, 'modified', { changeusername: 'tom', oldemail: 't@a.example', newemail: 't@b.example' }),
        'Changed email address of user: tom (from t@a.example to t@b.example)',
      ],
      [
        { type: 1205, context: 'post', action: 'modified', user: 'ada', post: page, meta: { posttitle: 'Imprint' } },
        'Published page: Imprint',
      ],
      [
        {
          type: 1305,
          context: 'post',
          action: 'modified',
          user: 'ada',
          post: page,
          meta: { posttitle: 'Old', oldtitle: 'Old', newtitle: 'New one' },
        },
        'Changed title of page: New one (from Old to "New one")',
      ],
      [
        {
          type: 1520,
          context: 'comment',
          action: 'modified',
          user: 'ada',
          post: { id: 1, type: 'post', status: 'publish' },
          meta: { posttitle: 'Hello world!', commentid: '12', author: 'Mr. Nice' },
        },
        'Approved comment on: Hello world! (comment 12, by "Mr. Nice")',
      ],
      [
        {
          type: 1970,
          context: 'plugin',
          action: 'updated',
          user: 'ada',
          meta: { plugindata: { name: 'Forms', version: '2.0', slug: 'forms/forms.php' }, oldversion: '1.9' },
        },
        'Updated plugin: Forms (from 1.9 to 2.0)',
      ],
      [
        {
          type: 1785,
          context: 'system-setting',
          action: 'enabled',
          user: 'ada',
        },
        'Turned on setting: Anyone can register',
      ],
      [
        { type: 9999, context: 'widget', action: 'added', user: 'ada', meta: { widgetname: 'Clock' } },
        'Added widget: Clock',
      ],
      // None of these is a change made by a user on the site.
      [{ type: 1315, context: 'post', action: 'viewed', user: 'ada', post: page, meta: { posttitle: 'Imprint' } }, ''],
      [{ type: 1680, context: 'user', action: 'opened', user: 'ada', meta: { changeusername: 'jane' } }, ''],
      [{ type: 1945, context: 'cron-job', action: 'executed', user: 'System', meta: { task_name: 'x' } }, ''],
      [
        {
          ...user(1605, 'created', { newuserdata: jane }),
          agent: 'Mozilla/5.0 (compatible; MainWP/6.1.2; Sitefleet)',
        },
        '',
      ],
    ];
    state.actions.clear();
    state.changeLog = logged.map(([change], i) => logEntry(100 + i, { ...change, created: now + i }));
    app.clock.move(60_000);
    const before = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 100 });
    await app.call('sync-sites');
    const after = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 100 });
    const added = after.changes.slice(0, after.total - before.total);
    const expected = logged.map(([, words]) => words).filter((words) => words !== '');
    expect(pluck(added, 'description').reverse()).toEqual(expected);
    expect(pluck(added, 'source')).toEqual(expected.map(() => 'wpadmin'));
  });

  it('one line for a user who was created, and one for each later change', async () => {
    const { state } = app.site(0);
    const now = app.clock.now() / 1000;
    const entry = (seconds: number, type: number, action: string, meta: Record<string, unknown>, by = 'ada') =>
      logEntry(Math.round(200 + 10 * seconds), {
        type,
        context: 'user',
        action,
        user: by,
        meta,
        created: now + seconds,
      });
    const created = (name: string, userroles: string) => ({ newuserid: 5, newuserdata: { username: name, userroles } });
    const role = (name: string, oldrole: string, newrole: string) => ({ changeusername: name, oldrole, newrole });
    const field = { changeusername: 'jane', custom_meta_name: 'wp_dashboard_quick_press_last_post_id' };
    state.actions.clear();
    state.changeLog = [
      entry(0, 1690, 'created', field),
      entry(0.1, 1615, 'modified', role('jane', '', 'Editor')),
      entry(0.2, 1610, 'created', created('jane', 'editor')),
      entry(0.3, 1690, 'created', field),
      // Another user, role, author or time: none of them belongs to the creation.
      entry(0.4, 1615, 'modified', role('tom', '', 'Editor')),
      entry(0.5, 1615, 'modified', role('jane', 'Editor', 'Administrator')),
      entry(0.6, 1690, 'created', field, 'eve'),
      entry(30, 1615, 'modified', role('jane', '', 'Editor')),
    ];
    app.clock.move(60_000);
    const before = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 100 });
    await app.call('sync-sites');
    const after = await app.call('get-site-changes', { site_id_or_domain: 1, per_page: 100 });
    const added = after.changes.slice(0, after.total - before.total).reverse();
    expect(pluck(added, 'description')).toEqual([
      'Created user: jane (role editor)',
      'Changed role of user: tom (to Editor)',
      'Promoted to administrator: jane (from Editor to Administrator)',
      'Created profile field of user: jane (field "wp_dashboard_quick_press_last_post_id")',
      'Changed role of user: jane (to Editor)',
    ]);
  });

  it('abandoned plugins and themes across the fleet', async () => {
    const day = 86_400;
    const now = Math.floor(app.clock.now() / 1000);
    for (const { state } of [app.site(0), app.site(1)]) {
      const [plugin, theme] = [state.plugins[0], state.themes[0]];
      if (plugin === undefined || theme === undefined) throw new Error('the site has too little');
      for (const [slug, age] of [
        ['old/old.php', 2000],
        ['young/young.php', 400],
      ] as const) {
        state.plugins.push({ ...plugin, slug, name: slug });
        state.abandoned.plugins.set(slug, { Name: 'Old', Version: '1.0', last_updated: now - age * day });
      }
      state.themes.push({ ...theme, slug: 'oldtheme', name: 'oldtheme' });
      state.abandoned.themes.set('oldtheme', { Name: '', Version: '1', last_updated: now - 3000 * day });
    }
    await app.call('sync-sites');
    const plugins = await app.call('get-abandoned-plugins');
    expect(plugins).toMatchObject({ total: 2, items: [{ site_id: 1, slug: 'old/old.php' }, { site_id: 2 }] });
    expect(plugins.items[0].last_updated).toMatch(/^\d{4}-\d\d-\d\d$/);
    const second = await app.call('get-abandoned-plugins', { page: 2, per_page: 1 });
    expect(second).toMatchObject({ items: [{ site_id: 2 }], total: 2 });
    expect(await app.call('get-abandoned-themes')).toMatchObject({
      items: [{ slug: 'oldtheme', name: 'oldtheme' }, {}],
      total: 2,
    });
  });

  it.each([
    ['2026-11-20T12:00:00Z', '2024-11-20T12:00:00Z'],
    ['2026-02-28T12:00:00Z', '2024-02-28T12:00:00Z'],
    ['2028-02-29T12:00:00Z', '2026-02-28T12:00:00Z'],
    ['2028-03-01T12:00:00Z', '2026-03-01T12:00:00Z'],
    ['2028-12-31T23:59:59Z', '2026-12-31T23:59:59Z'],
  ])('at %s, plugins released up to %s are abandoned', async (now, last) => {
    app.clock.move(Date.parse(now) - app.clock.now());
    const border = Date.parse(last) / 1000;
    for (const [slug, released] of [
      ['at/border.php', border],
      ['after/border.php', border + 1],
    ] as const)
      await app.db.run(
        "INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key) VALUES (1, 0, ?, ?, '1', ?, '')",
        [slug, slug, released],
      );
    expect(await app.call('get-abandoned-plugins')).toMatchObject({ items: [{ slug: 'at/border.php' }], total: 1 });
  });

  it('the client of a site', async () => {
    await app.call('add-client', { name: 'Ada', client_email: 'ada@example.com', selected_sites: [1] });
    expect(await app.call('get-site-client', { site_id_or_domain: 1 })).toEqual({
      site_id: 1,
      client: { id: 1, name: 'Ada', email: 'ada@example.com', status: 'active' },
    });
    expect(await app.call('get-site-client', { site_id_or_domain: 2 })).toEqual({ site_id: 2, client: null });
  });
});
