/**
 * Previews a policy: what it would do now, as a plan, and what it would have started in the last 30 days, from when versions
 * were first on offer and what the log knows of who got them. The rest of the past is not known, and the answer says so.
 */

import { siteWord } from '../../../schemas/site-text.js';
import { groupBy } from '../../runtime/group-by.js';
import { timestampOf } from '../../runtime/iso-time.js';
import type { Ctx } from '../context.js';
import { levelNumbers } from '../extensions/levels.js';
import { NO_NARROWING, narrowingOf } from '../extensions/offer-filters.js';
import { dashboardZone } from '../settings/effects.js';
import { UPDATE_TYPES } from '../updates/results.js';
import { previewPlan, trustOf } from '../updates/rollouts/plan.js';
import { typeNumbers } from '../updates/updates.js';
import { chosenSites, withSiteIds } from './agreed.js';
import { type Definition, definitionOf, definitionWords, ownerNames, planOf } from './definition.js';
import { dueTimes } from './due.js';
import { knownPolicy } from './policies.js';

const DAY_MS = 86_400_000;
const PAST_DAYS = 30;
/** Versions listed. */
const MOST = 20;

const NOT_KNOWN = [
  'Versions that were first on offer before they were recorded here, and those that no site has offered for 180 days.',
  'Sites on which an offered update went away by other means than Sitefleet.',
  'Which tags and clients sites had then, what was ignored or quarantined, and which sites were down: filters are applied as sites are today.',
];

/** Throws `svc_policy_not_found`, and what planning throws for its filters. */
export async function previewPolicy(ctx: Ctx, id: number) {
  const policy = await knownPolicy(ctx, id);
  return { policy_id: id, name: policy.name, ...(await previewOf(ctx, definitionOf(policy))) };
}

/** The same of one that is not stored. Throws what planning throws for its filters. */
export async function previewDefinition(ctx: Ctx, definition: Definition) {
  return previewOf(ctx, await withSiteIds(ctx, definition));
}

async function previewOf(ctx: Ctx, definition: Definition) {
  const summary = definitionWords(definition, await ownerNames(ctx, [definition]));
  return { summary, now: await previewPlan(ctx, planOf(definition)), past: await pastOf(ctx, definition) };
}

interface Version {
  type: number;
  slug: string;
  version: string;
  first_seen: number;
  /** Sites on which it is on offer now, and what sizes of step it is there. */
  offered: Set<number>;
  levels: Set<number | null>;
}

async function pastOf(ctx: Ctx, definition: Definition) {
  const now = ctx.clock.now();
  const since = now - PAST_DAYS * DAY_MS;
  const age = definition.minimum_age_days * DAY_MS;
  const zone = await dashboardZone(ctx);
  const { ids, fits } = await scopeOf(ctx, definition);
  const updated = await ctx.store.policies.updatedSince(since - age, ids);
  const log = groupBy(updated, ({ context, slug, new_version }) => JSON.stringify([context, slug, new_version]));
  let unknownLevels = 0;
  const found = versionsOf(await ctx.store.policies.offeredSince(since - age, ids)).flatMap((one) => {
    const begun = dueTimes(definition.schedule, zone, one.first_seen + age - 1).next;
    if (begun < since || begun > now || !fits(one)) return [];
    const wanted = levelNumbers(definition.level);
    const sizes = [...one.levels].filter((size) => size !== null);
    if (wanted.length > 0 && sizes.length === 0) unknownLevels += 1;
    if (wanted.length > 0 && !sizes.some((size) => wanted.includes(size))) return [];
    const type = UPDATE_TYPES[one.type] ?? ('plugin' as const);
    const times = log.get(JSON.stringify([type, one.slug, one.version])) ?? [];
    const before = times.filter(({ at }) => at < begun).length;
    return {
      ...{ type, slug: one.slug, version: one.version },
      first_offered_at: timestampOf(one.first_seen),
      would_have_begun_at: timestampOf(begun),
      still_offered: one.offered.size,
      updated_before: before,
      updated_after: times.length - before,
    };
  });
  found.sort((a, b) => (a.would_have_begun_at < b.would_have_begun_at ? 1 : -1));
  return {
    since: timestampOf(since),
    summary: pastWords(found),
    versions: found.slice(0, MOST),
    more_versions: Math.max(0, found.length - MOST),
    not_known: [
      ...NOT_KNOWN,
      ...(definition.only_vulnerable || definition.vulnerable_at_once
        ? ['Which vulnerabilities were known then: versions are listed by their age alone.']
        : []),
      ...(unknownLevels === 0 ? [] : [`The size of the step of ${unknownLevels} versions, which are left out.`]),
    ],
  };
}

/** The sites that the policy chooses today, and whether a version is one of its items. */
async function scopeOf(ctx: Ctx, definition: Definition) {
  const { slugs, exclude_slugs } = definition;
  const types = typeNumbers(definition.types);
  const narrowing = await narrowingOf(ctx, { slug: slugs, exclude_slugs }, 'slugs');
  const trusts = trustOf(definition);
  const { slugs: only, exclude_slugs: except } = narrowing ?? NO_NARROWING;
  return {
    ids: await chosenSites(ctx, definition),
    fits: ({ type, slug }: Version) =>
      trusts({ type, slug }) &&
      (types.length === 0 || types.includes(type)) &&
      (only === undefined || only.includes(slug)) &&
      !except.includes(slug),
  };
}

function pastWords(found: readonly { type: string; slug: string; version: string; would_have_begun_at: string }[]) {
  if (found.length === 0) return `As far as is known, it would have started nothing in the last ${PAST_DAYS} days.`;
  const times = new Set(found.map((one) => one.would_have_begun_at)).size;
  const newest = found
    .slice(0, 3)
    .map(({ type, slug, version }) => `${type} ${siteWord(slug)} ${siteWord(version)}`)
    .join(', ');
  const counted = `${found.length} ${found.length === 1 ? 'version' : 'versions'} at ${times} ${times === 1 ? 'time' : 'times'}`;
  return `In the last ${PAST_DAYS} days it would have started with ${counted}, as far as is known; the newest: ${newest}.`;
}

type Offered = Awaited<ReturnType<Ctx['store']['policies']['offeredSince']>>;

function versionsOf(rows: Offered): Version[] {
  const found = new Map<string, Version>();
  for (const { type, slug, version, first_seen, site_id, level } of rows) {
    const key = JSON.stringify([type, slug, version]);
    const one = found.get(key) ?? { type, slug, version, first_seen, offered: new Set(), levels: new Set() };
    if (site_id !== null) {
      one.offered.add(site_id);
      one.levels.add(level);
    }
    found.set(key, one);
  }
  return [...found.values()];
}
