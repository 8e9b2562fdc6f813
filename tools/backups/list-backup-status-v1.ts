import { backupStatusFilter, backupStatusList } from '../../schemas/backup.js';
import { paging } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { listBackupStatus } from '../../src/domain/backups/fleet-backups.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-backup-status-v1',
  title: 'List backup status',
  about:
    'Lists sites with their newest backup, failures, proof and next backup, or only the sites that lack something.',
  run: 'GET',
  effect: 'read',

  input: () => z.object({ ...backupStatusFilter(), ...paging(50, 200) }),

  output: backupStatusList,

  handle: (input, ctx) => listBackupStatus(ctx, input),
});
