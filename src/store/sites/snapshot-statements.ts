/**
 * Statements that store the parts of a snapshot other than its inventory: security, abandoned items, documents,
 * changes, details.
 */

import { createHash } from 'node:crypto';
import { backupPluginOf } from '../../../schemas/backup-plugins.js';
import type { Snapshot, SnapshotAbandoned, SnapshotExtension } from '../../../schemas/snapshot.js';
import { type Statement, sql } from '../driver/db.js';
import { updateRow } from '../driver/rows.js';
import { DOCUMENTS } from './inventory-lists.js';

/**
 * Digest of what is compared with what is stored. Not the change list, which is appended and never replaced, nor the last
 * backup: most sites have a newer one each day, and the second sync is the first that asks for it.
 */
export function contentHash(snapshot: Snapshot): string {
  const { changes: _appended, backup: _daily, regverify: _secret, ...content } = snapshot;
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

export function securityStatements(siteId: number, security: Record<string, string> | undefined): Statement[] {
  if (security === undefined) return [];
  const rows = JSON.stringify(Object.entries(security));
  return [
    sql(
      'DELETE FROM site_security WHERE site_id = ? AND check_id NOT IN (SELECT value ->> 0 FROM json_each(?))',
      siteId,
      rows,
    ),
    sql(
      `INSERT INTO site_security (site_id, check_id, value) SELECT ?, value ->> 0, value ->> 1 FROM json_each(?) WHERE true
       ON CONFLICT (site_id, check_id) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
      siteId,
      rows,
    ),
  ];
}

/**
 * A sync reads only the child's cache, which is empty before the first check and two days after each: an empty list
 * next to an inventory says nothing. Items that are no longer installed are removed anyway (child protocol §6.6).
 */
export function abandonedStatements(
  siteId: number,
  urlKey: string,
  kind: number,
  items: readonly SnapshotAbandoned[] | undefined,
  installed: readonly SnapshotExtension[] | undefined,
): Statement[] {
  if (installed !== undefined && (items === undefined || items.length === 0)) {
    return [
      sql(
        'DELETE FROM site_abandoned WHERE site_id = ? AND kind = ? AND slug NOT IN (SELECT value FROM json_each(?))',
        siteId,
        kind,
        JSON.stringify(installed.map((item) => item.slug)),
      ),
    ];
  }
  if (items === undefined) return [];
  const present = installed === undefined ? null : new Set(installed.map((item) => item.slug));
  const rows = JSON.stringify(
    items
      .filter((item) => present?.has(item.slug) ?? true)
      .map((item) => [
        item.slug,
        item.name === '' ? item.slug : item.name,
        item.version,
        Math.trunc(item.last_updated),
      ]),
  );
  return [
    sql(
      'DELETE FROM site_abandoned WHERE site_id = ? AND kind = ? AND slug NOT IN (SELECT value ->> 0 FROM json_each(?))',
      siteId,
      kind,
      rows,
    ),
    sql(
      `INSERT INTO site_abandoned (site_id, kind, slug, name, version, last_updated, url_key)
       SELECT ?, ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, ? FROM json_each(?) WHERE true
       ON CONFLICT (site_id, kind, slug) DO UPDATE SET name = excluded.name, version = excluded.version, last_updated = excluded.last_updated`,
      siteId,
      kind,
      urlKey,
      rows,
    ),
  ];
}

export function documentStatements(siteId: number, snapshot: Snapshot): Statement[] {
  return [...DOCUMENTS, 'translations' as const].flatMap((kind) => {
    const body = snapshot[kind];
    if (body === undefined) return [];
    return [
      sql(
        `INSERT INTO site_document (site_id, kind, body) VALUES (?, ?, ?)
         ON CONFLICT (site_id, kind) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
        siteId,
        kind,
        JSON.stringify(body),
      ),
    ];
  });
}

/** The newest that are kept of one site: one that reports changes without end must not fill the disk of all. */
const MOST_CHANGES = 20_000;

export function changeStatements(siteId: number, snapshot: Snapshot): Statement[] {
  const changes = snapshot.changes ?? [];
  if (changes.length === 0) return [];
  // Where the next snapshot continues: all entries count, even those that are not kept.
  const newest = Math.max(...changes.map((change) => change.created));
  const kept = changes.filter((change) => !change.not_a_change);
  return [
    sql(
      `INSERT OR IGNORE INTO site_change (site_id, source, child_id, context, action, item, user_login, user_id, created, duration,
         detail, summary, slug, old_value, new_value)
       SELECT ?, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
         value ->> 9, value ->> 10, value ->> 11, value ->> 12, value ->> 13 FROM json_each(?)`,
      siteId,
      JSON.stringify(
        kept.map((c) => [
          c.source,
          c.child_id,
          c.context,
          c.action,
          c.item,
          c.user_login,
          c.user_id,
          c.created,
          c.duration,
          c.detail,
          c.summary,
          c.slug,
          c.old_value,
          c.new_value,
        ]),
      ),
    ),
    sql(
      `DELETE FROM site_change WHERE id IN
         (SELECT id FROM site_change WHERE site_id = ? ORDER BY created DESC, id DESC LIMIT -1 OFFSET ${MOST_CHANGES})`,
      siteId,
    ),
    sql('UPDATE site_detail SET changes_after = max(changes_after, ?) WHERE site_id = ?', newest, siteId),
  ];
}

/** What is known of backups is known of one plugin: it goes with it. */
export function backupStatements(siteId: number, { plugins, backup }: Snapshot): Statement[] {
  const plugin = plugins === undefined ? backup?.plugin : backupPluginOf(plugins);
  if (plugin === undefined) return [];
  const [told, last] = backup?.plugin === plugin ? [1, backup.last] : [0, null];
  return [
    sql(
      `UPDATE site_detail SET backup_plugin = ?1, last_backup = CASE WHEN ?2 THEN ?3 WHEN backup_plugin = ?1 THEN last_backup END,
         backup_looked_at = CASE WHEN backup_plugin = ?1 THEN backup_looked_at END
       WHERE site_id = ?4 AND (backup_plugin <> ?1 OR (?2 AND last_backup IS NOT ?3))`,
      plugin,
      told,
      last,
      siteId,
    ),
  ];
}

/** Stores the columns of `site_detail` that the snapshot has. */
export function detailStatements(siteId: number, snapshot: Snapshot, digest: string): Statement[] {
  return updateRow('site_detail', 'site_id', siteId, {
    child_version: snapshot.child_version,
    wp_version: snapshot.wp_version,
    php_version: snapshot.php_version,
    mysql_version: snapshot.mysql_version,
    memory_limit: snapshot.memory_limit,
    database_size: snapshot.database_size,
    language: snapshot.language,
    ip: snapshot.ip,
    timezone: snapshot.timezone,
    gmt_offset: snapshot.gmt_offset,
    debug_mode: snapshot.debug_mode,
    search_visible: snapshot.search_visible,
    health_good: snapshot.health?.good,
    health_recommended: snapshot.health?.recommended,
    health_critical: snapshot.health?.critical,
    last_post: snapshot.last_post,
    door: snapshot.door,
    content_hash: digest,
  });
}
