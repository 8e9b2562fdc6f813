/** What a page of settings shows can be sent back as it is, or with one field changed (REST §6.10). */

import { beforeEach, describe, expect, it } from 'vitest';
import { type RestApp, restApp } from './client.js';

let app: RestApp;

beforeEach(async () => {
  app = await restApp({ sites: 1, jobs: false });
  await app.connect(0);
});

/** By page: its route of changes, and a change that leaves no value in question at its standard. */
const PAGES: Readonly<Record<string, { edit?: string; other: Record<string, unknown> }>> = {
  '/settings/general': {
    other: { timezone_string: 'Europe/Berlin', svc_widgets: { clients: 0 }, trusted_plugins: 'a/a.php' },
  },
  '/settings/advanced': { other: { svc_minimum_delay: 300, sync_data: { themes: 0 } } },
  '/settings/monitoring': {
    other: { svc_uptime_monitoring_interval: 15, svc_uptime_monitoring_timeout: '2min' },
  },
  '/settings/cost-tracker': { other: { currency: 'EUR', decimals: 0 } },
  '/settings/dashboard-insights': { other: { enable_insights_logging: 1 } },
  '/settings/tools': { other: { guided_tours: 1 } },
  '/time-tracker/settings': { other: { currency_symbol: '€', hourly_price: 12.5 } },
  '/perf-audit/settings': { other: { language: 'de' } },
};

const editOf = (page: string) => `${page}/edit`;

describe('every page of settings', () => {
  it.each(Object.entries(PAGES))('%s takes back what it shows', async (page, { other }) => {
    const read = async () => (await app.rest(`GET ${page}`)).body.data;
    for (const before of [{}, other]) {
      if (Object.keys(before).length > 0) {
        const changed = await app.rest(`PUT ${editOf(page)}`, { body: before });
        expect([page, changed.status, changed.body.data?.params]).toEqual([page, 200, undefined]);
      }
      const shown = await read();
      const { status, body } = await app.rest(`PUT ${editOf(page)}`, { body: shown });
      expect([status, body.message, body.data]).toEqual([200, expect.any(String), shown]);
      expect(await read()).toEqual(shown);
    }
  });

  it('is among those above, or has a change per item', async () => {
    const { body } = await app.rest('GET /openapi.json');
    const paths = body.paths as Record<string, Record<string, unknown>>;
    const pages = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}) && `${path}/edit` in paths);
    const settings = pages.map((path) => path.replace(/^\/v2/, '')).filter((path) => path.includes('settings'));
    expect(settings.sort()).toEqual([...Object.keys(PAGES), '/time-tracker/clients/{id_or_email}/settings'].sort());
  });

  it('/settings/emails takes back each mail', async () => {
    await app.rest('PUT /settings/emails/uptime/edit', {
      body: { recipients: 'a@b.example, c@d.example', disable: 1 },
    });
    const { data } = (await app.rest('GET /settings/emails')).body;
    expect(data.length).toBeGreaterThan(5);
    for (const mail of data) {
      const { status, body } = await app.rest(`PUT /settings/emails/${mail.type}/edit`, { body: mail });
      expect([mail.type, status, body.data]).toEqual([mail.type, 200, mail]);
    }
  });

  it('/settings/api-backups takes back each login, and keeps its secret', async () => {
    const cpanel = { enabled: true, url: 'https://c.example', username: 'u', password: 'a long password 1234' };
    await app.rest('PUT /settings/api-backups/cpanel/edit', { body: cpanel });
    await app.rest('PUT /settings/api-backups/kinsta/edit', { body: { secrets: { api_key: 'key-of-kinsta-5678' } } });
    const logins = async () => (await app.rest('GET /settings/api-backups')).body.data.api_backups;
    const before = await logins();
    expect([before.cpanel.secrets, before.kinsta.secrets]).toEqual([{ password: '****1234' }, { api_key: '****5678' }]);
    for (const [slug, login] of Object.entries(before)) {
      const { status, body } = await app.rest(`PUT /settings/api-backups/${slug}/edit`, { body: login });
      expect([slug, status, body.data]).toEqual([slug, 200, { [slug]: login }]);
    }
    expect(await logins()).toEqual(before);
  });

  it('/time-tracker/clients/{client}/settings takes back what it shows', async () => {
    const { id } = await app.call('add-client', { name: 'Ada' });
    const page = `/time-tracker/clients/${id}/settings`;
    const shown = (await app.rest(`GET ${page}`)).body.data;
    const { status, body } = await app.rest(`PUT ${page}/edit`, { body: shown });
    expect([status, body.data]).toEqual([200, { ...shown, source: 'client' }]);
  });
});

describe('members that are only shown', () => {
  it.each([
    ['/settings/monitoring', 'svc_uptime_monitoring_interval_label', '5m'],
    ['/settings/cost-tracker', 'payment_methods', { barter: 'Barter' }],
    ['/settings/general', 'svc_primary_backup', { value: '', title: 'Mine' }],
    ['/time-tracker/settings', 'source', 'client'],
    ['/settings/emails/uptime', 'label', 'Mine'],
    ['/settings/api-backups/vultr', 'label', 'Mine'],
  ])('%s refuses another %s, and changes nothing', async (page, name, value) => {
    const { status, body } = await app.rest(`PUT ${editOf(page)}`, { body: { [name]: value } });
    expect([status, body.code, Object.keys(body.data.params)]).toEqual([400, 'rest_invalid_param', [name]]);
    expect(body.data.params[name]).toContain('is only shown');
  });

  it('may be what they were while their field changes', async () => {
    const shown = (await app.rest('GET /settings/monitoring')).body.data;
    const sent = { ...shown, svc_uptime_monitoring_interval: 5 };
    const { status, body } = await app.rest('PUT /settings/monitoring/edit', { body: sent });
    expect([status, body.data]).toEqual([200, { ...sent, svc_uptime_monitoring_interval_label: '5m' }]);
  });
});

describe('backup fields that contradict each other', () => {
  it('are refused when one of them changes, not when a fresh server is asked to stay as it is', async () => {
    const edit = (body: object) => app.rest('PUT /settings/general/edit', { body });
    const fresh = { svc_primary_backup: '', svc_enable_legacy_backup_feature: 0 };
    expect((await edit(fresh)).status).toBe(200);
    expect((await edit({ svc_primary_backup: 'module-api-backups' })).status).toBe(200);
    for (const wrong of [fresh, { svc_primary_backup: '' }, { svc_enable_legacy_backup_feature: 1 }])
      expect((await edit(wrong)).body.code).toBe('invalid_backup_config');
  });
});
