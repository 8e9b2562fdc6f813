/** Available updates across the fleet, and applying them. */

import { siteWord } from '../../../schemas/site-text.js';
import type { runSummary, updateSummary } from '../../../schemas/update.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { tally } from '../../runtime/tally.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { QueuedAnswer } from '../actions/jobs.js';
import { type ContinuedJob, chooseSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { itemsCalled } from '../extensions/names.js';
import { limitsOf, narrowingOf, narrowSites, type UpdateFilters } from '../extensions/offer-filters.js';
import { type LoadedSite, loadWritable } from '../sites/load.js';
import { getSite, type ResolveError, resolveSites, type Selection, type SiteRef } from '../sites/resolve.js';
import { allSites } from '../sites/sites.js';
import { fixesOf } from '../vulnerabilities/fixes.js';
import { type About, aboutOf } from './checked.js';
import { updateHandler } from './handler.js';
import { heldBackMembers } from './held-back.js';
import type { UpdateParams } from './params.js';
import { needsMember } from './requirements.js';
import {
  type Applied,
  type ApplyError,
  type ApplyResult,
  BROKE,
  failed,
  mainError,
  siteFields,
  TYPE_GROUPS,
  type TypeGroup,
  UPDATE_TYPES,
  type UpdateType,
} from './results.js';
import { type RunMember, runMember, runUpdatesOn, updateOn } from './runs/call.js';
import { changeMembers } from './runs/can-roll-back.js';

export function typeNumbers(groups: readonly TypeGroup[]): number[] {
  return [...new Set(groups)].map((group) => TYPE_GROUPS.indexOf(group));
}

export function offerEntry(offer: FleetOffer) {
  return {
    site_id: offer.site_id,
    site_url: offer.site_url,
    site_name: offer.site_name,
    type: UPDATE_TYPES[offer.type] ?? ('plugin' as UpdateType),
    slug: offer.slug,
    name: offer.name,
    current_version: offer.current_version,
    new_version: offer.new_version,
  };
}

function fixesMember(fixes: string[] | undefined): { fixes?: string[] } {
  return fixes === undefined ? {} : { fixes };
}

/** How many updates there are of each type, by its number. */
export function countsOf(offers: readonly FleetOffer[]): Map<number, number> {
  return tally(offers.map(({ type }) => type));
}

export function summaryOf(counts: ReadonlyMap<number, number>): z.output<ReturnType<typeof updateSummary>> {
  const [core = 0, plugins = 0, themes = 0, translations = 0] = TYPE_GROUPS.map((_, number) => counts.get(number) ?? 0);
  return { core, plugins, themes, translations, total: core + plugins + themes + translations };
}

/** A site-level entry for an identifier that matched no usable site (operations §6). */
export function unresolved({ identifier, site_id, code, message }: ResolveError): ApplyError {
  return { site_id: site_id ?? 0, site_url: String(identifier), site_name: '', type: 'site', slug: '', code, message };
}

export async function listUpdates(
  ctx: Ctx,
  refs: readonly SiteRef[],
  groups: readonly TypeGroup[],
  page: number,
  perPage: number,
  filters: UpdateFilters = {},
) {
  const narrowing = await narrowingOf(ctx, filters);
  const selection = refs.length === 0 ? null : await resolveSites(ctx, refs);
  const types = typeNumbers(groups);
  const sites = { site_ids: selection?.sites.map((site) => site.id) };
  const { items, counts } =
    narrowing === undefined
      ? await ctx.store.updates.page({ types, ...sites }, page, perPage)
      : await ctx.store.narrowedUpdates.page({ narrowing, types, ...sites }, page, perPage);
  const summary = summaryOf(counts);
  const [fixes, heldBack] = await Promise.all([
    fixesOf(ctx, items),
    heldBackMembers(ctx, { narrowing, types, ...sites }),
  ]);
  return {
    updates: items.map((offer, at) =>
      Object.assign(
        offerEntry(offer),
        { site_status: offer.site_status as SiteRow['status'] },
        fixesMember(fixes.get(at)),
        needsMember(offer),
      ),
    ),
    summary,
    ...heldBack,
    page,
    per_page: perPage,
    total: summary.total,
    errors: (selection?.errors ?? []).map(unresolved),
  };
}

export async function siteUpdates(ctx: Ctx, ref: SiteRef, groups: readonly TypeGroup[]) {
  const site = await getSite(ctx, ref);
  const types = typeNumbers(groups);
  const offers = await ctx.store.updates.visible(site.id, types);
  const [fixes, { on_suspended_sites: _, ...heldBack }] = await Promise.all([
    fixesOf(ctx, offers),
    heldBackMembers(ctx, { types, site_ids: [site.id] }),
  ]);
  return {
    ...siteFields(site),
    updates: offers.map((offer, at) =>
      Object.assign(offerEntry(offer), fixesMember(fixes.get(at)), needsMember(offer)),
    ),
    summary: summaryOf(countsOf(offers)),
    ...heldBack,
  };
}

export interface RunAnswer extends Partial<ContinuedJob>, About, RunMember {
  queued: false;
  updated: Applied[];
  errors: ApplyError[];
  summary: z.output<ReturnType<typeof runSummary>>;
}

type QueuedRun = Omit<QueuedAnswer, 'errors'> & RunMember & { errors: ApplyError[] };

/** Applies matching updates on many sites, now or as a job. Suspended sites are silently left out of "all sites". */
export async function runUpdates(
  ctx: Ctx,
  refs: readonly SiteRef[],
  groups: readonly TypeGroup[],
  specificItems: readonly string[],
  whenEmpty: (ctx: Ctx) => Promise<SiteRow[]> = sitesWithUpdates,
  filters: UpdateFilters = {},
): Promise<RunAnswer | QueuedRun> {
  const narrowing = await narrowingOf(ctx, filters);
  const selection = await chooseSites(ctx, refs, { whenEmpty });
  const types = typeNumbers(groups);
  const params: UpdateParams = { types, specific_items: [...new Set(specificItems)].sort() };
  if (narrowing !== undefined) {
    selection.sites = await narrowSites(ctx, selection.sites, narrowing, types, refs.length > 0);
    params.limits = limitsOf(narrowing);
  }
  return applyOn(ctx, selection, params, await notOffered(ctx, selection.sites, types, params.specific_items));
}

/**
 * Applies updates on the selected sites, now or as a job.
 * @param nowhere errors of named items that are on offer on none of them
 */
export async function applyOn(
  ctx: Ctx,
  selection: Selection,
  params: UpdateParams,
  nowhere: readonly ApplyError[],
): Promise<RunAnswer | QueuedRun> {
  const answer = await runUpdatesOn(ctx, updateHandler, selection, params);
  if (answer.queued) return { ...answer, errors: [...answer.errors.map(unresolved), ...nowhere] };
  const updated = answer.done.flatMap(({ result }) => result.updated);
  const errors = [
    ...selection.errors.map(unresolved),
    // What a running job has installed is no longer available either.
    ...(answer.continued === undefined ? nowhere : []),
    ...answer.failures.map(({ site, error }) => siteError(site, error)),
    ...answer.done.flatMap(({ result }) => result.errors),
  ];
  return {
    queued: false,
    ...answer.continued,
    ...runMember(answer),
    updated,
    errors,
    ...aboutOf(answer.done.map(({ result }) => result)),
    summary: {
      total_updated: updated.length,
      total_errors: errors.length,
      sites_updated: new Set(updated.map((item) => item.site_id)).size,
    },
  };
}

/** Named items for which none of the sites has an update, so that a typo does not look like "nothing to do". */
export async function notOffered(
  ctx: Ctx,
  sites: readonly SiteRow[],
  types: readonly number[],
  slugs: readonly string[],
): Promise<ApplyError[]> {
  if (slugs.length === 0 || sites.length === 0) return [];
  const missing = await ctx.store.updates.offeredNowhere(
    sites.map(({ id }) => id),
    types,
    slugs,
  );
  const [first] = sites;
  const only = sites.length === 1 ? first : undefined;
  const where = only === undefined ? 'on any of these sites' : 'there';
  return missing.map(({ slug, meant }) => ({
    ...siteFields(only ?? { id: 0, url: '', name: '' }),
    type: (types.length === 1 ? UPDATE_TYPES[types[0] ?? 0] : undefined) ?? 'site',
    slug,
    code: 'svc_no_updates',
    message: `No update of ${siteWord(slug)} is on offer ${where}: ${whyNotOffered(meant)}`,
  }));
}

/** @param meant the slug of an update that somebody may call so */
function whyNotOffered(meant: string | null | undefined): string {
  return meant == null ? 'it is up to date, ignored, or not installed.' : `the exact slug is ${siteWord(meant)}.`;
}

export function siteError(site: Pick<SiteRow, 'id' | 'url' | 'name'>, error: ServiceError): ApplyError {
  return failed({ site }, 'site', '', error.code, error.message);
}

/** The meaning of "all sites" for update-all: a site without updates counts but is not contacted (operations §6). */
export function sitesNotSuspended(ctx: Ctx): Promise<SiteRow[]> {
  return allSites(ctx, { not_suspended: true });
}

/** With those of which every update is quarantined: a run tells why it leaves them as they are. */
export async function sitesWithUpdates(ctx: Ctx): Promise<SiteRow[]> {
  return allSites(ctx, { not_suspended: true, with_updates: 'or_quarantined' });
}

/** The outcome of an update of one site, and the job on which it continues. */
export type UpdateAnswer = Pick<ApplyResult, 'updated' | 'errors'> &
  About &
  RunMember &
  Partial<Pick<ContinuedJob, 'job_id' | 'status_url'>>;

/**
 * Updates one site within the time of a direct call. If the work continues as a job, the site has the error
 * `svc_still_running`.
 */
export async function updateOne(ctx: Ctx, target: LoadedSite, params: UpdateParams): Promise<UpdateAnswer> {
  const { result, continued, unfinished, run_id } = await updateOn(ctx, updateHandler, target.site, params);
  const open = unfinished === undefined ? [] : [failed(target, 'site', '', unfinished.code, unfinished.message)];
  return {
    updated: result.updated,
    errors: [...result.errors, ...open],
    ...aboutOf([result]),
    ...runMember({ run_id }),
    ...(continued === undefined ? {} : { job_id: continued.job_id, status_url: continued.status_url }),
  };
}

/** Updates plugins or themes of one site: all that have updates, or the named ones (operations §8.4 U7). */
export async function updateExtensions(ctx: Ctx, ref: SiteRef, kind: 'plugin' | 'theme', slugs: readonly string[]) {
  const target = await loadWritable(ctx, ref);
  const { id: site_id, url: site_url } = target.site;
  const types = [UPDATE_TYPES.indexOf(kind)];
  const offers = await ctx.store.updates.ofSite(target.site.id, types, false);
  const named = [...new Set(slugs)].sort();
  const missing = named.filter((slug) => !offers.some((offer) => offer.slug === slug));
  const notOffered = missing.map((slug) =>
    failed(
      target,
      kind,
      slug,
      'svc_no_updates',
      `No ${kind} update with this slug is on offer: ${whyNotOffered(itemsCalled(offers, slug)[0]?.slug)}`,
    ),
  );
  const wanted = named.length === 0 ? offers.length : named.length - missing.length;
  if (wanted === 0) return { site_id, site_url, updated: [], errors: notOffered, total_updated: 0 };
  const { updated, errors, ...job } = await updateOne(ctx, target, { types, specific_items: named }).catch(
    (error: unknown) => stillOpen(target, error),
  );
  return { site_id, site_url, updated, errors: [...errors, ...notOffered], total_updated: updated.length, ...job };
}

/** Nothing of it is done yet: returned as an answer nevertheless, with an item in its errors. */
function stillOpen(target: LoadedSite, error: unknown): UpdateAnswer {
  if (!(error instanceof ServiceError) || error.data.job_id === undefined) throw error;
  const { job_id, status_url, run_id } = error.data as Omit<ContinuedJob, 'sites_queued'>;
  const errors = [failed(target, 'site', '', error.code, error.message)];
  return { updated: [], errors, job_id, status_url, ...runMember({ run_id }) };
}

/** Updates the core of one site, even if ignored: the request is explicit (operations §8.4 U6). */
export async function updateCore(ctx: Ctx, ref: SiteRef) {
  const target = await loadWritable(ctx, ref);
  const { id: site_id, url: site_url } = target.site;
  const unchanged = (version: string) => {
    return { site_id, site_url, updated: false, old_version: version, new_version: version };
  };
  const types = [UPDATE_TYPES.indexOf('core')];
  const [offer] = await ctx.store.updates.ofSite(target.site.id, types, true);
  const installed = target.site.wp_version;
  if (offer === undefined) return unchanged(installed);
  const { updated, errors, ...job } = await updateOne(ctx, target, {
    types,
    specific_items: [],
    even_ignored: true,
  }).catch((error: unknown) => stillOpen(target, error));
  const [done] = updated;
  if (done !== undefined) {
    const { old_version, new_version } = done;
    const versions = { old_version, new_version, ...changeMembers(done) };
    return { site_id, site_url, updated: true, ...versions, ...errorsMember(errors), ...job };
  }
  if (job.job_id !== undefined) return { ...unchanged(installed), ...errorsMember(errors), ...job };
  // Updated elsewhere since the last sync: nothing was left to do here.
  if (errors.every(({ code }) => code === 'svc_no_updates'))
    return unchanged((await ctx.store.sites.record(site_id))?.wp_version ?? installed);
  throw updateFailed(errors, site_id, job);
}

export async function updateTranslations(ctx: Ctx, ref: SiteRef) {
  const target = await loadWritable(ctx, ref);
  const { id: site_id, url: site_url } = target.site;
  const types = [UPDATE_TYPES.indexOf('translation')];
  const offers = await ctx.store.updates.ofSite(site_id, types, false);
  if (offers.length === 0) return { site_id, site_url, updated: false, translations_updated: 0 };
  const { updated, errors, ...job } = await updateOne(ctx, target, { types, specific_items: [] }).catch(
    (error: unknown) => stillOpen(target, error),
  );
  const count = updated.length;
  if (count === 0 && errors.length > 0 && job.job_id === undefined) throw updateFailed(errors, site_id, job);
  return { site_id, site_url, updated: count > 0, translations_updated: count, ...errorsMember(errors), ...job };
}

function errorsMember(errors: ApplyError[]): { errors?: ApplyError[] } {
  return errors.length === 0 ? {} : { errors };
}

/** Codes of an item that say more about the whole call than "it failed". */
const OWN_CODES = [
  'svc_site_offline',
  'svc_still_running',
  'svc_child_version_outdated',
  'svc_update_exception',
  BROKE,
] as const;

function updateFailed(errors: readonly ApplyError[], siteId: number, run: RunMember): ServiceError {
  const main = mainError(errors);
  const code = OWN_CODES.find((known) => known === main?.code) ?? 'svc_update_failed';
  return new ServiceError(code, main?.message ?? 'The update failed.', {
    ...(code === BROKE ? {} : { advice: 'Sync the site to see its current state, then try again.' }),
    data: { site_id: siteId, ...runMember(run), errors },
  });
}
