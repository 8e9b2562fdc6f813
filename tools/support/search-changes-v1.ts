import { WAYS_IN } from '../../schemas/action.js';
import { called, paged, paging, siteRef, timestamp } from '../../schemas/common.js';
import { listOrOne, logWords } from '../../schemas/search.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { searchChanges } from '../../src/domain/fleet/changes.js';
import { defineOperation } from '../../src/operation/operation.js';

const time = () => z.string().trim().max(40).optional();
const VIAS = ['site', ...WAYS_IN] as const;

export default defineOperation({
  id: 'svc/search-changes-v1',
  title: 'Search changes',
  about:
    'Finds who changed what on which site, newest first: through Sitefleet, or on the sites as of their last sync (users, roles).',
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      since: time().describe('ISO 8601; default: 30 days before until.'),
      until: time().describe('ISO 8601; default: now.'),
      site_id_or_domain: siteRef().optional(),
      client_id_or_email: integerOrText().optional().describe('Sites of this client.'),
      tag: integerOrText().optional().describe('Sites with this tag: id or name.'),
      by: called().optional().describe('Part of the name of who did it.'),
      kinds: logWords().describe('plugin, theme, core, user, post, site, setting, client, tag, …'),
      exclude_kinds: logWords().describe('Kinds or actions, such as login.'),
      actions: logWords().describe('updated, activated, installed, deleted, role-changed, …'),
      item: called().optional().describe('Part of a name or slug.'),
      new_role: called().optional().describe('Users who got this role, such as administrator.'),
      result: z.enum(['done', 'failed']).optional().describe('Omit for both.'),
      via: listOrOne(z.enum(VIAS)).default([]).describe('site = on the site itself.'),
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
