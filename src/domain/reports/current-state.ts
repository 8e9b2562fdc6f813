/**
 * Segments about the current state rather than events: pending updates, abandoned items, the website, the client
 * (REST §6.8.2).
 */

import { isoTime } from '../../runtime/iso-time.js';
import { wordpressTime } from '../../runtime/time-zones.js';
import { findClient } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { abandonedItems } from '../sites/findings.js';
import { healthScore } from '../sites/health.js';
import { installedExtensions } from '../sites/inventory.js';
import { loadRecord } from '../sites/sites.js';
import { UPDATE_TYPES, type UpdateType } from '../updates/results.js';
import { type Findings, listValue, numberValue, type ReportRequest, type Section, textValue } from './types.js';

/** Available updates of a type, without ignored ones. */
export async function pendingSection(
  ctx: Ctx,
  site: { id: number },
  type: UpdateType,
  { name, token, title }: { name: string; token: string; title: string },
): Promise<Section> {
  const offers = await ctx.store.updates.visible(site.id, [UPDATE_TYPES.indexOf(type)]);
  return {
    name,
    title,
    present: true,
    count: offers.length,
    countToken: `${token}.pending.count`,
    tokens: {
      name: `${token}.name`,
      slug: `${token}.slug`,
      current_version: `${token}.current.version`,
      new_version: `${token}.new.version`,
    },
    rows: offers.map((offer) => ({
      at: null,
      fields: {
        name: offer.name,
        slug: offer.slug,
        current_version: offer.current_version,
        new_version: offer.new_version,
      },
    })),
  };
}

export async function abandonedSection(
  ctx: Ctx,
  site: ReportRequest['site'],
  kind: 'plugin' | 'theme',
  { name, title }: { name: string; title: string },
): Promise<Section> {
  const items = await abandonedItems(ctx, site, kind);
  return {
    name,
    title,
    present: true,
    count: items.length,
    countToken: `${kind}.abandoned.count`,
    tokens: {
      name: `${kind}.name`,
      slug: `${kind}.slug`,
      version: `${kind}.version`,
      last_updated: 'last.updated',
    },
    rows: items.map((item) => ({
      at: null,
      fields: { name: item.name, slug: item.slug, version: item.version, last_updated: item.last_updated_at },
    })),
  };
}

const AS_OF = "As of the site's last sync, regardless of the range.";

export async function pendingFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  const sections = await Promise.all([
    pendingSection(ctx, site, 'core', { name: 'platform', token: 'platform', title: 'WordPress with an update now' }),
    pendingSection(ctx, site, 'plugin', { name: 'plugins', token: 'plugin', title: 'Plugins with an update now' }),
    pendingSection(ctx, site, 'theme', { name: 'themes', token: 'theme', title: 'Themes with an update now' }),
    pendingSection(ctx, site, 'translation', {
      name: 'translations',
      token: 'translation',
      title: 'Translations with an update now',
    }),
  ]);
  return { sections, values: [], notes: [AS_OF], truncated: false };
}

export async function abandonedFindings(ctx: Ctx, { site }: ReportRequest): Promise<Findings> {
  const sections = await Promise.all([
    abandonedSection(ctx, site, 'plugin', { name: 'plugins', title: 'Abandoned plugins now' }),
    abandonedSection(ctx, site, 'theme', { name: 'themes', title: 'Abandoned themes now' }),
  ]);
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
  const activeTheme = theme === undefined ? null : `${theme.name} ${theme.version}`.trim();
  const values = [
    textValue('text', 'site_version', 'site.version', 'WordPress', orNull(record.wp_version)),
    textValue('text', 'site_theme', 'site.theme', 'Theme', activeTheme),
    textValue('text', 'site_php', 'site.php', 'PHP', orNull(record.php_version)),
    textValue('text', 'site_mysql', 'site.mysql', 'Database', orNull(record.mysql_version)),
    numberValue('number', 'site_health', 'site.health', 'Health score', healthScore(record)),
    textValue('moment', 'last_sync', 'site.last.sync', 'Last sync', isoTime(record.last_sync)),
    listValue('installed_plugins', 'installed.plugins', 'Installed plugins', list(plugins)),
    listValue('installed_themes', 'installed.themes', 'Installed themes', list(themes)),
  ];
  return { sections: [], values, notes: [AS_OF], truncated: false };
}

/** Client tokens are those of the client that the site belongs to; empty if it has none. */
export async function miscFindings(
  ctx: Ctx,
  { site, start_date, end_date, now, zone }: ReportRequest,
): Promise<Findings> {
  const client = site.client_id === null ? null : await findClient(ctx, site.client_id);
  const text = (key: string, token: string, title: string, value: string) =>
    textValue('text', key, token, title, value);
  const today = wordpressTime(now, zone).slice(0, 10);
  const values = [
    text('report_daterange', 'report.daterange', 'Range', `${start_date} – ${end_date}`),
    textValue('date', 'report_send_date', 'report.send.date', 'Created on', today),
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
  return { sections: [], values, notes: client === null ? ['The site has no client.'] : [], truncated: false };
}
