/** Changing the settings of one site through the REST interface (REST §6.3.1). */

import { ServiceError } from '../../core/errors.js';
import type { SiteSettings } from '../../store/sites/settings.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { isStorageError } from '../common/storage-errors.js';
import type { Ctx } from '../context.js';
import { linkError, loadRecord, requireLinks } from './sites.js';

export interface SiteEdit extends Omit<SiteSettings, 'url'> {
  protocol?: 'http' | 'https';
}

/**
 * Changes only the given fields, all or none. Throws `svc_client_not_found`, `svc_tag_not_found`,
 * `svc_rest_site_exists` when another site has the address under the new scheme.
 */
export async function editSite(ctx: Ctx, site: SiteRow, { protocol, ...edit }: SiteEdit): Promise<SiteRow> {
  await requireLinks(ctx, edit.client_id ?? undefined, { tags: edit.tags ?? [] });
  const url = protocol === undefined ? undefined : site.url.replace(/^https?:/, `${protocol}:`);
  const change: SiteSettings = { ...edit, ...(url === undefined || url === site.url ? {} : { url }) };
  try {
    await ctx.store.siteSettings.change(site, change);
  } catch (error) {
    throw isStorageError(error, 'unique') ? taken(url ?? site.url) : linkError(error);
  }
  const fields = Object.keys(change);
  if (fields.length > 0) ctx.events.emit({ name: 'site.updated', site_id: site.id, facts: { fields } });
  const now = await loadRecord(ctx, site.id);
  tellMarks(ctx, site, now);
  return now;
}

function tellMarks(ctx: Ctx, before: SiteRow, after: SiteRow): void {
  const was = before.status === 'suspended';
  const is = after.status === 'suspended';
  if (was === is) return;
  ctx.events.emit({ name: is ? 'site.suspended' : 'site.unsuspended', site_id: after.id, facts: {} });
}

function taken(url: string): ServiceError {
  return new ServiceError('svc_rest_site_exists', `Another site has the address ${url}.`, {
    field: 'protocol',
    advice: 'Remove the other record first.',
  });
}
