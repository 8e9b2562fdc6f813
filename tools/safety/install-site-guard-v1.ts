import { bool, siteRef } from '../../schemas/common.js';
import { guardInstall } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { installGuard } from '../../src/domain/safety/site-guard.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/install-site-guard-v1',
  title: 'Install the guard on a site',
  about:
    'Writes the guard, one must-use plugin, onto a site, or renews it. Its updates are then checked, and undone when they break the site.',
  effect: 'write',
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      allow_login: bool().optional().describe('Logins by token; default: as it is.'),
      dry_run: bool().default(false).describe('Only describes how.'),
    }),

  output: guardInstall,

  handle: ({ site_id_or_domain, allow_login, dry_run }, ctx) =>
    installGuard(ctx, site_id_or_domain, allow_login, dry_run),
});
