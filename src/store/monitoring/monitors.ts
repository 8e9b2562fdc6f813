/** Uptime monitors: settings, schedule and lists. Claims are in claims.ts, results in results.ts. */

import type { Db, Reads, Row, Value } from '../driver/db.js';
import { sql } from '../driver/db.js';
import { countOf, rowsAndTotal } from '../driver/lists.js';
import { updateRow } from '../driver/rows.js';
import { type Fragment, fragment, join, offset } from '../driver/sql-fragments.js';
import { idList, type ListedSites, listedSites } from '../sites/filter.js';
import { createSecretSealer } from '../sites/secrets.js';
import type { Vault } from '../vault/vault.js';

/** Own settings of a monitor; null = the global one. */
export interface MonitorOwnSettings {
  active: number | null;
  interval_min: number | null;
  timeout_s: number | null;
  maxretries: number | null;
  type: string | null;
  method: string | null;
  /** JSON array of codes. */
  expected_status: string | null;
  keyword: string | null;
}

export interface MonitorRow extends Row, MonitorOwnSettings {
  site_id: number;
  url: string;
  name: string;
  suspended: number;
  ssl_verify: number;
  status: number;
  confirmed: number;
  reported: number;
  failures: number;
  down_count: number;
  flapping_until: number | null;
  last_check_at: number | null;
  last_http_code: number | null;
  last_ping_ms: number | null;
  last_msg: string;
  next_check_at: number | null;
  maintenance_until: number | null;
  seq: number;
  phase: number;
}

/** HTTP login in front of a site. */
export interface Login {
  user: string;
  pass: string;
}

type MonitorStatus = 'down' | 'up' | 'pending' | 'first' | 'unknown' | 'paused';

export interface MonitorFilter extends ListedSites<MonitorStatus> {
  /** The global switch, for monitors that follow it. */
  active: number;
}

/** The columns of `MonitorRow` that come from the monitor itself; the others come from its site. */
export const OWN_COLUMNS = [
  ...['active', 'interval_min', 'timeout_s', 'maxretries', 'type', 'method', 'expected_status', 'keyword'],
  ...['status', 'confirmed', 'told AS reported', 'failures', 'down_count', 'flapping_until'],
  ...[
    'last_check_at',
    'last_http_code',
    'last_ping_ms',
    'last_msg',
    'next_check_at',
    'maintenance_until',
    'seq',
    'phase',
  ],
];
const COLUMNS = `m.site_id, s.url, s.name, s.suspended, d.ssl_verify, ${OWN_COLUMNS.map((name) => `m.${name}`).join(', ')}`;
const OF_SITE = 'JOIN site s ON s.id = m.site_id JOIN site_detail d ON d.site_id = m.site_id';
/** The last 720 hours that anything is known of: from `FIRST` to `REST` the days that are summed count, each as one row. */
const FIRST = '(SELECT (max(hour) - 720) / 24 + 1 FROM monitor_hour)';
const REST = `(SELECT max(${FIRST}, coalesce(summed_day + 1, 0)) FROM monitor_engine)`;
const UPTIME_30D = `(SELECT sum(up_s) / nullif(sum(up_s + down_s), 0) FROM (
  SELECT up_s, down_s FROM monitor_hour
    WHERE site_id = s.id AND hour > (SELECT max(hour) - 720 FROM monitor_hour) AND hour < ${FIRST} * 24
  UNION ALL SELECT up_s, down_s FROM monitor_day WHERE site_id = s.id AND day >= ${FIRST} AND day < ${REST}
  UNION ALL SELECT up_s, down_s FROM monitor_hour WHERE site_id = s.id AND hour >= ${REST} * 24))`;
const HOUR_MS = 3_600_000;
/** Hours that were partly down, and one more for those that are down now. Not known where nothing was checked. */
const DOWNTIME_24H = `CASE WHEN m.last_check_at > ? THEN (m.status = 0) +
  (SELECT count(*) FROM monitor_hour WHERE site_id = s.id AND hour > ? AND down_s > 0) END`;
const ORDERS = {
  url: 's.url_key',
  name: 's.search',
  // Down, unconfirmed, up, never checked.
  state: 'CASE m.status WHEN 0 THEN 0 WHEN 2 THEN 1 WHEN 1 THEN 2 END',
  uptime_30d: UPTIME_30D,
  downtime_24h: DOWNTIME_24H,
  response_time: 'm.last_ping_ms',
  last_check: 'm.last_check_at',
} as const;
export interface MonitorOrder {
  by: keyof typeof ORDERS;
  descending: boolean;
}
const SWITCHED_ON = '(coalesce(m.active, ?) = 1 AND s.suspended = 0)';

function predicate(filter: MonitorFilter): { where: string; args: Value[] } {
  const { where, args } = listedSites(filter);
  if (filter.status.length === 0) return { where, args };
  const conditions: Record<MonitorStatus, Fragment> = {
    down: fragment('m.status = 0'),
    up: fragment('m.status = 1'),
    pending: fragment('m.status = 2'),
    first: fragment(`(m.status = 99 AND ${SWITCHED_ON})`, filter.active),
    unknown: fragment(`(m.status = 99 AND NOT ${SWITCHED_ON})`, filter.active),
    paused: fragment(`NOT ${SWITCHED_ON}`, filter.active),
  };
  const status = join(
    filter.status.map((word) => conditions[word]),
    ' OR ',
  );
  return { where: `${where} AND (${status.text})`, args: [...args, ...status.args] };
}

export function createMonitors(db: Db, vault: Vault, aside: Reads) {
  return {
    one(siteId: number): Promise<MonitorRow | undefined> {
      return db.one<MonitorRow>(`SELECT ${COLUMNS} FROM monitor m ${OF_SITE} WHERE m.site_id = ?`, [siteId]);
    },

    /** HTTP logins in front of sites; sites without one are absent. */
    async logins(ids: readonly number[]): Promise<Map<number, Login>> {
      const rows = await db.all(
        'SELECT site_id, http_user, http_pass FROM site_secret WHERE http_user IS NOT NULL AND site_id IN (SELECT value FROM json_each(?))',
        [idList(ids)],
      );
      return loginsOf(rows, vault);
    },

    /** One page with the true total, in URL order unless another one is asked for; unknown values come last. */
    list(
      filter: MonitorFilter,
      page: number,
      perPage: number,
      now: number,
      order: MonitorOrder = { by: 'url', descending: false },
    ): Promise<{ items: MonitorRow[]; total: number }> {
      const by = `${ORDERS[order.by]}${order.descending ? ' DESC' : ''} NULLS LAST, s.url_key, s.id`;
      const since = order.by === 'downtime_24h' ? [now - 24 * HOUR_MS, Math.floor(now / HOUR_MS) - 24] : [];
      const { where, args } = predicate(filter);
      const from = `FROM site s JOIN monitor m ON m.site_id = s.id WHERE ${where}`;
      const rows = sql(
        `SELECT ${COLUMNS} FROM (SELECT s.id ${from} ORDER BY ${by} LIMIT ? OFFSET ?) k
         JOIN monitor m ON m.site_id = k.id ${OF_SITE} ORDER BY ${by}`,
        ...args,
        ...since,
        perPage,
        offset(page, perPage),
        ...since,
      );
      const reads = order.by === 'uptime_30d' || order.by === 'downtime_24h' ? aside : db;
      return rowsAndTotal<MonitorRow>(reads, rows, sql(`SELECT count(*) AS n ${from}`, ...args));
    },

    count(filter: MonitorFilter): Promise<number> {
      const { where, args } = predicate(filter);
      return countOf(db, `SELECT count(*) AS n FROM site s JOIN monitor m ON m.site_id = s.id WHERE ${where}`, args);
    },

    /** Changes the given settings, and plans the monitor again by the global interval and switch. */
    async saveSettings(
      siteId: number,
      change: Partial<MonitorOwnSettings>,
      global: { active: number; interval_min: number },
      now: number,
    ): Promise<void> {
      const update = updateRow('monitor', 'site_id', siteId, { ...change });
      if (update.length > 0) await db.batch([...update, planStatement('site_id = ?', [siteId], global, now)]);
    },

    /** Checks nothing until then, and plans the monitor again; null ends that. */
    async maintain(
      siteId: number,
      until: number | null,
      global: { active: number; interval_min: number },
      now: number,
    ): Promise<void> {
      await db.batch([
        sql('UPDATE monitor SET maintenance_until = ? WHERE site_id = ?', until, siteId),
        planStatement('site_id = ?', [siteId], global, now),
      ]);
    },

    /**
     * The state at the start of a run: the settings used for scheduling, whether anything is due, and whether `host` is
     * offline.
     */
    async outlook(now: number, host: string): Promise<{ planned: string; due: boolean; down: boolean }> {
      const row = await db.one(
        `SELECT planned, EXISTS (SELECT 1 FROM monitor WHERE next_check_at <= ?) AS due,
           EXISTS (SELECT 1 FROM monitor_network WHERE host = ? AND down_since IS NOT NULL) AS down FROM monitor_engine WHERE id = 1`,
        [now, host],
      );
      return { planned: String(row?.planned ?? ''), due: row?.due === 1, down: row?.down === 1 };
    },

    /** Reschedules every monitor that follows a global setting, unless another process has done so. */
    async replan(
      global: { active: number; interval_min: number },
      planned: { before: string; after: string },
      now: number,
    ): Promise<void> {
      const unchanged = '(SELECT planned FROM monitor_engine WHERE id = 1) = ?';
      await db.batch([
        planStatement(`(active IS NULL OR interval_min IS NULL) AND ${unchanged}`, [planned.before], global, now),
        sql('UPDATE monitor_engine SET planned = ? WHERE id = 1 AND planned = ?', planned.after, planned.before),
      ]);
    },
  };
}

/** Logins out of rows of `site_id`, `http_user`, `http_pass`; sites without one are absent. */
export function loginsOf(rows: readonly Row[], vault: Vault): Map<number, Login> {
  const { open } = createSecretSealer(vault);
  return new Map(
    rows.flatMap(({ site_id, http_user, http_pass }) => {
      const id = Number(site_id);
      if (http_user === null) return [];
      return [[id, { user: open(id, 'http_user', http_user) ?? '', pass: open(id, 'http_pass', http_pass) ?? '' }]];
    }),
  );
}

/**
 * Checks happen on a grid: the next point after now, with the monitor's own phase. Never checked = at once; switched
 * off = also at once, so that the runner ends what is open and unschedules it. Running checks are dropped because of
 * the new `seq`.
 */
function planStatement(
  where: string,
  args: readonly Value[],
  global: { active: number; interval_min: number },
  now: number,
) {
  const interval = '(coalesce(interval_min, ?3) * 60000)';
  return sql(
    `UPDATE monitor SET seq = seq + 1, next_check_at = CASE WHEN coalesce(active, ?1) = 0 THEN 0
       WHEN next_check_at IS NULL OR last_check_at IS NULL THEN coalesce(maintenance_until, 0)
       ELSE max(?2 - (?2 - CAST(phase * ${interval} AS INTEGER)) % ${interval} + ${interval}, coalesce(maintenance_until, 0)) END WHERE ${where}`,
    global.active,
    now,
    global.interval_min,
    ...args,
  );
}
