import { paging, siteRef } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { CHANGE_SOURCES, siteChanges } from '../../src/domain/sites/changes.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-changes-v1',
  title: "Read a site's change log",
  about: 'Lists changes people made on the site itself, or through Sitefleet.',
  instructions: 'As of the last sync. Needs the logs module.',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      source: z.enum(CHANGE_SOURCES).default('wpadmin').describe('dashboard: through Sitefleet.'),
      ...paging(50, 100),
    }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      changes: z.array(
        z.object({
          id: z.number().int(),
          type: z.string(),
          description: z.string(),
          user: z.string(),
          timestamp: z.string(),
          source: z.enum(['wpadmin', 'dashboard']),
        }),
      ),
      total: z.number().int(),
    }),

  handle: ({ site_id_or_domain, source, page, per_page }, ctx) =>
    siteChanges(ctx, site_id_or_domain, source, page, per_page),
});
