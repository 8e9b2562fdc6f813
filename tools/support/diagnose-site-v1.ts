import { siteRef } from '../../schemas/common.js';
import { diagnosis } from '../../schemas/diagnosis.js';
import { z } from '../../schemas/zod.js';
import { diagnoseSite } from '../../src/domain/fleet/diagnose.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/diagnose-site-v1',
  title: 'Find out why a site is red',
  about:
    'Tells why a site is red and since when, what changed before, which other sites share the problem, and whether it can be rolled back. Reads stored data only.',
  run: 'POST',
  effect: 'read',

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: diagnosis,

  handle: ({ site_id_or_domain }, ctx) => diagnoseSite(ctx, site_id_or_domain),
});
