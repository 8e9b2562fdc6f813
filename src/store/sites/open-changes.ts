/** Changes that were sent to a site and whose outcome is still unknown. */

import { type Db, type Row, sql } from '../driver/db.js';

export interface OpenChange {
  context: 'core' | 'plugin' | 'theme' | 'translation';
  action: 'updated' | 'activated' | 'deactivated' | 'deleted';
  slug: string;
  name: string;
  /** '' if no version changes. */
  old_version: string;
  new_version: string;
}

export interface OpenChangeRow extends Row, OpenChange {
  /** The caller it is attributed to, JSON. */
  origin: string;
  /** Milliseconds. */
  sent_at: number;
}

export function createOpenChanges(db: Db) {
  return {
    /** Stores changes of a site; an earlier one of the same item is dropped. */
    async add(siteId: number, changes: readonly OpenChange[], origin: string, now: number): Promise<void> {
      await db.batch(
        changes.map(({ context, action, slug, name, old_version, new_version }) =>
          sql(
            // A site that was deleted in the meantime has no open changes.
            'INSERT OR REPLACE INTO open_change SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM site WHERE id = ?',
            context,
            action,
            slug,
            name,
            old_version,
            new_version,
            origin,
            now,
            siteId,
          ),
        ),
      );
    },

    ofSite(siteId: number): Promise<OpenChangeRow[]> {
      return db.all<OpenChangeRow>('SELECT * FROM open_change WHERE site_id = ? ORDER BY sent_at, context, slug', [
        siteId,
      ]);
    },

    async remove(siteId: number, { context, slug }: Pick<OpenChange, 'context' | 'slug'>): Promise<void> {
      await db.run('DELETE FROM open_change WHERE site_id = ? AND context = ? AND slug = ?', [siteId, context, slug]);
    },
  };
}
