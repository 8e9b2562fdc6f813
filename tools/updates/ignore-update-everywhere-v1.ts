import { timestamp } from '../../schemas/common.js';
import { version } from '../../schemas/search.js';
import { ignoreChanges } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { setIgnoredEverywhere } from '../../src/domain/updates/ignored-everywhere.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/ignore-update-everywhere-v1',
  title: 'Ignore an update on every site',
  about: 'Ignores or restores one update on every site, including future ones: for good, until a time, or one version.',
  effect: 'write',
  change: (input: { action?: string }) => ignoreChanges(input).map(({ kind }) => ({ kind, sites: 'all' })),
  idempotent: true,

  input: () =>
    z.object({
      action: z.enum(['ignore', 'unignore']).describe('What to do.'),
      type: z.enum(['core', 'plugin', 'theme']).describe('What the item is.'),
      slug: z.string().trim().min(1).max(255).describe('Slug or name.'),
      version: version().describe('Only this version; the next shows again.'),
      until: z.string().trim().max(40).optional().describe('ISO 8601; then it shows again.'),
    }),

  output: () =>
    z.object({
      success: z.boolean(),
      action: z.enum(['ignore', 'unignore']),
      type: z.enum(['core', 'plugin', 'theme']),
      slug: z.string(),
      version: z.string().nullable().describe('null = every version.'),
      until: timestamp().nullable(),
      offers_ignored: z.number().int().describe('How many offers of it are now ignored.'),
    }),

  handle: (change, ctx) => setIgnoredEverywhere(ctx, change),
});
