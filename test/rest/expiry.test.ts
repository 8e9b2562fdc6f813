/** The SSL and the domain monitor over HTTP. */

import { beforeAll, describe, expect, it } from 'vitest';
import { runCertificates } from '../../src/domain/monitoring/expiry-checks.js';
import { createProbe } from '../../src/outbound/probe/create.js';
import type { DomainAnswer } from '../../src/outbound/probe/probe.js';
import { authority } from '../monitoring/authority.js';
import { tlsServer } from '../monitoring/servers.js';
import { bareSite } from '../support/bare-site.js';
import { TO_COME } from '../support/dates.js';
import { START } from '../support/harness.js';
import { type RestApp, restApp } from './client.js';

const DAY = 86_400_000;
const ca = authority();
let app: RestApp;
let registry: DomainAnswer;
const ids: Record<string, number> = {};

async function addSite(url: string): Promise<number> {
  const id = await app.service.store.sites.add(bareSite(url), START, () => []);
  if (id === undefined) throw new Error(`${url} is there`);
  return id;
}

beforeAll(async () => {
  const probe = createProbe({
    allowPrivate: true,
    references: [],
    ca: [ca.root],
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  app = await restApp({ sites: 1, probe: { ...probe, domain: async () => registry } });
  const good = await tlsServer(ca.issue({ host: 'good.example', notAfter: START + 80 * DAY }));
  const soon = await tlsServer(ca.issue({ host: 'soon.example', notAfter: START + 9.5 * DAY }));
  const wrong = await tlsServer(ca.issue({ host: 'other.example' }));
  const early = await tlsServer(ca.issue({ host: 'early.example', ...TO_COME }));
  ids.good = await addSite(`https://good.example:${good}/`);
  ids.soon = await addSite(`https://soon.example:${soon}/`);
  ids.wrong = await addSite(`https://wrong.example:${wrong}/`);
  ids.plain = await addSite('http://plain.example/');
  ids.closed = await addSite('https://closed.example:9/');
  ids.shop = await addSite('https://shop.brand.co.uk/');
  ids.address = await addSite('http://127.0.0.1:1234/');
  ids.early = await addSite(`https://early.example:${early}/`);
});

describe('the SSL monitor', () => {
  it('has nothing before the first look', async () => {
    const { status, body } = await app.rest('GET /ssl-monitor/info');
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, total: 8 });
    expect(body.data[ids.good ?? 0]).toMatchObject({
      id: ids.good,
      status: 'unknown',
      valid_to: null,
      days_left: null,
      last_check: null,
      subject_alt_names: [],
    });
  });

  it('looks at one on request', async () => {
    const { status, body } = await app.rest(`POST /ssl-monitor/${ids.good}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, message: 'The certificate is valid.', site: { id: ids.good } });
    expect(body.data).toMatchObject({
      id: ids.good,
      issuer_o: 'Test Authority',
      issuer_cn: 'Test Root',
      subject_cn: 'good.example',
      subject_alt_names: ['good.example'],
      signature_algorithm: 'ECDSA-SHA256',
      valid_to: new Date(START + 80 * DAY).toISOString().replace('.000', ''),
      days_left: 80,
      status: 'valid',
      error: null,
    });
    expect((await app.rest(`GET /ssl-monitor/info/${ids.good}`)).body.data).toEqual(body.data);
    const security = await app.call('get-site-security', { site_id_or_domain: ids.good });
    expect(security.ssl_status).toMatchObject({ valid: true, expires: body.data.valid_to.slice(0, 10) });
  });

  it('says what is wrong, and why nothing could be seen', async () => {
    const look = async (id: number | undefined) => (await app.rest(`POST /ssl-monitor/${id}`)).body;
    expect((await look(ids.soon)).data).toMatchObject({ status: 'expiring', days_left: 9 });
    expect((await look(ids.wrong)).data).toMatchObject({
      status: 'invalid',
      error: 'The certificate does not name this host.',
    });
    expect((await look(ids.early)).data).toMatchObject({
      status: 'invalid',
      error: 'The certificate is not valid yet.',
    });
    expect(await look(ids.plain)).toMatchObject({
      success: 1,
      message: 'The site is served over plain HTTP.',
      data: { status: 'unknown' },
    });
    expect((await look(ids.closed)).data).toMatchObject({
      status: 'unknown',
      error: expect.stringContaining('refuses'),
    });
    expect((await app.rest('POST /ssl-monitor/999')).body.code).toBe('svc_rest_invalid_site_id');
  });

  it('filters by what holds now', async () => {
    const found = async (query: string) =>
      Object.keys((await app.rest(`GET /ssl-monitor/info?${query}`)).body.data).map(Number);
    expect(await found('status=expiring')).toEqual([ids.soon]);
    expect(await found('status=invalid,valid')).toEqual([ids.good, ids.wrong, ids.early]);
    expect(await found(`include=${ids.soon},${ids.good}&exclude=${ids.good}`)).toEqual([ids.soon]);
    expect(await found('search=wrong.exa')).toEqual([ids.wrong]);
    const page = await app.rest('GET /ssl-monitor/info?per_page=2&page=2');
    expect(Object.keys(page.body.data)).toHaveLength(2);
    expect(page.body.total).toBe(8);
    app.clock.move(10 * DAY);
    expect(await found('status=expired')).toEqual([ids.soon]);
    expect((await app.rest(`GET /ssl-monitor/info/${ids.soon}`)).body.data).toMatchObject({
      status: 'expired',
      days_left: -1,
    });
    const security = await app.call('get-site-security', { site_id_or_domain: ids.soon });
    expect(security.ssl_status.valid).toBe(false);
    expect((await app.rest('GET /ssl-monitor/info?status=fine')).status).toBe(400);
  });

  it('has the schedule look at all of them', async () => {
    await runCertificates(app.ctx());
    const { body } = await app.rest('GET /ssl-monitor/info?status=unknown');
    expect(Object.values(body.data).every((row) => (row as { last_check: string | null }).last_check !== null)).toBe(
      true,
    );
  });
});

describe('the domain monitor', () => {
  it('looks a domain up and keeps it', async () => {
    registry = {
      outcome: 'found',
      source: 'rdap',
      facts: {
        domain_name: 'brand.co.uk',
        registrar: 'Some Registrar',
        registrar_url: 'https://some.example/',
        registrar_iana_id: '7',
        creation_date: START - 1000 * DAY,
        updated_date: START - 10 * DAY,
        expiry_date: app.clock.now() + 400 * DAY,
        domain_status: ['active'],
        name_servers: ['ns.some.example'],
      },
    };
    const { status, body } = await app.rest(`POST /domain-monitor/${ids.shop}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: 1, message: 'The domain is valid.', site: { id: ids.shop } });
    expect(body.data).toMatchObject({
      id: ids.shop,
      domain_name: 'brand.co.uk',
      registrar: 'Some Registrar',
      registrar_iana_id: '7',
      expires: 400,
      status: 'valid',
      status_label: 'Valid',
      domain_status: ['active'],
      name_servers: ['ns.some.example'],
      source: 'rdap',
      error: null,
    });
    expect((await app.rest(`GET /domain-monitor/profiles/${ids.shop}`)).body.data).toEqual(body.data);
    const list = await app.rest('GET /domain-monitor/profiles?status=valid');
    expect(list.body).toMatchObject({ total: 1, data: { [ids.shop ?? 0]: { domain_name: 'brand.co.uk' } } });
  });

  it('says why there is nothing to look up', async () => {
    const address = await app.rest(`POST /domain-monitor/${ids.address}`);
    expect([address.status, address.body.code]).toEqual([422, 'svc_domain_tld_unsupported']);
    registry = { outcome: 'unsupported', message: 'Neither RDAP nor WHOIS knows the registry of brand.co.uk.' };
    expect((await app.rest(`POST /domain-monitor/${ids.shop}`)).status).toBe(422);
    registry = { outcome: 'rate_limited', message: 'Too often.', retryAfterMs: 61_000 };
    const limited = await app.rest(`POST /domain-monitor/${ids.shop}`);
    expect([limited.status, limited.body.code]).toEqual([502, 'svc_domain_lookup_failed']);
    expect(limited.body.data).toMatchObject({ reason: 'rate_limited', retry_after: 61 });
    // Known data is kept.
    expect((await app.rest(`GET /domain-monitor/profiles/${ids.shop}`)).body.data).toMatchObject({
      registrar: 'Some Registrar',
      error: 'Too often.',
    });
  });

  it('takes dates by hand', async () => {
    const expiry = new Date(app.clock.now() + 20 * DAY).toISOString().slice(0, 10);
    const { status, body } = await app.rest(`PUT /domain-monitor/${ids.shop}`, {
      body: { expiry_date: expiry, registrar: 'By hand' },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      registrar: 'By hand',
      expiry_date: `${expiry}T00:00:00Z`,
      status: 'expiring',
      source: 'manual',
      creation_date: expect.any(String),
    });
    for (const name of ['registrar', 'expiry_date'])
      for (const none of ['', null]) {
        const cleared = await app.rest(`PATCH /domain-monitor/${ids.shop}`, { body: { [name]: none } });
        expect([name, cleared.body.data?.[name]]).toEqual([name, null]);
      }
    expect((await app.rest(`PUT /domain-monitor/${ids.shop}`, { body: { expiry_date: '2026-02-31' } })).status).toBe(
      400,
    );
  });
});

describe('a module that is off', () => {
  it('is named', async () => {
    const small = await restApp({ sites: 1, config: { modules: [] } });
    for (const [call, module] of [
      ['GET /ssl-monitor/info', 'ssl-monitor'],
      ['POST /ssl-monitor/1', 'ssl-monitor'],
      ['GET /domain-monitor/profiles', 'domain-monitor'],
    ] as const) {
      const { status, body } = await small.rest(call);
      expect([status, body.code, body.data.module]).toEqual([501, 'svc_module_not_available', module]);
    }
    expect(await runCertificates(small.ctx())).toBe('the module is disabled');
  });
});
