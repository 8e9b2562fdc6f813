/**
 * Migrating from a MainWP Dashboard: exporter under PHP, file, import by the built program, sites that hold the keys
 * already.
 */

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../../src/demo/certificate.js';
import type { Fleet } from '../../src/demo/fleet.js';
import { type TestApp, testApp, testKey } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { needs } from '../support/needs.js';
import { functionsOf, type OldDashboard, oldDashboard } from './dashboard.js';
import { php } from './php.js';
import { type Program, program } from './program.js';

const SECRET_PASSWORD = 'b@sic:pw "ü"';

/** A service on the same database, to check what was stored. */
let app: TestApp;
let fleet: Fleet;
let old: OldDashboard;
let here: Program;
const folder = mkdtempSync(join(tmpdir(), 'sitefleet-import-'));
const at = (name: string) => join(folder, name);
const url = (index: number) => fleet.site(index).url;

/** The key of most sites; one site gets another. */
let key: { private_key: string; public_key: string };

beforeAll(async () => {
  key = await testKey;
  here = program(folder);
  await here.run(['migrate']);
  app = await testApp({
    sites: 7,
    realClock: true,
    config: { db: `file:${join(folder, 'fleet.db')}`, secret_key: null, secret_key_file: join(folder, 'secret.key') },
  });
  fleet = app.fleet;
  old = oldDashboard();
  fill(old);
  const { rows } = old;
  await old.connect(fleet.site(0), key, {
    // The dashboard escapes these for MySQL and stores the escapes; a name changed later is stored as typed.
    name: String.raw`Müller &amp; Sons \"Graz\" O\'Neill`,
    note: String.raw`<p>Call <b>Eva O\'Hara</b> first</p>\n<p>Tuesdays, C:\\new</p>`,
    client_id: 1,
    is_ignoreThemeUpdates: 1,
    ignored_plugins:
      '{"akismet\\/akismet.php":{"Name":"Akismet","ignored_versions":["5.0","5.1"]},"old%2Fold.php":"Old one"}',
    ssl_version: 6,
    health_threshold: 100,
  });
  await old.connect(fleet.site(1), key, {
    http_user: old.encryptLogin('client'),
    // It sends this without the backslashes that older versions stored.
    http_pass: old.encryptLogin(String.raw`b@sic:pw \"ü\"`),
    client_id: 2,
  });
  fleet.site(1).faults.httpAuth = { user: 'client', pass: SECRET_PASSWORD };
  await old.connect(fleet.site(2), key, { name: String.raw`C:\new\site` });
  fleet.site(2).faults.offline = true;
  // The old dashboard's key of this one is stale: the site was connected to another dashboard meanwhile.
  const stale = await old.connect(fleet.site(3), key);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  stale.privkey = old.encryptKey(Number(stale.id), privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  await old.connect(fleet.site(4), key, { suspended: 1 });
  // A row from before the dashboard encrypted its keys.
  const plain = await old.connect(fleet.site(5), key);
  plain.privkey = Buffer.from(key.private_key).toString('base64');
  rmSync(join(old.folder, 'pk', String(plain.id)));
  rows.wp?.push({
    ...(rows.wp[0] as object),
    id: 90,
    url: 'ftp://nowhere.example/',
    privkey: Buffer.from(key.private_key).toString('base64'),
    name: 'No web site',
  });
  rows.wp?.push({ ...(rows.wp[0] as object), id: 91, url: 'https://keyless.example/', privkey: '' });
  Object.assign(rows.wp?.[0] ?? {}, { automatic_update: 1 });
  rows.wp_group?.push({ wp_group_id: 1, wpid: 1, groupid: 1 }, { wp_group_id: 2, wpid: 1, groupid: 2 });
  rows.wp_options?.push(
    { opt_id: 500, wpid: 1, name: 'ignored_wp_upgrades', value: '{"ignored_versions":["6.9"]}' },
    { opt_id: 501, wpid: 1, name: 'monitoring_notification_emails', value: 'a@example.com, nonsense' },
    { opt_id: 502, wpid: 1, name: 'site_info', value: 'not asked for' },
    { opt_id: 503, wpid: 1, name: 'ignored_trans_updates', value: '1' },
    { opt_id: 504, wpid: 2, name: 'ignored_trans_updates', value: '0' },
  );
  const monitor = { suburl: '', issub: 0, timeout: -1, retry_interval: 1, maxretries: -1, keyword: '' };
  rows.monitors?.push(
    {
      ...monitor,
      monitor_id: 1,
      maxretries: 2,
      wpid: 1,
      active: 1,
      type: 'keyword',
      keyword: 'Welcome',
      interval: 15,
      up_status_codes: 'useglobal',
      method: 'get',
    },
    {
      ...monitor,
      monitor_id: 2,
      wpid: 1,
      active: 1,
      type: 'http',
      interval: 5,
      up_status_codes: '',
      method: '',
      suburl: 'shop/',
      issub: 1,
    },
    {
      ...monitor,
      monitor_id: 3,
      maxretries: 12,
      wpid: 2,
      active: -1,
      type: 'useglobal',
      interval: -1,
      up_status_codes: 'useglobal',
      method: 'useglobal',
    },
  );
  old.save();
  for (const site of fleet.sites) site.calls.length = 0;
});

afterAll(async () => {
  await old.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(old.folder, { recursive: true, force: true });
});

/** Data that does not belong to single sites. */
function fill({ rows, options }: OldDashboard): void {
  rows.users?.push({
    userid: 0,
    user_email: '',
    ignored_plugins: '{"jetpack\\/jetpack.php":{"Name":"Jetpack","ignored_versions":["all_versions"]}}',
    ignored_themes: '',
    ignored_wp_upgrades: '[]',
  });
  rows.group?.push(
    { id: 1, userid: 1, name: 'Shops &amp; &quot;more&quot;', color: '#5EC130' },
    { id: 2, userid: 1, name: 'VIP', color: '' },
  );
  const texts = { address_2: '', city: 'Graz', zip: '8010', state: '', country: 'Austria', note: 'pays late' };
  const links = {
    client_facebook: '',
    client_twitter: '',
    client_instagram: '',
    client_linkedin: 'https://in.example/a',
  };
  rows.wp_clients?.push(
    {
      ...texts,
      ...links,
      client_id: 1,
      name: 'Acme',
      address_1: 'Main 1',
      client_email: 'boss@acme.example',
      client_phone: '+43 1',
      suspended: 0,
    },
    {
      ...texts,
      ...links,
      client_id: 2,
      name: 'No Mail',
      address_1: '',
      client_email: 'not an address',
      client_phone: '',
      suspended: 1,
    },
  );
  rows.wp_clients_contacts?.push({
    contact_id: 1,
    contact_client_id: 1,
    contact_email: 'eva@acme.example',
    contact_name: 'Eva',
    contact_phone: '',
    contact_role: 'CTO',
    facebook: '',
    twitter: '',
    instagram: '',
    linkedin: '',
  });
  rows.wp_clients_fields?.push(
    { field_id: 1, field_name: 'vat-id', field_desc: 'VAT number', client_id: 0 },
    { field_id: 2, field_name: 'mascot', field_desc: '', client_id: 2 },
  );
  rows.wp_clients_field_values?.push(
    { value_id: 1, field_id: 1, field_value: 'ATU123', value_client_id: 1 },
    { value_id: 2, field_id: 2, field_value: 'Bear', value_client_id: 2 },
    { value_id: 3, field_id: 1, field_value: '', value_client_id: 2 },
  );
  const cost = { slug: '', next_renewal: 0, sites: '', groups: '', clients: '', url: '', note: '' };
  rows.cost_tracker?.push(
    {
      ...cost,
      id: 1,
      name: 'Hosting',
      type: 'subscription',
      product_type: 'hosting',
      license_type: 'single_site',
      cost_status: 'active',
      payment_method: 'wire',
      price: '12.50000000',
      renewal_type: 'monthly',
      last_renewal: Date.UTC(2026, 5, 1) / 1000,
    },
    {
      ...cost,
      id: 2,
      name: 'Page builder',
      type: 'lifetime',
      product_type: 'plugin',
      license_type: 'multi_site',
      cost_status: 'active',
      payment_method: '',
      price: '99.00',
      renewal_type: 'disabled',
      last_renewal: 0,
      sites: '[1]',
    },
  );
  rows.lookup_item_objects?.push(
    { lookup_id: 1, item_id: 1, item_name: 'cost', object_id: 1, object_name: 'site' },
    { lookup_id: 2, item_id: 1, item_name: 'cost', object_id: 3, object_name: 'site' },
    { lookup_id: 3, item_id: 1, item_name: 'cost', object_id: 2, object_name: 'client' },
    { lookup_id: 4, item_id: 1, item_name: 'report', object_id: 2, object_name: 'site' },
  );
  options.mainwp_global_uptime_monitoring_settings = {
    active: 1,
    interval: 30,
    type: 'http',
    method: 'get',
    timeout: 45,
    maxretries: 1,
    up_status_codes: '200,201',
  };
}

describe('from a MainWP Dashboard', needs('php'), () => {
  it('prints an exporter that writes a sealed file', async () => {
    const printed = await here.run(['import', 'mainwp']);
    expect(printed.code, printed.err).toBe(0);
    expect(printed.out).toMatch(/^<\?php/);
    expect(printed.out).toContain('BEGIN PUBLIC KEY');
    expect(printed.out).not.toMatch(/BEGIN (RSA )?PRIVATE KEY|@[A-Z_]+@/);
    writeFileSync(at('export.php'), printed.out);
    expect((await php(['-l', 'export.php'], folder)).code).toBe(0);

    const before = readFileSync(join(old.folder, 'rows.json'));
    const exported = await php([at('export.php'), old.folder], folder);
    expect(exported.code, exported.err).toBe(0);
    expect(exported.err).toContain('8 sites');
    expect(JSON.parse(exported.out)).toMatchObject({ sitefleet_fleet: 1, from: 'mainwp' });
    for (const secret of ['PRIVATE KEY', SECRET_PASSWORD, 'Acme', url(0)]) expect(exported.out).not.toContain(secret);
    expect(readFileSync(join(old.folder, 'rows.json'))).toEqual(before);
    writeFileSync(at('fleet.json'), exported.out);

    // Like "wp eval-file": inside a function of a loaded WordPress, which may already have printed something.
    const load = `require ${JSON.stringify(join(old.folder, 'wp-load.php'))};`;
    const evaluated = await php(
      ['-r', `${load} (function () { eval('?>' . file_get_contents('export.php')); })();`],
      folder,
    );
    expect(evaluated.code, evaluated.err).toBe(0);
    writeFileSync(at('evaluated.json'), evaluated.out);
    expect((await here.json(['import', 'evaluated.json', '--dry-run'])).imported).toHaveLength(6);
  });

  it('shows what would be imported, and changes and contacts nothing', async () => {
    const report = await here.json(['import', 'fleet.json', '--dry-run']);
    expect(report).toMatchObject({ dry_run: true, exists: [], unreachable: [], pending: [] });
    expect(report.source).toEqual({ product: 'mainwp', version: '6.1.2', url: 'https://old.example/' });
    expect(report.imported.map((site: { url: string }) => site.url)).toEqual([0, 1, 2, 3, 4, 5].map(url));
    expect(report.invalid).toEqual([
      { where: 'site 91', url: 'https://keyless.example/', message: 'private_key: is missing.' },
      { where: 'site 90', url: 'ftp://nowhere.example/', message: expect.stringContaining('http') },
    ]);
    expect(report.tags).toEqual({ added: 2, exists: 0 });
    expect(report.clients).toEqual({ added: 2, exists: 0 });
    expect(report.costs).toEqual({ added: 2, exists: 0 });
    expect((await call('count-sites')).total).toBe(0);
    expect(functionsOf(fleet)).toEqual(new Set());
  });

  it('connects each site by one signed read and stores what belongs to it', async () => {
    const report = await here.json(['import', 'fleet.json']);
    expect(report.imported.map((site: { url: string }) => site.url)).toEqual([0, 1, 4, 5].map(url));
    expect(report.unreachable).toEqual([
      expect.objectContaining({ url: url(2), site_id: expect.any(Number), code: 'svc_site_offline' }),
      expect.objectContaining({ url: url(3), site_id: expect.any(Number), code: 'svc_sync_failed' }),
    ]);
    expect(report.invalid).toHaveLength(2);
    // One read each; the suspended one is not contacted, and none is registered.
    const calls = fleet.sites.map((site) => site.calls.map((each) => each.function));
    expect(calls).toEqual([['stats'], ['stats'], [], ['stats'], [], ['stats'], []]);

    const site = await call('get-site', { site_id_or_domain: url(0) });
    expect(site).toMatchObject({ name: 'Müller & Sons "Graz" O\'Neill', status: 'connected' });
    expect(site.notes).toBe("Call Eva O'Hara first\nTuesdays, C:\\new");
    expect(site.last_sync).not.toBeNull();
    expect(report.warnings).toEqual([
      expect.stringMatching(/: its automatic updates are on over there, and on here\. They begin once/),
      `${url(0)}: 1 monitors of sub-pages are not imported.`,
      `${url(0)}: all translation updates are ignored there; Sitefleet has no such setting.`,
      `${url(1)}: its monitor checks 12 times again before the site counts as down; here it is at most 10 times.`,
    ]);
    for (const [at, maxretries] of [2, 10].entries())
      expect(await call('list-monitors', { site_id_or_domain: url(at) })).toMatchObject({ settings: { maxretries } });
    const second = await call('get-site', { site_id_or_domain: url(2) });
    expect(second).toMatchObject({ name: String.raw`C:\new\site`, status: 'disconnected' });
    expect((await call('get-site', { site_id_or_domain: url(4) })).status).toBe('suspended');
    const tags = (await call('list-tags')).items;
    expect(tags).toEqual([
      expect.objectContaining({ name: 'Shops & "more"', color: '#5EC130', sites_count: 1 }),
      expect.objectContaining({ name: 'VIP', color: null, sites_count: 1 }),
    ]);
    const client = await call('get-client', { client_id_or_email: 'boss@acme.example' });
    expect(client).toMatchObject({ name: 'Acme', email: 'boss@acme.example', city: 'Graz', status: 'active' });
    expect(client.note).toBe(
      'pays late\nContact: Eva, CTO, eva@acme.example\nProfile: https://in.example/a\nVAT number: ATU123',
    );
    expect((await call('get-client-sites', { client_id_or_email: client.id })).sites).toHaveLength(1);
    const { id } = (await call('get-site-client', { site_id_or_domain: url(1) })).client;
    const other = await call('get-client', { client_id_or_email: id });
    expect(other).toMatchObject({ name: 'No Mail', email: '', status: 'suspended' });
    expect(other.note).toContain('E-mail: not an address');
    expect(other.note).toContain('mascot: Bear');
    expect(other.note).not.toContain('VAT');
    const { ignored } = await call('list-ignored-updates', { per_page: 100 });
    const ofFirst = ignored.filter((entry: { site_url: string }) => entry.site_url === url(0));
    expect(
      ofFirst.map((entry: Record<string, string>) => [entry.type, entry.slug, entry.ignored_version]).sort(),
    ).toEqual([
      ['core', 'platform', '6.9'],
      ['plugin', 'akismet/akismet.php', '5.0, 5.1'],
      ['plugin', 'jetpack/jetpack.php', 'all_versions'],
      ['plugin', 'old/old.php', 'all_versions'],
    ]);
    const { costs } = await call('get-site-costs', { site_id_or_domain: url(0) });
    expect(costs.map((cost: Record<string, unknown>) => [cost.name, cost.amount, cost.frequency]).sort()).toEqual([
      ['Hosting', 12.5, 'monthly'],
      ['Page builder', 99, 'lifetime'],
    ]);
  });

  it('leaves what exists alone, and tries again what did not answer', async () => {
    await call('update-site', { site_id_or_domain: url(0), name: 'Renamed here' });
    fleet.site(2).faults.offline = undefined;
    for (const site of fleet.sites) site.calls.length = 0;
    const report = await here.json(['import', 'fleet.json']);
    expect(report.exists.map((site: { url: string }) => site.url)).toEqual([0, 1, 4, 5].map(url));
    expect(report.imported.map((site: { url: string }) => site.url)).toEqual([url(2)]);
    expect(report.unreachable.map((site: { url: string }) => site.url)).toEqual([url(3)]);
    expect(report).toMatchObject({
      tags: { added: 0, exists: 2 },
      clients: { added: 0, exists: 2 },
      costs: { added: 0, exists: 2 },
      ignored_everywhere: 0,
    });
    expect((await call('get-site', { site_id_or_domain: url(0) })).name).toBe('Renamed here');
    expect(fleet.site(0).calls).toEqual([]);
    expect(functionsOf(fleet)).toEqual(new Set(['stats']));
    expect((await call('count-sites')).total).toBe(6);
    expect((await call('count-clients')).total).toBe(2);
  });

  it('mends a connection that the other dashboard renewed, by a fresh file', async () => {
    const site = fleet.site(0);
    const fresh = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    if (site.inner.connection !== null) site.inner.connection.publicKey = fresh.publicKey;
    await expect(call('sync-sites', { site_ids_or_domains: [url(0)] })).resolves.toMatchObject({ total_errors: 1 });
    expect((await here.json(['import', 'fleet.json'])).unreachable.map((each: { url: string }) => each.url)).toContain(
      url(0),
    );
    const row = old.rows.wp?.[0];
    if (row !== undefined) row.privkey = old.encryptKey(1, fresh.privateKey);
    old.save();
    const { out } = await php([at('export.php'), old.folder], folder);
    writeFileSync(at('fresh.json'), out);
    const report = await here.json(['import', 'fresh.json']);
    expect(report.imported.map((each: { url: string }) => each.url)).toEqual([url(0)]);
    expect(await call('get-site', { site_id_or_domain: url(0) })).toMatchObject({
      name: 'Renamed here',
      status: 'connected',
    });
    await expect(call('sync-sites', { site_ids_or_domains: [url(0)] })).resolves.toMatchObject({ total_errors: 0 });
  });

  it('takes a page in the browser from administrators only, and the page deletes itself', async () => {
    writeFileSync(join(old.folder, 'export.php'), readFileSync(at('export.php')));
    const { spawn } = await import('node:child_process');
    const server = spawn('php', ['-d', 'display_errors=0', '-S', '127.0.0.1:0', '-t', old.folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const base = await new Promise<string>((ready, fail) => {
        let said = '';
        server.stderr.on('data', (chunk) => {
          said += String(chunk);
          const found = /\((http:\/\/127\.0\.0\.1:\d+)\)/.exec(said);
          if (found?.[1] !== undefined) ready(found[1]);
        });
        server.once('exit', () => fail(new Error(said)));
      });
      const page = (init: RequestInit = {}) => fetch(`${base}/export.php`, init);
      expect((await page()).status).toBe(403);
      expect((await page({ headers: { cookie: 'user=editor' } })).status).toBe(403);
      const form = await page({ headers: { cookie: 'user=admin' } });
      expect(form.status).toBe(200);
      expect(await form.text()).toContain('name="_wpnonce"');
      const post = (nonce: string, cookie = 'user=admin') =>
        page({ method: 'POST', headers: { cookie }, body: new URLSearchParams({ _wpnonce: nonce }) });
      expect((await post('nonce-other')).status).toBe(403);
      expect((await post('nonce-sitefleet-export', 'user=editor')).status).toBe(403);
      const file = await post('nonce-sitefleet-export');
      expect(file.headers.get('content-disposition')).toContain('fleet.json');
      writeFileSync(at('web.json'), await file.text());
      expect((await page({ headers: { cookie: 'user=admin' } })).status).toBe(404);
    } finally {
      server.kill();
    }
    expect((await here.json(['import', 'web.json', '--dry-run'])).exists).toHaveLength(6);
  });

  it('refuses a file that is cut, changed, or sealed to a key that is not here', async () => {
    const whole = readFileSync(at('fleet.json'), 'utf8');
    const file = JSON.parse(whole.slice(whole.indexOf('{'))) as { sealed: string[]; key: string };
    const cases: [string, string][] = [
      [whole.slice(0, whole.length - 40), 'incomplete, or not a fleet file'],
      [JSON.stringify({ ...file, sealed: [...file.sealed, ...file.sealed] }), 'It is incomplete: pages'],
      [JSON.stringify({ ...file, key: 'feedfeedfeed' }), 'key that is not here'],
      [JSON.stringify({ ...file, sealed: file.sealed.map((jwe) => `${jwe.slice(0, -2)}AA`) }), 'was modified'],
    ];
    for (const [content, complaint] of cases) {
      writeFileSync(at('bad.json'), content);
      const { code, out, err } = await here.run(['import', 'bad.json', '--json']);
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(complaint);
    }
    expect((await call('count-sites')).total).toBe(6);
  });

  it('imports a site whose certificate neither side accepts, with the reason and what to do', async () => {
    const tls = selfSigned({ notBefore: 0, notAfter: Date.UTC(2090, 0, 1) });
    const server = createServer(tls, (_request, response) => response.end('x'));
    const { port } = await listenLocally(server as unknown as HttpServer);
    const address = `https://127.0.0.1:${port}/`;
    const [first] = old.rows.wp ?? [];
    const privkey = Buffer.from(key.private_key).toString('base64');
    old.rows.wp?.push({ ...(first as object), id: 92, url: address, name: 'Own certificate', privkey });
    old.save();
    const exported = await php([at('export.php'), old.folder], folder);
    writeFileSync(at('tls.json'), exported.out);
    for (const name of ['first', 'again']) {
      const report = await here.json(['import', 'tls.json']);
      const told = report.unreachable.find((site: { url: string }) => site.url === address);
      expect([name, told]).toEqual([
        name,
        {
          url: address,
          site_id: expect.any(Number),
          code: 'svc_site_offline',
          message: expect.stringMatching(
            /^The TLS connection to 127\.0\.0\.1:\d+ failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)\.$/,
          ),
          advice: expect.stringContaining('ssl_verify'),
        },
      ]);
    }
    const stored = { name: 'Own certificate', url: address, status: 'disconnected' };
    expect(await call('get-site', { site_id_or_domain: address })).toMatchObject({
      ...stored,
      status_reason: expect.stringContaining('The TLS connection to'),
    });
    const shown = await here.run(['import', 'tls.json']);
    expect(shown.out + shown.err).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT[\s\S]*ssl_verify/);
  });
});

function call(operation: string, input: unknown = {}) {
  return app.call(operation, input);
}
