/** Versions that would be on offer were they not quarantined or ignored, so that a list of updates says why it leaves them out. */

import { siteWord } from '../../../schemas/site-text.js';
import type { HeldBackRow, NarrowedQuery, Narrowing } from '../../store/updates/filters.js';
import { counted } from '../common/question.js';
import type { Ctx } from '../context.js';
import { NO_NARROWING } from '../extensions/offer-filters.js';
import { UPDATE_TYPES } from './results.js';
import { quarantineReasons } from './safe/quarantine.js';

/** Versions listed: those on most sites. Their number covers all. */
const LISTED = 10;
/** Ids of sites listed for each. */
const SITES = 5;

/** Members of a list of updates; none if nothing that it asks for is quarantined, ignored, or that of a suspended site. */
export async function heldBackMembers(
  ctx: Ctx,
  { narrowing = NO_NARROWING, ...query }: Omit<NarrowedQuery, 'narrowing'> & { narrowing?: Narrowing | undefined },
): Promise<{ held_back?: string[]; total_held_back?: number; on_suspended_sites?: number; ignored?: string }> {
  const { items, total, suspended, ...left } = await ctx.store.narrowedUpdates.heldBack(
    { ...query, narrowing },
    LISTED,
    SITES,
  );
  const others = {
    ...(suspended === 0 ? {} : { on_suspended_sites: suspended }),
    ...(left.ignored === 0 ? {} : { ignored: ignoredWords(left) }),
  };
  if (total === 0) return others;
  const reasons = await quarantineReasons(ctx, items);
  return {
    held_back: items.map((item, at) => `${whatAndWhere(item)}: ${reasons[at] || 'it is quarantined.'}`),
    total_held_back: total,
    ...others,
  };
}

/** How many are ignored, and where that is listed: by a setting of their site, or by an entry. */
function ignoredWords({ ignored, bySite }: { ignored: number; bySite: number }): string {
  const entries = ignored - bySite;
  const parts = [
    ...(entries === 0 ? [] : [`${entries} by entries that list-ignored-updates-v1 lists`]),
    ...(bySite === 0 ? [] : [`${bySite} by settings of their sites, on the page`]),
  ];
  return `${counted(ignored, 'update')} ${ignored === 1 ? 'is' : 'are'} left out as ignored: ${parts.join(', ')}.`;
}

/** As `plugin akismet/akismet.php on sites 3, 5 and 2 more`. */
function whatAndWhere({ type, slug, sites, site_ids }: HeldBackRow): string {
  const named = JSON.parse(site_ids) as number[];
  const more = sites > named.length ? ` and ${sites - named.length} more` : '';
  return `${UPDATE_TYPES[type]} ${siteWord(slug)} on ${sites === 1 ? 'site' : 'sites'} ${named.join(', ')}${more}`;
}
