/** Tags, clients, costs and ignored updates of a fleet: existing ones are used, missing ones are created. */

import type { FleetCost, FleetIgnored } from '../../../schemas/fleet.js';
import { fold } from '../../../schemas/fold.js';
import { ServiceError } from '../../runtime/errors.js';
import type { IgnoredEntry } from '../../store/sites/records.js';
import { addClient } from '../clients/clients.js';
import { suspendClient } from '../clients/suspension.js';
import type { Ctx } from '../context.js';
import { paymentMethods, productTypes } from '../costs/lists.js';
import { addCost, getCost, updateCost } from '../costs/records.js';
import { addTag } from '../tags/tags.js';
import { UPDATE_TYPES } from '../updates/results.js';
import type { Fleet } from './read.js';

/** How many were created, and how many existed. */
export interface Count {
  added: number;
  exists: number;
}

/** Ids by which sites and costs find related records. */
export interface Links {
  /** By folded name. */
  tags: ReadonlyMap<string, number>;
  /** By key of the file. */
  tagKeys: ReadonlyMap<string, number>;
  clients: ReadonlyMap<string, number>;
  counts: { tags: Count; clients: Count };
  /** What could not be created, and why. */
  warnings: string[];
}

/** Finds or creates the tags and clients of a fleet; in a dry run only finds. */
export async function linkFleet(ctx: Ctx, fleet: Fleet, dryRun: boolean): Promise<Links> {
  const tags = await linkTags(ctx, fleet, dryRun);
  const clients = await linkClients(ctx, fleet, dryRun);
  const warnings = [...tags.warnings, ...clients.warnings];
  return { ...tags, clients: clients.ids, counts: { tags: tags.count, clients: clients.count }, warnings };
}

/** Why a record cannot be stored, although it is well-formed; any other error ends the import. */
function refusal(error: unknown): string {
  if (error instanceof ServiceError && error.code === 'svc_invalid_input') return error.message;
  throw error;
}

/** Tags with these names, created if missing. */
export async function tagIds(ctx: Ctx, names: readonly string[]): Promise<Map<string, number>> {
  const known = await ctx.store.siteImport.tags(names);
  for (const name of names) if (!known.has(fold(name))) known.set(fold(name), await oneTag(ctx, name, null));
  return known;
}

async function linkTags(ctx: Ctx, fleet: Fleet, dryRun: boolean) {
  const wanted = new Map<string, { name: string; color: string | null }>();
  for (const site of fleet.sites) for (const name of site.tags) wanted.set(fold(name), { name, color: null });
  for (const { name, color } of fleet.tags) wanted.set(fold(name), { name, color });
  const tags = new Map(await ctx.store.siteImport.tags([...wanted.values()].map(({ name }) => name)));
  const count = { added: wanted.size - tags.size, exists: tags.size };
  const warnings: string[] = [];
  for (const [key, { name, color }] of wanted) {
    if (tags.has(key) || dryRun) continue;
    try {
      tags.set(key, await oneTag(ctx, name, color));
    } catch (error) {
      warnings.push(`The tag ${JSON.stringify(name)} is not imported: ${refusal(error)}`);
      count.added--;
    }
  }
  const tagKeys = new Map(
    fleet.tags.flatMap(({ key, name }) => {
      const id = tags.get(fold(name));
      return id === undefined ? [] : [[key, id] as const];
    }),
  );
  return { tags, tagKeys, count, warnings };
}

async function oneTag(ctx: Ctx, name: string, color: string | null): Promise<number> {
  try {
    return (await addTag(ctx, { name, color })).id;
  } catch (error) {
    const found = (await ctx.store.siteImport.tags([name])).get(fold(name));
    // Another call created it at the same moment.
    if (found !== undefined && error instanceof ServiceError && error.code === 'svc_already_exists') return found;
    throw error;
  }
}

async function linkClients(ctx: Ctx, fleet: Fleet, dryRun: boolean) {
  const ids = new Map<string, number>();
  const count = { added: 0, exists: 0 };
  const warnings: string[] = [];
  for (const { key, suspended, ...client } of fleet.clients) {
    const known = await ctx.store.siteImport.client(client.name, client.client_email);
    if (known !== undefined) {
      count.exists++;
      ids.set(key, known);
      continue;
    }
    count.added++;
    if (dryRun) continue;
    const email = client.client_email === '' ? {} : { client_email: client.client_email };
    const { client_email: _, ...texts } = client;
    try {
      const added = await addClient(ctx, { ...texts, ...email });
      if (suspended) await suspendClient(ctx, added.id);
      ids.set(key, added.id);
    } catch (error) {
      warnings.push(`The client ${JSON.stringify(client.name)} is not imported: ${refusal(error)}`);
      count.added--;
    }
  }
  return { ids, count, warnings };
}

/** Stored form of ignored updates. */
export function ignoredRows(items: readonly FleetIgnored[]): IgnoredEntry[] {
  return items.map(({ type, ...item }) => ({ ...item, type: UPDATE_TYPES.indexOf(type) }));
}

/** The other way round. */
export function ignoredItems(rows: readonly IgnoredEntry[]): FleetIgnored[] {
  return rows.map(({ type, slug, name, version }) => {
    return { type: (UPDATE_TYPES[type] ?? 'plugin') as FleetIgnored['type'], slug, name, version };
  });
}

/**
 * Creates missing costs, and adds targets to existing ones: a run that was interrupted, or that found some sites
 * unreachable, is completed by the next one. Identical costs are distinguished by their order.
 */
export async function linkCosts(
  ctx: Ctx,
  fleet: Fleet,
  links: Pick<Links, 'tagKeys' | 'clients'>,
  siteIds: ReadonlyMap<string, number>,
  dryRun: boolean,
): Promise<{ count: Count; warnings: string[] }> {
  const count = { added: 0, exists: 0 };
  if (fleet.costs.length === 0) return { count, warnings: [] };
  if (!ctx.config.modules.includes('cost-tracker'))
    return { count, warnings: [`${fleet.costs.length} costs are not imported: the cost-tracker module is disabled.`] };
  const warnings: string[] = [];
  const used = new Map<string, number>();
  const slugs = {
    product_type: new Set((await productTypes(ctx)).map(({ slug }) => slug)),
    payment_method: new Set((await paymentMethods(ctx)).map(({ slug }) => slug)),
  };
  for (const { sites, tags, clients, ...fields } of fleet.costs) {
    const identity = JSON.stringify([fields.kind, fields.name, fields.url, fields.type, fields.renewal_type]);
    const turn = used.get(identity) ?? 0;
    used.set(identity, turn + 1);
    const known = (await ctx.store.siteImport.costs(fields))[turn];
    const targets = {
      sites: idsOf(sites, siteIds),
      groups: idsOf(tags, links.tagKeys),
      clients: idsOf(clients, links.clients),
    };
    if (known === undefined) count.added++;
    else count.exists++;
    if (dryRun) continue;
    try {
      if (known === undefined) await addCost(ctx, { ...listed(fields, slugs), ...targets });
      else await completeCost(ctx, known, targets);
    } catch (error) {
      warnings.push(`The cost ${JSON.stringify(fields.name)} is not imported: ${refusal(error)}`);
      if (known === undefined) count.added--;
      else count.exists--;
    }
  }
  return { count, warnings };
}

type Targets = Record<'sites' | 'groups' | 'clients', number[]>;

async function completeCost(ctx: Ctx, id: number, targets: Targets): Promise<void> {
  const known = await getCost(ctx, id);
  if (known === undefined) return;
  const union = (name: keyof Targets) => [...new Set([...known[name], ...targets[name]])];
  const grown = (['sites', 'groups', 'clients'] as const).filter((name) => union(name).length > known[name].length);
  if (grown.length === 0) return;
  await updateCost(ctx, id, Object.fromEntries(grown.map((name) => [name, union(name)])));
}

function idsOf(keys: readonly string[], ids: ReadonlyMap<string, number>): number[] {
  return [...new Set(keys.flatMap((key) => ids.get(key) ?? []))];
}

/** A product type or payment method that is on no list here becomes a line of the note. */
function listed<T extends Omit<FleetCost, 'sites' | 'tags' | 'clients'>>(
  fields: T,
  slugs: Record<'product_type' | 'payment_method', ReadonlySet<string>>,
): T {
  const lines = [fields.note];
  const kept = (name: 'product_type' | 'payment_method', words: string) => {
    const slug = fields[name];
    if (slug === '' || slugs[name].has(slug)) return slug;
    lines.push(`${words}: ${slug}`);
    return '';
  };
  const changed = {
    product_type: kept('product_type', 'Product type'),
    payment_method: kept('payment_method', 'Payment method'),
  };
  return { ...fields, ...changed, note: lines.filter((line) => line !== '').join('\n') };
}
