import { siteRef } from '../../schemas/common.js';
import { siteGuard } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { siteGuard as read } from '../../src/domain/updates/safe/site-guard.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-site-guard-v1',
  title: "Read a site's guard",
  about: 'Tells whether a site has the guard, which rolls back updates that break the site, and what the guard can do.',
  run: 'POST',
  effect: 'read',
  live: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: siteGuard,

  handle: ({ site_id_or_domain }, ctx) => read(ctx, site_id_or_domain),
});
