/** Scheduled maintenance: daily sync, site health. Each run is bounded; the next one continues. */

import { ALONE, type Members } from '../../runtime/cluster/members.js';
import { runOnSites } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import { type HealthRule, healthRule, syncDueSince } from '../settings/effects.js';
import { healthScore } from '../sites/health.js';
import { syncHandler } from './handlers.js';

/** Runs of the daily sync per day: it is called every five minutes. */
const RUNS_PER_DAY = 288;
const LEAST_PER_RUN = 20;
/** Longest run: no caller waits for it, and it has ended when the next one is due. */
const RUN_MS = 270_000;

/**
 * Syncs a share of the sites whose last sync is older than the settings allow. Of several processes each takes its part of the sites,
 * by their ids. That is no claim: while processes come and go two may sync one site, which only reads it, or none for one run.
 */
export async function syncDueSites(ctx: Ctx, members: Pick<Members, 'join' | 'part'> = ALONE): Promise<string> {
  await members.join();
  const part = members.part();
  if (part === null) return 'nothing: the other processes do not know about this one yet';
  const total = await ctx.store.sites.count({});
  const { since, per_day } = await syncDueSince(ctx, ctx.clock.now());
  const share = Math.max(LEAST_PER_RUN, Math.ceil((total / part.of / RUNS_PER_DAY) * per_day * 1.2));
  const ids = await ctx.store.dueSites.forSync(since, share, part);
  if (ids.length === 0) return 'nothing due';
  const sites = await ctx.store.sites.records(ids);
  const { done, failures, unfinished } = await runOnSites(ctx, syncHandler, sites, {}, RUN_MS);
  const cut = unfinished.length === 0 ? '' : `, ${unfinished.length} not finished`;
  return `${done.length} synced, ${failures.length - unfinished.length} failed${cut}`;
}

/** Emits `site.unhealthy` for sites whose last health report is below their threshold. */
export async function reportHealth(ctx: Ctx): Promise<string> {
  const global = await healthRule(ctx);
  const judged = (await ctx.store.findings.health()).flatMap((row) => {
    const rule = ruleOf(row, global);
    return rule.notify ? [{ row, threshold: rule.threshold }] : [];
  });
  if (judged.length === 0 && !global.notify) return 'disabled';
  const bad = judged.filter(({ row, threshold }) => {
    const score = healthScore(row);
    return score !== null && (score < threshold || (row.health_critical ?? 0) > 0);
  });
  for (const { row, threshold } of bad) {
    const facts = { health_score: healthScore(row), threshold };
    ctx.events.emit({ name: 'site.unhealthy', site_id: row.site_id, facts });
  }
  return `${bad.length} of ${judged.length} sites below good`;
}

/** A site's own settings: health unchecked 0 no, 1 yes, 2 as the global one; threshold 0 = the global one. */
function ruleOf(row: { disable_health_checking: number; health_threshold: number }, global: HealthRule): HealthRule {
  return {
    notify: row.disable_health_checking === 2 ? global.notify : row.disable_health_checking === 0,
    threshold: row.health_threshold === 0 ? global.threshold : row.health_threshold,
  };
}
