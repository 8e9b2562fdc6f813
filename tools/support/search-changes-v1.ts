import { changeFilters } from '../../schemas/action.js';
import { paged, paging, timestamp } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { searchChanges } from '../../src/domain/fleet/changes.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/search-changes-v1',
  title: 'Search changes',
  about:
    'Finds who changed what on which site, newest first: through Sitefleet, or on the sites as of their last sync (users, roles).',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      ...changeFilters(),
      group_by: z.enum(['person', 'site', 'kind']).optional().describe('Counts instead of changes.'),
      ...paging(20, 50),
    }),

  output: () =>
    z.object({
      since: timestamp(),
      until: timestamp(),
      changes: z.array(
        z.object({
          id: z.number().int().describe('The change_id for undo-change-v1 and roll-back-v1.'),
          at: timestamp(),
          site_id: z.number().int().nullable().optional().describe('null = not on a site.'),
          url: z.string().nullable().optional(),
          kind: z.string(),
          what: z.string(),
          slug: z.string().optional(),
          by: z.string(),
          via: z.string(),
        }),
      ),
      groups: z
        .array(
          z.object({
            group: z.string(),
            site_id: z.number().int().nullable().optional(),
            count: z.number().int(),
            last_at: timestamp(),
          }),
        )
        .optional()
        .describe('Most changes first.'),
      total_groups: z.number().int().optional(),
      not_known: z.array(z.string()).optional().describe('What no log records.'),
      kinds: z.array(
        z.object({
          kind: z.string(),
          action: z.string(),
          count: z.number().int(),
          failed: z.number().int().optional(),
        }),
      ),
      more_kinds: z.number().int().optional().describe('Kinds not listed in kinds.'),
      ...paged(),
    }),

  handle: (input, ctx) => searchChanges(ctx, input),
});
