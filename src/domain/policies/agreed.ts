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

/**
 * The definition with ids in place of the names of sites, as it is stored: a name can be given to another site later. Throws for
 * a site that there is not.
 */
export async function withSiteIds<D extends Definition>(ctx: Ctx, definition: D): Promise<D> {
  const { site_ids_or_domains, exclude_sites, waves } = definition;
  const ids = async (refs: Definition['exclude_sites'], field: string) =>
    (await requireSites(ctx, refs, field)).map(({ id }) => id);
  return {
    ...definition,
    site_ids_or_domains: await ids(site_ids_or_domains, 'site_ids_or_domains'),
    exclude_sites: await ids(exclude_sites, 'exclude_sites'),
    waves: { ...waves, canary_sites: await ids(waves.canary_sites, 'waves.canary_sites') },
  };
}

/** Ids of the sites that a definition with ids chooses now, whatever is on offer there. */
export function chosenSites({ store }: Pick<Ctx, 'store'>, definition: Definition): Promise<number[]> {
  return store.policies.chosen(definition as Choice);
}

/** A site that a policy does not choose any more has to be agreed to again, if it comes back. */
export async function forgetLeft(ctx: Pick<Ctx, 'store'>): Promise<void> {
  const { policies } = ctx.store;
  for (const policy of await policies.agreed()) {
    const agreed = JSON.parse(policy.agreed_sites) as number[];
    const chosen = new Set(await chosenSites(ctx, definitionOf(policy)));
    const left = agreed.filter((id) => chosen.has(id));
    if (left.length < agreed.length) await policies.narrow(policy, left);
  }
}

/** Those of the sites that need the approval of a person: no person has agreed to them, and a program would have to ask. */
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
