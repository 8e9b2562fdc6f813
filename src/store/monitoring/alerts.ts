/** Alerts for people, one per occasion. The mailer marks those that it has delivered. */

import type { Db, Row, Statement, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { among } from '../driver/sql-fragments.js';

export interface NewAlert {
  /** Identifies the occasion: a second alert with the same key is not stored. */
  key: string;
  /** Name of the event that goes with it. */
  kind: string;
  site_id: number | null;
  at: number;
  facts: Record<string, unknown>;
}

export interface AlertRow extends Row, Omit<NewAlert, 'facts'> {
  id: number;
  /** JSON. */
  facts: string;
  /** It needs no more attention: mails were queued, or it had no recipients. */
  delivered_at: number | null;
  /** The mail that reports it was sent. */
  mailed_at: number | null;
}

const COLUMNS = 'id, key, kind, site_id, at, facts, delivered_at, mailed_at';

/** Key, kind, site, time, facts: in the order of the columns. */
export function alertValues(alert: NewAlert): Value[] {
  return [alert.key, alert.kind, alert.site_id, alert.at, JSON.stringify(alert.facts)];
}

/** Stores an alert unless its key is known or its site is gone; one change if it was new. */
export function alertStatement(alert: NewAlert): Statement {
  return sql(
    `INSERT INTO alert (key, kind, site_id, at, facts) SELECT ?, ?, ?, ?, ? WHERE ? IS NULL OR EXISTS (SELECT 1 FROM site WHERE id = ?)
     ON CONFLICT (key) DO NOTHING`,
    ...alertValues(alert),
    alert.site_id,
    alert.site_id,
  );
}

export function createAlerts(db: Db) {
  return {
    /** Stores the alerts that are new and returns them, in order. */
    async add<A extends NewAlert>(alerts: readonly A[]): Promise<A[]> {
      if (alerts.length === 0) return [];
      const results = await db.batch(alerts.map(alertStatement));
      return alerts.filter((_, index) => results[index]?.changes === 1);
    },

    /** One page, newest first, with the true total. Every caller sees alerts that belong to no site. */
    list(
      filter: { site_ids?: readonly number[] | undefined },
      page: number,
      perPage: number,
    ): Promise<{ items: AlertRow[]; total: number }> {
      const { text, args } = among('site_id', filter.site_ids);
      const rows = sql(`SELECT ${COLUMNS} FROM alert WHERE 1${text} ORDER BY id DESC`, ...args);
      const count = sql(`SELECT count(*) AS n FROM alert WHERE 1${text}`, ...args);
      return readPage<AlertRow>(db, rows, count, page, perPage);
    },

    /** Deletes alerts older than `before`, at most `limit` at a time. */
    async prune(before: number, limit: number): Promise<number> {
      const { changes } = await db.run(
        'DELETE FROM alert WHERE id IN (SELECT id FROM alert WHERE at < ? ORDER BY at LIMIT ?)',
        [before, limit],
      );
      return changes;
    },
  };
}
