import { bool, siteRef } from '../../schemas/common.js';
import { guardChanges, guardInstall } from '../../schemas/safety.js';
import { z } from '../../schemas/zod.js';
import { installGuard } from '../../src/domain/updates/safe/site-guard.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/install-site-guard-v1',
  title: 'Install the guard on a site',
  about: 'Installs or renews the guard on a site: a must-use plugin that rolls back updates that break the site.',
  effect: 'write',
  change: guardChanges,
  idempotent: true,

  input: () =>
    z.object({
      site_id_or_domain: siteRef(),
      allow_login: bool().optional().describe('Allow logins by token; default: unchanged.'),
      dry_run: bool().default(false).describe('Preview.'),
    }),

  output: guardInstall,

  handle: ({ site_id_or_domain, allow_login, dry_run }, ctx) =>
    installGuard(ctx, site_id_or_domain, allow_login, dry_run),
});
