/** Recipients of alerts: webhooks and chat channels. Their addresses and tokens are sealed. */

import { randomBytes } from 'node:crypto';
import type { Db, Row } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { countOf, readPage } from '../driver/lists.js';
import { assignments } from '../driver/rows.js';
import type { Vault } from '../vault/vault.js';

/** The address of a recipient. All of it is secret: anyone who has the address of a chat channel can write to it. */
export interface AlertTarget {
  url: string;
  /** Signs messages to a webhook: `whsec_…`. */
  secret?: string | undefined;
  /** Token of a Telegram bot, or an access token of ntfy. */
  token?: string | undefined;
  /** Telegram. */
  chat_id?: string | undefined;
}

/** Editable fields. `kinds` and `site_ids` are JSON arrays, empty for all; quiet times are minutes of the day. */
export interface RecipientFields {
  name: string;
  kinds: string;
  site_ids: string;
  quiet_from: number | null;
  quiet_to: number | null;
  enabled: 0 | 1;
}

export interface RecipientRow extends Row, RecipientFields {
  id: number;
  uid: string;
  type: string;
  host: string;
  created_at: number;
  last_sent_at: number | null;
  last_failed_at: number | null;
  last_error: string;
}

const COLUMNS =
  'id, uid, name, type, host, kinds, site_ids, quiet_from, quiet_to, enabled, created_at, last_sent_at, last_failed_at, last_error';
const COUNT = 'SELECT count(*) AS n FROM alert_recipient';
const FIELDS = ['name', 'kinds', 'site_ids', 'quiet_from', 'quiet_to', 'enabled'] as const;

export function createAlertRecipients(db: Db, vault: Vault) {
  const place = (uid: string) => `alert_recipient:${uid}:target`;
  const seal = (uid: string, target: AlertTarget) => vault.seal(JSON.stringify(target), place(uid));

  return {
    async add(type: string, fields: RecipientFields, target: AlertTarget, now: number): Promise<RecipientRow> {
      const uid = randomBytes(12).toString('base64url');
      const [row] = await db.all<RecipientRow>(
        `INSERT INTO alert_recipient (uid, type, target, host, created_at, ${FIELDS.join(', ')})
         VALUES (?, ?, ?, ?, ?, ${FIELDS.map(() => '?').join(', ')}) RETURNING ${COLUMNS}`,
        [uid, type, seal(uid, target), new URL(target.url).host, now, ...FIELDS.map((name) => fields[name])],
      );
      return row as RecipientRow;
    },

    /** Undefined if there is none with this id. A new target clears the last error. */
    async edit(
      { id, uid }: Pick<RecipientRow, 'id' | 'uid'>,
      fields: Partial<RecipientFields>,
      target?: AlertTarget,
    ): Promise<RecipientRow | undefined> {
      const address = target && { target: seal(uid, target), host: new URL(target.url).host, last_error: '' };
      const { text, args } = assignments({ ...fields, ...address });
      if (text === '') return this.find(id);
      const [row] = await db.all<RecipientRow>(`UPDATE alert_recipient SET ${text} WHERE id = ? RETURNING ${COLUMNS}`, [
        ...args,
        id,
      ]);
      return row;
    },

    find(id: number): Promise<RecipientRow | undefined> {
      return db.one<RecipientRow>(`SELECT ${COLUMNS} FROM alert_recipient WHERE id = ?`, [id]);
    },

    async target({ id, uid }: Pick<RecipientRow, 'id' | 'uid'>): Promise<AlertTarget> {
      const row = await db.one('SELECT target FROM alert_recipient WHERE id = ?', [id]);
      return JSON.parse(vault.open(String(row?.target), place(uid))) as AlertTarget;
    },

    list(page: number, perPage: number): Promise<{ items: RecipientRow[]; total: number }> {
      const rows = sql(`SELECT ${COLUMNS} FROM alert_recipient ORDER BY id`);
      return readPage<RecipientRow>(db, rows, sql(COUNT), page, perPage);
    },

    /** Active recipients, at most `limit`. */
    active(limit: number): Promise<RecipientRow[]> {
      return db.all<RecipientRow>(`SELECT ${COLUMNS} FROM alert_recipient WHERE enabled = 1 ORDER BY id LIMIT ?`, [
        limit,
      ]);
    },

    count: () => countOf(db, COUNT),

    /** Addresses that single sites have for the mails about their uptime, each comma-separated. */
    async siteAddresses(): Promise<string[]> {
      const rows = await db.all("SELECT DISTINCT monitoring_emails FROM site_detail WHERE monitoring_emails <> ''");
      return rows.map(({ monitoring_emails }) => String(monitoring_emails));
    },

    async missingSites(siteIds: readonly number[]): Promise<number[]> {
      const rows = await db.all('SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM site)', [
        JSON.stringify(siteIds),
      ]);
      return rows.map(({ value }) => Number(value));
    },

    /** Removes a recipient, with its pending deliveries. */
    async remove(id: number): Promise<boolean> {
      return (await db.run('DELETE FROM alert_recipient WHERE id = ?', [id])).changes > 0;
    },
  };
}
