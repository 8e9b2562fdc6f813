import { siteRef } from '../../schemas/common.js';
import { slug } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { activateTheme, requireSlugs } from '../../src/domain/extensions/extensions.js';
import { loadNamed } from '../../src/domain/sites/load.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/activate-site-theme-v1',
  title: 'Switch the active theme',
  about: 'Switches a site to another installed theme and verifies it.',
  effect: 'write',
  change: 'installs',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef(), slug: slug().describe('From get-site-themes-v1.') }),

  output: () => z.object({ site_id: z.number().int(), activated: z.string(), previous_theme: z.string() }),

  async handle({ site_id_or_domain, slug }, ctx) {
    const [wanted = ''] = requireSlugs([slug], 'slug');
    const target = await loadNamed(ctx, site_id_or_domain);
    return { site_id: target.site.id, ...(await activateTheme(ctx, target, wanted)) };
  },
});
