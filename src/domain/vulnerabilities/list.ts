/** Lists the known vulnerabilities of the fleet: each once for a plugin, theme or core, however many sites have it. */

import { siteWord } from '../../../schemas/site-text.js';
import {
  CORE_FEED_SLUG,
  type Notice,
  SEVERITIES,
  SOFTWARE_TYPES,
  severityName,
  type vulnerabilityFilters,
} from '../../../schemas/vulnerability.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { VulnerabilityRow } from '../../store/vulnerabilities/list.js';
import type { Ctx } from '../context.js';
import { narrowingOf } from '../extensions/offer-filters.js';
import { packagesCalled } from '../extensions/packages.js';
import { getSite } from '../sites/resolve.js';
import { compareVersions } from '../sites/versions.js';
import { type FeedState, feedState } from './state.js';

type Asked = z.output<z.ZodObject<ReturnType<typeof vulnerabilityFilters>>> & { page: number; per_page: number };

/** Maximum number of versions listed per vulnerability, and of sites. */
const VERSIONS = 5;
const SITES = 3;

/** The most severe first, then those on most sites. */
export async function listVulnerabilities(ctx: Ctx, asked: Asked) {
  const { page, per_page } = asked;
  // Tags and clients that do not exist are refused.
  await narrowingOf(ctx, { tag_ids: asked.tag_ids, client_ids: asked.client_ids });
  const site = asked.site_id_or_domain === undefined ? undefined : await getSite(ctx, asked.site_id_or_domain);
  const packages = asked.slug === undefined ? undefined : await packagesOf(ctx, asked.slug);
  const state = await feedState(ctx);
  const filter = {
    severities: asked.severity.map((word) => SEVERITIES.indexOf(word)),
    packages,
    sites: site === undefined ? undefined : [site.id],
    tags: asked.tag_ids,
    clients: asked.client_ids,
    fixed: asked.fixed,
  };
  const found = await ctx.store.vulnerabilities.page(filter, page, per_page, SITES);
  const vulnerabilities = found.rows.map(view);
  return {
    vulnerabilities,
    by_severity: bySeverity(found.severities),
    ...factsOf(state, found.sites, found.unknown),
    total: found.rows_total,
    page,
    per_page,
    notices: found.notices.flatMap((body) => JSON.parse(body) as Notice[]).filter(first),
  };
}

function factsOf(
  { known, checked_at, note }: FeedState,
  sites: number,
  unknown: { unclassified: number; all: number },
) {
  return {
    checked_at,
    note,
    vulnerable_sites: known ? sites : null,
    unknown_sites: known ? unknown.unclassified : unknown.all,
  };
}

/** Packages known by this name; 0 stands for WordPress itself. */
async function packagesOf(ctx: Ctx, term: string): Promise<number[]> {
  const word = term.trim().toLowerCase();
  if (word === CORE_FEED_SLUG || word === 'core' || word === 'platform') return [0];
  const found = await Promise.all([packagesCalled(ctx, 0, term), packagesCalled(ctx, 1, term)]);
  const ids = found.flat();
  if (ids.length > 0) return ids;
  throw new ServiceError(
    'svc_invalid_input',
    `slug: nothing in the fleet is called ${JSON.stringify(term.slice(0, 100))}.`,
    {
      field: 'slug',
      advice: 'Read the slugs with search-fleet-v1 and group_by slug. WordPress itself is called wordpress.',
    },
  );
}

function view(row: VulnerabilityRow) {
  const { versions } = row;
  const sorted = versions.map(([version]) => version).sort(compareVersions);
  // The version that fixes every site; none if some site has no fix.
  const fixes = versions.map(([, fix]) => fix);
  const fixed_in = fixes.includes(null) ? null : ((fixes as string[]).sort(compareVersions).at(-1) ?? null);
  return {
    severity: severityName(row.severity),
    score: row.score,
    type: SOFTWARE_TYPES[row.kind] ?? ('plugin' as const),
    slug: row.slug,
    name: row.name,
    title: row.title,
    cve: row.cve,
    reference: row.reference,
    published: isoTime(row.published),
    versions: sorted.slice(0, VERSIONS),
    fixed_in,
    sites: row.sites,
    first_sites: row.first_sites,
  };
}

/** With the call that names the sites that are left out. */
export async function vulnerabilitiesWithNext(ctx: Ctx, asked: Asked) {
  const { vulnerabilities, ...facts } = await listVulnerabilities(ctx, asked);
  return { ...facts, vulnerabilities: vulnerabilities.map((one) => ({ ...one, ...restOf(one, asked) })) };
}

/** The call finds the sites of this row only: of the tags and clients asked about, and older than what fixes it. */
function restOf(row: ReturnType<typeof view>, { tag_ids, client_ids }: Asked): { next?: string } {
  const { sites, first_sites, type, slug, fixed_in } = row;
  if (sites <= first_sites.length || siteWord(slug) !== slug) return {};
  const isItem = type === 'plugin' || type === 'theme';
  // A version is the word of a feed.
  const below = fixed_in !== null && siteWord(fixed_in) === fixed_in ? fixed_in : undefined;
  const of = isItem
    ? { [type]: slug, vulnerable: true, version_below: below }
    : { vulnerable: 'core', wp_below: below };
  const among = {
    ...(tag_ids.length === 0 ? {} : { tag_ids }),
    ...(client_ids.length === 0 ? {} : { client_ids }),
  };
  return { next: `All ${sites} sites: svc-search-fleet-v1 ${JSON.stringify({ ...of, ...among })}` };
}

function bySeverity(counts: readonly { severity: number | null; n: number }[]) {
  const count = (severity: number | null) => counts.find((row) => row.severity === severity)?.n ?? 0;
  return {
    critical: count(4),
    high: count(3),
    medium: count(2),
    low: count(1),
    none: count(0),
    not_rated: count(null),
  };
}

/** A party whose text appears in several notices is named once. */
function first(one: Notice, at: number, all: readonly Notice[]): boolean {
  return all.findIndex((other) => other.notice === one.notice && other.license === one.license) === at;
}
