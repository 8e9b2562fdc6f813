/** The costs of a site as complete records, each with the share of the site (REST §6.3 R35). */

import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { siteCosts } from './costs.js';
import { costView } from './records.js';

/** By next due date. Throws `svc_module_not_available`. */
export async function siteCostRecords(ctx: Ctx, site: SiteRow) {
  const { costs: shares, total_monthly, total_yearly } = await siteCosts(ctx, site.id);
  const records = await ctx.store.costs.findMany(
    shares.map(({ id }) => id),
    ctx.actor.denied_sites,
  );
  const byId = new Map(records.map((record) => [record.id, record]));
  const costs = shares.flatMap((share) => {
    const record = byId.get(share.id);
    return record === undefined ? [] : [{ ...costView(ctx, record), ...share }];
  });
  return { costs, total_monthly, total_yearly };
}
