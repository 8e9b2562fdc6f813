/** Determines which known vulnerabilities an update fixes. */

import { SEVERITIES, type VersionRange } from '../../../schemas/vulnerability.js';
import type { Ctx } from '../context.js';
import { isAffected } from './classify.js';

interface Offer {
  type: number;
  slug: string;
  current_version: string;
  new_version: string;
}

/** Maximum number of vulnerabilities listed for one update. */
const MOST = 5;

/**
 * By the index of the offer, the vulnerabilities that its new version no longer has: `CVE-2026-12345 (high)`. Empty
 * without a feed, and for versions that the feed does not name: no listed fix does not mean that there is none.
 */
export async function fixesOf(ctx: Ctx, offers: readonly Offer[]): Promise<Map<number, string[]>> {
  if (ctx.config.vulnerability_feed === null || offers.length === 0) return new Map();
  const fixes = new Map<number, string[]>();
  for (const { at, cve, title, severity, ranges } of await ctx.store.classifications.ofOffers(offers)) {
    const offer = offers[at];
    const listed = fixes.get(at) ?? [];
    if (
      offer === undefined ||
      listed.length >= MOST ||
      isAffected(offer.new_version, JSON.parse(ranges) as VersionRange[])
    )
      continue;
    fixes.set(at, [...listed, `${cve ?? title} (${severity === null ? 'not rated' : SEVERITIES[severity]})`]);
  }
  return fixes;
}
