/** Secrets of sites, sealed by the vault for their row and column. Never read by a list. */

import { type Db, type Row, sql } from '../driver/db.js';
import { type Vault, VaultError } from '../vault/vault.js';
import { idList } from './filter.js';
import { reachOf, type SiteConnection } from './rows.js';

/** Sites per transaction when many are sealed. */
const AT_ONCE = 500;

/** Seals and opens a column of one site's secrets. */
export function createSecretSealer(vault: Vault) {
  const place = (siteId: number, column: string) => `site_secret:${siteId}:${column}`;
  const seal = (siteId: number, column: string, plain: string | null) =>
    plain === null ? null : vault.seal(plain, place(siteId, column));
  const open = (siteId: number, column: string, sealed: unknown) =>
    typeof sealed === 'string' ? vault.open(sealed, place(siteId, column)) : null;
  return { seal, open };
}

export function createSiteSecrets(db: Db, vault: Vault) {
  const { seal, open } = createSecretSealer(vault);

  /**
   * Seals unique ids, which were stored in clear text before schema 7: a migration has no key, so they are sealed once
   * one is known. After that this reads one empty index. Two processes may do it concurrently.
   */
  const sealPlain = async (): Promise<void> => {
    const rows = await db.all("SELECT site_id, unique_id FROM site_detail WHERE unique_id <> ''");
    if (rows.length === 0) return;
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      await db.batch(
        rows.slice(from, from + AT_ONCE).flatMap(({ site_id, unique_id }) => {
          const id = Number(site_id);
          const sealed = seal(id, 'unique_id', String(unique_id));
          return [
            sql('UPDATE site_secret SET unique_id = ifnull(unique_id, ?) WHERE site_id = ?', sealed, id),
            sql("UPDATE site_detail SET unique_id = '' WHERE site_id = ?", id),
          ];
        }),
      );
    }
    // The clear text remains in unused pages of the file until it is rewritten; a server handles this itself. Rewriting
    // fails while others write, or without free space; backups never contain it.
    if (db.kind === 'embedded') await db.run('VACUUM').catch(() => undefined);
  };

  /** Undefined if a secret cannot be opened: that must not prevent calls to other sites. */
  const connectionOf = (row: Row): SiteConnection | undefined => {
    const id = Number(row.id);
    try {
      return {
        site_id: id,
        url: String(row.url),
        user: String(row.admin_username),
        private_key: open(id, 'private_key', row.private_key) ?? '',
        regverify: open(id, 'regverify', row.regverify),
        unique_id: open(id, 'unique_id', row.unique_id) ?? '',
        http_user: open(id, 'http_user', row.http_user),
        http_pass: open(id, 'http_pass', row.http_pass),
        ssl_verify: row.ssl_verify === 1,
        reads_only: row.on_trial === 1,
        door: row.door === 'ajax' || row.door === 'root' ? row.door : undefined,
        failing: row.failing === 1,
        ...reachOf(Number(row.force_use_ipv4), Number(row.ssl_version)),
      };
    } catch (error) {
      if (error instanceof VaultError) return undefined;
      throw error;
    }
  };

  return {
    sealPlain,

    /** Connections of any number of sites; a site without a stored key that can be opened is absent. */
    async connections(ids: readonly number[]): Promise<Map<number, SiteConnection>> {
      const rows = await db.all(
        `SELECT s.id, s.url, d.admin_username, d.ssl_verify, d.force_use_ipv4, d.ssl_version, d.on_trial, d.door,
           d.sync_error_code NOT IN ('', 'svc_child_version_outdated') OR (s.sync_error <> '' AND d.sync_error_code = '') AS failing, x.private_key, x.regverify, x.http_user, x.http_pass, x.unique_id
         FROM site s JOIN site_detail d ON d.site_id = s.id JOIN site_secret x ON x.site_id = s.id
         WHERE s.id IN (SELECT value FROM json_each(?))`,
        [idList(ids)],
      );
      const connections = new Map<number, SiteConnection>();
      for (const row of rows) {
        const connection = connectionOf(row);
        if (connection !== undefined) connections.set(connection.site_id, connection);
      }
      return connections;
    },

    /** Replaces the key with that of a new registration. */
    async replaceKey(
      id: number,
      secret: { private_key: string; regverify: string | null; unique_id: string },
    ): Promise<void> {
      await db.run(
        'UPDATE site_secret SET private_key = ?, regverify = ifnull(?, regverify), unique_id = ? WHERE site_id = ?',
        [
          seal(id, 'private_key', secret.private_key),
          seal(id, 'regverify', secret.regverify),
          seal(id, 'unique_id', secret.unique_id || null),
          id,
        ],
      );
    },

    /** Stores a new reconnect secret; the key stays. */
    async keepRegverify(id: number, regverify: string): Promise<void> {
      await db.run('UPDATE site_secret SET regverify = ? WHERE site_id = ?', [seal(id, 'regverify', regverify), id]);
    },
  };
}
