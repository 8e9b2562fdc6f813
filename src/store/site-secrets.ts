/** Secrets of sites, sealed by the vault for their row and column. Never read by a list. */

import { type Db, sql } from './db.js';
import { idList } from './site-filter.js';
import { reachOf, type SiteConnection } from './site-rows.js';
import type { Vault } from './vault.js';

/** Seals and opens a column of one site's secrets. */
export function createSeals(vault: Vault) {
  const place = (siteId: number, column: string) => `site_secret:${siteId}:${column}`;
  const seal = (siteId: number, column: string, plain: string | null) =>
    plain === null ? null : vault.seal(plain, place(siteId, column));
  const open = (siteId: number, column: string, sealed: unknown) =>
    typeof sealed === 'string' ? vault.open(sealed, place(siteId, column)) : null;
  return { seal, open };
}

export function createSiteSecrets(db: Db, vault: Vault) {
  const { seal, open } = createSeals(vault);
  return {
    /** Connections of any number of sites; a site without a stored key is absent. */
    async connections(ids: readonly number[]): Promise<Map<number, SiteConnection>> {
      const rows = await db.all(
        `SELECT s.id, s.url, d.admin_username, d.unique_id, d.ssl_verify, d.force_use_ipv4, d.ssl_version, x.private_key, x.regverify, x.http_user, x.http_pass
         FROM site s JOIN site_detail d ON d.site_id = s.id JOIN site_secret x ON x.site_id = s.id
         WHERE s.id IN (SELECT value FROM json_each(?))`,
        [idList(ids)],
      );
      const connections = new Map<number, SiteConnection>();
      for (const row of rows) {
        const id = Number(row.id);
        connections.set(id, {
          site_id: id,
          url: String(row.url),
          user: String(row.admin_username),
          private_key: open(id, 'private_key', row.private_key) ?? '',
          regverify: open(id, 'regverify', row.regverify),
          unique_id: String(row.unique_id),
          http_user: open(id, 'http_user', row.http_user),
          http_pass: open(id, 'http_pass', row.http_pass),
          ssl_verify: row.ssl_verify === 1,
          ...reachOf(Number(row.force_use_ipv4), Number(row.ssl_version)),
        });
      }
      return connections;
    },

    /** After a new registration: the new key in place of the old, and every mark of a lost connection gone. */
    async replaceKey(
      id: number,
      secret: { private_key: string; regverify: string | null; unique_id: string },
    ): Promise<void> {
      await db.batch([
        sql(
          'UPDATE site_secret SET private_key = ?, regverify = ifnull(?, regverify) WHERE site_id = ?',
          seal(id, 'private_key', secret.private_key),
          seal(id, 'regverify', secret.regverify),
          id,
        ),
        sql('UPDATE site_detail SET unique_id = ? WHERE site_id = ?', secret.unique_id, id),
      ]);
    },

    /** A fresh reconnect secret; the key stays. */
    async keepRegverify(id: number, regverify: string): Promise<void> {
      await db.run('UPDATE site_secret SET regverify = ? WHERE site_id = ?', [seal(id, 'regverify', regverify), id]);
    },

    /** Sites whose sealed secrets cannot be opened with the present keys. */
    async unreadableSecrets(): Promise<number[]> {
      const rows = await db.all(
        'SELECT site_id, private_key, regverify, http_user, http_pass FROM site_secret ORDER BY site_id',
      );
      return rows
        .filter((row) => {
          try {
            for (const column of ['private_key', 'regverify', 'http_user', 'http_pass'])
              open(Number(row.site_id), column, row[column]);
            return false;
          } catch {
            return true;
          }
        })
        .map((row) => Number(row.site_id));
    },

    /** Seals every secret anew with the current key; answers how many sites were rewritten. */
    async resealSecrets(): Promise<number> {
      const rows = await db.all(
        'SELECT site_id, private_key, regverify, http_user, http_pass FROM site_secret ORDER BY site_id',
      );
      const statements = rows.map((row) => {
        const id = Number(row.site_id);
        const again = (column: string) => seal(id, column, open(id, column, row[column]));
        return sql(
          'UPDATE site_secret SET private_key = ?, regverify = ?, http_user = ?, http_pass = ? WHERE site_id = ? AND private_key = ?',
          again('private_key'),
          again('regverify'),
          again('http_user'),
          again('http_pass'),
          id,
          row.private_key ?? null,
        );
      });
      if (statements.length > 0) await db.batch(statements);
      return statements.length;
    },
  };
}
