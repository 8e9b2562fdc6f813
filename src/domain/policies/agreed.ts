/**
 * The sites on which a person has agreed that a policy acts without being asked. Tags, clients and `automatic_update` choose
 * others later, and programs can change these: such sites are judged as if a program had asked for them.
 */

import type { Choice } from '../../store/policies/policies.js';
import { extentOf } from '../approvals/extent.js';
import { approvalRules, judgementOf } from '../approvals/rules.js';
import type { Ctx } from '../context.js';
import { resolveSites } from '../sites/resolve.js';
import { requireSites } from '../updates/rollouts/plan.js';
import { STARTING } from '../updates/rollouts/start.js';
import { type Definition, definitionOf } from './definition.js';

/** Ids of the sites that the policy chooses now, whatever is on offer there. Throws for a site that there is not. */
export async function coveredSites(ctx: Ctx, definition: Definition): Promise<number[]> {
  const { site_ids_or_domains, exclude_sites } = definition;
  const ids = async (refs: Definition['exclude_sites'], field: string) =>
    (await requireSites(ctx, refs, field)).map(({ id }) => id);
  return ctx.store.policies.chosen({
    ...definition,
    site_ids_or_domains: await ids(site_ids_or_domains, 'site_ids_or_domains'),
    exclude_sites: await ids(exclude_sites, 'exclude_sites'),
  });
}

/** A site that a policy does not choose any more has to be agreed to again, if it comes back. */
export async function forgetLeft({ store: { policies } }: Pick<Ctx, 'store'>): Promise<void> {
  for (const policy of await policies.agreed()) {
    const agreed = JSON.parse(policy.agreed_sites) as number[];
    const chosen = new Set(await policies.chosen(definitionOf(policy) as Choice));
    const left = agreed.filter((id) => chosen.has(id));
    if (left.length < agreed.length) await policies.narrow(policy, left);
  }
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
