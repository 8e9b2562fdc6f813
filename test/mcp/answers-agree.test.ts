/** A fact about a site is the same in every answer that has it. */

import { beforeAll, expect, it } from 'vitest';
import { TOOLSETS } from '../../src/runtime/config/types.js';
import { LOCAL, type McpApp, mcpApp } from '../support/mcp-clients.js';

const DAY = 86_400_000;
const SITES = [1, 2, 3, 4, 5, 6];
const caller = { actor: LOCAL, request_id: 'r', signal: new AbortController().signal };

let mcp: McpApp;

beforeAll(async () => {
  mcp = await mcpApp({ sites: 6, connected: 6, config: { toolsets: [...TOOLSETS] } });
  const { app } = mcp;
  const now = app.ctx().clock.now();
  const run = (text: string, ...args: (string | number)[]) => app.db.run(text, args);
  await app.call('add-client', { name: 'Ada', selected_sites: [1, 2] });
  await app.call('add-tag', { name: 'shop' });
  await app.call('update-site', { site_id_or_domain: 1, name: 'Harbour', add_tags: [1], notes: 'n' });
  await app.call('suspend-site', { site_id_or_domain: 2 });
  await app.call('disconnect-site', { site_id_or_domain: 3 });
  app.fleet.site(3).faults = { offline: true };
  await app.call('sync-sites', { site_ids_or_domains: [4] });
  await app.call('ignore-site-core', { site_id_or_domain: 5, action: 'add' });
  // Seen at an address with TLS that the site has had.
  for (const id of [1, 2, 5])
    await run(
      "INSERT INTO site_certificate (site_id, status, good, valid_to, last_check) VALUES (?, 'valid', 1, ?, ?)",
      ...[id, now + (30 + id) * DAY, now - 1000],
    );
  await run("INSERT INTO domain (name, expiry_date, last_check) VALUES ('harbour.example', ?, ?)", now + 99 * DAY, now);
  await run("INSERT INTO site_domain (site_id, domain) VALUES (1, 'harbour.example')");
  await run('UPDATE monitor SET status = 0, active = 1, last_check_at = ? WHERE site_id = 6', now);
  await run(
    "INSERT INTO incident (site_id, started_at, msg, down_count) VALUES (6, ?, 'HTTP 503', 1)",
    now - 3_600_000,
  );
});

type Fact = string | number | boolean | null;

/** Facts by name, with what each answer says of it. */
async function factsOf(site: number): Promise<Map<string, Map<string, Fact>>> {
  const facts = new Map<string, Map<string, Fact>>();
  const tell = (where: string, told: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(told)) {
      if (value === undefined) continue;
      const known = facts.get(name) ?? new Map<string, Fact>();
      facts.set(name, known.set(where, value as Fact));
    }
  };
  // biome-ignore lint/suspicious/noExplicitAny: answers of many tools
  const ask = async (name: string, args: object): Promise<any> => {
    const result = await mcp.core.registry.callTool(`svc-${name}-v1`, args, caller);
    if (!('content' in result) || result.isError === true) throw new Error(`${name}: ${JSON.stringify(result)}`);
    return result.structuredContent;
  };
  const one = { site_id_or_domain: site };
  const day = (time: string | null | undefined) => (time === undefined ? undefined : (time?.slice(0, 10) ?? null));

  const read = await ask('get-site', { ...one, include_stats: true });
  const { plugin_updates, theme_updates, wp_update_available } = read.stats;
  tell('get-site', {
    ...{ url: read.url, name: read.name, status: read.status, client: read.client_id, wp: read.wp_version },
    ...{ php: read.php_version, child: read.child_version, last_sync: read.last_sync, reason: read.status_reason },
    ...{
      since: read.status_since,
      tags: read.tags.map(({ id }: { id: number }) => id).join(),
      core_updates: Number(wp_update_available),
    },
    ...{ plugin_updates, theme_updates },
  });

  const listed = (await ask('list-sites', { include: ['status_reason'], per_page: 100 })).items.find(
    ({ id }: { id: number }) => id === site,
  );
  tell('list-sites', {
    ...{
      url: listed.url,
      name: listed.name,
      status: listed.status,
      client: listed.client_id,
      last_sync: listed.last_sync,
    },
    ...{ reason: listed.status_reason },
  });

  const basic = (await ask('get-sites-basic', {})).sites.find(({ id }: { id: number }) => id === site);
  tell('get-sites-basic', { url: basic.url, name: basic.name });

  const fields = [
    'id',
    'url',
    'name',
    'status',
    'reason',
    'since',
    'wp',
    'php',
    'child',
    'last_sync',
    'updates',
    'monitor',
    'certificate',
    'domain',
  ];
  const found = await ask('search-fleet', { fields, per_page: 50 });
  const row = found.rows.find((cells: Fact[]) => cells[found.columns.indexOf('id')] === site);
  const cell = (name: string) => row[found.columns.indexOf(name)];
  tell('search-fleet', {
    ...Object.fromEntries(fields.slice(1).map((name) => [name, cell(name)])),
  });

  const own = await ask('get-site-updates', one);
  tell('get-site-updates', {
    ...{ url: own.site_url, updates: own.summary.total, plugin_updates: own.summary.plugins },
    ...{ theme_updates: own.summary.themes, core_updates: own.summary.core, listed_updates: own.updates.length },
  });
  const offers = await ask('list-updates', { site_ids_or_domains: [site] });
  tell('list-updates', {
    ...{ updates: offers.total, plugin_updates: offers.summary.plugins, theme_updates: offers.summary.themes },
    ...{ core_updates: offers.summary.core, listed_updates: offers.updates.length },
    ...(offers.updates[0] === undefined
      ? {}
      : { url: offers.updates[0].site_url, name: offers.updates[0].site_name, status: offers.updates[0].site_status }),
  });

  const security = await ask('get-site-security', one);
  tell('get-site-security', { url: security.site_url, certificate: security.ssl_status.expires });
  const [certificate] = (await ask('list-certificates', one)).certificates;
  tell('list-certificates', { url: certificate?.url, certificate: day(certificate?.valid_to) });
  const [domain] = (await ask('list-domains', one)).domains;
  tell('list-domains', { domain: day(domain?.expiry_date) });
  const [monitor] = (await ask('list-monitors', one)).monitors;
  // The list tells those that were not checked yet from the others.
  tell('list-monitors', { url: monitor?.url, monitor: monitor?.status === 'first' ? 'unknown' : monitor?.status });

  const client = await ask('get-site-client', one);
  tell('get-site-client', { client: client.client?.id ?? null });
  const owned = (await ask('get-client-sites', { client_id_or_email: 1 })).sites ?? [];
  const mine = owned.find(({ id }: { id: number }) => id === site);
  if (mine !== undefined) tell('get-client-sites', { client: 1, url: mine.url, name: mine.name, status: mine.status });

  const diagnosis = await ask('diagnose-site', one);
  tell('diagnose-site', { url: diagnosis.url ?? diagnosis.site_url, status: diagnosis.status });
  return facts;
}

it('has no certificate of an address with TLS once a site has one without', async () => {
  const { app } = mcp;
  const { lastId: id } = await app.db.run(
    "INSERT INTO site (url, url_key, name, search, created_at) VALUES ('https://moved.example/', 'moved.example/', 'M', 'm', 1)",
  );
  await app.db.run('INSERT INTO site_detail (site_id) VALUES (?)', [id]);
  await app.db.run(
    "INSERT INTO site_certificate (site_id, status, valid_to, last_check) VALUES (?, 'valid', 9e12, 1)",
    [id],
  );
  expect((await app.call('get-site-security', { site_id_or_domain: id })).ssl_status.expires).toMatch(/^\d{4}-/);
  await app.service.store.sites.moveUrl(id, { url: 'http://moved.example/', url_key: 'moved.example/' });
  const { ssl_status } = await app.call('get-site-security', { site_id_or_domain: id });
  expect(ssl_status).toEqual({ valid: false, expires: null, checked_at: null });
  const found = await app.call('search-fleet', { fields: ['certificate'], search: 'moved.example' });
  expect(found.rows).toEqual([[null]]);
  await app.db.run('DELETE FROM site WHERE id = ?', [id]);
});

it.each(SITES)('of site %i', async (site) => {
  const facts = await factsOf(site);
  const twice = [...facts].filter(([, told]) => told.size > 1);
  expect(twice.length).toBeGreaterThan(12);
  const differing = twice.filter(([, told]) => new Set(told.values()).size > 1);
  expect(differing.map(([name, told]) => [name, Object.fromEntries(told)])).toEqual([]);
});
