/** Clients: the owners of sites (operations §8.2). */

import type { clientDetails } from '../../../schemas/client.js';
import type { z } from '../../../schemas/zod.js';
import type { FieldChanges } from '../../runtime/events.js';
import type { ClientFilter, ClientTexts } from '../../store/clients/rows.js';
import { changesOf } from '../action-log/fields.js';
import type { Ctx } from '../context.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { listStandingSites } from '../sites/sites.js';
import { changing } from '../storage-messages.js';
import {
  type ClientHead,
  type ClientRef,
  type ClientStatus,
  type ClientView,
  clientHead,
  clientItem,
  clientView,
  findClient,
  notFound,
  requireName,
  siteItem,
  stored,
} from './records.js';

export interface ClientListFilter {
  status: 'any' | ClientStatus;
  search?: string | undefined;
  include?: readonly number[] | undefined;
  exclude?: readonly number[] | undefined;
}

/** Fields of a client as callers send them; `selected_sites` replaces the client's sites. */
export type ClientInput = z.output<z.ZodObject<ReturnType<typeof clientDetails>>> & {
  name?: string | undefined;
  client_email?: string | undefined;
  selected_sites?: readonly number[] | undefined;
};

export async function listClients(ctx: Ctx, filter: ClientListFilter, page: number, perPage: number) {
  const { items, total } = await ctx.store.clients.list(storedFilter(filter), page, perPage);
  return { items: items.map(clientItem), page, per_page: perPage, total };
}

export function countClients(ctx: Ctx, filter: ClientListFilter): Promise<number> {
  return ctx.store.clients.count(storedFilter(filter));
}

/** Throws `svc_client_not_found`. */
export async function getClient(ctx: Ctx, ref: ClientRef): Promise<ClientView> {
  return clientView(await findClient(ctx, ref));
}

/**
 * Creates a client and moves the selected sites to it, both or neither. Throws `svc_invalid_input` (blank name),
 * `svc_already_exists` (e-mail), `svc_site_not_found`.
 */
export async function addClient(ctx: Ctx, input: ClientInput): Promise<ClientView> {
  requireName(input.name ?? '');
  const sites = input.selected_sites ?? [];
  const texts = { ...NO_TEXTS, ...given(textsOf(input)) };
  const owners = sites.length === 0 ? [] : await ctx.store.clients.owners(0, sites);
  const write = await changing('svc_client_creation_failed', 'The client was not stored.', () =>
    ctx.store.clients.add(texts, sites, ctx.clock.now()),
  );
  const { client } = stored(write, sites);
  ctx.events.emit({
    name: 'client.added',
    facts: { ...clientHead(client), sites: client.sites_count },
    changed: { record: [null, clientRecord(client)], ...movedSites(owners, client.id) },
  });
  return clientView(client);
}

/** Only the given fields change. Throws as `addClient`, and `svc_client_not_found`. */
export async function updateClient(ctx: Ctx, ref: ClientRef, input: ClientInput): Promise<ClientView> {
  if (input.name !== undefined) requireName(input.name);
  const known = await findClient(ctx, ref);
  const fields = Object.keys(given({ ...input }));
  if (fields.length === 0) return clientView(known);
  const sites = input.selected_sites;
  const owners = sites === undefined ? [] : await ctx.store.clients.owners(known.id, sites);
  const write = await changing('svc_client_update_failed', 'The client was not changed.', () =>
    ctx.store.clients.update(known.id, given(textsOf(input)), sites, ctx.clock.now()),
  );
  const { client } = stored(write, sites ?? [], ref);
  const texts = Object.keys(given(textsOf(input)));
  ctx.events.emit({
    name: 'client.updated',
    facts: { ...clientHead(client), fields },
    changed: { ...changesOf(known, client, texts), ...movedSites(owners, client.id, new Set(sites)) },
  });
  return clientView(client);
}

/**
 * A client, and the ids of the sites that come to it and of those that leave it, if these become its sites. Throws
 * `svc_client_not_found`.
 */
export async function movingSites(ctx: Ctx, ref: ClientRef, sites: readonly number[]) {
  const client = await findClient(ctx, ref);
  const wanted = new Set(sites);
  const moved = movedAmong(await ctx.store.clients.owners(client.id, sites), client.id, wanted).map(({ id }) => id);
  return {
    client,
    joining: moved.filter((id) => wanted.has(id)),
    leaving: moved.filter((id) => !wanted.has(id)),
  };
}

/** What a change of a client would do with its sites, as far as an approval is bound to it. Throws as `movingSites`. */
export async function plannedSites(ctx: Ctx, ref: ClientRef, { selected_sites: sites }: ClientInput) {
  if (sites === undefined) return clientHead(await findClient(ctx, ref));
  const { client, joining, leaving } = await movingSites(ctx, ref, sites);
  const shown = async (ids: readonly number[]) =>
    (await ctx.store.sites.candidates([...ids])).map(({ id, url }) => ({ id, url }));
  return { ...clientHead(client), joining: await shown(joining), leaving: await shown(leaving) };
}

/** What a deletion would do. Throws `svc_client_not_found`. */
export async function previewDeleteClient(ctx: Ctx, ref: ClientRef) {
  const client = await findClient(ctx, ref);
  const count = client.sites_count;
  const suspended = client.suspended_sites;
  const warning = count === 1 ? '1 site stays, without a client.' : `${count} sites stay, without a client.`;
  const buckets = client.own_buckets;
  const lost =
    buckets === 1
      ? '1 hour bucket used only by this client is deleted with it.'
      : `${buckets} hour buckets are deleted with it.`;
  return {
    dry_run: true,
    deleted: false,
    ...clientHead(client),
    sites_affected: count,
    sites_suspended: suspended,
    warnings: [
      ...(count === 0 ? [] : [warning]),
      ...(suspended === 0 ? [] : [`Of these, ${suspended} are suspended and stay so; unsuspend-site-v1 lifts that.`]),
      ...(buckets === 0 ? [] : [lost]),
    ],
  };
}

/**
 * Sites stay, without a client, and keep their suspension. Costs lose their client, and hours worked for it alone are deleted with it. Throws `svc_client_not_found`.
 */
export async function deleteClient(ctx: Ctx, ref: ClientRef) {
  const client = await findClient(ctx, ref);
  const owners = client.sites_count === 0 ? [] : await ctx.store.clients.owners(client.id, []);
  const removed = await changing('svc_client_deletion_failed', 'The client was not deleted.', () =>
    ctx.store.clients.remove(client.id),
  );
  if (!removed) throw notFound(ref);
  ctx.events.emit({
    name: 'client.deleted',
    facts: { ...clientHead(client), sites: client.sites_count },
    changed: {
      record: [clientRecord(client), null],
      ...movedSites(owners, client.id, new Set()),
      ...(client.own_buckets === 0 ? {} : { hour_buckets: null }),
    },
  });
  return {
    deleted: true,
    ...clientHead(client),
    sites_affected: client.sites_count,
    sites_suspended: client.suspended_sites,
  };
}

/** Throws `svc_client_not_found`. */
export async function listClientSites(ctx: Ctx, ref: ClientRef, page: number, perPage: number) {
  const client = await findClient(ctx, ref);
  const { items, total } = await listStandingSites(ctx, { client_id: client.id }, page, perPage);
  return { ...clientHead(client), sites: items.map(siteItem), page, per_page: perPage, total };
}

/** Throws `svc_client_not_found`. */
export async function countClientSites(ctx: Ctx, ref: ClientRef): Promise<ClientHead & { sites_count: number }> {
  const client = await findClient(ctx, ref);
  return { ...clientHead(client), sites_count: client.sites_count };
}

/** The client of a site; null if it has none. Throws as `getSite`. */
export async function getSiteClient(ctx: Ctx, ref: SiteRef): Promise<{ site_id: number; client: ClientView | null }> {
  const site = await getSite(ctx, ref);
  const client = site.client_id === null ? undefined : await ctx.store.clients.find({ id: site.client_id });
  return { site_id: site.id, client: client === undefined ? null : clientView(client) };
}

/**
 * Creates a client again as it was, with its id. Throws `svc_already_exists` if its e-mail, or its id, is in use by now.
 */
export async function restoreClient(ctx: Ctx, id: number, record: ClientRecord): Promise<void> {
  const write = await changing('svc_client_creation_failed', 'The client was not stored.', () =>
    ctx.store.clients.restore(id, record, ctx.clock.now()),
  );
  const { client } = stored(write, []);
  ctx.events.emit({
    name: 'client.added',
    facts: { ...clientHead(client), sites: client.sites_count },
    changed: { record: [null, clientRecord(client)] },
  });
}

export type ClientRecord = ClientTexts & { suspended: number };

/** What the action log keeps of it. */
export function clientRecord(row: ClientRecord): ClientRecord {
  const texts = Object.keys(NO_TEXTS).map((column) => [column, row[column as keyof ClientTexts]]);
  return { ...(Object.fromEntries(texts) as ClientTexts), suspended: row.suspended };
}

type Owner = { id: number; client_id: number | null };

function movedAmong(owners: readonly Owner[], client: number, sites: ReadonlySet<number>): Owner[] {
  return owners.filter((site) => (site.client_id === client) !== sites.has(site.id));
}

/** Sites that came to a client or left it, each with the client it had. @param sites those it has now; default: all of them */
function movedSites(
  owners: readonly Owner[],
  client: number,
  sites: ReadonlySet<number> = new Set(owners.map(({ id }) => id)),
): FieldChanges {
  const moved = movedAmong(owners, client, sites);
  const after = moved.map(({ id }) => [id, sites.has(id) ? client : null]);
  return moved.length === 0 ? {} : { sites: [moved.map(({ id, client_id }) => [id, client_id]), after] };
}

function storedFilter({ status, search, include, exclude }: ClientListFilter): ClientFilter {
  return { suspended: status === 'any' ? undefined : status === 'suspended', search, include, exclude };
}

const NO_TEXTS: ClientTexts = {
  name: '',
  email: '',
  phone: '',
  address_1: '',
  address_2: '',
  city: '',
  state: '',
  zip: '',
  country: '',
  note: '',
};

function textsOf({ client_email: email, client_phone: phone, selected_sites: _sites, ...texts }: ClientInput) {
  return { ...texts, email, phone };
}

/** The members that have a value. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
