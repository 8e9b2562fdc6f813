import { bool, siteRef } from '../../schemas/common.js';
import { site, siteStats } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { getRecord, siteView, siteWithStats } from '../../src/domain/sites/sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-v1',
  title: 'Read one site',
  about: "Reads a site's stored record; include_stats adds update counts and health.",
  run: 'POST',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      include_stats: bool().default(false).describe('Adds `stats`.'),
    }),

  output: () => site().extend({ stats: siteStats().optional() }),

  async handle({ site_id_or_domain, include_stats }, ctx) {
    const record = await getRecord(ctx, site_id_or_domain);
    return include_stats ? siteWithStats(ctx, record) : siteView(ctx, record);
  },
});
