import { backupId, verifyResult } from '../../schemas/backup.js';
import { int } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { verifyBackup } from '../../src/domain/backups/verify.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/verify-backup-v1',
  title: 'Verify a backup',
  about: 'Reads a stored backup and compares it with the digests of what the site sent. The site is not contacted.',
  effect: 'write',
  change: 'refresh',
  idempotent: true,

  input: () =>
    z.object({
      backup_id: backupId(),
      percent: int(1, 100).default(100).describe('Share of the files to read.'),
    }),

  output: verifyResult,

  handle: ({ backup_id, percent }, ctx) => verifyBackup(ctx, backup_id, percent),
});
