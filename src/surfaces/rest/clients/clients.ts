/** Routes of the clients. The routes document refers to them without listing them (REST §7). */

import {
  client,
  clientDetails,
  clientEmail,
  clientEmailOrNone,
  clientListItem,
  clientNameInput,
} from '../../../../schemas/client.js';
import { clientCostEntry, costTotals } from '../../../../schemas/cost.js';
import { siteOfOwner } from '../../../../schemas/site.js';
import { z } from '../../../../schemas/zod.js';
import {
  addClient,
  type ClientInput,
  countClients,
  deleteClient,
  getClient,
  listClientSites,
  listClients,
  plannedSites,
  previewDeleteClient,
  updateClient,
} from '../../../domain/clients/clients.js';
import { clientCosts } from '../../../domain/costs/costs.js';
import { once } from '../../../runtime/once.js';
import { cleared, csv, ids, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { exampleClient, exampleListedClient } from '../schemas/examples.js';
import { countShape, listOf, recordOf, writtenOf } from '../schemas/records.js';
import { clientOf, clientPath as path } from './path.js';
import { suspension } from './suspension.js';

const filter = once(() => ({
  status: z.enum(['any', 'active', 'suspended']).default('any'),
  search: text(255).default('').describe('Part of the name or e-mail, case-insensitive.'),
  include: ids().optional(),
  exclude: ids().optional(),
}));

const details = once(
  () =>
    Object.fromEntries(
      Object.entries(clientDetails()).map(([name, schema]) => [name, cleared.text(schema)]),
    ) as unknown as ReturnType<typeof clientDetails>,
);
const selectedSites = once(() =>
  cleared.list(csv(int(1)).optional()).describe('Ids of all its sites, comma-separated; replaces the current ones.'),
);

export const clients: readonly Route[] = [
  listRoute({
    on: 'GET /clients',
    summary: 'List clients',
    params: () => z.object({ ...paging(20, 100), ...filter() }),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [exampleListedClient] },
    returns: () => listOf(clientListItem()),
    list: ({ page, per_page, ...asked }, ctx) => listClients(ctx, asked, page, per_page),
  }),
  route({
    on: 'GET /clients/count',
    summary: 'Count clients',
    params: () => z.object(filter()),
    returns: countShape,
    answer: async (asked, ctx) => {
      const count = await countClients(ctx, asked);
      return { total: count, count };
    },
  }),
  route({
    on: 'POST /clients/add',
    change: 'other',
    body: 'required',
    fails: [404],
    summary: 'Create a client',
    params: () =>
      z.object({
        name: clientNameInput(),
        client_email: clientEmail().optional(),
        ...details(),
        selected_sites: selectedSites(),
      }),
    example: { message: 'The client was added.', data: exampleClient },
    returns: () => writtenOf(client()),
    answer: async (input, ctx) => ({
      message: 'The client was added.',
      data: await addClient(ctx, input as ClientInput),
    }),
  }),
  route({
    on: 'GET /clients/{id_or_email}',
    summary: 'Read a client',
    params: () => z.object(path()),
    returns: () => recordOf(client()),
    answer: async ({ id_or_email }, ctx) => ({ data: await getClient(ctx, (await clientOf(ctx, id_or_email)).id) }),
  }),
  route({
    on: 'POST|PUT|PATCH /clients/{id_or_email}/edit',
    change: 'other',
    body: 'required',
    plan: async ({ id_or_email, ...input }, ctx) =>
      plannedSites(ctx, (await clientOf(ctx, id_or_email)).id, input as ClientInput),
    summary: 'Change a client',
    description: 'Omitted fields keep their value; null or "" clears a text or the sites.',
    params: () =>
      z.object({
        ...path(),
        name: clientNameInput().optional(),
        client_email: cleared.text(clientEmailOrNone().optional()),
        ...details(),
        selected_sites: selectedSites(),
      }),
    returns: () => writtenOf(client()),
    answer: async ({ id_or_email, ...input }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      return { message: 'The client was changed.', data: await updateClient(ctx, id, input as ClientInput) };
    },
  }),
  route({
    on: 'DELETE /clients/{id_or_email}/remove',
    change: 'deletions',
    plan: async ({ id_or_email }, ctx) => previewDeleteClient(ctx, (await clientOf(ctx, id_or_email)).id),
    summary: 'Delete a client',
    description: 'Its sites stay, without a client; suspended ones stay suspended.',
    params: () => z.object(path()),
    returns: () => writtenOf(z.object({ id: z.number().int(), name: z.string() })),
    answer: async ({ id_or_email }, ctx) => {
      const { client_id, client_name, sites_suspended } = await deleteClient(
        ctx,
        (await clientOf(ctx, id_or_email)).id,
      );
      const suspended = sites_suspended === 0 ? '' : ` ${sites_suspended} of them are suspended and stay so.`;
      return {
        message: `The client was deleted. Its sites stay.${suspended}`,
        data: { id: client_id, name: client_name },
      };
    },
  }),
  route({
    on: 'GET /clients/{id_or_email}/sites',
    summary: 'List the sites of a client',
    params: () => z.object({ ...path(), ...paging(20, 100) }),
    returns: () => listOf(siteOfOwner()),
    answer: async ({ id_or_email, page, per_page }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const { sites, total } = await listClientSites(ctx, id, page, per_page);
      return { total, page, per_page, data: sites };
    },
  }),
  route({
    on: 'GET /clients/{id_or_email}/costs',
    module: 'cost-tracker',
    summary: 'List the costs of a client, one row per cost and site',
    params: () => z.object(path()),
    returns: () => z.object({ total: z.number().int(), data: z.array(clientCostEntry()), ...costTotals() }),
    answer: async ({ id_or_email }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const { costs, total_monthly, total_yearly } = await clientCosts(ctx, id);
      return { total: costs.length, data: costs, total_monthly, total_yearly };
    },
  }),
  ...suspension,
];
