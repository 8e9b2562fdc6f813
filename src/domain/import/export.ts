/**
 * Exports the whole fleet as records of a fleet file, or as a list of sites in CSV: for another Sitefleet, or for
 * leaving.
 */

import type { FleetIgnored, FleetMonitor } from '../../../schemas/fleet.js';
import type { MonitorColumns } from '../../store/import/import.js';
import type { IgnoredEntry } from '../../store/sites/records.js';
import type { SiteConnection, SiteRecord } from '../../store/sites/sites.js';
import { csvLine } from '../common/csv.js';
import type { Ctx } from '../context.js';
import { UPDATE_TYPES } from '../updates/results.js';
import { ORIGINAL_HEADINGS } from './rows.js';

/** Records read from storage at once. */
const PAGE = 200;

/** All records, sites in URL order. `version` is that of this program. */
export async function* fleetRecords(ctx: Ctx, version: string): AsyncGenerator<Record<string, unknown>> {
  const { store } = ctx;
  yield { type: 'source', product: 'sitefleet', version, url: ctx.base_url };
  yield { type: 'ignored', ignored: (await store.siteImport.everywhere()).map(ignoredOf) };
  for await (const { id, name, color } of pages((page) => store.tags.list({}, page, PAGE)))
    yield { type: 'tag', tag: { key: `tag:${id}`, name, color } };
  for await (const { id } of pages((page) => store.clients.list({}, page, PAGE))) {
    const client = await store.clients.find({ id });
    if (client === undefined) continue;
    const { name, email, phone, address_1, address_2, city, state, zip, country, note, suspended } = client;
    const texts = { name, address_1, address_2, city, state, zip, country, note };
    const fields = { ...texts, client_email: email, client_phone: phone, suspended: suspended === 1 };
    yield { type: 'client', client: { key: `client:${id}`, ...fields } };
  }
  let sites = 0;
  for await (const site of siteRecords(ctx)) {
    sites++;
    yield { type: 'site', site };
  }
  for await (const cost of pages((page) => store.costs.list(page, PAGE))) {
    const { id: _, created_at: _c, updated_at: _u, sites: covered, groups, clients, ...fields } = cost;
    const keys = (kind: string, ids: readonly number[]) => ids.map((id) => `${kind}:${id}`);
    const targets = { sites: keys('site', covered), tags: keys('tag', groups), clients: keys('client', clients) };
    yield { type: 'cost', cost: { ...fields, ...targets } };
  }
  yield { type: 'end', sites };
}

async function* pages<T>(read: (page: number) => Promise<{ items: T[] }>): AsyncGenerator<T> {
  for (let page = 1; ; page++) {
    const { items } = await read(page);
    yield* items;
    if (items.length < PAGE) return;
  }
}

async function* siteRecords(ctx: Ctx) {
  const ids = (await ctx.store.sites.all({})).map(({ id }) => id);
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const [records, connections, parts, monitors] = await Promise.all([
      ctx.store.sites.records(page),
      ctx.store.sites.connections(page),
      ctx.store.siteRecords.parts(page, ['tags', 'ignored']),
      ctx.store.siteImport.monitors(page),
    ]);
    for (const record of records) {
      const connection = connections.get(record.id);
      const { tags = [], ignored = [] } = parts.get(record.id) ?? {};
      const monitor = monitors.get(record.id);
      // Removed while the file is being written.
      if (connection === undefined || monitor === undefined) continue;
      yield siteOf(
        record,
        connection,
        tags.map(({ name }) => name),
        ignored,
        monitor,
      );
    }
  }
}

function siteOf(
  site: SiteRecord,
  connection: SiteConnection,
  tags: string[],
  ignored: readonly IgnoredEntry[],
  monitor: MonitorColumns,
) {
  return {
    key: `site:${site.id}`,
    url: site.url,
    admin: site.admin_username,
    name: site.name,
    private_key: connection.private_key,
    regverify: connection.regverify,
    unique_id: connection.unique_id,
    http_user: connection.http_user,
    http_pass: connection.http_pass,
    ssl_verify: site.ssl_verify === 1,
    ssl_version: site.ssl_version,
    force_use_ipv4: site.force_use_ipv4,
    notes: site.notes,
    client: site.client_id === null ? null : `client:${site.client_id}`,
    suspended: site.suspended === 1,
    tags,
    automatic_update: site.automatic_update === 1,
    backup_before_upgrade: site.backup_before_upgrade,
    disable_health_checking: site.disable_health_checking,
    health_threshold: site.health_threshold,
    monitoring_emails: site.monitoring_emails,
    ignore_core: site.ignore_core === 1,
    ignore_plugins: site.ignore_plugins === 1,
    ignore_themes: site.ignore_themes === 1,
    ignored: ignored.map(ignoredOf),
    monitor: monitorOf(monitor),
    trial_obstacle: '',
  };
}

function ignoredOf({ type, slug, name, version }: IgnoredEntry): FleetIgnored {
  return { type: (UPDATE_TYPES[type] ?? 'plugin') as FleetIgnored['type'], slug, name, version };
}

function monitorOf({ active, interval_min, timeout_s, expected_status, ...same }: MonitorColumns): FleetMonitor {
  return {
    ...(same as Pick<FleetMonitor, 'type' | 'method' | 'keyword' | 'maxretries'>),
    active: active === null ? null : active === 1,
    interval: interval_min as number | null,
    timeout: timeout_s as number | null,
    expected_status: typeof expected_status === 'string' ? (JSON.parse(expected_status) as number[]) : null,
  };
}

/** Addresses, names, logins and tags in the ten columns of the original's import; the columns of secrets stay empty. */
export async function* fleetCsv(ctx: Ctx): AsyncGenerator<string> {
  yield csvLine(ORIGINAL_HEADINGS);
  const TLS: Readonly<Record<number, string>> = { 6: '1.2', 7: '1.3' };
  for await (const site of siteRecords(ctx)) {
    const verify = site.ssl_verify ? '1' : '0';
    const tags = site.tags.join(';');
    yield csvLine([site.name, site.url, site.admin, '', tags, '', '', '', verify, TLS[site.ssl_version] ?? 'auto']);
  }
}
