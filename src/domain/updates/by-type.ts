/** Updates of one type on one site: applying them by slug, and ignoring all of them (REST §6.13). */

import { type ErrorCode, ServiceError } from '../../core/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { requireWritable } from '../extensions/extensions.js';
import { loadLiveSite } from '../sites/actions.js';
import { type Applied, type ApplyError, applyOffers, siteFields } from './apply.js';

/** Type words of the interface, in the order of the type numbers. */
export const REST_TYPES = ['wp', 'plugins', 'themes', 'translations'] as const;
export type RestType = (typeof REST_TYPES)[number];

export type SlugResult =
  | { success: 1; name: string; old_version: string; version: string }
  | { success: 0; error: string; message: string };

const FAILURES: Record<RestType, ErrorCode> = {
  wp: 'svc_rest_upgrade_wp_of_site_error',
  plugins: 'svc_rest_upgrade_plugins_of_site_error',
  themes: 'svc_rest_upgrade_themes_of_site_error',
  translations: 'svc_rest_upgrade_translations_of_site_error',
};

/**
 * Applies updates of one type. Without slugs all that is not ignored; a named slug is updated even when it is ignored: an
 * explicit wish beats a standing one. Throws when everything that was sent to the site failed.
 */
export async function updateOfType(
  ctx: Ctx,
  site: SiteRow,
  type: RestType,
  slugs: readonly string[],
): Promise<Record<string, SlugResult>> {
  const target = await loadLiveSite(ctx, site);
  requireWritable(target);
  const { offers } = await ctx.store.inventory.read(site.id);
  const ofType = offers.filter((offer) => offer.type === REST_TYPES.indexOf(type));
  const wanted =
    slugs.length === 0 && type !== 'wp'
      ? ofType.filter((offer) => offer.ignored === 0)
      : ofType.filter((offer) => type === 'wp' || slugs.includes(offer.slug));
  const fleetOffers = wanted.map((offer): FleetOffer => ({ ...offer, ...siteFields(target) }));
  const { updated, errors } =
    fleetOffers.length === 0 ? { updated: [], errors: [] } : await applyOffers(ctx, target, fleetOffers);
  const results = Object.fromEntries([...updated.map(succeeded), ...errors.map(failure)]);
  for (const slug of slugs) results[slug] ??= NO_UPDATE;
  if (updated.length === 0 && errors.length > 0) throw allFailed(type, site, errors, results);
  return results;
}

const NO_UPDATE: SlugResult = {
  success: 0,
  error: 'no_update',
  message: 'No update is on offer: it is up to date, or not installed.',
};

function succeeded({ slug, name, old_version, new_version }: Applied): [string, SlugResult] {
  return [slug, { success: 1, name, old_version, version: new_version }];
}

function failure({ slug, code, message }: ApplyError): [string, SlugResult] {
  return [slug, { success: 0, error: code, message }];
}

function allFailed(
  type: RestType,
  site: SiteRow,
  errors: readonly ApplyError[],
  results: Record<string, SlugResult>,
): ServiceError {
  const [first] = errors;
  const code = first?.code === 'svc_site_offline' ? 'svc_site_offline' : FAILURES[type];
  return new ServiceError(code, first?.message ?? 'The update failed.', {
    advice: 'Sync the site to see its present state, then try again.',
    data: { site_id: site.id, results },
  });
}

const FLAGS = { wp: 'ignore_core', plugins: 'ignore_plugins', themes: 'ignore_themes' } as const;

/** Hides or shows all offers of a type on a site (operations §5.6 "whole-site switches"). */
export async function setTypeIgnored(
  ctx: Ctx,
  site: SiteRow,
  type: keyof typeof FLAGS,
  ignore: boolean,
): Promise<void> {
  await ctx.store.siteSettings.change(site, { [FLAGS[type]]: ignore ? 1 : 0 }, ctx.clock.now());
  ctx.events.emit({ name: ignore ? 'update.ignored' : 'update.unignored', site_id: site.id, facts: { type } });
}
