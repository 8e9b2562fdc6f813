/** Secrets of sites, sealed by the vault for their row and column. Never read by a list. */

import type { Db, Row } from '../driver/db.js';
import { keyReplaced } from '../driver/sqlite-errors.js';
import { createInstance } from '../settings/instance.js';
import { type Vault, VaultError } from '../vault/vault.js';
import { idList } from './filter.js';
import { reachOf, type SiteConnection } from './rows.js';

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

  /** Throws if this process could store no secret now: a site must not get a key that is lost. */
  async function requireKey(): Promise<void> {
    const used = await createInstance(db).secretKey();
    if (used !== null && used !== vault.currentId) throw keyReplaced();
  }

  return {
    requireKey,

    /** Connections of any number of sites; a site without a stored key that can be opened is absent. */
    async connections(ids: readonly number[]): Promise<Map<number, SiteConnection>> {
      const rows = await db.all(
        `SELECT s.id, s.url, d.admin_username, d.ssl_verify, d.force_use_ipv4, d.ssl_version, d.on_trial, d.door,
           d.sync_error_code NOT IN ('', 'svc_child_version_outdated') OR (s.sync_error <> '' AND d.sync_error_code = '') OR s.unreached = 2 AS failing, x.private_key, x.regverify, x.http_user, x.http_pass, x.unique_id
         FROM site s JOIN site_detail d ON d.site_id = s.id JOIN site_secret x ON x.site_id = s.id
         WHERE s.id IN (SELECT value FROM json_each(?))`,
        [idList(ids)],
      );
      const connections = new Map<number, SiteConnection>();
      for (const row of rows) {
        const connection = connectionOf(row);
        if (connection !== undefined) connections.set(connection.site_id, connection);
      }
      // Nothing is wrong with a site whose key was sealed again while this process was running.
      if (connections.size < rows.length) await requireKey();
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
