/** Costs: the shares of sites and clients (operations §5.9). Records are in records.ts. */

import type { clientCostEntry, costEntry, RenewalType } from '../../../schemas/cost.js';
import type { z } from '../../../schemas/zod.js';
import { dateOf } from '../../runtime/iso-time.js';
import type { CoveringCost } from '../../store/costs/shares.js';
import { type ClientRef, clientHead, findClient } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { decimal, type Fraction, over, plus, rounded, times, ZERO } from './money.js';
import { nextRenewal } from './periods.js';

type CostEntry = z.output<ReturnType<typeof costEntry>>;
type SiteCostEntry = z.output<ReturnType<typeof clientCostEntry>>;

const PER_YEAR: Record<RenewalType, number> = { weekly: 52, monthly: 12, quarterly: 4, yearly: 1 };

/** Costs that cover a site, by next due date. Throws as `getSite`, and `svc_module_not_available`. */
export async function siteCosts(ctx: Ctx, ref: SiteRef) {
  const site = await getSite(ctx, ref);
  requireModule(ctx, 'cost-tracker');
  const records = await ctx.store.costs.ofSite(site.id);
  const today = dateOf(ctx.clock.now());
  const of = (kind: string) => records.filter((one) => one.kind === kind).map((one) => share(one, today));
  const shares = of('cost');
  return {
    site_id: site.id,
    costs: shares.map(({ entry }) => entry).sort(byDueDate),
    ...totals(shares.map(({ yearly }) => yearly)),
    ...incomeTotals(of('income').map(({ yearly }) => yearly)),
  };
}

/** One entry per cost and site of the client. Throws `svc_client_not_found`, `svc_module_not_available`. */
export async function clientCosts(ctx: Ctx, ref: ClientRef) {
  const client = await findClient(ctx, ref);
  requireModule(ctx, 'cost-tracker');
  const { costs, sites } = await ctx.store.costs.ofClient(client.id);
  const today = dateOf(ctx.clock.now());
  const shares = new Map(costs.map((cost) => [cost.id, { ...share(cost, today), kind: cost.kind, sites: 0 }]));
  const entries: SiteCostEntry[] = [];
  for (const { cost_id, site_id, site_name } of sites) {
    const known = shares.get(cost_id);
    if (known === undefined) continue;
    known.sites++;
    if (known.kind === 'cost') entries.push({ ...known.entry, site_id, site_name });
  }
  // One product per cost instead of one sum per row, so that thousands of rows stay cheap.
  const of = (kind: string) =>
    [...shares.values()].flatMap((known) => (known.kind === kind ? [times(known.yearly, known.sites)] : []));
  return {
    ...clientHead(client),
    costs: entries.sort(bySiteName),
    ...totals(of('cost')),
    ...incomeTotals(of('income')),
  };
}

/** What comes in for the same sites; no members where no income is recorded. */
function incomeTotals(yearly: readonly Fraction[]): { income_monthly?: number; income_yearly?: number } {
  if (yearly.length === 0) return {};
  const { total_monthly, total_yearly } = totals(yearly);
  return { income_monthly: total_monthly, income_yearly: total_yearly };
}

interface Share {
  /** As shown. */
  entry: CostEntry;
  /** Exactly: of each payment, and per year (0 unless an active subscription). */
  amount: Fraction;
  yearly: Fraction;
}

/** The share of a cost borne by one covered site. */
export function share(cost: CoveringCost, today: string): Share {
  const price = decimal(cost.price);
  const amount = cost.covered_sites === null ? price : over(price, cost.covered_sites);
  const every = renewalOf(cost);
  const active = cost.cost_status === 'active';
  return {
    entry: {
      id: cost.id,
      name: cost.name,
      amount: rounded(amount),
      frequency: every ?? 'lifetime',
      next_due: nextDue(cost, today),
    },
    amount,
    yearly: active && every !== null ? times(amount, PER_YEAR[every]) : ZERO,
  };
}

/** Next renewal on or after today; null for one-time and inactive costs, and if no renewal is known. */
export function nextDue(
  cost: Pick<CoveringCost, 'type' | 'cost_status' | 'renewal_type' | 'last_renewal'>,
  today: string,
): string | null {
  const every = renewalOf(cost);
  if (every === null || cost.cost_status !== 'active' || cost.last_renewal === null) return null;
  return nextRenewal(cost.last_renewal, every, today);
}

function renewalOf(cost: { type: string; renewal_type: string | null }): RenewalType | null {
  return cost.type === 'subscription' ? (cost.renewal_type as RenewalType | null) : null;
}

/** What these are together. */
export function totals(yearly: readonly Fraction[]): { total_monthly: number; total_yearly: number } {
  const sum = yearly.reduce(plus, ZERO);
  return { total_monthly: rounded(over(sum, 12)), total_yearly: rounded(sum) };
}

/** Earliest first, none last, then the older record. */
function byDueDate(a: CostEntry, b: CostEntry): number {
  return compare(a.next_due ?? '~', b.next_due ?? '~') || a.id - b.id;
}

function bySiteName(a: SiteCostEntry, b: SiteCostEntry): number {
  return compare(a.site_name.toLowerCase(), b.site_name.toLowerCase()) || byDueDate(a, b) || a.site_id - b.site_id;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
