/** Routes of the backups of sites (REST §7). */

import {
  backedUp,
  backupDetail,
  backupId,
  backupItem,
  backupListFacts,
  backupRuleFields,
  backupSchedule,
  backupState,
  backupStatus,
  backupStatusFacts,
  backupStatusFilter,
  drillResult,
  RESTORABLE,
  restoreResult,
  verifyResult,
} from '../../../../schemas/backup.js';
import { id, int } from '../../../../schemas/common.js';
import { z } from '../../../../schemas/zod.js';
import { exportBackup } from '../../../domain/backups/archive.js';
import { backUpOne } from '../../../domain/backups/back-up-sites.js';
import { getBackup, listBackups } from '../../../domain/backups/backups.js';
import { drillBackup } from '../../../domain/backups/drill.js';
import { listBackupStatus } from '../../../domain/backups/fleet-backups.js';
import { restoreNow } from '../../../domain/backups/handler.js';
import { previewRestore } from '../../../domain/backups/restore-site.js';
import { setSchedule } from '../../../domain/backups/schedule.js';
import { verifyBackup } from '../../../domain/backups/verify.js';
import { ServiceError } from '../../../runtime/errors.js';
import { flag, paging, text } from '../params.js';
import { type Route, route } from '../route.js';
import { listOf, recordOf, withSite, writtenOf } from '../schemas/records.js';
import { siteRoute } from '../sites/references.js';

/** Not in the routes document. */
export const backups: readonly Route[] = [
  siteRoute({
    on: 'POST /sites/{id_or_domain}/backups',
    change: 'refresh',
    fails: [409, 502, 503, 504],
    summary: 'Back up a site',
    description: 'Only what changed since the last backup is read. It needs the guard.',
    returns: () => writtenOf(backedUp()).extend(withSite()),
    answer: async (ctx, site) => ({ message: 'The site was backed up.', data: (await backUpOne(ctx, site.id)).backup }),
  }),
  route({
    on: 'GET /backups',
    summary: 'List backups of sites, newest first',
    params: () =>
      z.object({
        site: text(300, 1).optional().describe('Id or domain.'),
        state: backupState().optional(),
        proven: flag().optional().describe('By a trial restore.'),
        ...paging(50, 200),
      }),
    returns: () => listOf(backupItem()).extend(backupListFacts()),
    async answer({ site, ...input }, ctx) {
      const { items, ...facts } = await listBackups(ctx, { ...input, site_id_or_domain: site });
      return { ...facts, data: items };
    },
  }),
  route({
    on: 'GET /backups/sites',
    summary: 'List how sites are backed up, those without a backup first',
    params: () => z.object({ ...backupStatusFilter(), ...paging(50, 200) }),
    returns: () => listOf(backupStatus()).extend(backupStatusFacts()),
    async answer(input, ctx) {
      const { items, ...facts } = await listBackupStatus(ctx, input);
      return { ...facts, data: items };
    },
  }),
  route({
    on: 'PUT|PATCH /backups/schedule',
    change: 'settings',
    body: 'required',
    fails: [404],
    summary: 'Set how often the fleet, a tag or a site is backed up',
    description: 'GET /backups shows the rules; with site, the one that applies to it.',
    params: () =>
      z.object({
        site: text(300, 1).optional().describe('Id or domain.'),
        tag_id: id().optional().describe('Or a tag; neither = the fleet.'),
        ...backupRuleFields(),
      }),
    returns: () => writtenOf(backupSchedule()),
    async answer({ site, ...input }, ctx) {
      const data = await setSchedule(ctx, { ...input, site_id_or_domain: site });
      return { message: 'The schedule was changed.', data };
    },
  }),
  route({
    on: 'GET /backups/{backup_id}',
    live: true,
    fails: [404, 503],
    summary: 'Read what is in a backup',
    params: () => z.object({ backup_id: backupId() }),
    returns: () => recordOf(backupDetail()),
    answer: async ({ backup_id }, ctx) => ({ data: await getBackup(ctx, backup_id) }),
  }),
  route({
    on: 'GET /backups/{backup_id}/archive',
    needs: 'write',
    live: true,
    streams: 'application/x-tar',
    fails: [404, 429, 503],
    summary: 'Download a backup as a plain archive',
    description:
      'A tar archive: the files of the site as they are, one SQL file, and how to restore them by hand. It contains passwords of the site, so it needs a key that may read and write. An archive that ends early is incomplete.',
    params: () => z.object({ backup_id: backupId() }),
    returns: () => z.object({ backup_id: z.string(), site_id: z.number().int() }),
    answer: async ({ backup_id }, ctx) => ({ ...(await exportBackup(ctx, backup_id)) }),
  }),
  route({
    on: 'POST /backups/{backup_id}/verify',
    change: 'refresh',
    fails: [404, 409, 503],
    summary: 'Read a stored backup and compare it with what the site sent',
    params: () =>
      z.object({ backup_id: backupId(), percent: int(1, 100).default(100).describe('Share of the files to read.') }),
    returns: () => writtenOf(verifyResult()),
    async answer({ backup_id, percent }, ctx) {
      const data = await verifyBackup(ctx, backup_id, percent);
      return { message: data.sound ? 'The backup is sound.' : 'The backup is damaged.', data };
    },
  }),
  route({
    on: 'POST /backups/{backup_id}/drill',
    change: 'refresh',
    fails: [404, 409, 503],
    summary: 'Restore a backup on trial, away from the site',
    description: 'Compares the copy with what was recorded about the site. Off unless the operator allows it.',
    params: () => z.object({ backup_id: backupId() }),
    returns: () => writtenOf(drillResult()),
    async answer({ backup_id }, ctx) {
      const data = await drillBackup(ctx, backup_id);
      const message = {
        proven: 'The backup is proven.',
        failed: 'The backup failed.',
        could_not_verify: 'Nothing could be verified.',
      };
      return { message: message[data.result], data };
    },
  }),
  route({
    on: 'POST /backups/{backup_id}/restore',
    change: { kind: 'deletions', sites: 1 },
    fails: [404, 409, 502, 503, 504],
    summary: 'Restore a site, a plugin, a table or files',
    description: 'Rolled back if the site is worse afterwards. dry_run shows the plan.',
    params: () =>
      z.object({
        backup_id: backupId(),
        what: z.enum(RESTORABLE),
        name: text(400).optional().describe('A plugin, a table, or a pattern of paths.'),
        confirm: flag().default(false),
        dry_run: flag().default(false),
      }),
    returns: () => writtenOf(restoreResult()),
    async answer({ backup_id, what, name, confirm, dry_run }, ctx) {
      if (dry_run)
        return { message: 'Nothing was changed.', data: await previewRestore(ctx, backup_id, { what, name }) };
      if (!confirm)
        throw new ServiceError('svc_confirmation_required', 'Restoring replaces what the site has now.', {
          field: 'confirm',
          advice: 'Send dry_run to see the plan, then confirm.',
        });
      const data = await restoreNow(ctx, backup_id, { what, name });
      return { message: data.outcome === 'taken_back' ? 'The restore was rolled back.' : 'Restored.', data };
    },
  }),
];
