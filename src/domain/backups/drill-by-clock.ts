/** Scheduled trial restores (drills): the newest backup of each site once a month, one at a time. */

import type { Ctx } from '../context.js';
import { drillBackup } from './drill.js';

/** A site is restored on trial so often, and again sooner where nothing could be verified. */
const DAY_MS = 24 * 3_600_000;
const EVERY_MS = 30 * DAY_MS;
const AGAIN_MS = 7 * DAY_MS;

/** Drills the newest backup of the site whose turn it is. Returns a short summary. */
export async function drillByClock(ctx: Ctx): Promise<string> {
  if ((await ctx.copies.unavailable()) !== null) return 'not possible here';
  const now = ctx.clock.now();
  const due = await ctx.store.siteBackups.dueDrill({ verified: now - EVERY_MS, unverified: now - AGAIN_MS });
  if (due === undefined) return 'none is due';
  const { result, site_id } = await drillBackup(ctx, due.id);
  return `site ${site_id}: ${result}`;
}
