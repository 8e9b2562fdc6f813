import { siteRef } from '../../schemas/common.js';
import { diagnosis } from '../../schemas/diagnosis.js';
import { z } from '../../schemas/zod.js';
import { diagnoseSite } from '../../src/domain/fleet/diagnose.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/diagnose-site-v1',
  title: 'Say why a site is red',
  about:
    'Tells why a site is red and since when, what was changed before, who else has it, and whether it can be rolled back. Reads what is stored: no visit.',
  run: 'POST',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: diagnosis,

  handle: ({ site_id_or_domain }, ctx) => diagnoseSite(ctx, site_id_or_domain),
});
