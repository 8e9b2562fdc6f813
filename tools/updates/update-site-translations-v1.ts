import { continuedFields, siteRef } from '../../schemas/common.js';
import { siteHead } from '../../schemas/site.js';
import { aboutUpdates, applyError } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { previewUpdates } from '../../src/domain/updates/preview.js';
import { updateTranslations } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-site-translations-v1',
  title: "Update one site's translations",
  about: "Installs a site's translation updates and verifies them.",
  instructions: 'Nothing on offer: updated is false.',
  effect: 'write',
  change: 'updates',
  idempotent: false,
  replaces: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      ...siteHead(),
      updated: z.boolean(),
      translations_updated: z.number().int(),
      errors: z.array(applyError()).optional(),
      ...aboutUpdates(),
      ...continuedFields(),
    }),

  plan: ({ site_id_or_domain }, ctx) => previewUpdates(ctx, [site_id_or_domain], ['translations'], []),

  handle: ({ site_id_or_domain }, ctx) => updateTranslations(ctx, site_id_or_domain),
});
