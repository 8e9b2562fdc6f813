import { list, siteRef } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { setIgnored } from '../../src/domain/ignores.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/ignore-site-themes-v1',
  title: 'Ignore or restore theme updates',
  about: 'Ignores (add) or restores (remove) updates of themes on one site, for every version.',
  instructions: 'Ignored updates are left out of lists and of every update operation.',
  run: 'POST',
  effect: 'write',
  idempotent: true,

  input: z.object({ site_id_or_domain: siteRef, action: z.enum(['add', 'remove']), slugs: list(slug) }),

  output: z.object({
    success: z.boolean(),
    site_id: z.number().int(),
    action: z.enum(['add', 'remove']),
    themes_ignored: z.array(z.string()).describe('The list of the site afterwards.'),
  }),

  async handle({ site_id_or_domain, action, slugs }, ctx) {
    const { site_id, list } = await setIgnored(ctx, site_id_or_domain, 'theme', slugs, action === 'add');
    return { success: true, site_id, action, themes_ignored: list };
  },
});
