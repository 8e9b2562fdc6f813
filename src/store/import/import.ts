/**
 * Sites imported from another dashboard: what is stored with a new one, which are already known, and which are on
 * trial.
 */

import type { FleetDetails } from '../../../schemas/fleet.js';
import { fold } from '../../../schemas/fold.js';
import type { CostFields } from '../costs/fields.js';
import type { Db, Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { updateRow } from '../driver/rows.js';
import type { MonitorOwnSettings } from '../monitoring/monitors.js';
import { refreshIgnored, refreshIgnoredEverywhere } from '../sites/ignored-updates.js';
import type { IgnoredEntry } from '../sites/records.js';
import type { SiteRecord } from '../sites/rows.js';

/** Details beyond those of a manually added site. */
export interface ImportedDetails extends FleetDetails {
  ssl_version: number;
  on_trial: boolean;
}

/** Columns of `monitor`; null = the global setting applies. */
export type MonitorColumns = Readonly<Record<keyof MonitorOwnSettings, Value>>;

/** `last_sync` null: it never answered, but was imported and waits for its first sync. */
export interface KnownSite
  extends Row,
    Pick<
      SiteRecord,
      'id' | 'url' | 'url_key' | 'name' | 'suspended' | 'disconnected' | 'sync_error' | 'on_trial' | 'last_sync'
    > {}

const KNOWN = `SELECT s.id, s.url, s.url_key, s.name, s.suspended, s.disconnected, s.sync_error, d.on_trial, d.last_sync
  FROM site s JOIN site_detail d ON d.site_id = s.id`;

export function createSiteImport(db: Db) {
  return {
    /** Statements that store the rest of a new site in the transaction that adds it. */
    rest(
      id: number,
      details: ImportedDetails,
      ignored: readonly IgnoredEntry[],
      monitor: MonitorColumns,
      failure: { code: string; message: string; at: number } | null,
    ): Statement[] {
      const { suspended, ...columns } = details;
      return [
        ...updateRow('site_detail', 'site_id', id, columns),
        ...(suspended ? [sql('UPDATE site SET suspended = 1 WHERE id = ?', id)] : []),
        ...(failure === null
          ? []
          : [
              sql('UPDATE site SET sync_error = ? WHERE id = ?', failure.message, id),
              ...updateRow('site_detail', 'site_id', id, { last_attempt: failure.at, sync_error_code: failure.code }),
            ]),
        sql(
          `INSERT OR IGNORE INTO ignored_update (site_id, type, slug, version, name)
           SELECT ?, value ->> 'type', value ->> 'slug', value ->> 'version', value ->> 'name' FROM json_each(?)`,
          id,
          JSON.stringify(ignored),
        ),
        refreshIgnored(id),
        ...updateRow('monitor', 'site_id', id, monitor),
      ];
    },

    /** Sites that are stored under any of these identifying URLs. */
    known(urlKeys: readonly string[]): Promise<KnownSite[]> {
      return db.all<KnownSite>(`${KNOWN} WHERE s.url_key IN (SELECT value FROM json_each(?)) ORDER BY s.id`, [
        JSON.stringify(urlKeys),
      ]);
    },

    /** Ids of tags by their folded names. */
    async tags(names: readonly string[]): Promise<Map<string, number>> {
      const rows = await db.all('SELECT id, name_key FROM tag WHERE name_key IN (SELECT value FROM json_each(?))', [
        JSON.stringify(names.map(fold)),
      ]);
      return new Map(rows.map((row) => [String(row.name_key), Number(row.id)]));
    },

    /** The client with this e-mail; without an e-mail, the oldest client of that name that has none either. */
    async client(name: string, email: string): Promise<number | undefined> {
      const row =
        email === ''
          ? await db.one('SELECT id FROM client WHERE name_key = ? AND email_key IS NULL ORDER BY id LIMIT 1', [
              fold(name),
            ])
          : await db.one('SELECT id FROM client WHERE email_key = ?', [fold(email)]);
      return row === undefined ? undefined : Number(row.id);
    },

    /** Ids of identical costs, oldest first. */
    async costs(cost: Pick<CostFields, 'kind' | 'name' | 'url' | 'type' | 'renewal_type'>): Promise<number[]> {
      const rows = await db.all(
        'SELECT id FROM cost WHERE kind = ? AND name = ? AND url = ? AND type = ? AND renewal_type IS ? ORDER BY id',
        [cost.kind, cost.name, cost.url, cost.type, cost.renewal_type],
      );
      return rows.map((row) => Number(row.id));
    },

    /** Adds entries to those ignored on every site; returns how many are new. */
    async ignoreEverywhere(items: readonly IgnoredEntry[]): Promise<number> {
      if (items.length === 0) return 0;
      const [added] = await db.batch([
        sql(
          `INSERT OR IGNORE INTO ignored_everywhere (type, slug, version, name)
           SELECT value ->> 'type', value ->> 'slug', value ->> 'version', value ->> 'name' FROM json_each(?)`,
          JSON.stringify(items),
        ),
        ...items.map((item) => refreshIgnoredEverywhere(item.type, item.slug)),
      ]);
      return added?.changes ?? 0;
    },

    /**
     * Entries ignored on every site permanently: a time limit could not be exported, and would change the entry's
     * meaning.
     */
    everywhere(): Promise<IgnoredEntry[]> {
      return db.all<IgnoredEntry>(
        'SELECT type, slug, version, name FROM ignored_everywhere WHERE until IS NULL ORDER BY type, slug, version',
      );
    },

    /** Own settings of monitors, by site. */
    async monitors(siteIds: readonly number[]): Promise<Map<number, MonitorColumns>> {
      const rows = await db.all(
        `SELECT site_id, active, interval_min, timeout_s, maxretries, type, method, expected_status, keyword
         FROM monitor WHERE site_id IN (SELECT value FROM json_each(?))`,
        [JSON.stringify(siteIds)],
      );
      return new Map(rows.map(({ site_id, ...columns }) => [Number(site_id), columns as MonitorColumns]));
    },

    /** Sites on trial beside another dashboard, in URL order. */
    trial(): Promise<KnownSite[]> {
      return db.all<KnownSite>(`${KNOWN} WHERE d.on_trial = 1 ORDER BY s.url_key, s.id`);
    },

    /** Ends the trial of all sites; returns them, in URL order. */
    async finishTrial(): Promise<KnownSite[]> {
      const [, sites] = await db.batch([
        sql('UPDATE site_detail SET on_trial = 2 WHERE on_trial = 1'),
        sql(`${KNOWN} WHERE d.on_trial = 2 ORDER BY s.url_key, s.id`),
        sql('UPDATE site_detail SET on_trial = 0 WHERE on_trial = 2'),
      ]);
      return (sites?.rows ?? []) as KnownSite[];
    },
  };
}
