import { siteRef } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { updatedExtensions } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { previewUpdates } from '../../src/domain/updates/preview.js';
import { updateExtensions } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-site-plugins-v1',
  title: "Update one site's plugins",
  about: 'Updates plugins and verifies each version. Ignored ones are skipped.',
  instructions: 'See get-site-updates-v1.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,

  input: () => z.object({ site_id_or_domain: siteRef(), slugs: slugs().default([]).describe('Empty = all.') }),

  output: updatedExtensions,

  plan: ({ site_id_or_domain, slugs }, ctx) => previewUpdates(ctx, [site_id_or_domain], ['plugins'], slugs),

  handle: ({ site_id_or_domain, slugs }, ctx) => updateExtensions(ctx, site_id_or_domain, 'plugin', slugs),
});
