import { siteRef } from '../../schemas/common.js';
import { site, siteChange } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { updateSite } from '../../src/domain/connection/update.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-site-v1',
  title: 'Change site settings',
  about: 'Changes what is stored about a site. To keep its tags, use add_tags.',
  effect: 'write',
  change: 'connections',
  idempotent: true,

  input: () => z.object({ site_id_or_domain: siteRef(), ...siteChange() }),

  output: site,

  handle: ({ site_id_or_domain, ...change }, ctx) => updateSite(ctx, site_id_or_domain, change),
});
