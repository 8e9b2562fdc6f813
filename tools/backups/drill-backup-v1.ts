import { backupId, drillResult } from '../../schemas/backup.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { drillChosen } from '../../src/domain/backups/drill.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/drill-backup-v1',
  title: 'Restore a backup on trial',
  about:
    'Restores a backup to a confined copy, away from the site, and compares it with what was recorded about the site. The site is not contacted.',
  effect: 'write',
  change: 'refresh',
  idempotent: true,

  input: () =>
    z.object({
      backup_id: backupId().optional(),
      site_id_or_domain: integerOrText().optional().describe('Or a site, for its newest backup.'),
    }),

  output: drillResult,

  handle: (input, ctx) => drillChosen(ctx, input),
});
