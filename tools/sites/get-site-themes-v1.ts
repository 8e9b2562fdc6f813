import { siteRef } from '../../schemas/common.js';
import { extensionEntry } from '../../schemas/extension.js';
import { siteHead } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { listExtensions } from '../../src/domain/extensions/extensions.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-themes-v1',
  title: "List a site's themes",
  about: "Lists a site's themes, and which is active, as of its last sync.",
  run: 'POST',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      ...siteHead(),
      active_theme: z.string().describe('Slug; empty when unknown.'),
      themes: z.array(extensionEntry()),
      total: z.number().int(),
    }),

  async handle({ site_id_or_domain }, ctx) {
    const { site, items } = await listExtensions(ctx, site_id_or_domain, 'theme');
    const active = items.find((item) => item.active)?.slug ?? '';
    // At most one is shown as active, even if the child also reports a parent theme as active.
    const themes = items.map((item) => ({ ...item, active: item.slug === active && active !== '' }));
    return { site_id: site.id, site_url: site.url, active_theme: active, themes, total: themes.length };
  },
});
