import { confirmation, siteRef } from '../../schemas/common.js';
import { siteBasic, siteHead } from '../../schemas/site.js';
import { siteWord } from '../../schemas/site-text.js';
import { z } from '../../schemas/zod.js';
import { getSite } from '../../src/domain/sites/resolve.js';
import { DELETE_WARNINGS, deleteSite } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/delete-site-v1',
  title: 'Remove a site record',
  about: 'Permanently removes a site and its history here. The site itself keeps running.',
  effect: 'destroy',
  change: 'site_deletions',
  idempotent: false,

  input: () => z.object({ site_id_or_domain: siteRef(), ...confirmation() }),

  output: () =>
    z.object({
      dry_run: z.boolean().optional(),
      deleted: z.boolean(),
      ...siteHead(),
      would_affect: siteBasic().optional(),
      warnings: z.array(z.string()).optional(),
    }),

  question: ({ site_url, would_affect }) => ({
    text: `Remove ${siteWord(would_affect?.name ?? '')} (${site_url}) and its history from here? This cannot be undone. The site itself keeps running.`,
  }),

  async preview({ site_id_or_domain }, ctx) {
    const { id, url, name } = await getSite(ctx, site_id_or_domain);
    return {
      dry_run: true,
      deleted: false,
      site_id: id,
      site_url: url,
      would_affect: { id, url, name },
      warnings: [...DELETE_WARNINGS],
    };
  },

  async handle({ site_id_or_domain }, ctx) {
    const site = await getSite(ctx, site_id_or_domain);
    await deleteSite(ctx, site);
    return { deleted: true, site_id: site.id, site_url: site.url };
  },
});
