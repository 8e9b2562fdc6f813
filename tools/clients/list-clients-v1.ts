import { clientListItem, clientStatusFilter, ids } from '../../schemas/client.js';
import { int, pageNumbers, paging } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { listClients } from '../../src/domain/clients/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-clients-v1',
  title: 'List clients',
  about: 'Lists clients by name with their number of sites. Start here to find a client id.',
  run: 'GET',
  effect: 'read',
  input: () =>
    z.object({
      ...paging(20, 100),
      page: int(1, 10_000).default(1).describe('Page.'),
      status: clientStatusFilter(),
      search: z.string().max(255).default('').describe('Part of name or e-mail.'),
      include: ids().default([]).describe('Only these; empty = all.'),
      exclude: ids().default([]).describe('Not these ids.'),
    }),
  output: () =>
    z.object({
      items: z.array(clientListItem()),
      ...pageNumbers(),
      total: z.number().int(),
    }),
  handle: ({ page, per_page, ...filter }, ctx) => listClients(ctx, filter, page, per_page),
});
