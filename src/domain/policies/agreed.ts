/**
 * The sites on which a person has agreed that a policy acts without being asked. Tags, clients and `automatic_update` choose
 * others later, and programs can change these: such sites are judged as if a program had asked for them.
 */

import { chooseSites } from '../actions/run-on-sites.js';
import { extentOf } from '../approvals/extent.js';
import { approvalRules, judgementOf } from '../approvals/rules.js';
import type { Ctx } from '../context.js';
import { narrowingOf, narrowSites } from '../extensions/offer-filters.js';
import { resolveSites } from '../sites/resolve.js';
import { allSites } from '../sites/sites.js';
import { excludedSites, willingSites } from '../updates/rollouts/plan.js';
import { STARTING } from '../updates/rollouts/start.js';
import type { Definition } from './definition.js';

/** Ids of the sites that the policy chooses now, whatever is on offer there. */
export async function coveredSites(ctx: Ctx, definition: Definition): Promise<number[]> {
  const { tag_ids, client_ids, site_ids_or_domains: refs } = definition;
  const narrowing = await narrowingOf(ctx, { tag_ids, client_ids }, 'slugs');
  const { sites } = await chooseSites(ctx, refs, { whenEmpty: (own) => allSites(own, {}) });
  const chosen = narrowing === undefined ? sites : await narrowSites(ctx, sites, narrowing, [], true);
  const [willing, excluded] = await Promise.all([willingSites(ctx, definition), excludedSites(ctx, definition)]);
  return chosen.map(({ id }) => id).filter((id) => willing?.has(id) !== false && !excluded.has(id));
}

/** Of these sites those on which nobody has agreed, where the rules would have a program ask for them; else none. */
export async function sitesToAsk(
  ctx: Ctx,
  { agreed_sites }: { agreed_sites: string },
  sites: readonly number[],
): Promise<number[]> {
  const agreed = new Set(JSON.parse(agreed_sites) as number[]);
  const joined = sites.filter((id) => !agreed.has(id));
  if (joined.length === 0) return [];
  const rules = await approvalRules(ctx);
  const named = await resolveSites(ctx, joined);
  const extent = extentOf(ctx, { kind: STARTING.kind }, { sites: named.sites, plan: undefined });
  const { mode } = await judgementOf(rules, STARTING.kind, extent, 'mcp');
  return mode === 'auto' ? [] : joined;
}
