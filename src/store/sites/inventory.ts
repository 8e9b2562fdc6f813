/**
 * Inventories of sites: installed plugins and themes, and available updates. A snapshot is compared with what is
 * stored, and only differences are written; an unchanged site is recognized by a digest and costs one small write.
 */

import type { Snapshot } from '../../../schemas/snapshot.js';
import { type Db, type Statement, sql } from '../driver/db.js';
import { guard, guardedBatch } from '../driver/guard.js';
import { refreshIgnored } from './ignored-updates.js';
import { extensionStatements, offerStatements, wantedOffers } from './inventory-diff.js';
import { keepRecordTexts } from './inventory-lists.js';
import {
  type ExtensionRow,
  KIND,
  NO_INVENTORY,
  type OfferRow,
  type SaveTarget,
  type StoredInventory,
} from './inventory-rows.js';
import {
  abandonedStatements,
  backupStatements,
  changeStatements,
  contentHash,
  detailStatements,
  documentStatements,
  securityStatements,
} from './snapshot-statements.js';
import { stampStatus, UPDATING } from './status.js';

export type { ExtensionRow, OfferRow, SaveTarget, StoredInventory } from './inventory-rows.js';

const EXTENSION_COLUMNS = `e.site_id, e.kind, e.package_id, p.slug, p.name, ifnull(e.description, p.description) AS description, e.position, e.version, e.active, e.flags, e.update_version`;

export function createInventory(db: Db) {
  return {
    async read(siteId: number): Promise<StoredInventory> {
      const [extensions = [], offers = []] = await db.read([
        sql(
          `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id = ? ORDER BY e.kind, e.position`,
          siteId,
        ),
        sql(
          'SELECT site_id, type, slug, position, name, current_version, new_version, needs, ignored FROM site_update WHERE site_id = ? ORDER BY type, position',
          siteId,
        ),
      ]);
      return { extensions: extensions as ExtensionRow[], offers: offers as OfferRow[] };
    },

    /** Deletes what no site has any more: a site may call its plugins otherwise at each sync. */
    async forgetGone(): Promise<void> {
      await db.run(
        'DELETE FROM package WHERE NOT EXISTS (SELECT 1 FROM site_extension e WHERE e.package_id = package.id)',
      );
    },

    /** What these sites have of one item, by its packages. */
    ofPackages(packages: readonly number[], siteIds: readonly number[]): Promise<ExtensionRow[]> {
      return db.all<ExtensionRow>(
        `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id
         WHERE e.site_id IN (SELECT value FROM json_each(?)) AND e.package_id IN (SELECT value FROM json_each(?))`,
        [JSON.stringify(siteIds), JSON.stringify(packages)],
      );
    },

    /** Plugins or themes of one site in the child's order. */
    extensions(siteId: number, kind: number): Promise<ExtensionRow[]> {
      return db.all<ExtensionRow>(
        `SELECT ${EXTENSION_COLUMNS} FROM site_extension e JOIN package p ON p.id = e.package_id WHERE e.site_id = ? AND e.kind = ? ORDER BY e.position`,
        [siteId, kind],
      );
    },

    /** Statements that store the first snapshot of a new site. */
    first(siteId: number, urlKey: string, snapshot: Snapshot, now: number): Statement[] {
      return [
        ...saveStatements({ site_id: siteId, url_key: urlKey }, snapshot, contentHash(snapshot), NO_INVENTORY, now),
        keepRecordTexts(siteId),
        ...succeededStatements(siteId, snapshot, now, false),
      ];
    },

    /**
     * Stores a full or partial snapshot.
     * @param succeeded the site answered a sync: clears the sync error and sets last_sync. False for a snapshot that
     * was returned with an action
     * @param since nothing is stored if the site has been synced since: a process that was paused must not store an
     * older state
     * @returns whether it was stored
     */
    async save(
      target: SaveTarget,
      snapshot: Snapshot,
      now: number,
      succeeded: boolean,
      since?: SyncStart,
    ): Promise<boolean> {
      const digest = contentHash(snapshot);
      const outcome = succeeded
        ? succeededStatements(target.site_id, snapshot, now, (target.disconnected ?? 0) > 0)
        : [];
      const statements =
        digest === target.content_hash
          ? uncomparedStatements(target.site_id, snapshot)
          : saveStatements(target, snapshot, digest, await this.read(target.site_id), now);
      return storeUnlessSynced(db, target.site_id, since, [...statements, keepRecordTexts(target.site_id), ...outcome]);
    },

    /**
     * Stores a failed sync: the reason, and the time of the attempt. The last known versions stay (operations §11.15).
     * @param failure `message` with the site's words quoted; `late` = no answer arrived in time, which says nothing about
     * the connection: only the time of the attempt is stored. So it is while an update job runs on the site, unless it is
     * `own`, by that job
     * @param since as in `save`
     */
    async saveFailure(
      siteId: number,
      { code, message, late, own }: { code: string; message: string; late: boolean; own: boolean },
      now: number,
      since?: SyncStart,
    ): Promise<boolean> {
      const attempted = sql('UPDATE site_detail SET last_attempt = ? WHERE site_id = ?', now, siteId);
      if (late) return storeUnlessSynced(db, siteId, since, [attempted]);
      const counts = own ? '' : ` AND NOT ${UPDATING}`;
      return storeUnlessSynced(db, siteId, since, [
        attempted,
        sql(`UPDATE site SET sync_error = ? WHERE id = ? AND sync_error <> ?${counts}`, message, siteId, message),
        sql(
          `UPDATE site_detail SET sync_error_code = ? WHERE site_id IN (SELECT id FROM site WHERE id = ? AND sync_error = ?)`,
          code,
          siteId,
          message,
        ),
        stampStatus(now),
      ]);
    },
  };
}

/** The last attempt as it was when a sync began: a sync whose site was synced by another process since is not stored. */
interface SyncStart {
  last_attempt: number | null;
}

/** Stores a batch, unless the site was synced since `since`; without it, always. */
async function storeUnlessSynced(
  db: Db,
  siteId: number,
  since: SyncStart | undefined,
  statements: readonly Statement[],
): Promise<boolean> {
  if (since === undefined) {
    await db.batch(statements);
    return true;
  }
  const unchanged = guard(
    'NOT EXISTS (SELECT 1 FROM site_detail WHERE site_id = ? AND last_attempt IS NOT ?)',
    siteId,
    since.last_attempt,
  );
  return guardedBatch(db, unchanged, statements);
}

function succeededStatements(siteId: number, { backup }: Snapshot, now: number, reconnects: boolean): Statement[] {
  return [
    reconnects
      ? sql("UPDATE site SET sync_error = '', unreached = min(unreached, 1), disconnected = 0 WHERE id = ?", siteId)
      : sql(
          "UPDATE site SET sync_error = '', unreached = min(unreached, 1) WHERE id = ? AND (sync_error <> '' OR unreached = 2)",
          siteId,
        ),
    sql(
      `UPDATE site_detail SET last_sync = ?, last_attempt = ?, sync_error_code = '',
         backup_looked_at = CASE WHEN backup_plugin = ? THEN ? ELSE backup_looked_at END WHERE site_id = ?`,
      now,
      now,
      backup?.plugin ?? null,
      now,
      siteId,
    ),
    stampStatus(now),
  ];
}

/** What a snapshot says beside the content that its digest covers. */
function uncomparedStatements(siteId: number, snapshot: Snapshot): Statement[] {
  return [...changeStatements(siteId, snapshot), ...backupStatements(siteId, snapshot)];
}

function saveStatements(
  target: Pick<SaveTarget, 'site_id' | 'url_key'>,
  snapshot: Snapshot,
  digest: string,
  stored: StoredInventory,
  now: number,
): Statement[] {
  const { site_id: siteId, url_key: urlKey } = target;
  const offers = wantedOffers(snapshot, stored);
  const extensions = extensionStatements(siteId, snapshot, stored, offers);
  const updates = offerStatements(siteId, urlKey, offers, stored.offers, now);
  return [
    ...extensions,
    ...updates,
    ...(updates.length > 0 ? [refreshIgnored(siteId)] : []),
    ...securityStatements(siteId, snapshot.security),
    ...abandonedStatements(siteId, urlKey, KIND.plugin, snapshot.abandoned_plugins, snapshot.plugins),
    ...abandonedStatements(siteId, urlKey, KIND.theme, snapshot.abandoned_themes, snapshot.themes),
    ...documentStatements(siteId, snapshot),
    ...uncomparedStatements(siteId, snapshot),
    ...detailStatements(siteId, snapshot, digest),
  ];
}
