/** Backup plugins whose last backup MainWP Child can tell, by the names it knows them by (child protocol §5). */

import type { SnapshotExtension } from './snapshot.js';

/**
 * The child's name of each, and the plugin files of which one has to be active. It answers for one name per sync. The first
 * tells the child at the end of each backup; of the others the child learns only at the end of a sync, so their time is as
 * of the sync before.
 */
const BACKUP_PLUGINS: readonly { name: string; files: readonly string[] }[] = [
  { name: 'updraftplus', files: ['updraftplus/updraftplus.php'] },
  { name: 'backwpup', files: ['backwpup/backwpup.php', 'backwpup-pro/backwpup.php'] },
  { name: 'backupbuddy', files: ['backupbuddy/backupbuddy.php', 'Backupbuddy/backupbuddy.php'] },
  { name: 'wptimecapsule', files: ['wp-time-capsule/wp-time-capsule.php'] },
  { name: 'backupwordpress', files: ['backupwordpress/backupwordpress.php'] },
  { name: 'wpvivid', files: ['wpvivid-backuprestore/wpvivid-backuprestore.php'] },
];

/** Which of them a site is asked about; '' = none is active. */
export function backupPluginOf(plugins: readonly Pick<SnapshotExtension, 'slug' | 'active'>[]): string {
  const active = new Set(plugins.filter((plugin) => plugin.active).map(({ slug }) => slug));
  return BACKUP_PLUGINS.find(({ files }) => files.some((file) => active.has(file)))?.name ?? '';
}
