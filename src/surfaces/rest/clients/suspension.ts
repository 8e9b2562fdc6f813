/** Routes that suspend a client with its sites, and end that (REST §7). */

import { client } from '../../../../schemas/client.js';
import { z } from '../../../../schemas/zod.js';
import { getClient } from '../../../domain/clients/clients.js';
import {
  previewSuspension,
  type ReconnectedSites,
  suspendClient,
  unsuspendClient,
} from '../../../domain/clients/suspension.js';
import { type Route, route } from '../route.js';
import { writtenOf } from '../schemas/records.js';
import { clientOf, clientPath } from './path.js';

export const suspension: readonly Route[] = [
  route({
    on: 'POST|PUT|PATCH /clients/{id_or_email}/suspend',
    change: 'connections',
    plan: async ({ id_or_email }, ctx) => previewSuspension(ctx, (await clientOf(ctx, id_or_email)).id),
    summary: 'Suspend a client with all its sites',
    params: () => z.object(clientPath()),
    returns: () => writtenOf(client()).extend({ suspended: z.number().int(), sites: z.number().int() }),
    answer: async ({ id_or_email }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const { sites } = await suspendClient(ctx, id);
      const message = `The client is suspended; ${sites} sites changed with it.`;
      return { message, suspended: 1, sites, data: await getClient(ctx, id) };
    },
  }),
  route({
    on: 'POST|PUT|PATCH /clients/{id_or_email}/unsuspend',
    change: 'connections',
    plan: async ({ id_or_email }, ctx) => previewSuspension(ctx, (await clientOf(ctx, id_or_email)).id),
    live: true,
    summary: 'Lift the suspension of a client and all its sites',
    description: 'Disconnected sites are reconnected; errors lists those that could not be.',
    params: () => z.object(clientPath()),
    returns: () =>
      writtenOf(client()).extend({
        suspended: z.number().int(),
        sites: z.number().int(),
        sites_reconnected: z.number().int().optional().describe('Only if some sites were disconnected.'),
        errors: z
          .array(z.object({ site_id: z.number().int().nullable(), code: z.string(), message: z.string() }))
          .optional(),
        job_id: z.string().optional(),
        status_url: z.string().optional(),
        sites_queued: z.number().int().optional(),
      }),
    answer: async ({ id_or_email }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const { client_id: _id, client_name: _name, reconnected, ...lifted } = await unsuspendClient(ctx, id);
      const message = `The client is active; ${lifted.sites} sites changed with it.`;
      const data = await getClient(ctx, id);
      if (reconnected === undefined) return { message, suspended: 0, ...lifted, data };
      const { errors, ...facts } = reconnected;
      return {
        message: `${message} ${reconnectedText(reconnected)}`,
        suspended: 0,
        ...lifted,
        ...facts,
        errors: errors.map(({ site_id, code, message: reason }) => ({ site_id, code, message: reason })),
        data,
      };
    },
  }),
];

function reconnectedText({ sites_reconnected, sites_queued, errors }: ReconnectedSites): string {
  const done = `${sites_reconnected} of ${sites_reconnected + errors.length} disconnected sites are connected again.`;
  return sites_reconnected + errors.length === 0
    ? `${sites_queued} disconnected sites are being reconnected in the background.`
    : done;
}
