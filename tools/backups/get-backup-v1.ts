import { backupDetail, backupId } from '../../schemas/backup.js';
import { z } from '../../schemas/zod.js';
import { getBackup } from '../../src/domain/backups/backups.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/get-backup-v1',
  title: 'Read a backup',
  about: 'Shows what a backup contains: folders, tables, what was left out, and what changed while it was read.',
  run: 'POST',
  effect: 'read',
  live: true,

  input: () => z.object({ backup_id: backupId() }),

  output: backupDetail,

  handle: ({ backup_id }, ctx) => getBackup(ctx, backup_id),
});
