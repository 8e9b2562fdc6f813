/** Changes the settings of one site (operations §8 S5, REST §6.3.1). */

import type { FieldChanges } from '../../runtime/events.js';
import type { SiteSettings } from '../../store/sites/settings.js';
import type { SiteRecord, SiteRow, TaggedSite } from '../../store/sites/sites.js';
import { changesOf } from '../action-log/fields.js';
import type { Ctx } from '../context.js';
import { firstCertificateLook } from '../monitoring/certificates.js';
import { linkError, loadRecord, requireLinks } from '../sites/sites.js';
import { isStorageError } from '../storage-errors.js';
import { reconnectReleased } from './actions.js';
import { addressTaken, isSameServer, verifyMove } from './move.js';

/** Fields whose earlier values the action log keeps, so that a change can be undone. */
const KEPT = [
  'name',
  'notes',
  'client_id',
  'ssl_verify',
  'ssl_version',
  'force_use_ipv4',
  'automatic_update',
  'backup_before_upgrade',
  'disable_health_checking',
  'health_threshold',
  'monitoring_emails',
  'ignore_core',
  'ignore_plugins',
  'ignore_themes',
] as const satisfies readonly (keyof SiteRecord & keyof SiteSettings)[];

export type KeptField = (typeof KEPT)[number];

export function isKept(field: string): field is KeptField {
  return (KEPT as readonly string[]).includes(field);
}

export interface SiteEdit extends Omit<SiteSettings, 'url_key'> {
  protocol?: 'http' | 'https';
}

/**
 * Changes only the given fields, all or none. A new address is accepted if the site itself answers there
 * (`verifyMove`); a change of the scheme alone is not verified. To another server, or without encryption, the stored
 * login is not sent: it has to be given with the address. Lifting a suspension reconnects the site where it must.
 * Throws `svc_client_not_found`, `svc_tag_not_found`, `svc_site_already_exists`, as `verifyMove`, and, with everything
 * stored, as `reconnectReleased`.
 */
export async function editSite(
  ctx: Ctx,
  site: SiteRow,
  { protocol, url: wanted, ...edit }: SiteEdit,
): Promise<TaggedSite> {
  const { tags = [], add_tags = [], remove_tags = [] } = edit;
  await requireLinks(ctx, edit.client_id ?? undefined, { tags, add_tags, remove_tags });
  const move = wanted === undefined ? null : await verifyMove(ctx, site.id, wanted, edit);
  const url = move?.to.url ?? (protocol === undefined ? site.url : site.url.replace(/^https?:/, `${protocol}:`));
  const login = isSameServer(site.url, url) ? {} : await droppedLogin(ctx, site.id, edit);
  const change: SiteSettings = { ...edit, ...login, ...(url === site.url ? {} : { url }), ...move?.to };
  const before = await loadRecord(ctx, site.id);
  try {
    await ctx.store.siteSettings.change(site, change, ctx.clock.now());
  } catch (error) {
    throw isStorageError(error, 'unique') ? addressTaken(url) : linkError(error);
  }
  const fields = Object.keys(change).filter((field) => field !== 'url_key');
  const after = await loadRecord(ctx, site.id);
  if (fields.length > 0)
    ctx.events.emit({
      name: 'site.updated',
      site_id: site.id,
      facts: { fields },
      changed: siteChanges(before, after, fields),
    });
  emitSuspension(ctx, before, after);
  if (move !== null) {
    await ctx.store.inventory.save(after, move.snapshot, ctx.clock.now(), true);
    await firstCertificateLook(ctx, { ...after, certificate_checked_at: null });
  }
  if (edit.suspended === false && before.suspended === 1) await reconnectReleased(ctx, after);
  return loadRecord(ctx, site.id);
}

/** What is stored of the login in front of the site where it may not go along: only what is given. */
async function droppedLogin(ctx: Ctx, id: number, { http_user, http_pass }: SiteEdit): Promise<Partial<SiteSettings>> {
  const stored = (await ctx.store.sites.connections([id])).get(id);
  return (stored?.http_user ?? null) === null ? {} : { http_user: http_user ?? null, http_pass: http_pass ?? null };
}

/** The address, logins and what is secret are not kept. */
function siteChanges(before: TaggedSite, after: TaggedSite, fields: readonly string[]): FieldChanges {
  const had = new Set(tagIds(before));
  const has = new Set(tagIds(after));
  const tags = [...new Set([...had, ...has])].filter((id) => had.has(id) !== has.has(id));
  const others = fields.filter((field) => !isKept(field) && !/^(suspended|(add_|remove_)?tags)$/.test(field));
  return {
    ...Object.fromEntries(others.map((field) => [field, null])),
    ...changesOf(before, after, fields.filter(isKept)),
    ...Object.fromEntries(tags.map((id) => [`tag:${id}`, [had.has(id), has.has(id)] as const])),
  };
}

function tagIds({ tags_json }: TaggedSite): number[] {
  return (JSON.parse(tags_json) as { id: number }[]).map(({ id }) => id);
}

/** A change of the client may also change the suspension. */
function emitSuspension(ctx: Ctx, before: SiteRecord, after: SiteRecord): void {
  if (before.suspended === after.suspended) return;
  const name = after.suspended === 1 ? 'site.suspended' : 'site.unsuspended';
  ctx.events.emit({ name, site_id: after.id, facts: {} });
}
