/** Sites that are to be the first of a rollout because little is lost if they break: what is known of each, and in words. */

import type { CANARY_CHOICES } from '../../../../schemas/rollout.js';
import { siteWord } from '../../../../schemas/site-text.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { Ctx } from '../../context.js';

export type CanaryChoice = (typeof CANARY_CHOICES)[number];

/** By what the sites of a plan are ordered, the best first; those of which it is not known are missing. */
export interface Merits {
  choice: CanaryChoice;
  /** The lowest is the best. */
  ranks: ReadonlyMap<number, number>;
  /** What is known of a site, for a person. */
  words(siteId: number): string;
}

const DAY_MS = 86_400_000;
/** A count of visits that is older says nothing of today. */
const VISITS_KEPT_MS = 30 * DAY_MS;
/** Canaries that are named; the others are counted. */
const NAMED = 5;

const KNOWN: Record<CanaryChoice, { best: string; unknown: string; none: string; advice: string }> = {
  newest_backup: {
    best: 'with the newest backups',
    unknown: 'no backup is known',
    none: 'No backup is known of any site that could come first.',
    advice:
      'Sync them: MainWP Child reports the last backup of UpdraftPlus, BackWPup, BackupBuddy, WP Time Capsule, BackUpWordPress and WPvivid.',
  },
  least_traffic: {
    best: 'with the fewest visits',
    unknown: 'the visits are not known',
    none: 'No visits are known of any site that could come first.',
    advice: 'Guards count them since version 1.6.0, over at least a whole day: read them with get-site-guard-v1.',
  },
};

/** Reads what is known of these sites. */
export async function meritsOf(ctx: Ctx, choice: CanaryChoice, siteIds: readonly number[]): Promise<Merits> {
  const now = ctx.clock.now();
  const rows =
    choice === 'newest_backup'
      ? (await ctx.store.canaries.backups(siteIds)).map(({ site_id, url, last_backup }) => ({
          site_id,
          rank: -last_backup,
          words: `${siteWord(hostOf(url))}: ${isoTime(last_backup * 1000)}`,
        }))
      : (await ctx.store.canaries.visits(siteIds, now - VISITS_KEPT_MS)).map(({ site_id, url, visits, days }) => ({
          site_id,
          rank: visits / days,
          words: `${siteWord(hostOf(url))}: about ${Math.round(visits / days)} a day`,
        }));
  const words = new Map(rows.map((row) => [row.site_id, row.words]));
  return {
    choice,
    ranks: new Map(rows.map(({ site_id, rank }) => [site_id, rank])),
    words: (siteId) => words.get(siteId) ?? '',
  };
}

function hostOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`;
}

/** What to tell if no site can be chosen. */
export function noneKnown(choice: CanaryChoice): { message: string; advice: string } {
  const { none, advice } = KNOWN[choice];
  return { message: none, advice };
}

/**
 * `2 canaries: the sites with the newest backups (a.example: …; b.example: …).`
 * @param asked how many there should have been
 */
export function canaryWords(merits: Merits, chosen: readonly number[], asked: number): string {
  const { best, unknown } = KNOWN[merits.choice];
  const more = chosen.length > NAMED ? [`${chosen.length - NAMED} more`] : [];
  const named = [...chosen]
    .sort((a, b) => (merits.ranks.get(a) ?? 0) - (merits.ranks.get(b) ?? 0) || a - b)
    .slice(0, NAMED)
    .map((id) => merits.words(id));
  const head =
    chosen.length === 1
      ? `1 canary: the site ${best.replace('backups', 'backup')}`
      : `${chosen.length} canaries: the sites ${best}`;
  const fewer =
    chosen.length < asked
      ? ` Fewer than the ${asked} asked for: for the other sites, ${unknown}, so they are not used as canaries.`
      : '';
  return `${head} (${[...named, ...more].join('; ')}).${fewer}`;
}
