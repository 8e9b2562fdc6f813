/** Deliveries: each sending of an alert to a recipient, retried until it is sent or dead. */

import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { readPage } from '../driver/lists.js';
import { equal, join } from '../driver/sql-fragments.js';
import type { AlertRow } from './alerts.js';

export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'dead';

/** An alert whose recipients have not been chosen yet. */
export interface UnroutedAlert extends Row, Pick<AlertRow, 'id' | 'kind' | 'site_id' | 'at'> {}

/** A delivery with its alert and site. */
export interface DueDelivery extends Pick<AlertRow, 'key' | 'kind' | 'site_id' | 'at' | 'facts'>, Row {
  id: number;
  alert_id: number;
  attempts: number;
  created_at: number;
  site_name: string | null;
  site_url: string | null;
}

export interface DeliveryRow extends Row {
  id: number;
  alert_id: number;
  recipient_id: number;
  recipient: string;
  kind: string;
  site_id: number | null;
  status: DeliveryStatus;
  attempts: number;
  next_try_at: number;
  last_error: string;
  created_at: number;
  ended_at: number | null;
}

const ids = (list: readonly number[]) => JSON.stringify(list);

export function createAlertDeliveries(db: Db) {
  return {
    /** Alerts whose recipients have not been chosen yet, oldest first. */
    unrouted(limit: number): Promise<UnroutedAlert[]> {
      return db.all<UnroutedAlert>(
        'SELECT id, kind, site_id, at FROM alert WHERE routed_at IS NULL ORDER BY id LIMIT ?',
        [limit],
      );
    },

    /** Queues deliveries and marks the alerts as routed, all or nothing. */
    async route(
      alertIds: readonly number[],
      deliveries: readonly { alert_id: number; recipient_id: number }[],
      now: number,
    ): Promise<void> {
      await db.batch([
        sql(
          `INSERT INTO alert_delivery (alert_id, recipient_id, next_try_at, created_at)
           SELECT value ->> 'alert_id', value ->> 'recipient_id', ?, ? FROM json_each(?)
           WHERE EXISTS (SELECT 1 FROM alert_recipient WHERE id = value ->> 'recipient_id')
             AND EXISTS (SELECT 1 FROM alert WHERE id = value ->> 'alert_id')
           ON CONFLICT (alert_id, recipient_id) DO NOTHING`,
          now,
          now,
          JSON.stringify(deliveries),
        ),
        sql('UPDATE alert SET routed_at = ? WHERE id IN (SELECT value FROM json_each(?))', now, ids(alertIds)),
      ]);
    },

    /** Claims what is due for a recipient, oldest alert first, including what a dead sender had claimed. */
    async claim(recipientId: number, limit: number, now: number, until: number, lapsed = now): Promise<DueDelivery[]> {
      const claimed = await db.all(
        `UPDATE alert_delivery SET status = 'sending', attempts = attempts + 1, lease_until = ?
         WHERE id IN (SELECT id FROM alert_delivery WHERE recipient_id = ?
             AND ((status = 'queued' AND next_try_at <= ?) OR (status = 'sending' AND lease_until <= ?))
           ORDER BY alert_id LIMIT ?) RETURNING id`,
        [until, recipientId, now, lapsed, limit],
      );
      return db.all<DueDelivery>(
        `SELECT d.id, d.alert_id, d.attempts, d.created_at, a.key, a.kind, a.site_id, a.at, a.facts, s.name AS site_name, s.url AS site_url
         FROM alert_delivery d JOIN alert a ON a.id = d.alert_id LEFT JOIN site s ON s.id = a.site_id
         WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.alert_id`,
        [ids(claimed.map(({ id }) => Number(id)))],
      );
    },

    /** Also marks the alerts as delivered. */
    async sent(deliveries: readonly DueDelivery[], recipientId: number, now: number): Promise<void> {
      const list = ids(deliveries.map(({ id }) => id));
      await db.batch([
        sql(
          `UPDATE alert_delivery SET status = 'sent', ended_at = ?, lease_until = NULL, last_error = '' WHERE id IN (SELECT value FROM json_each(?))`,
          now,
          list,
        ),
        sql(
          'UPDATE alert SET mailed_at = ifnull(mailed_at, ?) WHERE id IN (SELECT value FROM json_each(?))',
          now,
          ids(deliveries.map(({ alert_id }) => alert_id)),
        ),
        sql("UPDATE alert_recipient SET last_sent_at = ?, last_error = '' WHERE id = ?", now, recipientId),
      ]);
    },

    /** @param nextTryAt null for dead deliveries, which only `resend` revives */
    async notSent(
      failed: readonly { id: number; nextTryAt: number | null }[],
      recipientId: number,
      error: string,
      now: number,
    ): Promise<void> {
      await db.batch([
        ...failed.map(({ id, nextTryAt }) =>
          sql(
            'UPDATE alert_delivery SET status = ?, next_try_at = ifnull(?, next_try_at), ended_at = ?, lease_until = NULL, last_error = ? WHERE id = ?',
            nextTryAt === null ? 'dead' : 'queued',
            nextTryAt,
            nextTryAt === null ? now : null,
            error,
            id,
          ),
        ),
        sql('UPDATE alert_recipient SET last_failed_at = ?, last_error = ? WHERE id = ?', now, error, recipientId),
      ]);
    },

    /** Releases claimed deliveries that were not tried. */
    async release(deliveryIds: readonly number[]): Promise<void> {
      await db.run(
        `UPDATE alert_delivery SET status = 'queued', attempts = attempts - 1, lease_until = NULL
         WHERE status = 'sending' AND id IN (SELECT value FROM json_each(?))`,
        [ids(deliveryIds)],
      );
    },

    /** The recipient is gone for good: everything pending is dead, and it is switched off. */
    async giveUp(recipientId: number, error: string, now: number): Promise<void> {
      await db.batch([
        sql(
          "UPDATE alert_delivery SET status = 'dead', ended_at = ?, lease_until = NULL, last_error = ? WHERE recipient_id = ? AND status IN ('queued', 'sending')",
          now,
          error,
          recipientId,
        ),
        sql(
          'UPDATE alert_recipient SET enabled = 0, last_failed_at = ?, last_error = ? WHERE id = ?',
          now,
          error,
          recipientId,
        ),
      ]);
    },

    /** One page, newest first. */
    list(
      filter: { status: DeliveryStatus | undefined; recipient_id: number | undefined },
      page: number,
      perPage: number,
    ): Promise<{ items: DeliveryRow[]; total: number }> {
      const { text, args } = join([equal('d.status', filter.status), equal('d.recipient_id', filter.recipient_id)]);
      const rows = sql(
        `SELECT d.id, d.alert_id, d.recipient_id, r.name AS recipient, a.kind, a.site_id, d.status, d.attempts, d.next_try_at,
           d.last_error, d.created_at, d.ended_at
         FROM alert_delivery d JOIN alert a ON a.id = d.alert_id JOIN alert_recipient r ON r.id = d.recipient_id
         WHERE 1${text} ORDER BY d.id DESC`,
        ...args,
      );
      const count = sql(`SELECT count(*) AS n FROM alert_delivery d WHERE 1${text}`, ...args);
      return readPage<DeliveryRow>(db, rows, count, page, perPage);
    },

    /**
     * Queues a finished delivery again, with all its tries. Undefined if there is none, false if it has not finished.
     */
    async resend(id: number, now: number): Promise<boolean | undefined> {
      if ((await db.one('SELECT 1 FROM alert_delivery WHERE id = ?', [id])) === undefined) return undefined;
      const { changes } = await db.run(
        `UPDATE alert_delivery SET status = 'queued', attempts = 0, next_try_at = ?, ended_at = NULL, lease_until = NULL, created_at = ?
         WHERE id = ? AND status IN ('sent', 'dead')`,
        [now, now, id],
      );
      return changes > 0;
    },

    /** Figures for the metrics. */
    async counts(): Promise<{ open: number; dead: number }> {
      const row = await db.one(
        `SELECT (SELECT count(*) FROM alert_delivery WHERE status IN ('queued', 'sending')) AS open,
           (SELECT count(*) FROM alert_delivery WHERE status = 'dead') AS dead`,
      );
      return { open: Number(row?.open), dead: Number(row?.dead) };
    },
  };
}
