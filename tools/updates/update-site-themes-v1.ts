import { continuedFields, siteRef } from '../../schemas/common.js';
import { slugs } from '../../schemas/extension.js';
import { siteHead } from '../../schemas/site.js';
import { appliedExtension, applyError } from '../../schemas/update.js';
import { z } from '../../schemas/zod.js';
import { updateExtensions } from '../../src/domain/updates/updates.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/update-site-themes-v1',
  title: "Update one site's themes",
  about: 'Updates themes and verifies each version. Ignored ones are skipped.',
  instructions: 'See get-site-updates-v1.',
  effect: 'write',
  idempotent: false,
  replaces: true,

  input: () => z.object({ site_id_or_domain: siteRef(), slugs: slugs().default([]).describe('Empty = all.') }),

  output: () =>
    z.object({
      ...siteHead(),
      updated: z.array(appliedExtension()),
      errors: z.array(applyError()),
      total_updated: z.number().int(),
      ...continuedFields(),
    }),

  async handle({ site_id_or_domain, slugs }, ctx) {
    const { target, updated, errors, job_id, status_url } = await updateExtensions(
      ctx,
      site_id_or_domain,
      'theme',
      slugs,
    );
    return {
      site_id: target.site.id,
      site_url: target.site.url,
      updated,
      errors,
      total_updated: updated.length,
      ...(job_id === undefined ? {} : { job_id, status_url }),
    };
  },
});
