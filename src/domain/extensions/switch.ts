/** Activates or deactivates one plugin on many sites: selects the sites, and returns the outcome of each. */

import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { chooseSites, errorEntries, runOrQueue } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { writableOf } from '../sites/load.js';
import type { Selection, SiteRef } from '../sites/resolve.js';
import { refuse } from './act.js';
import { extensionHandler } from './handler.js';
import { itemsCalled } from './names.js';
import { requireOwners } from './offer-filters.js';

export interface SwitchQuery {
  /** Slug, folder or name of one plugin. */
  plugin: string;
  action: 'activate' | 'deactivate';
  /** Empty = all connected sites on which it is in the other state. */
  site_ids_or_domains: readonly SiteRef[];
  /** Both narrow the selection further; empty filters nothing. */
  tag_ids: readonly number[];
  client_ids: readonly number[];
}

const PLUGIN = 0;
/** Maximum number of sites that a preview lists. */
const LISTED = 200;

/** What `switchPlugin` would do with the same arguments, as of the last sync of each site. */
export async function previewSwitch(ctx: Ctx, query: SwitchQuery) {
  const { plugin, packages, selection } = await choose(ctx, query);
  const { writable, refused } = await writableOf(ctx, selection.sites);
  const installed = await ctx.store.inventory.ofPackages(
    packages,
    writable.map(({ id }) => id),
  );
  const bySite = new Map(installed.map((row) => [row.site_id, row]));
  const would: SiteRow[] = [];
  for (const site of writable) {
    const error = refuse(bySite.get(site.id), { kind: 'plugin', action: query.action });
    if (error === null) would.push(site);
    else refused.push({ site, error });
  }
  const errors = errorEntries(selection, refused);
  const already = await inThatState(ctx, query, packages, selection);
  return {
    dry_run: true as const,
    queued: false,
    plugin,
    would_affect: { sites: would.length },
    would_switch: would.slice(0, LISTED).map(({ id, url }) => ({ id, url })),
    ...(already.length === 0
      ? {}
      : { already: already.slice(0, LISTED).map(({ id, url }) => ({ id, url })), total_already: already.length }),
    errors,
    total_errors: errors.length,
  };
}

/** Connected sites on which it is as wanted already: of those that are named, or of all. */
async function inThatState(ctx: Ctx, query: SwitchQuery, packages: readonly number[], { sites }: Selection) {
  const those = await sitesWith(ctx, query, { packages, active: query.action === 'activate' });
  if (query.site_ids_or_domains.length === 0) return those;
  const named = new Set(sites.map(({ id }) => id));
  return those.filter(({ id }) => named.has(id));
}

/**
 * Each site is read afterwards; what the site shows decides. Throws `svc_invalid_input` for a name that matches no
 * plugin of the fleet, or several, and for unknown tags and clients.
 */
export async function switchPlugin(ctx: Ctx, query: SwitchQuery) {
  const { plugin, selection } = await choose(ctx, query);
  const params = { kind: 'plugin' as const, action: query.action, slugs: [plugin.slug] };
  const answer = await runOrQueue(ctx, extensionHandler, selection, params);
  if (answer.queued) return { ...answer, plugin };
  const switched = answer.done.filter(({ result }) => result.errors.length === 0);
  const refused = answer.done.flatMap(({ target: { site }, result }) =>
    result.errors.map((error) => ({ site, error })),
  );
  const errors = errorEntries(selection, [...answer.failures, ...refused]);
  const { job_id, status_url } = answer.continued ?? {};
  return {
    queued: false,
    ...(job_id === undefined ? {} : { job_id, status_url }),
    plugin,
    switched: switched.map(({ target: { site } }) => ({ id: site.id, url: site.url })),
    total_switched: switched.length,
    errors,
    total_errors: errors.length,
  };
}

async function choose(
  ctx: Ctx,
  query: SwitchQuery,
): Promise<{ plugin: { slug: string; name: string }; packages: readonly number[]; selection: Selection }> {
  const { packages, slug, name } = await pluginCalled(ctx, query.plugin);
  await requireOwners(ctx, query.tag_ids, query.client_ids);
  const named = query.site_ids_or_domains.length > 0;
  const active = query.action === 'deactivate';
  const whenEmpty = () => sitesWith(ctx, query, { packages, active });
  const selection = await chooseSites(ctx, query.site_ids_or_domains, { whenEmpty, failWhenNothingResolves: true });
  if (named && query.tag_ids.length + query.client_ids.length > 0) {
    const fitting = new Set((await sitesWith(ctx, query)).map((site) => site.id));
    selection.sites = selection.sites.filter((site) => fitting.has(site.id));
  }
  return { plugin: { slug, name }, packages, selection };
}

/** The connected sites of these tags and clients; with an item, those that have it in this state. */
async function sitesWith(
  ctx: Ctx,
  { tag_ids, client_ids }: SwitchQuery,
  item?: { packages: readonly number[]; active: boolean },
): Promise<SiteRow[]> {
  const { rows } = await ctx.store.fleetSearch.rows(
    {
      status: item === undefined ? undefined : 'connected',
      tags: tag_ids,
      clients: client_ids,
      versions: [],
      items: item === undefined ? [] : [{ kind: PLUGIN, ...item }],
    },
    ['id'],
    1,
    Number.MAX_SAFE_INTEGER,
  );
  return ctx.store.sites.candidates(rows.map((row) => Number(row.id)));
}

/**
 * The plugin, by its slug: sites may report different names for it, each with a package of its own. A part of a name is
 * not enough here: it could switch other plugins than intended.
 */
async function pluginCalled(
  ctx: Ctx,
  term: string,
): Promise<{ packages: readonly number[]; slug: string; name: string }> {
  const known = await ctx.store.fleetSearch.packages(PLUGIN);
  const found = itemsCalled(known, term);
  const slugs = [...new Set(found.map(({ slug }) => slug))];
  const [plugin] = found;
  if (plugin !== undefined && slugs.length === 1) {
    const packages = known.filter(({ slug }) => slug === plugin.slug).map(({ id }) => id);
    return { packages, slug: plugin.slug, name: plugin.name };
  }
  const said = JSON.stringify(term.slice(0, 100));
  throw new ServiceError(
    'svc_invalid_input',
    plugin === undefined
      ? `plugin: no plugin in the fleet is called ${said}. Nothing was done.`
      : `plugin: ${slugs.length} plugins are called ${said}. Nothing was done.`,
    {
      field: 'plugin',
      advice:
        plugin === undefined
          ? 'Find its slug with search-fleet-v1: plugin takes a part of the name, group_by slug.'
          : 'Send the slug of one of them; data.slugs has them.',
      data: slugs.length === 0 ? {} : { slugs: slugs.slice(0, 10) },
    },
  );
}
