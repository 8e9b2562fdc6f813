import { siteRef } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { asInAnswers, ignoreChanges } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { setIgnored } from '../../src/domain/updates/ignored.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/set-ignored-updates-v1',
  title: 'Ignore or restore one update',
  about: "Adds a core, plugin or theme to a site's ignore list for every version, or removes it.",
  instructions: 'The slug need not be installed.',
  effect: 'write',
  change: ignoreChanges,
  idempotent: true,

  input: () =>
    z.object({
      action: z.enum(['ignore', 'unignore']).describe('What to do.'),
      site_id_or_domain: siteRef(),
      type: z.preprocess(asInAnswers, z.enum(['core', 'plugin', 'theme'])).describe('What the item is.'),
      slug: slug().describe('For core: platform.'),
    }),

  output: () =>
    z.object({
      success: z.boolean(),
      action: z.enum(['ignore', 'unignore']).describe('What to do.'),
      site_id: z.number().int(),
      type: z.enum(['core', 'plugin', 'theme']),
      slug: z.string(),
      notice: z.string().optional(),
    }),

  async handle({ action, site_id_or_domain, type, slug }, ctx) {
    const ignore = action === 'ignore';
    const { site_id, slugs, notice } = await setIgnored(ctx, site_id_or_domain, type, [slug], ignore, 'slug');
    return {
      success: true,
      action,
      site_id,
      type,
      slug: slugs[0] ?? slug,
      ...(notice === undefined ? {} : { notice }),
    };
  },
});
