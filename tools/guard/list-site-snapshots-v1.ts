import { siteRef } from '../../schemas/common.js';
import { siteSnapshots } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { siteSnapshots as read } from '../../src/domain/updates/safe/roll-back.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-site-snapshots-v1',
  title: "List a site's snapshots",
  about: "Lists the copies of plugins and themes that a site's guard keeps, newest first. roll-back-v1 restores one.",
  run: 'POST',
  effect: 'read',
  live: true,

  input: () => z.object({ site_id_or_domain: siteRef() }),

  output: siteSnapshots,

  handle: ({ site_id_or_domain }, ctx) => read(ctx, site_id_or_domain),
});
