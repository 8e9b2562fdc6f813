import { continuedFields, siteRef } from '../../schemas/common.js';
import { siteHead } from '../../schemas/site.js';
import { aboutUpdates, changeFields, updateError } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { previewUpdates } from '../../src/domain/updates/preview.js';
import { updateCore } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-site-core-v1',
  title: "Update one site's core",
  about: 'Updates WordPress itself and verifies it.',
  instructions: 'Ignore lists do not apply.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      ...siteHead(),
      updated: z.boolean(),
      old_version: z.string(),
      new_version: z.string(),
      ...changeFields(),
      errors: z.array(updateError()).optional().describe('What is wrong with the site since the update.'),
      ...aboutUpdates(),
      ...continuedFields(),
    }),

  plan: ({ site_id_or_domain }, ctx) => previewUpdates(ctx, [site_id_or_domain], ['core'], []),

  handle: ({ site_id_or_domain }, ctx) => updateCore(ctx, site_id_or_domain),
});
