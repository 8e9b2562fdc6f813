import { backupList, backupState } from '../../schemas/backup.js';
import { paging } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { integerOrText } from '../../schemas/zod-internals.js';
import { listBackups } from '../../src/domain/backups/backups.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/list-backups-v1',
  title: 'List backups',
  about: 'Lists backups, newest first: when, how much, how consistent, and whether they were verified or proven.',
  run: 'GET',
  effect: 'read',

  input: () =>
    z.object({
      site_id_or_domain: integerOrText().optional().describe('Id or domain.'),
      state: backupState().optional().describe('Only in this state.'),
      proven: z.boolean().optional().describe('By a trial restore.'),
      ...paging(50, 200),
    }),

  output: backupList,

  handle: (input, ctx) => listBackups(ctx, input),
});
