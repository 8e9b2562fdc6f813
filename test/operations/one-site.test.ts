/** One WordPress is one site, whatever address of it is given; two in folders of one host are two. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { addRows } from '../../src/domain/import/add-rows.js';
import type { SiteRow } from '../../src/domain/import/rows.js';
import { type RestApp, restApp } from '../rest/client.js';

let app: RestApp;
let site: DemoSite;

beforeEach(async () => {
  app = await restApp({ sites: 2 });
  site = app.fleet.site(0);
});

const at = (url: string, { admin, password, uniqueId }: DemoSite = site) => {
  return { url, admin, admin_password: password, ...(uniqueId === '' ? {} : { unique_id: uniqueId }) };
};
const known = { code: 'svc_site_already_exists', data: { site_id: 1 } };
const total = async () => (await app.call('count-sites')).total;
/** Other addresses at which the same WordPress answers. */
const OTHERS: [string, (url: string) => string][] = [
  ['a folder in which it is not installed', (url) => `${url}blog/`],
  ['its dashboard', (url) => `${url}wp-admin/`],
  ['a page of its dashboard', (url) => `${url}wp-admin/plugins.php`],
  ['its login', (url) => `${url}wp-login.php`],
  ['its front file', (url) => `${url}index.php`],
  ['no slash', (url) => url.slice(0, -1)],
  ['the scheme in capitals', (url) => url.replace('http', 'HTTP')],
];

describe.each(OTHERS)('%s', (_, other) => {
  it('leads to the site itself, which is stored by its own address', async () => {
    expect(await app.call('add-site', at(other(site.url)))).toMatchObject({ id: 1, url: site.url });
    expect(await app.fail('add-site', at(site.url))).toMatchObject(known);
  });

  it('is refused once the site is stored, with its id, and the site stays connected', async () => {
    await app.call('add-site', at(site.url));
    const url = other(site.url);
    expect(await app.fail('add-site', at(url))).toMatchObject(known);
    const login = { admin: site.admin, adminpassword: site.password, uniqueid: site.uniqueId };
    const created = await app.rest('POST /sites/add', { body: { url, ...login } });
    expect([created.status, created.body.code, created.body.data.found_id]).toEqual([409, 'svc_rest_site_exists', 1]);
    const row = { line: 2, url, name: '', admin: site.admin, tags: [], unique_id: site.uniqueId, ssl_verify: true };
    const rows = [{ ...row, http_user: null, http_pass: null, ssl_version: 0 } as unknown as SiteRow];
    const imported = await addRows(app.ctx(), { rows, invalid: [] }, async () => site.password, false);
    expect(imported).toMatchObject({ imported: [], exists: [{ site_id: 1 }] });
    expect(await total()).toBe(1);
    expect(await app.call('sync-sites', {})).toMatchObject({ total_synced: 1, errors: [] });
  });
});

it('two in folders of one host are two', async () => {
  const second = app.fleet.site(1);
  expect(new URL(site.url).host).toBe(new URL(second.url).host);
  await app.call('add-site', at(site.url));
  expect(await app.call('add-site', at(`${second.url}wp-admin/`, second))).toMatchObject({ id: 2, url: second.url });
  expect(await app.call('sync-sites', {})).toMatchObject({ total_synced: 2, errors: [] });
});

it('a copy that calls itself as its original does is a site of its own', async () => {
  const copy = app.fleet.site(1);
  Object.defineProperty(copy, 'siteUrl', { value: site.siteUrl });
  await app.call('add-site', at(site.url));
  expect(await app.call('add-site', at(copy.url, copy))).toMatchObject({ id: 2, url: copy.url });
  expect(await app.call('sync-sites', {})).toMatchObject({ total_synced: 2, errors: [] });
});

describe('a site that calls itself as another does', () => {
  it('is not asked with the key of the other, and keeps it from nothing', async () => {
    const liar = app.fleet.site(1);
    Object.defineProperty(liar, 'siteUrl', { value: site.siteUrl });
    await app.call('add-site', at(liar.url, liar));
    // A hostile server accepts whatever it is sent.
    Object.defineProperty(liar, 'verifyingKey', { value: () => site.verifyingKey() });
    const before = liar.requests;
    expect(await app.call('add-site', at(site.url))).toMatchObject({ id: 2, url: site.url });
    expect(liar.requests).toBe(before);
  });

  it('does not keep the other from moving', async () => {
    const [moving, liar] = [app.fleet.site(0), app.fleet.site(1)];
    Object.defineProperty(liar, 'siteUrl', { value: 'https://elsewhere.example' });
    await app.call('add-site', at(liar.url, liar));
    await app.call('add-site', at(moving.url));
    Object.defineProperty(moving, 'siteUrl', { value: 'https://elsewhere.example' });
    const url = moving.url.replace('127.0.0.1', 'localhost');
    expect(await app.call('update-site', { site_id_or_domain: 2, url })).toMatchObject({ id: 2, url });
  });
});

it('a site does not move to an address that another record has', async () => {
  await app.call('add-site', at(site.url));
  const second = app.fleet.site(1);
  await app.call('add-site', at(second.url, second));
  for (const url of [site.url, `${site.url}wp-admin/`, `${site.url}index.php`]) {
    expect(await app.fail('update-site', { site_id_or_domain: 2, url })).toMatchObject(known);
    const edited = await app.rest('PATCH /sites/2/edit', { body: { url } });
    expect([edited.status, edited.body.data.found_id]).toEqual([409, 1]);
  }
});

it('is found by any of these addresses', async () => {
  await app.call('add-site', at(site.url));
  for (const page of ['wp-admin/', 'wp-login.php', 'index.php'])
    expect(await app.call('get-site', { site_id_or_domain: `${site.url}${page}` })).toMatchObject({ id: 1 });
});
