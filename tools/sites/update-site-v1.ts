import { id, list, plainText, siteRef } from '../../schemas/common.js';
import { site } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { updateSite } from '../../src/domain/sites.js';
import { defineOperation } from '../../src/operation.js';

export default defineOperation({
  id: 'svc/update-site-v1',
  title: 'Change site settings',
  about:
    'Changes the stored name, notes, client or tags of a site. Only the given fields change; the site itself is not contacted.',
  run: 'POST',
  effect: 'write',
  idempotent: true,

  input: z.object({
    site_id_or_domain: siteRef,
    name: plainText(255).optional(),
    notes: plainText(65_535).optional(),
    client_id: id().nullable().optional().describe('null unassigns.'),
    tags: list(id()).optional().describe('Tag ids; replaces all, [] clears.'),
  }),

  output: site,

  handle: ({ site_id_or_domain, ...change }, ctx) => updateSite(ctx, site_id_or_domain, change),
});
