import type { Operation } from '../../src/operation/operation.js';
import backUpSite from './back-up-site-v1.js';
import drillBackup from './drill-backup-v1.js';
import getBackup from './get-backup-v1.js';
import listBackupStatus from './list-backup-status-v1.js';
import listBackups from './list-backups-v1.js';
import restoreBackup from './restore-backup-v1.js';
import scheduleBackups from './schedule-backups-v1.js';
import verifyBackup from './verify-backup-v1.js';

export const backups: readonly Operation[] = [
  backUpSite,
  listBackups,
  listBackupStatus,
  getBackup,
  restoreBackup,
  verifyBackup,
  scheduleBackups,
  drillBackup,
];
