import { bool, id, list, plainText, siteRef } from '../../schemas/common.js';
import { site, siteName } from '../../schemas/site.js';
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

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      name: siteName().optional().describe('Not blank.'),
      notes: plainText(65_535).optional().describe('Replaces the notes.'),
      client_id: id().nullable().optional().describe('null unassigns.'),
      tags: list(id()).optional().describe('REPLACES all tags by these ids; [] = none.'),
      add_tags: list(id()).optional().describe('Tag ids to add; others stay.'),
      remove_tags: list(id()).optional().describe('Tag ids to remove.'),
      url: z.string().max(2048).optional().describe('New address.'),
      http_user: z.string().max(255).optional().describe('"" clears.'),
      http_pass: z.string().max(1024).optional().describe('"" clears.'),
      ssl_verify: bool().optional().describe('Check TLS.'),
    }),

  output: site,

  handle: ({ site_id_or_domain, ...change }, ctx) => updateSite(ctx, site_id_or_domain, change),
});
