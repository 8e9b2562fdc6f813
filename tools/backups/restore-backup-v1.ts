import { backupId, restoreResult, restoreSelection } from '../../schemas/backup.js';
import { confirmation } from '../../schemas/common.js';
import { z } from '../../schemas/zod.js';
import { restoreNow } from '../../src/domain/backups/handler.js';
import { previewRestore, restorableSite } from '../../src/domain/backups/restore-site.js';
import { counted, sentences } from '../../src/domain/common/question.js';
import { siteAddress } from '../../src/domain/sites/urls.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/restore-backup-v1',
  title: 'Restore a backup',
  about:
    'Restores a whole site, a plugin, a table or files from a backup, and rolls the restore back if the site is worse afterwards. Repeat it to complete an interrupted restore.',
  effect: 'destroy',
  change: { kind: 'deletions', sites: 1 },
  idempotent: true,

  input: () => z.object({ backup_id: backupId(), ...restoreSelection(), ...confirmation() }),

  output: restoreResult,

  requireTarget: ({ backup_id, what, name }, ctx) => restorableSite(ctx, backup_id, { what, name }),

  question: ({ site_url, made_at, files_replaced, files_added, files_removed, tables, warnings }) => ({
    text: sentences(
      `Restore ${siteAddress(site_url)} from the backup of ${made_at}?`,
      `${counted(files_replaced, 'file')} would be replaced, ${files_added} added, ${files_removed} removed, and ${counted(tables.length, 'table')} replaced.`,
      ...warnings,
    ),
  }),

  preview: ({ backup_id, what, name }, ctx) => previewRestore(ctx, backup_id, { what, name }),

  handle: ({ backup_id, what, name }, ctx) => restoreNow(ctx, backup_id, { what, name }),
});
