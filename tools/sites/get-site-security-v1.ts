import { siteRef } from '../../schemas/common.js';
import { siteHead } from '../../schemas/site.js';
import { z } from '../../schemas/zod.js';
import { siteSecurity } from '../../src/domain/sites/findings.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-security-v1',
  title: "Read a site's security findings",
  about: "Lists failed security checks and the certificate's state.",
  instructions: 'As of the last sync.',
  run: 'POST',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: () =>
    z.object({
      ...siteHead(),
      security_issues: z.array(
        z.object({ type: z.string(), severity: z.enum(['high', 'medium']), message: z.string() }),
      ),
      ssl_status: z.object({
        valid: z.boolean().nullable().describe('false also without https; null = none was seen.'),
        expires: z.string().nullable(),
        checked_at: z.string().nullable(),
      }),
    }),

  handle: ({ site_id_or_domain }, ctx) => siteSecurity(ctx, site_id_or_domain),
});
