/** What the child tells of backup plugins: less than they know, later, and in as many forms (child protocol §5.1). */

import type { SiteState } from '../state.js';

const FILES: Readonly<Record<string, readonly string[]>> = {
  backupbuddy: ['backupbuddy/backupbuddy.php', 'Backupbuddy/backupbuddy.php'],
  backupwordpress: ['backupwordpress/backupwordpress.php'],
  backwpup: ['backwpup/backwpup.php', 'backwpup-pro/backwpup.php'],
  updraftplus: ['updraftplus/updraftplus.php'],
  wptimecapsule: ['wp-time-capsule/wp-time-capsule.php'],
  wpvivid: ['wpvivid-backuprestore/wpvivid-backuprestore.php'],
};

/** The stored option: text once there is one, the number 0 before. Nothing at all of a plugin that is unknown or not active. */
export function lastBackup(state: SiteState, asked: string): string | 0 | undefined {
  const name = asked === 'backupwp' ? 'backupwordpress' : asked;
  const files = Object.hasOwn(FILES, name) ? (FILES[name] ?? []) : [];
  if (!state.plugins.some(({ slug, active }) => active && files.includes(slug))) return undefined;
  const noted = state.backups.get(name)?.noted ?? 0;
  if (noted === 0) return 0;
  // BackWPup's log is read with the offset of the site's zone added.
  return String(name === 'backwpup' ? noted + state.gmtOffset * 3600 : noted);
}

/** UpdraftPlus tells the child of each backup; the others are looked at when an answer is complete. Returns whether that is news. */
export function noteBackups({ backups }: SiteState): boolean {
  let news = false;
  for (const backup of backups.values()) {
    news ||= backup.noted < backup.made;
    backup.noted = Math.max(backup.noted, backup.made);
  }
  return news;
}
