/** The batch route, `POST /sites/batch`: many items in one call, each with its own outcome (REST §3.6). */

import { type Change, type ChangeKind, GRAVEST_FIRST } from '../../../../schemas/approval.js';
import { cleanLine } from '../../../../schemas/text.js';
import { z } from '../../../../schemas/zod.js';
import { bounded } from '../../../../schemas/zod-internals.js';
import { withoutLogin } from '../../../domain/action-log/call-input.js';
import {
  checkOne,
  disconnectOne,
  reconnectOne,
  removeOne,
  suspendOne,
  syncOne,
} from '../../../domain/connection/actions.js';
import type { Ctx } from '../../../domain/context.js';
import { asServiceError, errorBody, ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import { pooled } from '../../../runtime/pool.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { aliasesOf, type Naming } from '../names.js';
import type { RouteAnswer } from '../route.js';
import { errorInRoutes } from '../route-names.js';
import { errorDataShape } from '../schemas/records.js';
import { parseFields } from '../validate.js';
import { addSiteParams, connectSite } from './add.js';
import { applyEdit, editKinds, editSiteFields } from './edit.js';
import { siteOf } from './references.js';

/** Maximum number of items in one call, over all groups. */
const MAX_ITEMS = 100;
/** Items of one group that run at the same time, if they contact sites. */
const AT_ONCE = 10;
/** Characters of a name or address of a site that is not there. */
const MOST_NAME = 500;

const items = (what: string) => bounded(z.array(z.unknown())).optional().describe(what);
const siteIds = (what: string) => items(`Site ids to ${what}.`);

/** Items are validated one by one when they run: an invalid one must not stop the others. */
export const siteBatchParams = once(() =>
  z.object({
    create: items('Objects with the parameters of POST /sites/add.'),
    update: items('Objects with id and the parameters of …/edit.'),
    delete: siteIds('remove'),
    sync: siteIds('synchronise'),
    reconnect: siteIds('reconnect'),
    disconnect: siteIds('disconnect'),
    suspend: siteIds('suspend'),
    unsuspend: siteIds('lift the suspension of'),
    check: siteIds('check'),
  }),
);

const result = once(() =>
  z.object({
    id: z.number().int().describe('0 if the item names no site.'),
    success: z.union([z.literal(0), z.literal(1)]),
    message: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string(), data: errorDataShape() }).optional(),
  }),
);

/** Only the groups that were sent appear. */
export const batchAnswer = once(() =>
  z.object({
    message: z.string(),
    ...mapShape(siteBatchParams().shape, () => z.array(result()).optional()),
  }),
);

function mapShape<K extends string, T>(shape: Record<K, unknown>, to: () => T): Record<K, T> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, to()])) as Record<K, T>;
}

/** The groups for the interface description: `siteBatchParams` leaves the items to be validated when they run. */
export const describedBatch = once(() =>
  z.object({
    ...mapShape(siteBatchParams().shape, () => z.array(z.union([z.number().int(), z.string()])).optional()),
    create: z.array(addSiteParams()).optional().describe('Sites to add.'),
    update: z
      .array(z.object({ id: z.union([z.number().int(), z.string()]), ...editSiteFields() }))
      .optional()
      .describe("Changes, each with its site's id."),
  }),
);

type Groups = z.output<ReturnType<typeof siteBatchParams>>;
type GroupName = keyof Groups;
/** `site` is the one that the item names; a new site has none yet. */
type Run = (ctx: Ctx, item: unknown, site: number) => Promise<{ id: number; message?: string }>;

const createItem = once(() => addSiteParams().strict());
const editItem = once(() => z.object({ id: z.unknown(), ...editSiteFields() }).strict());

/** The aliases are those of the rows of one site. */
function namingOf(item: z.AnyZodObject, nullIsAbsent: boolean): Naming {
  return { aliases: aliasesOf('/sites/', Object.keys(item.shape as object)), inner: {}, nullIsAbsent };
}
const createNaming = once(() => namingOf(createItem(), true));
const editNaming = once(() => namingOf(editItem(), false));

const CHANGES: Record<GroupName, ChangeKind> = {
  create: 'connections',
  update: 'connections',
  delete: 'site_deletions',
  sync: 'refresh',
  reconnect: 'connections',
  disconnect: 'disconnections',
  suspend: 'connections',
  unsuspend: 'connections',
  check: 'refresh',
};

/** What kinds of change a batch makes, on how many sites. */
export function batchChanges(groups: Groups): Change[] {
  const names = Object.keys(CHANGES) as GroupName[];
  const sent = names.filter((name) => (groups[name]?.length ?? 0) > 0);
  const kinds = [...new Set(sent.map((name) => CHANGES[name]))];
  const changes: Change[] = kinds.map((kind) => {
    const ofKind = sent.filter((name) => CHANGES[name] === kind);
    return { kind, sites: ofKind.reduce((sum, name) => sum + (groups[name]?.length ?? 0), 0) };
  });
  const besides = [...(groups.update ?? []), ...(groups.create ?? [])].flatMap(editKinds);
  for (const kind of new Set(besides)) changes.push({ kind, sites: besides.filter((one) => one === kind).length });
  return changes;
}

/** The sites on which a batch makes changes of a kind. */
export async function batchSites(groups: Groups, ctx: Ctx, kind: ChangeKind): Promise<number[]> {
  const names = (Object.keys(CHANGES) as GroupName[]).filter((name) => name !== 'create' && CHANGES[name] === kind);
  const edited = (groups.update ?? []).filter((item) => editKinds(item).includes(kind));
  const named = [...names.flatMap((name) => groups[name] ?? []), ...edited].map((item) => target(ctx, item));
  return (await Promise.all(named)).map(({ id }) => id);
}

/** What a batch would do, the gravest first: the sites of each group, and what is sent of those to add or to change. */
export async function batchPlan(groups: Groups, ctx: Ctx) {
  requireFewItems(groups);
  const names = (Object.keys(CHANGES) as GroupName[])
    .filter((name) => (groups[name]?.length ?? 0) > 0)
    .sort((a, b) => GRAVEST_FIRST.indexOf(CHANGES[a]) - GRAVEST_FIRST.indexOf(CHANGES[b]));
  const plans = names.map(async (name) => [
    name,
    await Promise.all((groups[name] ?? []).map((item) => target(ctx, item))),
  ]);
  return Object.fromEntries(await Promise.all(plans)) as Partial<Record<GroupName, unknown[]>>;
}

/** The site that an item names; of a new one, or one that does not exist, what was sent for it. */
async function target(ctx: Ctx, item: unknown) {
  const reference = referenceIn(item);
  const { url = '', name = '' } = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
  try {
    const site = await siteOfItem(ctx, reference);
    return { id: site.id, name: site.name, url: site.url };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { id: idOf(reference), name: plainLine(name), url: plainLine(url) };
  }
}

const plainLine = (value: unknown) => (typeof value === 'string' ? cleanLine(withoutLogin(value), MOST_NAME) : '');

/** As it is logged: what is no parameter, and could be a misspelled password, keeps only its name. */
export function recordedBatch(groups: Groups): Groups {
  const of = (item: unknown, schema: z.AnyZodObject, { aliases }: Naming) =>
    typeof item !== 'object' || item === null
      ? item
      : Object.fromEntries(
          Object.entries(item).map(([name, value]) => [
            name,
            Object.hasOwn(schema.shape as object, name) || aliases.has(name) ? value : '[not a parameter]',
          ]),
        );
  return {
    ...groups,
    ...(groups.create && { create: groups.create.map((item) => of(item, createItem(), createNaming())) }),
    ...(groups.update && { update: groups.update.map((item) => of(item, editItem(), editNaming())) }),
  };
}

/** The groups in the order they run. Changes of records run one after the other, so that the last one wins. */
const GROUPS: Record<GroupName, { atOnce: number; run: Run }> = {
  create: {
    atOnce: AT_ONCE,
    run: async (ctx, item) => ({ id: (await connectSite(ctx, parseFields(createItem(), item, createNaming()))).id }),
  },
  update: {
    atOnce: 1,
    run: async (ctx, item, id) => {
      const { id: _, ...edit } = parseFields(editItem(), item, editNaming());
      const site = await applyEdit(ctx, await siteOfItem(ctx, id), edit);
      return { id: site.id };
    },
  },
  delete: {
    atOnce: AT_ONCE,
    run: async (ctx, _, id) => {
      const { site, childConfirmed } = await removeOne(ctx, await siteOfItem(ctx, id));
      return {
        id: site.id,
        ...(childConfirmed ? {} : { message: 'The child plugin did not confirm this and may still be active.' }),
      };
    },
  },
  sync: { atOnce: AT_ONCE, run: onSite(syncOne) },
  reconnect: { atOnce: AT_ONCE, run: onSite(reconnectOne) },
  disconnect: { atOnce: AT_ONCE, run: onSite(disconnectOne) },
  suspend: { atOnce: 1, run: onSite((ctx, site) => suspendOne(ctx, site, true)) },
  unsuspend: { atOnce: AT_ONCE, run: onSite((ctx, site) => suspendOne(ctx, site, false)) },
  check: { atOnce: AT_ONCE, run: onSite(checkOne) },
};

function onSite(work: (ctx: Ctx, site: SiteRow) => Promise<unknown>): Run {
  return async (ctx, _, id) => {
    const site = await siteOfItem(ctx, id);
    await work(ctx, site);
    return { id: site.id };
  };
}

/** Returns results only for the groups sent. Throws `svc_rest_request_entity_too_large` before anything is done. */
export async function runBatch(ctx: Ctx, groups: Groups): Promise<RouteAnswer> {
  const names = (Object.keys(GROUPS) as GroupName[]).filter((name) => groups[name] !== undefined);
  const count = requireFewItems(groups);
  // All of them first: a site that one item renames is another one by its name for those after it, and not the one that the plan showed.
  const named = new Map<GroupName, Awaited<ReturnType<typeof namedSite>>[]>();
  for (const name of names)
    named.set(
      name,
      name === 'create'
        ? []
        : await inOrder(groups[name] ?? [], AT_ONCE, (item) =>
            namedSite(ctx, name === 'update' ? referenceIn(item) : item),
          ),
    );
  const results: Partial<Record<GroupName, Awaited<ReturnType<typeof outcome>>[]>> = {};
  for (const name of names) {
    const { atOnce, run } = GROUPS[name];
    const sites = named.get(name) ?? [];
    const work = async (item: unknown, index: number) => {
      const { site = 0, error } = sites[index] ?? {};
      if (error !== undefined) throw error;
      return run(ctx, item, site);
    };
    results[name] = await inOrder(groups[name] ?? [], atOnce, (item, index) =>
      outcome(ctx, item, () => work(item, index)),
    );
  }
  const succeeded = Object.values(results)
    .flat()
    .filter((item) => item.success === 1).length;
  return { message: `${succeeded} of ${count} items succeeded.`, ...results };
}

/** The id of the site that is referred to, or why there is none. */
async function namedSite(ctx: Ctx, reference: unknown): Promise<{ site?: number; error?: ServiceError }> {
  try {
    return { site: (await siteOfItem(ctx, reference)).id };
  } catch (error) {
    if (error instanceof ServiceError) return { error };
    throw error;
  }
}

async function outcome(ctx: Ctx, item: unknown, work: () => ReturnType<Run>) {
  try {
    const { id, ...rest } = await work();
    return { id, success: 1, ...rest };
  } catch (error) {
    const known = asServiceError(error);
    if (known.code === 'svc_internal_error') ctx.log.error({ err: known.cause ?? error }, 'a batch item failed');
    return { id: idOf(item), success: 0, error: errorInRoutes(errorBody(known)) };
  }
}

/** Runs at most `atOnce` items at a time. Returns the results in the order of the items. */
async function inOrder<T, R>(
  list: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(list.length);
  await pooled([...list.entries()], atOnce, async ([index, item]) => {
    results[index] = await work(item, index);
  });
  return results;
}

/** What an item names its site by: itself, or its `id`. */
const referenceIn = (item: unknown) => (typeof item === 'object' && item !== null && 'id' in item ? item.id : item);

/** The site id of an item; 0 if it has none, like a new site. */
function idOf(item: unknown): number {
  const named = referenceIn(item);
  const id = typeof named === 'string' && /^\d{1,15}$/.test(named) ? Number(named) : named;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : 0;
}

async function siteOfItem(ctx: Ctx, reference: unknown): Promise<SiteRow> {
  if (typeof reference === 'number' || typeof reference === 'string') {
    return siteOf(ctx, String(reference), 'id').catch((error: unknown) => {
      throw unknownItem(error);
    });
  }
  throw new ServiceError('svc_rest_invalid_site_id', 'The item names no site.', {
    field: 'id',
    advice: 'Send the id of a site.',
  });
}

/** The code of an item that names no site is that of ids, also where it is none (REST §3.6). */
function unknownItem(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'svc_rest_invalid_site_data') return error;
  return new ServiceError('svc_rest_invalid_site_id', error.message, {
    field: 'id',
    advice: 'Find the id with GET /v2/sites.',
  });
}

/** How many there are. Throws `svc_rest_request_entity_too_large`. */
function requireFewItems(groups: Groups): number {
  const count = Object.values(groups).reduce((sum, items) => sum + (items?.length ?? 0), 0);
  if (count > MAX_ITEMS) throw tooMany(count);
  return count;
}

function tooMany(count: number): ServiceError {
  return new ServiceError(
    'svc_rest_request_entity_too_large',
    `The call has ${count} items; ${MAX_ITEMS} are allowed. Nothing was done.`,
    { advice: 'Split it into several calls.', data: { items: count, limit: MAX_ITEMS } },
  );
}
