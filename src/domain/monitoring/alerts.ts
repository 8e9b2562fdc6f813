/** Alerts, newest first. */

import { isoTime } from '../../runtime/iso-time.js';
import type { AlertRow } from '../../store/monitoring/alerts.js';
import type { Ctx } from '../context.js';

export async function listAlerts(ctx: Ctx, siteIds: readonly number[] | undefined, page: number, perPage: number) {
  const { items, total } = await ctx.store.alerts.list({ site_ids: siteIds }, page, perPage);
  return { items: items.map(view), total };
}

function view({ id, kind, site_id, at, facts, mailed_at }: AlertRow) {
  return {
    id,
    kind,
    site_id,
    time: isoTime(at),
    delivered: mailed_at !== null,
    delivered_at: isoTime(mailed_at),
    facts: JSON.parse(facts) as Record<string, unknown>,
  };
}

export type AlertView = ReturnType<typeof view>;
