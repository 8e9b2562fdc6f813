/** Settings of one site, across its row, details, secrets and tags. */

import type { Db, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { updateRow } from '../driver/rows.js';
import type { Vault } from '../vault/vault.js';
import { searchText } from './filter.js';
import { refreshIgnored } from './ignored-updates.js';
import { stampStatus } from './status.js';

/** Fields of a site that a caller may set; absent ones keep their value. */
export interface SiteSettings {
  name?: string;
  notes?: string;
  client_id?: number | null;
  /** Replaces all tags. */
  tags?: readonly number[];
  add_tags?: readonly number[];
  remove_tags?: readonly number[];
  url?: string;
  /** Sent along with a URL that has another host or path. */
  url_key?: string;
  suspended?: boolean;
  admin_username?: string;
  unique_id?: string;
  /** null clears. */
  http_user?: string | null;
  http_pass?: string | null;
  ssl_verify?: boolean;
  ssl_version?: number;
  force_use_ipv4?: number;
  automatic_update?: number;
  backup_before_upgrade?: number;
  disable_health_checking?: number;
  health_threshold?: number;
  monitoring_emails?: string;
  ignore_core?: number;
  ignore_plugins?: number;
  ignore_themes?: number;
}

const DETAIL_COLUMNS = [
  'notes',
  'admin_username',
  'ssl_verify',
  'ssl_version',
  'force_use_ipv4',
  'automatic_update',
  'backup_before_upgrade',
  'disable_health_checking',
  'health_threshold',
  'monitoring_emails',
  'ignore_core',
  'ignore_plugins',
  'ignore_themes',
] as const satisfies readonly (keyof SiteSettings)[];

const SECRET_COLUMNS = ['http_user', 'http_pass', 'unique_id'] as const;

export function createSiteSettings(db: Db, vault: Vault) {
  return {
    /** Only the given fields change, all in one transaction. Rejects with StorageError `unique` when the URL is taken. */
    async change(
      site: { id: number; url: string; name: string },
      settings: SiteSettings,
      now: number | null = null,
    ): Promise<void> {
      const statements = [
        ...siteStatements(site, settings),
        ...detailStatements(site.id, settings),
        ...secretStatements(vault, site.id, settings),
        ...tagStatements(site.id, settings),
      ];
      if (statements.length > 0) await db.batch([...statements, stampStatus(now)]);
    },
  };
}

function siteStatements(site: { id: number; url: string; name: string }, settings: SiteSettings): Statement[] {
  const { name, url, url_key, client_id, suspended } = settings;
  const search = name === undefined && url === undefined ? undefined : searchText(name ?? site.name, url ?? site.url);
  return updateRow('site', 'id', site.id, { name, url, url_key, client_id, suspended, search });
}

function detailStatements(id: number, settings: SiteSettings): Statement[] {
  const columns = Object.fromEntries(DETAIL_COLUMNS.map((column) => [column, settings[column]]));
  const named = settings.name === undefined ? {} : { title_tries: null };
  const update = updateRow('site_detail', 'site_id', id, { ...columns, ...named });
  const hides = settings.ignore_core ?? settings.ignore_plugins ?? settings.ignore_themes;
  return hides === undefined ? update : [...update, refreshIgnored(id)];
}

function secretStatements(vault: Vault, id: number, settings: SiteSettings): Statement[] {
  const columns: Record<string, Value | undefined> = {};
  for (const column of SECRET_COLUMNS) {
    const plain = settings[column];
    // A site without a unique id has an empty one.
    const none = plain === null || (column === 'unique_id' && plain === '');
    columns[column] = none ? null : plain && vault.seal(plain, `site_secret:${id}:${column}`);
  }
  return updateRow('site_secret', 'site_id', id, columns);
}

/** Links a site to tags. */
export function addTags(id: number, tags: readonly number[]): Statement[] {
  if (tags.length === 0) return [];
  const ids = JSON.stringify(tags);
  return [sql('INSERT OR IGNORE INTO site_tag (site_id, tag_id) SELECT ?, value FROM json_each(?)', id, ids)];
}

function tagStatements(id: number, { tags, add_tags = [], remove_tags = [] }: SiteSettings): Statement[] {
  const added = [...(tags ?? []), ...add_tags];
  const statements = tags === undefined ? [] : [sql('DELETE FROM site_tag WHERE site_id = ?', id)];
  statements.push(...addTags(id, added));
  if (remove_tags.length > 0)
    statements.push(
      sql(
        'DELETE FROM site_tag WHERE site_id = ? AND tag_id IN (SELECT value FROM json_each(?))',
        id,
        JSON.stringify(remove_tags),
      ),
    );
  return statements;
}
