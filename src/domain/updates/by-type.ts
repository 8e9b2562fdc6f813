/** Updates of one type on one site: applies them by slug, or ignores all of them (REST §6.13). */

import { type ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { loadLiveSite } from '../connection/actions.js';
import type { Ctx } from '../context.js';
import { requireWritable } from '../sites/load.js';
import { REQUIRED } from './backup-first.js';
import type { About } from './checked.js';
import { type Applied, type ApplyError, BROKE, mainError, UNSEEN } from './results.js';
import { runMember } from './runs/call.js';
import { type ChangeMembers, changeMembers } from './runs/can-roll-back.js';
import { type UpdateAnswer, updateOne } from './updates.js';

/** Type names of the interface, in the order of the type numbers. */
export const REST_TYPES = ['wp', 'plugins', 'themes', 'translations'] as const;
export type RestType = (typeof REST_TYPES)[number];

export type SlugResult =
  | ({ success: 1; name: string; old_version: string; version: string } & ChangeMembers)
  | { success: 0; error: string; message: string; version?: string };

export interface TypeResult {
  /** By slug. */
  results: Record<string, SlugResult>;
  /** What has been wrong with the site as a whole, or apart from the versions, since the updates. */
  errors: ApplyError[];
  about: About;
  /** The call ran out of time: the rest continues as this job. */
  job?: { job_id: string; status_url: string };
}

const FAILURES: Record<RestType, ErrorCode> = {
  wp: 'svc_rest_upgrade_wp_of_site_error',
  plugins: 'svc_rest_upgrade_plugins_of_site_error',
  themes: 'svc_rest_upgrade_themes_of_site_error',
  translations: 'svc_rest_upgrade_translations_of_site_error',
};

/**
 * Applies updates of one type. Without slugs, all that are not ignored; a named slug is updated even if it is ignored,
 * because the request is explicit. Throws if none of what was asked for was updated and nothing is still under way.
 */
export async function updateOfType(
  ctx: Ctx,
  site: SiteRow,
  type: RestType,
  slugs: readonly string[],
): Promise<TypeResult> {
  const target = await loadLiveSite(ctx, site);
  requireWritable(target);
  const params = {
    types: [REST_TYPES.indexOf(type)],
    specific_items: [...new Set(slugs)].sort(),
    ...(type === 'wp' || slugs.length > 0 ? { even_ignored: true } : {}),
  };
  const offers = await ctx.store.updates.ofSite(site.id, params.types, params.even_ignored === true);
  const wanted = offers.some(({ slug }) => slugs.length === 0 || slugs.includes(slug));
  const { updated, errors, job_id, status_url, ...about } = wanted ? await updateOne(ctx, target, params) : NOTHING;
  const items = errors.filter((error) => error.slug !== '' && !updated.some(({ slug }) => slug === error.slug));
  const results = Object.fromEntries([...updated.map(succeeded), ...items.map(failure)]);
  const job = job_id === undefined || status_url === undefined ? undefined : { job_id, status_url };
  for (const slug of slugs) if (job === undefined) results[slug] ??= NO_UPDATE;
  const failed = errors.length > 0 || (slugs.length > 0 && job === undefined);
  if (updated.length === 0 && failed) throw allFailed(type, site, errors, { ...runMember(about), results, ...job });
  return {
    results,
    errors: errors.filter((error) => !items.includes(error)),
    about,
    ...(job && { job }),
  };
}

const NOTHING: UpdateAnswer = { updated: [], errors: [] };

const NO_UPDATE: SlugResult = {
  success: 0,
  error: 'no_update',
  message: 'No update is on offer: it is up to date, or not installed.',
};

function succeeded(item: Applied): [string, SlugResult] {
  const { slug, name, old_version, new_version } = item;
  return [slug, { success: 1, name, old_version, version: new_version, ...changeMembers(item) }];
}

function failure({ slug, code, message, new_version: version }: ApplyError): [string, SlugResult] {
  return [slug, { success: 0, error: code, message, ...(version === undefined ? {} : { version }) }];
}

/** Codes of an item that say more about the whole call than that it failed. */
const OWN = [...UNSEEN, BROKE, REQUIRED] as const;

function allFailed(type: RestType, site: SiteRow, errors: readonly ApplyError[], outcome: object): ServiceError {
  const main = mainError(errors);
  const own = OWN.find((code) => code === main?.code);
  const code = own ?? FAILURES[type];
  return new ServiceError(code, main?.message ?? 'None of these slugs has an update on offer.', {
    ...(own === BROKE || own === REQUIRED ? {} : { advice: 'Sync the site to see its current state, then try again.' }),
    data: { site_id: site.id, ...outcome },
  });
}
