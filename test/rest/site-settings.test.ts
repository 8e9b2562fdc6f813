/** Settings of one site must take effect, or be reported as having none; and chosen values must exist. */

import { createServer } from 'node:https';
import { beforeAll, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import { ALWAYS } from '../support/dates.js';
import { listenLocally } from '../support/local-server.js';
import { type RestApp, restApp } from './client.js';

let app: RestApp;
let site: number;
beforeAll(async () => {
  app = await restApp({ sites: 2 });
  site = await app.connect(0);
});

const edit = (body: object) => app.rest(`PUT /sites/${site}/edit`, { body });
const reach = async () => {
  const { ipv4_only, min_tls } = (await app.service.store.sites.connections([site])).get(site) ?? {};
  return { ipv4_only, min_tls };
};

it('IPv4 only and the lowest TLS version go with every call to the site', async () => {
  expect(await reach()).toEqual({ ipv4_only: undefined, min_tls: undefined });
  expect((await edit({ force_use_ipv4: 1, sslversion: 7 })).body.data).toMatchObject({
    force_use_ipv4: 1,
    ssl_version: 7,
  });
  expect(await reach()).toEqual({ ipv4_only: true, min_tls: 'TLSv1.3' });
  await edit({ force_use_ipv4: 0, sslversion: 6 });
  expect(await reach()).toEqual({ ipv4_only: false, min_tls: 'TLSv1.2' });
  await edit({ force_use_ipv4: 2, sslversion: 0 });
  expect(await reach()).toEqual({ ipv4_only: undefined, min_tls: undefined });
});

it('a server that is older than the lowest TLS version is not spoken to', async () => {
  const server = createServer({ ...selfSigned(ALWAYS), maxVersion: 'TLSv1.2' }, (request, response) => {
    request.resume();
    response.end('hello');
  });
  const { port } = await listenLocally(server);
  const { child } = app.ctx();
  const at = { url: `https://127.0.0.1:${port}/`, http_user: null, http_pass: null, ssl_verify: false };
  expect(await child.visit(at)).toMatchObject({ http_status: 200 });
  expect(await child.visit({ ...at, min_tls: 'TLSv1.2' })).toMatchObject({ http_status: 200 });
  const tooNew = await child.visit({ ...at, min_tls: 'TLSv1.3' });
  expect(tooNew).toMatchObject({ http_status: 0, failure: { kind: 'tls' } });
  // The certificate is not the problem.
  expect(tooNew.failure?.advice).toMatch(/ssl_version/);
  expect(tooNew.failure?.advice).not.toMatch(/certificate/);
});

it('a name is one line without addresses, as in the operations', async () => {
  expect((await edit({ name: ' My <b>shop</b> https://x.example \n here ' })).body.data.name).toBe(
    'My <b>shop</b> x.example here',
  );
  for (const name of ['', '  ', 'https://']) {
    const { status, body } = await edit({ name });
    expect([name, status, body.data.field]).toEqual([name, 400, 'name']);
  }
  const other = app.fleet.site(1);
  const added = await app.rest('POST /sites/add', {
    body: {
      url: other.url,
      admin: other.admin,
      adminpassword: other.password,
      uniqueid: other.uniqueId,
      name: 'A\tname <i>!',
    },
  });
  expect(added.body.data.name).toBe('A name <i>!');
});

it('text is kept as it was given, and is escaped where it is shown', async () => {
  const text = 'Jane Doe <jane@agency.com>, a<b then c>d <img src=x onerror=alert(1)>';
  expect((await edit({ name: text, notes: text })).body.data).toMatchObject({ name: text, notes: text });
  expect(await app.call('get-site', { site_id_or_domain: 1 })).toMatchObject({ name: text, notes: text });
  const cost = { name: text, note: text, price: '5', renewal_type: 'yearly' };
  expect((await app.rest('POST /costs/add', { body: cost })).body.data).toMatchObject({ name: text, note: text });
  const task = { title: text, description: text, client_id: null };
  const tracked = await app.rest('POST /time-tracker/tasks/add', { body: task });
  expect(tracked.body.data).toMatchObject({ title: text, description: text });
  const range = 'start_date=2026-11-01&end_date=2026-11-30';
  const page = await app.rest(`GET /pro-reports/1/website?${range}&format=html`);
  expect(page.body).toContain('Jane Doe &lt;jane@agency.com&gt;, a&lt;b then c&gt;d &lt;img src=x');
  expect(page.body).not.toMatch(/<img|<b /);
});

it('a cost names only product types and payment methods that are listed', async () => {
  const cost = { name: 'Tape', price: '5', renewal_type: 'yearly' };
  for (const field of ['product_type', 'payment_method']) {
    const { status, body } = await app.rest('POST /costs/add', { body: { ...cost, [field]: 'nowhere' } });
    expect([status, body.code, body.data.field]).toEqual([400, 'svc_invalid_input', field]);
    expect(body.data.advice).toContain(field === 'product_type' ? 'hosting' : 'paypal');
  }
  const added = await app.rest('POST /costs/add', { body: { ...cost, product_type: 'hosting', payment_method: '' } });
  expect(added.status).toBe(200);
  const path = `/costs/${added.body.data.id}/edit`;
  expect((await app.rest(`PUT ${path}`, { body: { payment_method: 'nowhere' } })).status).toBe(400);
  expect((await app.rest(`PUT ${path}`, { body: { payment_method: 'stripe', product_type: '' } })).status).toBe(200);
});

it('addresses, fields and headers of any form are refused or taken', async () => {
  for (const path of [
    '/sites/%',
    '/sites/%00',
    '/sites/%C0%80',
    '/sites/%ff%fe',
    '/sites//',
    '/%2e%2e/%2e%2e',
    '/sites?page[]=1&page[a]=2',
    '/sites?include[__proto__]=1',
    '/sites?_fields=__proto__,constructor.name,a..b,.',
    `/sites?search=${encodeURIComponent('%_\\\u0000')}`,
    `/sites/${'a'.repeat(3000)}`,
    `/sites/${'%2F'.repeat(500)}`,
    '/monitors/1/heartbeat?period=9999999-01-01/0000-00-00',
    '/monitors/1/heartbeat?since=1e400&limit=1000&page=99999999999999',
    '/clients?page=99999999999999&per_page=100',
  ]) {
    const { status } = await app.rest(`GET ${path}`);
    expect([path, status], path).not.toEqual([path, 500]);
    expect(status).toBeLessThan(500);
  }
  for (const header of ['Idempotency-Key', 'If-None-Match', 'Accept', 'Content-Type', 'Prefer']) {
    for (const value of ['', '"', 'x'.repeat(4000), '*', 'ÿ', '__proto__', '"a", W/"b",,']) {
      const read = await app.rest('GET /sites', { headers: { [header]: value } });
      const write = await app.rest(`PUT /sites/${site}/edit`, { body: { notes: 'x' }, headers: { [header]: value } });
      expect([header, value, read.status < 500, write.status < 500]).toEqual([header, value, true, true]);
    }
  }
});

it('null restores the standard of a setting, in every edit', async () => {
  const chosen = {
    ssl_verify: false,
    sslversion: 7,
    force_use_ipv4: 1,
    automatic_update: 1,
    backup_before_upgrade: 1,
    ignore_core_updates: 1,
    ignore_plugin_updates: 1,
    ignore_theme_updates: 1,
    disablehealthchecking: 1,
    healththreshold: 100,
  };
  const shown = async () => {
    const { data } = (await app.rest(`GET /sites/${site}`)).body;
    const { verify_certificate, ssl_version, force_use_ipv4, automatic_update, backup_before_upgrade } = data;
    const { is_ignoreCoreUpdates, is_ignorePluginUpdates, is_ignoreThemeUpdates } = data;
    return [
      [verify_certificate, ssl_version, force_use_ipv4, automatic_update, backup_before_upgrade],
      [is_ignoreCoreUpdates, is_ignorePluginUpdates, is_ignoreThemeUpdates],
      [data.disable_health_checking, data.health_threshold],
    ];
  };
  const set = [
    [0, 7, 1, 1, 1],
    [1, 1, 1],
    [1, 100],
  ];
  const standard = [
    [1, 0, 2, 0, 2],
    [0, 0, 0],
    [2, 0],
  ];
  for (const none of [null, '']) {
    expect((await edit(chosen)).status).toBe(200);
    expect(await shown()).toEqual(set);
    for (const name of Object.keys(chosen)) expect([name, (await edit({ [name]: none })).status]).toEqual([name, 200]);
    expect(await shown()).toEqual(standard);
  }
  await edit(chosen);
  const cleared = Object.fromEntries(Object.keys(chosen).map((name) => [name, null]));
  await app.rest('POST /sites/batch', { body: { update: [{ id: site, ...cleared }] } });
  expect(await shown()).toEqual(standard);
});
