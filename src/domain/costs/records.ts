/** Cost records: what is paid, for which sites. REST writes them; the operations only read shares. */

import type { costChange, costRecord, newCost } from '../../../schemas/cost.js';
import type { z } from '../../../schemas/zod.js';
import { ServiceError } from '../../runtime/errors.js';
import { dateOf, timestampOf } from '../../runtime/iso-time.js';
import type { CostRow, CostTargets, CostWrite, TargetField } from '../../store/costs/costs.js';
import type { CostFields } from '../../store/costs/fields.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { requireModule } from '../settings/modules.js';
import { changing } from '../storage-messages.js';
import { nextDue, siteCosts } from './costs.js';
import { paymentMethods, productTypes } from './lists.js';

export type CostView = z.output<ReturnType<typeof costRecord>>;
export type NewCost = z.output<ReturnType<typeof newCost>>;
export type CostChange = z.output<ReturnType<typeof costChange>>;

/** One page in name order. Throws `svc_module_not_available`, as every verb here. */
export async function listCosts(ctx: Ctx, page: number, perPage: number) {
  requireModule(ctx, 'cost-tracker');
  const { items, total } = await ctx.store.costs.list(page, perPage);
  return { items: items.map((cost) => costView(ctx, cost)), page, per_page: perPage, total };
}

/** Names of each kind that a row has. */
const NAMES = 5;

/** One page, with the names of what each covers. Throws as `listCosts`. */
export async function listNamedCosts(ctx: Ctx, page: number, perPage: number) {
  const { items, total } = await listCosts(ctx, page, perPage);
  const names = await ctx.store.costs.namesOf(
    items.map(({ id }) => id),
    NAMES,
  );
  const costs = items.map((cost) => {
    const { sites = [], groups = [], clients = [] } = names.get(cost.id) ?? {};
    return { ...cost, site_names: sites, group_names: groups, client_names: clients };
  });
  return { costs, total, page, per_page: perPage };
}

/** Undefined if there is no such cost. */
export async function getCost(ctx: Ctx, id: number): Promise<CostView | undefined> {
  requireModule(ctx, 'cost-tracker');
  const cost = await ctx.store.costs.find(id);
  return cost === undefined ? undefined : costView(ctx, cost);
}

/** Throws `svc_cost_not_found` for none. */
export function requireCost(cost: CostView | undefined, id: number): CostView {
  if (cost !== undefined) return cost;
  throw new ServiceError('svc_cost_not_found', `No cost has the id ${id}.`, { field: 'cost_id' });
}

/**
 * Throws `svc_invalid_input` (blank name, a subscription without renewal_type, a product type or payment method on no list), and
 * `svc_site_not_found`, `svc_tag_not_found` or `svc_client_not_found` for a target that does not exist.
 */
export async function addCost(ctx: Ctx, input: NewCost): Promise<CostView> {
  requireModule(ctx, 'cost-tracker');
  const { fields, targets } = parts(input);
  const settled = consistent(fields as CostFields);
  await requireListed(ctx, settled);
  const write = await changing('svc_operation_failed', 'The cost was not stored.', () =>
    ctx.store.costs.add(settled, targets, ctx.clock.now()),
  );
  const cost = stored(write, targets);
  if (cost === undefined) throw new ServiceError('svc_operation_failed', 'The cost was not stored. Nothing changed.');
  ctx.events.emit({ name: 'cost.added', facts: head(cost) });
  return costView(ctx, cost);
}

/**
 * Only the given fields change; given targets replace the previous ones. Undefined if there is no such cost. Throws as
 * `addCost`.
 */
export async function updateCost(ctx: Ctx, id: number, change: CostChange): Promise<CostView | undefined> {
  requireModule(ctx, 'cost-tracker');
  const { fields, targets } = parts(change);
  const known = await ctx.store.costs.find(id);
  if (known === undefined) return undefined;
  if (Object.keys(fields).length + Object.keys(targets).length === 0) return costView(ctx, known);
  const settled = consistent({ ...known, ...fields });
  // A stored value may have been removed from its list since: only new choices are validated.
  await requireListed(ctx, fields);
  const write = await changing('svc_operation_failed', 'The cost was not changed.', () =>
    ctx.store.costs.update(id, settled, targets, ctx.clock.now()),
  );
  const cost = stored(write, targets);
  if (cost === undefined) return undefined;
  ctx.events.emit({ name: 'cost.updated', facts: head(cost) });
  return costView(ctx, cost);
}

/** Returns the deleted record; undefined if there is no such cost. */
export async function deleteCost(ctx: Ctx, id: number): Promise<CostView | undefined> {
  const cost = await getCost(ctx, id);
  if (cost === undefined) return undefined;
  const removed = await changing('svc_operation_failed', 'The cost was not deleted.', () => ctx.store.costs.remove(id));
  if (!removed) return undefined;
  ctx.events.emit({ name: 'cost.deleted', facts: head(cost) });
  return cost;
}

/** Splits the given members into columns and targets. */
function parts(input: NewCost | CostChange): { fields: Partial<CostFields>; targets: Partial<CostTargets> } {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const isTarget = (name: string) => name === 'sites' || name === 'groups' || name === 'clients';
  return {
    fields: Object.fromEntries(given.filter(([name]) => !isTarget(name))),
    targets: Object.fromEntries(given.filter(([name]) => isTarget(name))),
  };
}

/** A lifetime cost has no renewals; a subscription must say how often it renews. */
function consistent(fields: CostFields): CostFields {
  if (fields.name === '') throw invalid('name', 'name is blank', 'Send a name with at least one visible character.');
  if (fields.type === 'lifetime') return { ...fields, renewal_type: null };
  if (fields.renewal_type === null) {
    throw invalid(
      'renewal_type',
      'a subscription needs renewal_type',
      'Send weekly, monthly, quarterly or yearly, or type lifetime for a cost that is paid once.',
    );
  }
  return fields;
}

/** A product type or payment method that is on no list would not be shown anywhere. Blank means none. */
async function requireListed(ctx: Ctx, { product_type = '', payment_method = '' }: Partial<CostFields>): Promise<void> {
  if (product_type !== '') requireSlug('product_type', product_type, await productTypes(ctx));
  if (payment_method !== '') requireSlug('payment_method', payment_method, await paymentMethods(ctx));
}

function requireSlug(field: string, slug: string, list: readonly { slug: string }[]): void {
  const slugs = list.map((entry) => entry.slug);
  if (slugs.includes(slug)) return;
  throw invalid(
    field,
    `${field} is not in the list`,
    `Send one of ${slugs.slice(0, 20).join(', ')}, or add yours to the cost tracker settings.`,
  );
}

function invalid(field: string, what: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${what}. Nothing changed.`, { field, advice });
}

const NOT_FOUND = {
  sites: { code: 'svc_site_not_found', what: 'site' },
  groups: { code: 'svc_tag_not_found', what: 'tag' },
  clients: { code: 'svc_client_not_found', what: 'client' },
} as const satisfies Record<TargetField, unknown>;

/** The cost of a successful write; undefined if it had been deleted. */
function stored(write: CostWrite, targets: Partial<CostTargets>): CostRow | undefined {
  if (write.outcome === 'stored') return write.cost;
  if (write.outcome === 'no_cost') return undefined;
  const { field, id } = write.missing;
  const { code, what } = NOT_FOUND[field];
  const at = `${field}[${(targets[field] ?? []).indexOf(id)}]`;
  throw new ServiceError(code, `${at}: no ${what} has the id ${id}. Nothing changed.`, {
    field: at,
    advice: `Find the right ids with list-${what}s-v1.`,
  });
}

function head(cost: { id: number; name: string }) {
  return { cost_id: cost.id, cost_name: cost.name };
}

function costView(ctx: Ctx, cost: CostRow): CostView {
  return {
    ...(cost as CostRow & Pick<CostView, 'kind' | 'type' | 'license_type' | 'cost_status' | 'renewal_type'>),
    next_renewal: nextDue(cost, dateOf(ctx.clock.now())),
    sites: [...cost.sites],
    groups: [...cost.groups],
    clients: [...cost.clients],
    created_at: timestampOf(cost.created_at),
    updated_at: timestampOf(cost.updated_at),
  };
}

/**
 * The costs of a site, each with the share of the site (REST §6.3 R35), by next due date. Throws
 * `svc_module_not_available`.
 */
export async function siteCostRecords(ctx: Ctx, site: SiteRow) {
  const { costs: shares, total_monthly, total_yearly } = await siteCosts(ctx, site.id);
  const records = await ctx.store.costs.findMany(shares.map(({ id }) => id));
  const byId = new Map(records.map((record) => [record.id, record]));
  const costs = shares.flatMap((share) => {
    const record = byId.get(share.id);
    return record === undefined ? [] : [{ ...costView(ctx, record), ...share }];
  });
  return { costs, total_monthly, total_yearly };
}
