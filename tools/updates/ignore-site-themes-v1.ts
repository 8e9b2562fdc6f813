import { siteRef } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { ignoreAction, ignoreChanges } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { setIgnored } from '../../src/domain/updates/ignored.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/ignore-site-themes-v1',
  title: 'Ignore or restore theme updates',
  about: 'Ignores or restores theme updates on a site, for every version.',
  instructions: 'Excluded from lists and updates.',
  effect: 'write',
  change: ignoreChanges,
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef(), action: ignoreAction(), slugs: slugs() }),

  output: () =>
    z.object({
      success: z.boolean(),
      site_id: z.number().int(),
      action: z.enum(['add', 'remove']),
      themes_ignored: z.array(z.string()).describe("The site's list afterwards."),
      notice: z.string().optional(),
    }),

  async handle({ site_id_or_domain, action, slugs }, ctx) {
    const { site_id, list, notice } = await setIgnored(ctx, site_id_or_domain, 'theme', slugs, action === 'add');
    return { success: true, site_id, action, themes_ignored: list, ...(notice === undefined ? {} : { notice }) };
  },
});
