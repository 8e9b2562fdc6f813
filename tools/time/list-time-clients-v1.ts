import { paged, paging } from '../../schemas/common.js';
import { searchText } from '../../schemas/search.js';
import { timeClient } from '../../schemas/time-tools.js';
import { z } from '../../schemas/zod.js';
import { requireModule } from '../../src/domain/settings/modules.js';
import { listTrackerClients } from '../../src/domain/time-tracker/clients.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-time-clients-v1',
  title: 'List time by client',
  about: 'Lists clients with the time worked for them, billed and unbilled.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      search: searchText().describe('Part of name or e-mail.'),
      ...paging(20, 100),
    }),

  output: () =>
    z.object({
      clients: z.array(timeClient()),
      ...paged(),
    }),

  async handle({ search, page, per_page }, ctx) {
    requireModule(ctx, 'time-tracker');
    const { items, total } = await listTrackerClients(ctx, { search }, page, per_page);
    return { clients: items, total, page, per_page };
  },
});
