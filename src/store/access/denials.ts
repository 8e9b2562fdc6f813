/** Sites that one user or key can neither see nor change (operations §3 "Per-site access"). */

import type { Db } from '../driver/db.js';

type PrincipalName = `user:${number}` | `key:${number}`;

/** A subselect of the denied site ids of a principal, as JSON text. `principal` is an SQL expression. */
export function deniedSites(principal: string): string {
  return `(SELECT json_group_array(d.site_id) FROM site_denial d WHERE d.principal = ${principal})`;
}

/** Parses the result of `deniedSites`. */
export function principalDenials(value: unknown): number[] {
  return typeof value === 'string' ? (JSON.parse(value) as number[]) : [];
}

export function createDenials(db: Db) {
  return {
    async list(principal: PrincipalName): Promise<number[]> {
      const rows = await db.all<{ site_id: number }>(
        'SELECT site_id FROM site_denial WHERE principal = ? ORDER BY site_id',
        [principal],
      );
      return rows.map((row) => row.site_id);
    },

    /** Hides a site from a principal. Rejects with StorageError `foreign_key` if there is no such site. */
    async deny(principal: PrincipalName, siteId: number): Promise<void> {
      await db.run('INSERT INTO site_denial (principal, site_id) VALUES (?, ?) ON CONFLICT DO NOTHING', [
        principal,
        siteId,
      ]);
    },

    /** False if the site was not denied. */
    async allow(principal: PrincipalName, siteId: number): Promise<boolean> {
      const { changes } = await db.run('DELETE FROM site_denial WHERE principal = ? AND site_id = ?', [
        principal,
        siteId,
      ]);
      return changes > 0;
    },
  };
}
