import { continuedFields, siteRef, slugError } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { z } from '../../schemas/zod.js';
import { actNow, requireSlugs } from '../../src/domain/extensions/extensions.js';
import { loadNamed } from '../../src/domain/sites/load.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/deactivate-site-plugins-v1',
  title: 'Deactivate plugins',
  about: 'Deactivates plugins and verifies each.',
  effect: 'write',
  change: 'installs',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef(), slugs: slugs().describe('From get-site-plugins-v1.') }),

  output: () =>
    z.object({
      site_id: z.number().int(),
      deactivated: z.array(z.string()),
      errors: z.array(slugError()),
      ...continuedFields(),
    }),

  async handle({ site_id_or_domain, slugs }, ctx) {
    const wanted = requireSlugs(slugs);
    const target = await loadNamed(ctx, site_id_or_domain);
    const { done, ...answer } = await actNow(ctx, target, { kind: 'plugin', action: 'deactivate', slugs: wanted });
    return { site_id: target.site.id, deactivated: done, ...answer };
  },
});
