import { backedUp } from '../../schemas/backup.js';
import { continuedFields, queuedFields, siteError, siteRefs } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { backUpSites } from '../../src/domain/backups/back-up-sites.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/back-up-site-v1',
  title: 'Back up sites',
  about:
    'Backs up the files and tables of sites that have the guard, reading only what changed since the last backup. Repeat it to resume an interrupted backup.',
  instructions: 'Over 200 sites: a job.',
  effect: 'write',
  change: 'refresh',
  idempotent: false,
  multi: true,

  input: () =>
    z.object({
      site_id_or_domain: integerOrText().optional().describe('One site: id or domain.'),
      site_ids_or_domains: siteRefs('Or several.').optional(),
    }),

  output: () =>
    z.object({
      ...queuedFields(),
      ...continuedFields(),
      backup_id: z.string().optional().describe('If one site was named.'),
      backups: z.array(backedUp()).optional(),
      errors: z.array(siteError()),
      total_errors: z.number().int(),
    }),

  handle: ({ site_id_or_domain, site_ids_or_domains }, ctx) => backUpSites(ctx, site_id_or_domain, site_ids_or_domains),
});
