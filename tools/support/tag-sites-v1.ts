import { bool, dryRun, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { bounded, integerOrText } from '../../schemas/zod-internals.js';
import { tagSites } from '../../src/domain/tags/tag-sites.js';
import { defineOperation } from '../../src/operation/operation.js';

const MOST_TAGS = 10;
const tags = () => bounded(z.array(integerOrText()).max(MOST_TAGS)).default([]);
const names = () => z.array(z.string());
const count = () => z.number().int();

export default defineOperation({
  id: 'svc/tag-sites-v1',
  title: 'Tag several sites',
  about: 'Adds tags to sites and removes tags from them, by name or id. Their other tags stay.',
  effect: 'write',
  change: 'other',
  idempotent: true,

  input: () =>
    z.object({
      site_ids_or_domains: siteRefs('At least one.'),
      add: tags().describe('Names or ids.'),
      remove: tags().describe('Names or ids.'),
      create: bool().default(false).describe('Create names to add that do not exist.'),
      dry_run: dryRun(),
    }),

  output: () =>
    z.object({
      dry_run: z.boolean().optional().describe('True for a preview.'),
      tags: z.array(
        z.object({
          id: count().nullable(),
          name: z.string(),
          change: z.enum(['add', 'remove']),
          created: z.boolean().optional().describe('false = only planned.'),
        }),
      ),
      changed: z
        .array(z.object({ site_id: count(), url: z.string(), added: names(), removed: names() }))
        .describe('The first of them.'),
      total_changed: count(),
      total_unchanged: count(),
      errors: z.array(siteError()).describe('The first of them.'),
      total_errors: count(),
    }),

  handle: (input, ctx) => tagSites(ctx, input),
});
