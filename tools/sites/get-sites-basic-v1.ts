import { siteBasic } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { allSites } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-sites-basic-v1',
  title: 'List all sites, minimal fields',
  about: 'Lists id, URL and name of every site. For large fleets prefer list-sites-v1.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({}),

  output: () => z.object({ sites: z.array(siteBasic()), total: z.number().int() }),

  async handle(_input, ctx) {
    const sites = await allSites(ctx);
    return { sites, total: sites.length };
  },
});
