/**
 * Filters for lists and runs of updates. They only ever narrow: a name that matches nothing, or an unknown tag or
 * client, is refused, because an ignored filter would update more than intended.
 */

import { fold, needle } from '../../../schemas/fold.js';
import type { Level } from '../../../schemas/search.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/rows.js';
import type { ExceptedItem, Narrowing } from '../../store/updates/filters.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { levelNumbers } from './levels.js';
import { isCalled, type Named } from './names.js';

/** As a caller writes them. Blank texts and empty lists filter nothing. */
export interface UpdateFilters {
  search?: string | undefined;
  /** Slug, folder or name of one item, or several. */
  slug?: string | readonly string[] | undefined;
  exclude_slugs?: readonly string[] | undefined;
  tag_ids?: readonly number[] | undefined;
  client_ids?: readonly number[] | undefined;
  level?: readonly Level[] | undefined;
  exclude_tag_ids?: readonly number[] | undefined;
  exclude_client_ids?: readonly number[] | undefined;
  exclude_items?: readonly ExceptedItem[] | undefined;
}

/** The part stored with a job: filters on the updates of a site. */
export interface OfferLimits {
  search?: string;
  slugs?: string[];
  exclude_slugs?: string[];
  levels?: number[];
  /** By site id, or `*` for every site: `type slug` of what is left out there. */
  except?: Record<string, string[]>;
}

/** Known even if no site has an update of it. */
const CORE = { slug: 'platform', name: 'WordPress' };

/** Undefined if nothing narrows. Throws for unknown names, tags and clients. @param slugField what the caller's input calls it */
export async function narrowingOf(ctx: Ctx, asked: UpdateFilters, slugField = 'slug'): Promise<Narrowing | undefined> {
  const { search = '', slug = [], exclude_slugs = [], tag_ids = [], client_ids = [], level = [] } = asked;
  const { exclude_tag_ids = [], exclude_client_ids = [], exclude_items = [] } = asked;
  const wanted = [slug].flat();
  const named = wanted.length + exclude_slugs.length + exclude_items.length;
  const left = exclude_tag_ids.length + exclude_client_ids.length;
  const given = named + tag_ids.length + client_ids.length + left + level.length;
  if (given === 0 && needle(search) === '') return undefined;
  await requireOwners(ctx, tag_ids, client_ids);
  await requireOwners(ctx, exclude_tag_ids, [], 'exclude_tag_ids');
  await requireOwners(ctx, [], exclude_client_ids, 'exclude_client_ids');
  const known = named === 0 ? [] : [CORE, ...(await ctx.store.narrowedUpdates.slugs())];
  const slugs = new Set(known.map((item) => item.slug));
  for (const item of exclude_items) if (!slugs.has(item.slug)) throw unknownItem('exclude_items', item.slug);
  return {
    search,
    slugs: wanted.length === 0 ? undefined : slugsOf(known, wanted, slugField),
    exclude_slugs: slugsOf(known, exclude_slugs, 'exclude_slugs'),
    levels: levelNumbers(level),
    tags: tag_ids,
    clients: client_ids,
    exclude_tags: exclude_tag_ids,
    exclude_clients: exclude_client_ids,
    except: exclude_items,
  };
}

/** Narrows nothing. */
export const NO_NARROWING: Narrowing = {
  search: '',
  exclude_slugs: [],
  levels: [],
  tags: [],
  clients: [],
  exclude_tags: [],
  exclude_clients: [],
  except: [],
};

function slugsOf(known: readonly Named[], terms: readonly string[], field: string): string[] {
  const found = terms.flatMap((term) => {
    const slugs = known.filter((item) => isCalled(item, term)).map(({ slug }) => slug);
    if (slugs.length > 0) return slugs;
    throw unknownItem(field, term);
  });
  return [...new Set(found)];
}

function unknownItem(field: string, term: string): ServiceError {
  return new ServiceError(
    'svc_invalid_input',
    `${field}: nothing in the fleet is called ${JSON.stringify(term.slice(0, 100))}. Nothing was done.`,
    { field, advice: 'Read the slugs with list-updates-v1, or search-fleet-v1 with group_by slug.' },
  );
}

/** Throws for tags and clients that do not exist. */
export async function requireOwners(
  ctx: Ctx,
  tags: readonly number[],
  clients: readonly number[],
  field = 'tag_ids',
): Promise<void> {
  if (tags.length + clients.length === 0) return;
  const missing = await ctx.store.narrowedUpdates.unknownOwners(tags, clients);
  if (missing.tag !== undefined)
    throw new ServiceError('svc_tag_not_found', `${field}: no tag has the id ${missing.tag}. Nothing was done.`, {
      field,
      advice: 'Find the right ids with list-tags-v1.',
    });
  const clientField = field === 'tag_ids' ? 'client_ids' : field;
  if (missing.client !== undefined)
    throw new ServiceError(
      'svc_client_not_found',
      `${clientField}: no client has the id ${missing.client}. Nothing was done.`,
      { field: clientField, advice: 'Find the right ids with list-clients-v1.' },
    );
}

/** The sites that remain for a run. Of sites that were not named, only those with a matching update. */
export async function narrowSites(
  ctx: Ctx,
  sites: readonly SiteRow[],
  narrowing: Narrowing,
  types: readonly number[],
  named: boolean,
): Promise<SiteRow[]> {
  const fitting = named
    ? await ctx.store.narrowedUpdates.sitesOf(narrowing)
    : await ctx.store.narrowedUpdates.sites({ narrowing, types });
  return sites.filter((site) => fitting.has(site.id));
}

/** The part stored with the work on each site; tags and clients have selected the sites already. */
export function limitsOf({ search, slugs, exclude_slugs, levels, except }: Narrowing): OfferLimits {
  return {
    ...(needle(search) === '' ? {} : { search }),
    ...(slugs === undefined ? {} : { slugs: [...slugs] }),
    ...(exclude_slugs.length === 0 ? {} : { exclude_slugs: [...exclude_slugs] }),
    ...(levels.length === 0 ? {} : { levels: [...levels] }),
    ...(except.length === 0 ? {} : { except: bySite(except) }),
  };
}

function bySite(items: readonly ExceptedItem[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { type, slug, site_id } of items) {
    const list = found[site_id ?? EVERYWHERE] ?? [];
    found[site_id ?? EVERYWHERE] = list;
    list.push(`${type} ${slug}`);
  }
  return found;
}

const EVERYWHERE = '*';

/** Whether an update is within the limits. */
export function withinLimits({ site_id, type, slug, name, level }: FleetOffer, limits: OfferLimits): boolean {
  const { search, slugs, exclude_slugs, levels, except = {} } = limits;
  const item = `${type} ${slug}`;
  return (
    except[EVERYWHERE]?.includes(item) !== true &&
    except[site_id]?.includes(item) !== true &&
    (search === undefined || fold(`${slug}\u001f${name}`).includes(needle(search))) &&
    (slugs === undefined || slugs.includes(slug)) &&
    exclude_slugs?.includes(slug) !== true &&
    (levels === undefined || (level !== null && level !== undefined && levels.includes(level)))
  );
}
