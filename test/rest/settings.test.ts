import { beforeAll, describe, expect, it } from 'vitest';
import { createSchedule } from '../../src/app/schedule/schedule.js';
import { timetable } from '../../src/app/schedule/timetable.js';
import { mailToSend } from '../../src/domain/alerts/mail/settings.js';
import { applyConnectionSettings, monitoringDefaults, syncDueSince } from '../../src/domain/settings/effects.js';
import { answersTogether } from '../support/hold-back.js';
import { newKey, newUser } from '../support/logins.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let ids: number[];

beforeAll(async () => {
  app = await restApp({ sites: 3, jobs: false });
  ids = [await app.connect(0), await app.connect(1)];
});

const edit = (path: string, body: unknown, method = 'PUT') => app.rest(`${method} /settings/${path}/edit`, { body });

describe('groups', () => {
  it('have as many fields as the routes document, and a read answers all of them', async () => {
    // More than in the routes document: trusted_plugins and trusted_themes, and svc_abilities_batch_threshold of the operations.
    const fields = { general: 34, advanced: 17, monitoring: 10 } as const;
    for (const [group, count] of Object.entries(fields)) {
      const { status, body } = await app.rest(`GET /settings/${group}`);
      expect(status).toBe(200);
      expect(Object.keys(body.data).filter((name) => !name.endsWith('_label'))).toHaveLength(count);
    }
    const { body } = await app.rest('GET /settings/advanced');
    expect(body.data).toMatchObject({ svc_minimum_delay: 0, svc_maximum_install_update_requests: 10 });
    expect(Object.keys(body.data.sync_data)).toHaveLength(20);
    expect(Object.keys(body.meta.notes)).toEqual(['svc_optimize', 'svc_verify_connection_method']);
  });

  it('change only what is sent, keep it, and go back to the standard with null', async () => {
    const { status, body } = await edit('general', {
      timezone_string: 'Europe/Berlin',
      time_daily_update: '4:30',
      backup_before_upgrade: true,
      svc_widgets: { clients: 'no' },
    });
    expect(status).toBe(200);
    expect(body.success).toBe(1);
    expect(body.message).toMatch(/^The general settings were changed\. Stored only, [^:]*: svc_widgets \(/);
    expect(body.data).toMatchObject({
      timezone_string: 'Europe/Berlin',
      time_daily_update: '4:30',
      backup_before_upgrade: 1,
      frequency_daily_update: 2,
      svc_widgets: { clients: 0, overview: 1 },
      svc_primary_backup: { value: '', title: expect.any(String) },
    });
    const again = await edit(
      'general',
      { timezone_string: null, time_daily_update: '', frequency_daily_update: '3' },
      'PATCH',
    );
    expect(again.body.message).toBe('The general settings were changed.');
    expect(again.body.data).toMatchObject({
      timezone_string: 'UTC+0',
      time_daily_update: '',
      frequency_daily_update: 3,
      backup_before_upgrade: 1,
    });
    expect((await app.rest('GET /settings/general')).body.data).toEqual(again.body.data);
    // It would keep the updates below from sites that have no guard.
    await edit('general', { backup_before_upgrade: null });
  });

  it('refuse what they do not know or cannot take, naming each field, and then store nothing', async () => {
    const wrong: [string, unknown, string[]][] = [
      ['general', { colour: 1, numberdays_outdate_plugin_theme: 0 }, ['numberdays_outdate_plugin_theme', 'colour']],
      [
        'general',
        { time_daily_update: '24:00', delay_autoupdate: 8, date_format: 5 },
        ['time_daily_update', 'delay_autoupdate', 'date_format'],
      ],
      // Not a single letter of a date: a report would have this instead of each day.
      ...['2', '12 34', '-', 'QQ', '\\d', '\\\\ \\Y', 'd.m.26'].map((date_format): [string, unknown, string[]] => [
        'general',
        { date_format },
        ['date_format'],
      ]),
      ['general', { svc_widgets: { clock: 1 } }, ['svc_widgets.clock']],
      ['general', { timezone_string: 'Mars/Olympus', frequency_daily_update: 7 }, ['timezone_string']],
      [
        'advanced',
        { svc_maximum_requests: 201, svc_connect_signature_algo: 'SHA1' },
        ['svc_maximum_requests', 'svc_connect_signature_algo'],
      ],
      ['advanced', { sync_data: { everything: 1 } }, ['sync_data.everything']],
      [
        'monitoring',
        { svc_uptime_monitoring_interval: 7, svc_sitehealth_threshold: 90 },
        ['svc_uptime_monitoring_interval', 'svc_sitehealth_threshold'],
      ],
      [
        'monitoring',
        { svc_uptime_monitoring_up_status_codes: '200,299' },
        ['svc_uptime_monitoring_up_status_codes[1]'],
      ],
      ['monitoring', { svc_uptime_monitoring_type: 'keyword' }, ['svc_uptime_monitoring_keyword']],
      ['tools', { svc_theme: 'pink' }, ['svc_theme']],
      ['cost-tracker', { currency: 'ZZZ' }, ['currency']],
      ['cost-tracker', { decimal_separator: ',' }, ['decimal_separator']],
      ['dashboard-insights', { enable_insights_logging: 2 }, ['enable_insights_logging']],
    ];
    for (const [group, body, fields] of wrong) {
      const answer = await edit(group, body);
      expect([group, answer.status, answer.body.code]).toEqual([group, 400, 'rest_invalid_param']);
      expect(Object.keys(answer.body.data.params).sort()).toEqual([...fields].sort());
    }
    const codes = await Promise.all([
      edit('cost-tracker', { currency: 'ZZZ' }),
      edit('general', { timezone_string: 'x y' }),
    ]);
    expect(codes.map(({ body }) => Object.values(body.data.details as object)[0].code)).toEqual([
      'invalid_currency',
      'invalid_timezone',
    ]);
    expect((await app.rest('GET /settings/general')).body.data.frequency_daily_update).not.toBe(7);
    for (const [group, body, name, code] of [
      ['general', { time_daily_update: '24:00' }, 'time_daily_update', 'invalid_time_update'],
      ['general', { time_auto_update: '9' }, 'time_auto_update', 'invalid_time_update'],
      ['advanced', { sync_data: { moon: 1 } }, 'sync_data.moon', 'invalid_sync_data_type'],
      ['cost-tracker', { currency: 'EURO' }, 'currency', 'invalid_currency'],
    ] as const)
      expect((await edit(group, body)).body.data.details[name].code).toBe(code);
    expect((await edit('general', {})).body.code).toBe('empty_body');
    const text = await app.rest('PUT /settings/general/edit', { body: 'x', headers: { 'Content-Type': 'text/plain' } });
    expect([text.status, text.body.code]).toEqual([415, 'invalid_content_type']);
    const backup = await edit('general', {
      svc_enable_legacy_backup_feature: 1,
      svc_primary_backup: 'module-api-backups',
    });
    expect([backup.status, backup.body.code]).toEqual([400, 'invalid_backup_config']);
  });

  it('keep personal values apart, but the same for all keys of one user', async () => {
    const { keys, users } = app.service.store;
    const user_id = (await newUser(users, 'ada', 'pass word'))?.id ?? 0;
    const tokens = [(await newKey(keys, { user_id })).token, (await newKey(keys, { user_id })).token];
    await app.rest('PUT /settings/tools/edit', {
      body: { svc_theme: 'dark', guided_tours: 1 },
      token: tokens[0] ?? null,
    });
    const theme = async (token?: string) => (await app.rest('GET /settings/tools', token ? { token } : {})).body.data;
    expect(await theme(tokens[1])).toMatchObject({ svc_theme: 'dark', guided_tours: 1 });
    expect(await theme()).toMatchObject({ svc_theme: 'default', guided_tours: 1 });
  });

  it('say truly what the theme does on the page', async () => {
    const { body } = await edit('tools', { svc_theme: 'classic' });
    expect(body.message).toContain('Stored only, with no effect here: svc_theme');
    const { notes } = (await app.rest('GET /settings/tools')).body.meta;
    expect(notes.svc_theme).toContain('the page of this service follows the browser');
    expect(JSON.stringify((await app.rest('GET /settings/general')).body.meta)).not.toContain('no screen');
    await edit('tools', { svc_theme: null });
  });

  it('need a key that writes to change, and one that reads to read', async () => {
    expect((await app.rest('PUT /settings/general/edit', { body: {}, token: app.tokens.read })).status).toBe(403);
    expect((await app.rest('GET /settings/general', { token: app.tokens.write })).status).toBe(403);
    expect((await app.rest('GET /settings/general', { token: null })).status).toBe(401);
  });
});

describe('settings act', () => {
  it('on how fast sites are called: one at a time after the edit', async () => {
    const site = app.fleet.site(0);
    const burst = async () => {
      site.maxInFlight = 0;
      await Promise.all([1, 2, 3, 4].map(() => app.rest(`GET /comments/${ids[0]}`)));
      return site.maxInFlight;
    };
    answersTogether(site, 2);
    expect(await burst()).toBeGreaterThan(1);
    await edit('advanced', { svc_maximum_requests: 1 });
    site.faults.latencyMs = 20;
    expect(await burst()).toBe(1);
    await edit('advanced', { svc_maximum_requests: null });
    answersTogether(site, 2);
    expect(await burst()).toBeGreaterThan(1);
    delete site.faults.latencyMs;
  });

  it('on syncs at once, which leaves other calls alone', async () => {
    await edit('advanced', { svc_maximum_sync_requests: 1 });
    const sites = [app.fleet.site(0), app.fleet.site(1)];
    let most = 0;
    for (const site of sites)
      site.faults.latencyMs = () => {
        const running = sites.reduce((sum, { inFlight }) => sum + inFlight, 0);
        most = Math.max(most, running);
        return 15;
      };
    await app.call('sync-sites', { site_ids_or_domains: ids });
    for (const site of sites) delete site.faults.latencyMs;
    await edit('advanced', { svc_maximum_sync_requests: null });
    expect(most).toBe(1);
  });

  it('on how many sites a call may touch before it becomes a job, on every way in, at once', async () => {
    const { batch_threshold } = app.service.config;
    expect((await app.rest('GET /settings/advanced')).body.data.svc_abilities_batch_threshold).toBe(batch_threshold);
    const both = { site_ids_or_domains: ids };
    await edit('advanced', { svc_abilities_batch_threshold: 1 });
    for (const name of ['sync-sites', 'check-sites', 'run-updates', 'update-all'])
      expect([name, await app.call(name, both)]).toEqual([
        name,
        expect.objectContaining({ queued: true, sites_queued: 2 }),
      ]);
    expect((await app.rest('POST /sites/check', { body: { include: ids } })).body).toMatchObject({ queued: true });
    expect(await app.call('check-sites', { site_ids_or_domains: [1] })).toMatchObject({ queued: false });
    await edit('advanced', { svc_abilities_batch_threshold: '2' });
    expect(await app.call('check-sites', both)).toMatchObject({ queued: false });
    const refused = await edit('advanced', { svc_abilities_batch_threshold: -1 });
    expect([refused.status, Object.keys(refused.body.data.params)]).toEqual([400, ['svc_abilities_batch_threshold']]);
    const { body } = await edit('advanced', { svc_abilities_batch_threshold: null });
    expect(body.data.svc_abilities_batch_threshold).toBe(batch_threshold);
    await app.drain();
  });

  it('on the hash of signatures and the parts of a sync', async () => {
    await edit('advanced', { svc_connect_signature_algo: 'SHA512', sync_data: { recent_posts: 0 } });
    const site = app.fleet.site(0);
    site.calls.length = 0;
    const { total_errors } = await app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    expect(total_errors).toBe(0);
    const [call] = site.calls.filter((each) => each.function === 'stats');
    expect(call?.params.sign_algo).toBe('9');
    expect(JSON.parse(String(call?.params.syncdata))).toMatchObject({ recent_posts: 0, securityStats: 1, users: 0 });
    await edit('advanced', { svc_connect_signature_algo: null, sync_data: null });
  });

  it('on when something counts as abandoned', async () => {
    await edit('general', { numberdays_outdate_plugin_theme: 100 });
    const site = app.fleet.site(0);
    site.calls.length = 0;
    await app.call('sync-sites', { site_ids_or_domains: [ids[0]] });
    expect(site.calls[0]?.params.numberdaysOutdatePluginTheme).toBe('100');
    await edit('general', { numberdays_outdate_plugin_theme: null });
  });

  it('on what a monitor does on its own', async () => {
    const { body } = await edit('monitoring', {
      svc_uptime_monitoring_active: 1,
      svc_uptime_monitoring_interval: '2h',
      svc_uptime_monitoring_type: 'keyword',
      svc_uptime_monitoring_keyword: 'Welcome',
      svc_uptime_monitoring_timeout: '2min',
      svc_uptime_monitoring_up_status_codes: '204, 200',
      svc_uptime_monitoring_down_confirmation_check: 'no',
    });
    expect(body.data).toMatchObject({
      svc_uptime_monitoring_interval: 120,
      svc_uptime_monitoring_interval_label: '2h',
      svc_uptime_monitoring_timeout: 120,
      svc_uptime_monitoring_timeout_label: '2min',
      svc_uptime_monitoring_up_status_codes: [200, 204],
    });
    expect(await monitoringDefaults(app.ctx())).toEqual({
      active: true,
      interval: 120,
      type: 'keyword',
      method: 'get',
      timeout: 120,
      maxretries: 0,
      expected_status: [200, 204],
      keyword: 'Welcome',
      concurrency: 50,
    });
  });

  it('on when a sync is due, through the change to summer time', async () => {
    await edit('general', { timezone_string: 'Europe/Berlin', time_daily_update: '04:00', frequency_daily_update: 2 });
    const since = async (now: string) => {
      const due = await syncDueSince(app.ctx(), Date.parse(now));
      return new Date(due.since).toISOString();
    };
    expect(await since('2026-03-28T12:00:00Z')).toBe('2026-03-28T03:00:00.000Z');
    expect(await since('2026-03-28T15:00:00Z')).toBe('2026-03-28T15:00:00.000Z');
    expect(await since('2026-03-29T02:00:00Z')).toBe('2026-03-29T02:00:00.000Z');
    expect(await since('2026-03-29T01:59:59Z')).toBe('2026-03-28T15:00:00.000Z');
    // The day DST ends has 25 hours: no round begins in its last hour.
    expect(await since('2026-10-25T02:30:00Z')).toBe('2026-10-24T14:00:00.000Z');
    expect(await since('2026-10-25T03:00:00Z')).toBe('2026-10-25T03:00:00.000Z');
    // Half past midnight, on the days of the two DST changes.
    await edit('general', { time_daily_update: '00:30', frequency_daily_update: 1 });
    expect(await since('2026-03-29T22:15:00Z')).toBe('2026-03-28T23:30:00.000Z');
    expect(await since('2026-10-25T23:15:00Z')).toBe('2026-10-24T22:30:00.000Z');
    expect(await since('2027-01-01T00:00:00+01:00')).toBe('2026-12-30T23:30:00.000Z');
    await edit('general', { timezone_string: null, time_daily_update: null, frequency_daily_update: null });
  });

  it('on everything that the timetable does of its own accord', async () => {
    const schedule = createSchedule({
      ctx: () => app.ctx(),
      withCtx: (work) => work(app.ctx()),
      owner: 'test',
      clockSteps: { settle: async () => undefined },
    });
    const outcomes = async () => {
      const pairs = timetable.map(async ({ name }) => [name, await schedule.runNow(name)] as const);
      return new Map(await Promise.all(pairs));
    };
    await edit('advanced', { svc_wp_cron: 0 });
    await edit('monitoring', { svc_uptime_monitoring_active: 1 });
    app.clock.move(3 * 86_400_000);
    app.fleet.resetStats();
    const off = [...(await outcomes())].filter(([, outcome]) => outcome === 'disabled by svc_wp_cron');
    expect(off.map(([name]) => name).sort()).toEqual([
      'abandoned-refresh',
      'certificates',
      'daily-digest',
      'daily-sync',
      'domains',
      'drills',
      'monitors',
      'policies',
      'site-backups',
      'site-health',
    ]);
    expect(app.fleet.stats().requests).toBe(0);
    await edit('advanced', { svc_wp_cron: null });
    expect(await schedule.runNow('daily-sync')).toBe('2 synced, 0 failed');
    await edit('monitoring', { svc_uptime_monitoring_active: null });
  });

  it('on a visit after updates', async () => {
    const site = app.fleet.site(1);
    const plugin = site.state.plugins.find((each) => !each.mustUse && each.active);
    if (plugin === undefined) throw new Error('the site has no plugin');
    plugin.update = { version: '99.0', requiresPhp: '', requiresWp: '' };
    await app.call('sync-sites', { site_ids_or_domains: [ids[1]] });
    await edit('general', { check_http_response: 1 });
    const before = await app.service.store.sites.record(ids[1] ?? 0);
    app.clock.move(1000);
    await app.call('update-site-plugins', { site_id_or_domain: ids[1], slugs: [plugin.slug] });
    const after = await app.service.store.sites.record(ids[1] ?? 0);
    expect(after?.checked_at).toBe(app.clock.now());
    expect(before?.checked_at).not.toBe(after?.checked_at);
    expect(app.fleet.stats().headRequests).toBe(0);
    await edit('general', { check_http_response: null });
  });

  it('on how a site is visited after updates: a server that does not know HEAD is asked again', async () => {
    const site = app.fleet.site(1);
    const of = { site_id_or_domain: ids[1] };
    const update = async () => {
      const plugin = site.state.plugins.find((each) => !each.mustUse && each.active);
      if (plugin === undefined) throw new Error('the site has no plugin');
      plugin.update = { version: `${Number.parseInt(plugin.version, 10) + 1}.0`, requiresPhp: '', requiresWp: '' };
      await app.call('sync-sites', { site_ids_or_domains: [ids[1]] });
      app.fleet.resetStats();
      app.clock.move(1000);
      await app.call('update-site-plugins', { ...of, slugs: [plugin.slug] });
      const { last_check } = await app.call('get-site', of);
      return { ...last_check, heads: app.fleet.stats().headRequests };
    };
    const { body } = await edit('general', { check_http_response_method: 'head' });
    expect(body.message).toBe('The general settings were changed.');
    expect(await update()).toMatchObject({ reachable: true, http_status: 200, heads: 1 });
    site.faults = { noHead: true };
    expect(await update()).toMatchObject({ reachable: true, http_status: 200, heads: 1 });
    site.faults = {};
    await edit('general', { check_http_response_method: null });
    expect(await update()).toMatchObject({ reachable: true, heads: 0 });
  });

  it('from the start of the service', async () => {
    await edit('advanced', { svc_maximum_requests: 7, svc_minimum_ip_delay: 300 });
    const seen: Record<string, unknown>[] = [];
    const child = { ...app.ctx().child, configure: (values: object) => void seen.push({ ...values }) };
    await applyConnectionSettings({ ...app.ctx(), child });
    expect(seen[0]).toMatchObject({ concurrency: 7, perHostDelayMs: 300, perHost: 50, verify: true, hash: 'SHA256' });
    await edit('advanced', { svc_maximum_requests: null, svc_minimum_ip_delay: null });
  });
});

describe('mails', () => {
  it('are listed as the service is set up, and changed in part', async () => {
    const types = async () =>
      (await app.rest('GET /settings/emails')).body.data.map((each: { type: string }) => each.type);
    expect(await types()).toContain('http_check');
    await edit('general', { check_http_response: 0 });
    expect(await types()).not.toContain('http_check');
    expect(await mailToSend(app.ctx(), 'uptime')).toBeNull();
    const { body } = await edit('emails/uptime', {
      recipients: 'a@x.example, b@y.example,a@x.example',
      subject: 'Down?',
    });
    expect(body.data).toMatchObject({
      type: 'uptime',
      subject: 'Down?',
      recipients: 'a@x.example,b@y.example',
      disable: 0,
    });
    expect(await mailToSend(app.ctx(), 'uptime')).toMatchObject({ recipients: ['a@x.example', 'b@y.example'] });
    await edit('emails/uptime', { disable: 1 });
    expect(await mailToSend(app.ctx(), 'uptime')).toBeNull();
    await edit('emails/uptime', { disable: 0, subject: null }, 'PATCH');
    expect(await mailToSend(app.ctx(), 'uptime')).toMatchObject({ subject: '[event]' });
  });

  it('refuse unknown types, bad addresses, more than twenty, and line breaks', async () => {
    const unknown = await edit('emails/birthday', { disable: 1 });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'invalid_mail_type']);
    const many = Array.from({ length: 21 }, (_, index) => `a${index}@x.example`).join();
    for (const recipients of ['nobody', 'a@x.example, b@', 'a@x.example;b@y.example', many]) {
      const { status, body } = await edit('emails/uptime', { recipients });
      expect([recipients, status, body.code]).toEqual([recipients, 400, 'rest_invalid_param']);
    }
    const { body } = await edit('emails/uptime', { subject: 'Hi\r\nBcc: evil@x.example' });
    expect(Object.keys(body.data.params)).toEqual(['subject']);
  });
});

describe('cost tracker', () => {
  it('adds, changes and deletes product types', async () => {
    const added = await app.rest('POST /settings/cost-tracker/product-types/add', { body: { title: 'Größe & Maß' } });
    expect(added.body).toMatchObject({
      success: 1,
      data: { 'große-maß': { title: 'Größe & Maß', color: '#34424D', icon: 'deficon:folder open' } },
    });
    const slug = encodeURIComponent('große-maß');
    const path = `/settings/cost-tracker/product-types/${slug}`;
    const changed = await app.rest(`PATCH ${path}/edit`, { body: { title: 'Sizes', color: '#ffffff' } });
    expect(changed.body.data).toEqual({
      'große-maß': { title: 'Sizes', color: '#ffffff', icon: 'deficon:folder open' },
    });
    const twice = await app.rest('POST /settings/cost-tracker/product-types/add', { body: { title: 'sizes' } });
    expect([twice.status, twice.body.code]).toEqual([409, 'duplicate_title']);
    const { id } = (
      await app.rest('POST /costs/add', {
        body: { name: 'Tape', price: '5', product_type: 'große-maß', renewal_type: 'yearly' },
      })
    ).body.data;
    expect(id).toBeGreaterThan(0);
    const used = await app.rest(`DELETE ${path}/delete`);
    expect([used.status, used.body.code]).toEqual([409, 'svc_rest_conflict']);
    await app.rest(`DELETE /costs/${id}/remove`);
    expect((await app.rest(`DELETE ${path}/delete`)).body).toMatchObject({ success: 1 });
    expect((await app.rest(`DELETE ${path}/delete`)).body.code).toBe('invalid_slug');
  });

  it('lets of built-in types only the looks change', async () => {
    const change = (body: unknown) => app.rest('PUT /settings/cost-tracker/product-types/plugin/edit', { body });
    expect((await change({ color: '#000000' })).body.data.plugin).toMatchObject({ title: 'Plugin', color: '#000000' });
    expect((await change({ color: null })).body.data.plugin).toMatchObject({ color: '#5ec130' });
    const inner = async (body: unknown) => {
      const answer = await change(body);
      return [answer.status, Object.values(answer.body.data.details as Record<string, { code: string }>)[0]?.code];
    };
    expect(await inner({ title: 'Add-on' })).toEqual([400, 'invalid_title']);
    expect(await inner({ color: 'red' })).toEqual([400, 'invalid_color']);
    expect(await inner({ icon: 'plug' })).toEqual([400, 'invalid_icon']);
    const gone = await app.rest('DELETE /settings/cost-tracker/product-types/plugin/delete');
    expect([gone.status, gone.body.code]).toEqual([409, 'svc_rest_conflict']);
  });

  it('keeps payment methods, built-in and own', async () => {
    const added = await app.rest('POST /settings/cost-tracker/payment-methods/add', { body: { title: 'Barter' } });
    expect(added.body.data).toEqual({ barter: 'Barter' });
    const { body } = await app.rest('GET /settings/cost-tracker');
    expect(body.data.payment_methods).toMatchObject({ paypal: 'PayPal', barter: 'Barter' });
    expect(body.data.payment_method_list.at(-1)).toEqual({ slug: 'barter', title: 'Barter', custom: true });
    expect(body.data.product_categories).toHaveLength(5);
    const path = '/settings/cost-tracker/payment-methods';
    expect((await app.rest(`PUT ${path}/barter/edit`, { body: { title: 'Swap' } })).body.data).toEqual({
      barter: 'Swap',
    });
    expect((await app.rest(`PUT ${path}/paypal/edit`, { body: { title: 'Pal' } })).status).toBe(409);
    expect((await app.rest(`PUT ${path}/gold/edit`, { body: { title: 'Au' } })).body.code).toBe('invalid_slug');
    expect((await app.rest(`DELETE ${path}/barter/delete`)).status).toBe(200);
  });

  it('is refused while its module is off', async () => {
    const off = await restApp({ sites: 1, config: { modules: [] } });
    expect((await off.rest('GET /settings/cost-tracker')).body.code).toBe('svc_module_not_available');
  });
});

describe('hosting providers', () => {
  it('mask secrets, seal them in storage, and know their own fields', async () => {
    const secret = 'sk-0123456789-abcd';
    const { status, body } = await edit('api-backups/kinsta', {
      enabled: true,
      company_id: 'c-1',
      secrets: { api_key: secret },
    });
    expect(status).toBe(200);
    expect(body.data.kinsta).toEqual({
      label: 'Kinsta',
      enabled: true,
      options: { account_email: '', company_id: 'c-1' },
      secrets: { api_key: '****abcd' },
    });
    await edit('api-backups/cpanel', { username: 'root', password: 'short' });
    const stored = JSON.stringify(await app.db.all('SELECT * FROM setting'));
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain('short');
    await edit('api-backups/kinsta', { secrets: { api_key: '****abcd' }, company_id: null });
    expect(await app.service.store.settings.secret('api-backups-secret.kinsta')).toBe(secret);
    const all = await app.rest('GET /settings/api-backups');
    expect(all.body.data.api_backups).toMatchObject({
      kinsta: { enabled: true, options: { company_id: '' }, secrets: { api_key: '****abcd' } },
      cpanel: { secrets: { password: '****' } },
      vultr: { enabled: false, secrets: { api_key: '' } },
    });
    await edit('api-backups/kinsta', { secrets: null });
    expect(await app.service.store.settings.secret('api-backups-secret.kinsta')).toBeUndefined();
  });

  it('keep no login inside an address, where it would be shown', async () => {
    for (const url of ['https://bob:pw@host.example/', 'https://bob@host.example/', 'https:\\\\:pw@host.example']) {
      const { status, body } = await edit('api-backups/cpanel', { url });
      expect([status, body.code, body.data.params]).toMatchObject([
        400,
        'rest_invalid_param',
        { url: expect.stringContaining('must not contain a login') },
      ]);
    }
    const plain = await edit('api-backups/plesk', { url: 'https://host.example:8443/@bob' });
    expect(plain.body.data.plesk.options).toEqual({ url: 'https://host.example:8443/@bob' });
    expect(JSON.stringify(await app.db.all('SELECT * FROM setting'))).not.toContain('bob:pw');
  });

  it.each(['PUT', 'PATCH'])('take the secret under the dotted name of the document: %s', async (method) => {
    const { status, body } = await edit(
      'api-backups/vultr',
      { 'secrets.api_key': `${method}-0123456789-wxyz` },
      method,
    );
    expect([status, body.data?.vultr.secrets]).toEqual([200, { api_key: '****wxyz' }]);
    const query = await app.rest(`${method} /settings/api-backups/vultr/edit?secrets.api_key=query-012345-stuv`);
    expect(query.body.data?.vultr.secrets).toEqual({ api_key: '****stuv' });
    expect((await edit('api-backups/vultr', { 'secrets.api_key': null })).body.data.vultr.secrets.api_key).toBe('');
    for (const [wrong, field] of [
      [{ 'secrets.api_key': 'a', secrets: { api_key: 'b' } }, 'secrets.api_key'],
      [{ 'secrets.token': 'a' }, 'secrets.token'],
      [{ 'secrets.api_key.x': 'a' }, 'secrets.api_key.x'],
      [{ 'secrets.api_key': 'a', secrets: 'b' }, 'secrets.api_key'],
      [{ 'enabled.x': true }, 'enabled.x'],
    ] as const) {
      const refused = await edit('api-backups/vultr', wrong);
      expect([refused.status, Object.keys(refused.body.data.params)]).toEqual([400, [field]]);
    }
    const { body: general } = await edit('general', { 'svc_widgets.clients': 0 });
    expect(general.data?.svc_widgets).toMatchObject({ clients: 0, overview: 1 });
  });

  it('refuse fields of other providers, and other providers', async () => {
    for (const [slug, body, field] of [
      ['vultr', { url: 'https://x.example' }, 'url'],
      ['cpanel', { secrets: { api_key: 'x' } }, 'secrets'],
      ['plesk', { url: 'ftp://x' }, 'url'],
      ['nobody', { enabled: true }, 'api_slug'],
      ['vultr', { secrets: { token: 'x' } }, 'secrets.token'],
    ] as const) {
      const answer = await edit(`api-backups/${slug}`, body);
      expect([slug, answer.status, Object.keys(answer.body.data.params)]).toEqual([slug, 400, [field]]);
    }
  });
});
