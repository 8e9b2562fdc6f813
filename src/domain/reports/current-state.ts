/**
 * Segments about the current state rather than events: pending updates, abandoned items, the website, the client
 * (REST §6.8.2).
 */

import { findClient } from '../clients/records.js';
import { wordpressTime } from '../common/time-zones.js';
import type { Ctx } from '../context.js';
import { installedExtensions } from '../extensions/inventory.js';
import { abandonedItems } from '../sites/findings.js';
import { healthScore } from '../sites/health.js';
import { isoTime, loadRecord } from '../sites/sites.js';
import type { Findings, ReportRequest, ReportRow, ReportValue, Section } from './types.js';

const TYPES = ['core', 'plugin', 'theme', 'translation'] as const;
type Type = (typeof TYPES)[number];

/** Available updates, without ignored ones. */
export async function pendingRows(ctx: Ctx, site: { id: number }, types: readonly Type[]): Promise<ReportRow[]> {
  const offers = await ctx.store.updates.ofSites(
    [site.id],
    types.map((type) => TYPES.indexOf(type)),
  );
  return offers.map(({ name, slug, current_version, new_version }) => ({
    at: null,
    fields: { name, slug, current_version, new_version },
  }));
}

export async function abandonedRows(
  ctx: Ctx,
  site: ReportRequest['site'],
  kind: 'plugin' | 'theme',
): Promise<ReportRow[]> {
  const items = await abandonedItems(ctx, site, kind);
  return items.map(({ name, slug, version, last_updated_at }) => ({
    at: null,
    fields: { name, slug, version, last_updated: last_updated_at },
  }));
}

const AS_OF = 'As of the last sync of the site, regardless of the range.';

export async function pendingFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  const lists = [
    ['platform', 'platform', 'core', 'WordPress'],
    ['plugins', 'plugin', 'plugin', 'Plugins'],
    ['themes', 'theme', 'theme', 'Themes'],
    ['translations', 'translation', 'translation', 'Translations'],
  ] as const;
  const sections = await Promise.all(
    lists.map(async ([name, token, type, title]): Promise<Section> => {
      const rows = await pendingRows(ctx, site, [type]);
      return {
        name,
        title: `${title} with an update`,
        count: rows.length,
        countToken: `${token}.pending.count`,
        tokens: {
          name: `${token}.name`,
          slug: `${token}.slug`,
          current_version: `${token}.current.version`,
          new_version: `${token}.new.version`,
        },
        rows,
      };
    }),
  );
  return { sections, values: [], notes: [AS_OF], truncated: false };
}

export async function abandonedFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  const sections = await Promise.all(
    (['plugin', 'theme'] as const).map(async (kind): Promise<Section> => {
      const rows = await abandonedRows(ctx, site, kind);
      return {
        name: `${kind}s`,
        title: kind === 'plugin' ? 'Abandoned plugins' : 'Abandoned themes',
        count: rows.length,
        countToken: `${kind}.abandoned.count`,
        tokens: {
          name: `${kind}.name`,
          slug: `${kind}.slug`,
          version: `${kind}.version`,
          last_updated: 'last.updated',
        },
        rows,
      };
    }),
  );
  return { sections, values: [], notes: [AS_OF], truncated: false };
}

export async function websiteFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  const [record, plugins, themes] = await Promise.all([
    loadRecord(ctx, site.id),
    installedExtensions(ctx, site.id, 'plugin'),
    installedExtensions(ctx, site.id, 'theme'),
  ]);
  const theme = themes.find((item) => item.active === 1);
  const list = (items: typeof plugins) =>
    items.map(({ name, version, active }) => ({ name, version, active: active === 1 ? 'active' : 'inactive' }));
  const orNull = (value: string) => (value === '' ? null : value);
  const values: ReportValue[] = [
    { key: 'site_version', token: 'site.version', title: 'WordPress', kind: 'text', value: orNull(record.wp_version) },
    {
      key: 'site_theme',
      token: 'site.theme',
      title: 'Theme',
      kind: 'text',
      value: theme === undefined ? null : `${theme.name} ${theme.version}`.trim(),
    },
    { key: 'site_php', token: 'site.php', title: 'PHP', kind: 'text', value: orNull(record.php_version) },
    { key: 'site_mysql', token: 'site.mysql', title: 'Database', kind: 'text', value: orNull(record.mysql_version) },
    { key: 'site_health', token: 'site.health', title: 'Health score', kind: 'number', value: healthScore(record) },
    { key: 'last_sync', token: 'site.last.sync', title: 'Last sync', kind: 'moment', value: isoTime(record.last_sync) },
    {
      key: 'installed_plugins',
      token: 'installed.plugins',
      title: 'Installed plugins',
      kind: 'list',
      value: list(plugins),
    },
    {
      key: 'installed_themes',
      token: 'installed.themes',
      title: 'Installed themes',
      kind: 'list',
      value: list(themes),
    },
  ];
  return { sections: [], values, notes: [AS_OF], truncated: false };
}

/** Client tokens are those of the client that the site belongs to; empty if it has none. */
export async function miscFindings(
  ctx: Ctx,
  { site, start_date, end_date, now, zone }: ReportRequest,
): Promise<Findings> {
  const client = site.client_id === null ? null : await findClient(ctx, site.client_id);
  const text = (key: string, token: string, title: string, value: string): ReportValue => ({
    key,
    token,
    title,
    kind: 'text',
    value,
  });
  const values: ReportValue[] = [
    text('report_daterange', 'report.daterange', 'Range', `${start_date} – ${end_date}`),
    {
      key: 'report_send_date',
      token: 'report.send.date',
      title: 'Made on',
      kind: 'date',
      value: wordpressTime(now, zone).slice(0, 10),
    },
    text('client_site_name', 'client.site.name', 'Site', site.name),
    text('client_site_url', 'client.site.url', 'Address', site.url),
    text('client_name', 'client.name', 'Client', client?.name ?? ''),
    // A client here is a single party: its company and its contact share one name.
    text('client_company', 'client.company', 'Company', client?.name ?? ''),
    text('client_contact_name', 'client.contact.name', 'Contact', client?.name ?? ''),
    text('client_email', 'client.email', 'E-mail', client?.email ?? ''),
    text('client_phone', 'client.phone', 'Phone', client?.phone ?? ''),
    text('client_address_1', 'client.contact.address.1', 'Address', client?.address_1 ?? ''),
    text('client_address_2', 'client.contact.address.2', 'Address, second line', client?.address_2 ?? ''),
    text('client_city', 'client.city', 'City', client?.city ?? ''),
    text('client_state', 'client.state', 'State', client?.state ?? ''),
    text('client_zip', 'client.zip', 'ZIP', client?.zip ?? ''),
  ];
  return { sections: [], values, notes: client === null ? ['The site belongs to no client.'] : [], truncated: false };
}
