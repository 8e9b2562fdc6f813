import { bool, paging, timestamp } from '../../schemas/common.js';
import { siteFields } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { listIgnored } from '../../src/domain/updates/ignored.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-ignored-updates-v1',
  title: 'List ignored updates',
  about: 'Lists ignored updates per site; an entry for all sites appears once per site, or only once.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      ...paging(50, 200),
      per_site: bool().default(true).describe('false = an entry for all sites appears once, with site_id 0.'),
    }),

  output: () =>
    z.object({
      ignored: z.array(
        z.object({
          ...siteFields(),
          type: z.enum(['core', 'plugin', 'theme']),
          slug: z.string(),
          name: z.string(),
          ignored_version: z.string().describe('`all_versions`, or versions joined with commas.'),
          until: timestamp().optional().describe('Then it shows again.'),
          sites: z.number().int().optional(),
        }),
      ),
      total: z.number().int(),
    }),

  handle: ({ per_site, page, per_page }, ctx) => listIgnored(ctx, per_site, page, per_page),
});
