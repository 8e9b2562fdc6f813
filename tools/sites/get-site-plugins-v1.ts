import { bool, siteRef } from '../../schemas/common.js';
import { extensionEntry } from '../../schemas/extension.js';
import { siteHead } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { listExtensions } from '../../src/domain/extensions/extensions.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-plugins-v1',
  title: "List a site's plugins",
  about: "Lists a site's plugins as of its last sync: versions, state, offered updates.",
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      status: z.enum(['all', 'active', 'inactive']).default('all').describe('Plugins in this state.'),
      has_update: bool().optional().describe('true: only those with an update.'),
    }),

  output: () =>
    z.object({
      ...siteHead(),
      plugins: z.array(extensionEntry()),
      total: z.number().int(),
    }),

  async handle({ site_id_or_domain, status, has_update }, ctx) {
    const { site, items } = await listExtensions(ctx, site_id_or_domain, 'plugin');
    const plugins = items.filter(
      (item) =>
        (status === 'all' || item.active === (status === 'active')) &&
        (has_update !== true || item.update_version !== null),
    );
    return { site_id: site.id, site_url: site.url, plugins, total: plugins.length };
  },
});
