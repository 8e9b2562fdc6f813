/**
 * Exports the whole fleet as records of a fleet file, or as a list of sites in CSV: for another Sitefleet, or for
 * leaving.
 */

import type { FleetMonitor } from '../../../schemas/fleet.js';
import type { MonitorColumns } from '../../store/import/import.js';
import type { IgnoredEntry } from '../../store/sites/records.js';
import type { SiteConnection, SiteRecord } from '../../store/sites/sites.js';
import { csvLine } from '../common/csv.js';
import type { Ctx } from '../context.js';
import { ignoredItems } from './links.js';
import { ORIGINAL_HEADINGS } from './rows.js';

/** Records read from storage at once. */
const PAGE = 200;

/** What an export has of the sites, once it has ended. */
export interface ExportedSites {
  written: number;
  /** There is no stored key for these, or one of their secrets cannot be opened. */
  left_out: Pick<SiteRecord, 'id' | 'url'>[];
}

/**
 * All records, sites in URL order.
 * @param version that of this program
 * @param ended called after the last record
 */
export async function* fleetRecords(
  ctx: Ctx,
  version: string,
  ended: (sites: ExportedSites) => void,
): AsyncGenerator<Record<string, unknown>> {
  const { store } = ctx;
  yield { type: 'source', product: 'sitefleet', version, url: ctx.base_url };
  yield { type: 'ignored', ignored: ignoredItems(await store.siteImport.everywhere()) };
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
  const missing: number[] = [];
  let sites = 0;
  for await (const { record, tags, ignored, connection, monitor } of siteRecords(ctx)) {
    if (connection === undefined || monitor === undefined) {
      missing.push(record.id);
      continue;
    }
    sites++;
    yield { type: 'site', site: siteOf(record, connection, tags, ignored, monitor) };
  }
  for await (const cost of pages((page) => store.costs.list(page, PAGE))) {
    const { id: _, created_at: _c, updated_at: _u, sites: covered, groups, clients, ...fields } = cost;
    const keys = (kind: string, ids: readonly number[]) => ids.map((id) => `${kind}:${id}`);
    const targets = { sites: keys('site', covered), tags: keys('tag', groups), clients: keys('client', clients) };
    yield { type: 'cost', cost: { ...fields, ...targets } };
  }
  yield { type: 'end', sites };
  // Those that are gone by now were removed while the file was being written.
  const left_out = (await store.sites.records(missing)).map(({ id, url }) => ({ id, url }));
  ended({ written: sites, left_out });
}

async function* pages<T>(read: (page: number) => Promise<{ items: T[] }>): AsyncGenerator<T> {
  for (let page = 1; ; page++) {
    const { items } = await read(page);
    yield* items;
    if (items.length < PAGE) return;
  }
}

/** Ids of all sites in URL order, as many at once as are read from storage. */
async function* siteIds(ctx: Ctx): AsyncGenerator<number[]> {
  const ids = (await ctx.store.sites.all({})).map(({ id }) => id);
  for (let from = 0; from < ids.length; from += PAGE) yield ids.slice(from, from + PAGE);
}

/** Sites with what belongs to them. The connection is undefined if a site has no stored key, or a secret cannot be opened. */
async function* siteRecords(ctx: Ctx) {
  for await (const ids of siteIds(ctx)) {
    const [records, connections, parts, monitors] = await Promise.all([
      ctx.store.sites.records(ids),
      ctx.store.sites.connections(ids),
      ctx.store.siteRecords.parts(ids, ['tags', 'ignored']),
      ctx.store.siteImport.monitors(ids),
    ]);
    for (const record of records) {
      const { tags = [], ignored = [] } = parts.get(record.id) ?? {};
      const [connection, monitor] = [connections.get(record.id), monitors.get(record.id)];
      yield { record, tags: tags.map(({ name }) => name), ignored, connection, monitor };
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
    ignored: ignoredItems(ignored),
    monitor: monitorOf(monitor),
    trial_obstacle: '',
  };
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

/**
 * Addresses, names, logins and tags in the ten columns of the original's import; the columns of secrets stay empty, so that
 * none needs to be opened.
 */
export async function* fleetCsv(ctx: Ctx): AsyncGenerator<string> {
  yield csvLine(ORIGINAL_HEADINGS);
  const TLS: Readonly<Record<number, string>> = { 6: '1.2', 7: '1.3' };
  for await (const ids of siteIds(ctx)) {
    const [records, parts] = await Promise.all([
      ctx.store.sites.records(ids),
      ctx.store.siteRecords.parts(ids, ['tags']),
    ]);
    for (const { id, name, url, admin_username, ssl_verify, ssl_version } of records) {
      const tags =
        parts
          .get(id)
          ?.tags.map((tag) => tag.name)
          .join(';') ?? '';
      const verify = ssl_verify === 1 ? '1' : '0';
      yield csvLine([name, url, admin_username, '', tags, '', '', '', verify, TLS[ssl_version] ?? 'auto']);
    }
  }
}
