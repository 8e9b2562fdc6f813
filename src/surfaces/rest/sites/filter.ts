/** The filters that site routes share (REST §3.2). */

import { z } from '../../../../schemas/zod.js';
import type { Ctx } from '../../../domain/context.js';
import { type ResolveError, type Selection, selectionOf } from '../../../domain/sites/resolve.js';
import { allSites } from '../../../domain/sites/sites.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import type { SiteListFilter } from '../../../store/sites/records.js';
import type { SiteFilter, SiteRow } from '../../../store/sites/sites.js';
import { csv, ids, text } from '../params.js';

const STATUSES = ['any', 'connected', 'disconnected', 'suspended', 'available_update'] as const;

export const siteFilter = once(() => ({
  include: ids().optional().describe('Only these site ids, comma-separated.'),
  exclude: ids().optional().describe('Not these site ids, comma-separated.'),
  status: csv(z.enum(STATUSES))
    .optional()
    .describe('any, connected, disconnected, suspended, available_update; a comma list matches any of them.'),
}));

export const siteSearch = once(() => ({
  search: text(255).optional().describe('Part of the id, name or URL, case-insensitive.'),
}));

interface Asked {
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
  status?: readonly (typeof STATUSES)[number][] | undefined;
  search?: string | undefined;
}

/** The filter of a list of sites; empty lists filter nothing. */
export function listFilter({ include, exclude, status = [], search }: Asked): SiteListFilter {
  const states = status.filter((word): word is SiteRow['status'] => word !== 'any' && word !== 'available_update');
  const updates = status.includes('available_update') && !status.includes('any');
  const any = status.length === 0 || status.includes('any');
  return {
    ids: include === undefined || include.length === 0 ? undefined : include,
    exclude,
    search,
    search_ids: search === undefined || search === '' ? undefined : true,
    // A single state is passed as a value, so that an index can be used in its order.
    status: any ? undefined : states.length === 1 ? states[0] : states.length === 0 ? undefined : states,
    with_updates: updates && states.length === 0 ? true : undefined,
    or_with_updates: updates && states.length > 0 ? true : undefined,
  };
}

export const siteChoice = once(() => ({
  include: ids().optional().describe('Only these site ids, comma-separated. Default: every site that matches.'),
  exclude: ids().optional().describe('Not these site ids, comma-separated.'),
}));

/**
 * The sites a multi-site route works on. A filter that was sent but matches no site is refused with
 * `svc_invalid_input`: read as "no filter" it would mean the whole fleet, or include a site that was to be excluded. If
 * only some ids have no site, these are returned as `errors`.
 */
export async function chooseByFilter(
  ctx: Ctx,
  { include, exclude }: Pick<Asked, 'include' | 'exclude'>,
  fitting: SiteFilter = {},
): Promise<Selection> {
  for (const [name, list] of Object.entries({ include, exclude })) {
    if (list?.length === 0) throw noUsable(name, 'contains no site id');
  }
  const leftOut = exclude === undefined ? [] : await allSites(ctx, { ids: exclude });
  if (exclude !== undefined && leftOut.length === 0) throw noUsable('exclude', 'names no site that exists');
  // Named sites are included regardless of their state, so that the caller learns why one of them fails.
  const sites = await allSites(ctx, include === undefined ? { ...fitting, exclude } : { ids: include, exclude });
  if (include !== undefined && sites.length === 0)
    throw noUsable('include', 'names no existing site that is not excluded');
  const unknown = missingOf('exclude', exclude, leftOut);
  const named = include?.filter((id) => exclude?.includes(id) !== true);
  return { ...selectionOf(sites), errors: [...missingOf('include', named, sites), ...unknown] };
}

/** Errors for ids without a site that the caller may see; the other sites are still processed. */
function missingOf(field: string, ids: readonly number[] = [], sites: readonly SiteRow[]): ResolveError[] {
  const found = new Set(sites.map(({ id }) => id));
  return [...new Set(ids)]
    .filter((id) => !found.has(id))
    .map((id) => ({
      identifier: id,
      site_id: id,
      code: 'svc_site_not_found',
      message: `${field}: no site has the id ${id}.`,
    }));
}

/** Like `chooseByFilter`, but requires `include`: for actions that never apply to every site. */
export async function chooseNamed(ctx: Ctx, asked: Pick<Asked, 'include' | 'exclude'>): Promise<Selection> {
  if (asked.include !== undefined) return chooseByFilter(ctx, asked);
  throw new ServiceError('svc_invalid_input', 'include must name at least one site: this call has no "every site".', {
    field: 'include',
    advice: 'Send site ids, comma-separated.',
  });
}

function noUsable(field: string, what: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${field} ${what}. Nothing was done.`, {
    field,
    advice: `Send ids of sites, or leave ${field} out${field === 'include' ? ' to mean every site' : ''}.`,
  });
}
