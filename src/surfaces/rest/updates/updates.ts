/** Routes of the updates (REST §6.13). */

import { id } from '../../../../schemas/common.js';
import { LEVELS } from '../../../../schemas/search.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { changeFields } from '../../../../schemas/update.js';
import { z } from '../../../../schemas/zod.js';
import { bounded } from '../../../../schemas/zod-internals.js';
import { loadLiveSite } from '../../../domain/connection/actions.js';
import type { Ctx } from '../../../domain/context.js';
import { narrowingOf, narrowSites, type UpdateFilters } from '../../../domain/extensions/offer-filters.js';
import { requireWritable } from '../../../domain/sites/load.js';
import { loadRecord } from '../../../domain/sites/sites.js';
import { runningUpdates, updatesRevision } from '../../../domain/updates/by-site.js';
import { REST_TYPES, type RestType, updateOfType } from '../../../domain/updates/by-type.js';
import { previewUpdates, suspendedSites } from '../../../domain/updates/preview.js';
import { TYPE_GROUPS, type TypeGroup, UPDATE_TYPES, type UpdateType } from '../../../domain/updates/results.js';
import { once } from '../../../runtime/once.js';
import type { SiteFilter, SiteRow } from '../../../store/sites/sites.js';
import { csv, flag, ids, paging, slugs, text } from '../params.js';
import { type Route, route } from '../route.js';
import { exampleOffer } from '../schemas/examples.js';
import { mapOf, recordOf, writtenOf } from '../schemas/records.js';
import { besides, ignoredByTypeShape, offersOfSite, slugResult, updateRunShape } from '../schemas/updates.js';
import { requireSlugs } from '../sites/extensions.js';
import { chooseByFilter, siteChoice } from '../sites/filter.js';
import { siteRoute } from '../sites/references.js';
import { ignoredByType, ignoredTypes, typesOf, updatesBySite } from '../views/updates.js';
import { ignoredUpdates } from './ignored.js';
import { alreadyRunning, asRun, runId, runOn, runOnOneSite, suspended } from './run.js';

/** Accepts `core`, the name of `wp` in the operations. */
const restWord = (word: unknown) => (word === 'core' ? 'wp' : word);
const typeList = once(() => csv(z.preprocess(restWord, z.enum(['all', ...REST_TYPES]))));
const types = once(() =>
  typeList().default([]).describe('all, wp, plugins, themes, translations, comma-separated. Default all.'),
);
/** Types of a write: a list that was sent but is empty must not mean everything. */
const typesToRun = once(() =>
  typeList()
    .refine((list) => list.length > 0, 'names no type')
    .optional()
    .describe('all, wp, plugins, themes, translations, comma-separated. Default all.'),
);
const ignorable = once(() =>
  csv(z.preprocess(restWord, z.enum(['all', 'wp', 'plugins', 'themes'])))
    .default([])
    .describe('all, wp, plugins, themes, comma-separated. Default all.'),
);
/** A filter of a write: a list that was sent but is empty must not mean everything. */
const filled = <T extends z.ZodTypeAny>(list: T) =>
  list.refine((members: unknown[]) => members.length > 0, 'is empty').optional();
const ofItems = once(() => ({
  slug: filled(slugs()).describe('Only these: slugs or names, comma-separated.'),
  exclude_slugs: filled(slugs()).describe('Not these: slugs or names, comma-separated.'),
  level: filled(csv(z.enum(LEVELS))).describe(
    'patch, minor, major, comma-separated: which part of the version changes.',
  ),
}));
const ofSites = once(() => ({
  tag_ids: filled(ids()).describe('Sites with any of these tags, comma-separated.'),
  client_ids: filled(ids()).describe('Sites of any of these clients, comma-separated.'),
}));
/** Items left out of one call, on one site or on all. */
const MOST_EXCLUDED = 1000;
const leftOut = once(() => ({
  exclude_tag_ids: filled(ids()).describe('No sites with any of these tags, comma-separated.'),
  exclude_client_ids: filled(ids()).describe('No sites of any of these clients, comma-separated.'),
  exclude_items: bounded(
    z
      .array(
        z
          .object({
            type: z.enum(UPDATE_TYPES),
            slug: text(512, 1).describe('Exact slug.'),
            site_id: id().optional().describe('Only on this site; absent = on every site.'),
          })
          .strict(),
      )
      .min(1, 'is empty')
      .max(MOST_EXCLUDED),
  )
    .optional()
    .describe('Not these, as JSON.'),
}));
const search = once(() => text(255).optional().describe('Part of the slug or name, case-insensitive.'));
const slugParam = once(() =>
  slugs().optional().describe('One slug or a comma-separated list. Default: everything on offer.'),
);

const listed = { 1: { plugins: { 'akismet/akismet.php': { ...exampleOffer, active: 1, site_status: 'connected' } } } };

/** Sites that updates are applied to when none is named. */
const OFFERED: SiteFilter = { not_suspended: true, with_updates: 'or_quarantined' };

/** Sites per page: the default returns the whole list for all but very large fleets. */
const PAGE = { standard: 200, max: 500 };

export const updates: readonly Route[] = [
  route({
    on: 'GET /updates',
    summary: 'List updates on offer, by site',
    description:
      'Keyed by site id, type and slug. Ignored offers are left out, and translations while show_language_updates is 0; suspended sites are listed, marked by site_status. Pages are of sites.',
    params: () =>
      z.object({
        type: types(),
        search: search(),
        include: ids().optional(),
        exclude: ids().optional(),
        ...ofItems(),
        ...ofSites(),
        ...paging(PAGE.standard, PAGE.max),
      }),
    example: { total: 1, page: 1, per_page: 200, pages: 1, data: listed },
    returns: () => mapOf(offersOfSite(), 'site id'),
    revision: updatesRevision,
    answer: async ({ type, page, per_page, include, exclude, search: part, ...filters }, ctx) => {
      const asked = { types: typesOf(type), search: part, include, exclude, filters };
      const found = await updatesBySite(ctx, asked, page, per_page);
      return { total: found.total, page, per_page, data: found.data, revision: found.revision };
    },
  }),
  siteRoute({
    on: 'GET /updates/{id_or_domain}',
    summary: 'List updates on offer for one site',
    params: () => ({ type: types(), search: search() }),
    example: { total: 1, data: listed },
    returns: () => z.object({ total: z.number().int(), data: z.record(offersOfSite()).describe('By site id.') }),
    async answer(ctx, site, { type, search: part }) {
      const asked = { types: typesOf(type), search: part, include: [site.id] };
      const { total, data } = await updatesBySite(ctx, asked, 1, 1);
      return { total, data };
    },
  }),
  route({
    on: 'GET /updates/ignored',
    summary: 'List updates that are ignored on every site',
    params: () => z.object({ type: ignorable(), search: search() }),
    returns: () => recordOf(ignoredByTypeShape()),
    answer: async ({ type, search: part }, ctx) => ({ data: await ignoredByType(ctx, null, type, part) }),
  }),
  siteRoute({
    on: 'GET /updates/{id_or_domain}/ignored',
    summary: 'List updates that are ignored on one site',
    description: 'Its own entries and the global ones. ignored_types lists the types it ignores completely.',
    params: () => ({ type: ignorable(), search: search() }),
    returns: () =>
      recordOf(ignoredByTypeShape()).extend({ ignored_types: z.array(z.enum(['wp', 'plugins', 'themes'])) }),
    async answer(ctx, site, { type, search: part }) {
      const ignored_types = await ignoredTypes(ctx, site);
      return { ignored_types, data: await ignoredByType(ctx, site, type, part, ignored_types) };
    },
  }),
  route({
    on: 'POST|PUT|PATCH /updates/update',
    change: 'updates',
    live: true,
    summary: 'Apply updates on every site',
    description: 'Ignored updates are skipped. On very many sites, runs as a job.',
    params: () =>
      z.object({
        type: typesToRun(),
        search: search(),
        ...ofItems(),
        ...ofSites(),
        ...leftOut(),
        ...siteChoice(),
        dry_run: flag()
          .default(false)
          .describe('true: lists what would be updated where, as of the last sync, and changes nothing.'),
        run_id: runId(),
      }),
    returns: updateRunShape,
    answer: async ({ type = [], include, exclude, dry_run, run_id, exclude_items, ...others }, caller) => {
      const ctx = await asRun(caller, run_id);
      const filters = { ...others, exclude_items: exclude_items?.map(exceptedItem) };
      if (dry_run) return preview(ctx, { include, exclude }, type, filters);
      const narrowing = await narrowingOf(ctx, filters);
      const selection = await chooseByFilter(ctx, { include, exclude }, OFFERED);
      if (narrowing !== undefined)
        selection.sites = await narrowSites(ctx, selection.sites, narrowing, typesOf(type), include !== undefined);
      const named = include === undefined ? undefined : selection.sites;
      const running = await runningUpdates(ctx, named);
      return running === undefined ? runOn(ctx, selection, typesOf(type), narrowing) : alreadyRunning(ctx, running);
    },
  }),
  siteRoute({
    on: 'POST|PUT|PATCH /updates/{id_or_domain}/update',
    change: 'updates',
    plan: (ctx, { id }, filters) => previewUpdates(ctx, [id], [], [], undefined, filters),
    live: true,
    summary: 'Apply every update on one site',
    description: 'Ignored updates are skipped.',
    params: () => ({ search: search(), ...ofItems() }),
    returns: updateRunShape,
    async answer(ctx, site, filters) {
      const narrowing = await narrowingOf(ctx, filters);
      // The status of a site that was disconnected since says so instead.
      if ((await loadRecord(ctx, site.id)).suspended === 1) throw suspended(site);
      requireWritable(await loadLiveSite(ctx, site));
      const running = await runningUpdates(ctx, [site]);
      return running === undefined ? runOnOneSite(ctx, site, narrowing) : alreadyRunning(ctx, running);
    },
  }),
  siteRoute({
    on: 'POST|PUT|PATCH /updates/{id_or_domain}/update/wp',
    change: 'updates',
    plan: (ctx, { id }) => previewUpdates(ctx, [id], ['core'], []),
    live: true,
    fails: [504],
    summary: 'Update the core of one site',
    description: 'Even if core updates are ignored: the call is explicit.',
    returns: () =>
      writtenOf(z.object({ old_version: z.string(), version: z.string(), ...changeFields() }).nullable()).extend(
        besides(),
      ),
    async answer(ctx, site) {
      const { results, more } = await apply(ctx, site, 'wp', []);
      const [result] = Object.values(results);
      if (result?.success !== 1) return { message: 'No core update is on offer.', data: null };
      const { success: _, name: _name, ...data } = result;
      const { old_version, version } = data;
      return {
        message: `Updated from ${siteWord(old_version)} to ${siteWord(version)}.`,
        data,
        ...more,
      };
    },
  }),
  typeRoute('plugins'),
  typeRoute('themes'),
  typeRoute('translations'),
  ...ignoredUpdates,
];

function exceptedItem({ type, slug, site_id }: { type: UpdateType; slug: string; site_id?: number | undefined }) {
  return { type: UPDATE_TYPES.indexOf(type), slug, site_id: site_id ?? null };
}

/** Previews the same call: lists the first updates it would apply, and counts all. */
async function preview(
  ctx: Ctx,
  asked: { include?: readonly number[] | undefined; exclude?: readonly number[] | undefined },
  type: readonly ('all' | RestType)[],
  filters: UpdateFilters,
) {
  const chosen = await chooseByFilter(ctx, asked, OFFERED);
  const groups = typesOf(type).map((number) => TYPE_GROUPS[number] as TypeGroup);
  const { would_affect, will_be_skipped, would_update, errors, guidance } = await previewUpdates(
    ctx,
    [],
    groups,
    [],
    async () => chosen.sites,
    filters,
    async () =>
      asked.include === undefined
        ? (await suspendedSites(ctx)).filter(({ id }) => asked.exclude?.includes(id) !== true)
        : [],
  );
  return {
    message: `${would_affect.total} updates would be applied. Nothing was changed.`,
    dry_run: true,
    would_affect,
    will_be_skipped,
    would_update,
    ...(guidance !== undefined && { guidance }),
    errors: [
      ...chosen.errors.map(({ site_id, code, message }) => ({ site_id: site_id ?? 0, slug: '', code, message })),
      ...errors.map(({ site_id, slug, code, message }) => ({ site_id, slug, code, message })),
    ],
  };
}

const EMPTY_SLUG = {
  plugins: 'svc_rest_invalid_plugins_slugs',
  themes: 'svc_rest_invalid_themes_slugs',
  translations: 'rest_invalid_param',
} as const;

/**
 * Applies the updates of a type, and adds what the answer has besides its results: problems of the site since then, the
 * job that does the rest, and the status of the front page if it was visited meanwhile.
 */
async function apply(ctx: Ctx, site: SiteRow, type: RestType, slug: readonly string[]) {
  const began = ctx.clock.now();
  const { results, errors, about, job } = await updateOfType(ctx, site, type, slug);
  const entries = errors.map(({ site_id, slug, code, message }) => ({ site_id, slug, code, message }));
  const { checked_at, http_status } = await loadRecord(ctx, site.id);
  const visited = checked_at !== null && checked_at >= began && http_status !== null;
  const more = {
    ...(entries.length === 0 ? {} : { errors: entries }),
    ...about,
    ...job,
    ...(visited ? { http_code: http_status } : {}),
  };
  return { results, more };
}

function typeRoute(type: Exclude<RestType, 'wp'>): Route {
  return siteRoute({
    on: `POST|PUT|PATCH /updates/{id_or_domain}/update/${type}`,
    change: 'updates',
    plan: (ctx, { id }, { slug = [] }) => previewUpdates(ctx, [id], [type], slug),
    live: true,
    fails: [504],
    summary: `Update ${type} of one site`,
    description: 'Without slug, everything that is not ignored; a named slug is updated even if ignored.',
    params: () => ({ slug: slugParam() }),
    returns: () => writtenOf(z.record(slugResult()).describe('By slug.')).extend(besides()),
    async answer(ctx, site, { slug }) {
      if (slug !== undefined) requireSlugs(slug, EMPTY_SLUG[type]);
      const { results: data, more } = await apply(ctx, site, type, slug ?? []);
      const results = Object.values(data);
      const done = results.filter(({ success }) => success === 1).length;
      const message =
        results.length === 0
          ? `No update of ${type} is on offer.`
          : `${done} of ${results.length} ${type} were updated.`;
      return { message, data, ...more };
    },
  });
}
