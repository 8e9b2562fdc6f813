/** The outbox: one mail per occasion, retried until it is sent or given up. */

import type { Db, Row, Statement } from '../driver/db.js';
import { sql } from '../driver/db.js';
import type { AlertRow } from '../monitoring/alerts.js';

type MailStatus = 'queued' | 'sending' | 'sent' | 'failed';

export interface NewMail {
  /** Identifies the occasion: a second mail with the same key is not stored. */
  event_key: string;
  type: string;
  site_id: number | null;
  recipients: readonly string[];
  subject: string;
  text: string;
  html: string;
}

export interface MailRow extends Row, Omit<NewMail, 'recipients'> {
  id: number;
  /** JSON array. */
  recipients: string;
  status: MailStatus;
  attempts: number;
  next_try_at: number;
  last_error: string;
  created_at: number;
  sent_at: number | null;
}

/** An alert for which no mail has been queued yet, with the addresses of its site. */
export interface WaitingAlert extends AlertRow {
  site_name: string | null;
  site_url: string | null;
  /** Comma-separated; '' = those of the global setting. */
  monitoring_emails: string;
}

function insert(mail: NewMail, now: number): Statement {
  return sql(
    `INSERT INTO mail (event_key, type, site_id, recipients, subject, text, html, next_try_at, created_at)
     SELECT ?, ?, (SELECT id FROM site WHERE id = ?), ?, ?, ?, ?, ?, ? WHERE 1 ON CONFLICT (event_key) DO NOTHING`,
    mail.event_key,
    mail.type,
    mail.site_id,
    JSON.stringify(mail.recipients),
    mail.subject,
    mail.text,
    mail.html,
    now,
    now,
  );
}

function sent(id: number, now: number): Statement[] {
  return [
    sql("UPDATE mail SET status = 'sent', sent_at = ?, lease_until = NULL, last_error = '' WHERE id = ?", now, id),
    sql('UPDATE alert SET mailed_at = ? WHERE mail_key = (SELECT event_key FROM mail WHERE id = ?)', now, id),
  ];
}

function notSent(id: number, error: string, nextTryAt: number | null): Statement {
  return sql(
    'UPDATE mail SET status = ?, lease_until = NULL, last_error = ?, next_try_at = ifnull(?, next_try_at) WHERE id = ?',
    nextTryAt === null ? 'failed' : 'queued',
    error,
    nextTryAt,
    id,
  );
}

export function createMail(db: Db) {
  return {
    /** False when there is a mail for this occasion already. */
    async queue(mail: NewMail, now: number): Promise<boolean> {
      const [result] = await db.batch([insert(mail, now)]);
      return (result?.changes ?? 0) > 0;
    },

    /** Alerts for which no mail has been queued yet, oldest first. */
    waitingAlerts(limit: number): Promise<WaitingAlert[]> {
      return db.all<WaitingAlert>(
        `SELECT a.id, a.key, a.kind, a.site_id, a.at, a.facts, a.delivered_at, s.name AS site_name, s.url AS site_url,
           ifnull(d.monitoring_emails, '') AS monitoring_emails
         FROM alert a LEFT JOIN site s ON s.id = a.site_id LEFT JOIN site_detail d ON d.site_id = a.site_id
         WHERE a.delivered_at IS NULL ORDER BY a.id LIMIT ?`,
        [limit],
      );
    },

    /** Queues mails and marks all these alerts as settled, all or nothing: a crash between the two would send twice, or never. */
    async queueAlerts(
      mails: readonly (NewMail & { alert_ids: readonly number[] })[],
      alertIds: readonly number[],
      now: number,
    ): Promise<void> {
      await db.batch([
        ...mails.flatMap((mail) => [
          insert(mail, now),
          sql(
            'UPDATE alert SET mail_key = ? WHERE id IN (SELECT value FROM json_each(?))',
            mail.event_key,
            JSON.stringify(mail.alert_ids),
          ),
        ]),
        sql(
          'UPDATE alert SET delivered_at = ? WHERE id IN (SELECT value FROM json_each(?))',
          now,
          JSON.stringify(alertIds),
        ),
      ]);
    },

    /** Claims the next due mail, or one whose sender died. */
    async claim(now: number, until: number, lapsed = now): Promise<MailRow | undefined> {
      const [row] = await db.all<MailRow>(
        `UPDATE mail SET status = 'sending', attempts = attempts + 1, lease_until = ?
         WHERE id = (SELECT id FROM mail WHERE (status = 'queued' AND next_try_at <= ?) OR (status = 'sending' AND lease_until <= ?)
                     ORDER BY next_try_at, id LIMIT 1) RETURNING *`,
        [until, now, lapsed],
      );
      return row;
    },

    async sent(id: number, now: number): Promise<void> {
      await db.batch(sent(id, now));
    },

    /** `nextTryAt` null gives the mail up. */
    async notSent(id: number, error: string, nextTryAt: number | null): Promise<void> {
      await db.batch([notSent(id, error, nextTryAt)]);
    },

    /**
     * Some have received it: a mail of its own goes on for those who may yet, with the attempts that were made. This one is over:
     * sent, or with an error failed, as somebody will never receive it.
     */
    async divide(
      mail: MailRow,
      remaining: readonly string[],
      { error, next, now }: { error: string; next: number; now: number },
    ): Promise<void> {
      const others = (JSON.parse(mail.recipients) as string[]).filter((address) => !remaining.includes(address));
      await db.batch([
        sql(
          `INSERT INTO mail (event_key, type, site_id, recipients, subject, text, html, attempts, next_try_at, created_at)
           SELECT event_key || ':rest', type, site_id, ?, subject, text, html, attempts, ?, created_at FROM mail WHERE id = ?
           ON CONFLICT (event_key) DO NOTHING`,
          JSON.stringify(remaining),
          next,
          mail.id,
        ),
        sql('UPDATE mail SET recipients = ? WHERE id = ?', JSON.stringify(others), mail.id),
        ...(error === '' ? sent(mail.id, now) : [notSent(mail.id, error, null)]),
      ]);
    },

    /** Newest first. */
    list(limit: number): Promise<MailRow[]> {
      return db.all<MailRow>('SELECT * FROM mail ORDER BY id DESC LIMIT ?', [limit]);
    },

    /** Deletes mails created before `before`, sent or not. */
    async prune(before: number): Promise<number> {
      const { changes } = await db.run('DELETE FROM mail WHERE created_at < ?', [before]);
      return changes;
    },

    /** When the newest mail was created whose key begins with `kind:`. */
    async newest(kind: string): Promise<number | null> {
      const row = await db.one(
        'SELECT created_at FROM mail WHERE event_key > ? AND event_key < ? ORDER BY event_key DESC LIMIT 1',
        [`${kind}:`, `${kind};`],
      );
      return row === undefined ? null : Number(row.created_at);
    },
  };
}
