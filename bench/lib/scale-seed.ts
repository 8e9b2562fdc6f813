/**
 * The database of a large fleet that has been running for a while: due times are spread over the day, as in practice.
 */

import { hostname } from 'node:os';
import { type Db, sql } from '../../src/store/driver/db.js';
import { createInstance } from '../../src/store/settings/instance.js';
import type { Vault } from '../../src/store/vault/vault.js';
import { seedFleet } from './seed.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SYNC_EVERY_MS = DAY_MS / 2;
const ABANDONED_EVERY_MS = 2 * DAY_MS;
/** Work that the timetable runs just before the simulation would have left for its first runs. */
const LEFT_BEFORE_MS = 5 * MINUTE_MS;
const SECRETS_AT_ONCE = 1_000;

export interface Pace {
  sites: number;
  /** Share of the real pace: 0.1 = a day's work is spread over ten days. */
  rate: number;
  /** Length of the simulation. */
  runMs: number;
}

export interface StoredFleet {
  sites: number;
  url(id: number): string;
  privateKeys: readonly string[];
  /** Name of the dashboard the sites are connected to. */
  server: string;
  /** Concurrent uptime checks, of all processes together. */
  checksAtOnce: number;
  onProgress(text: string): void;
}

/** Stores the sites with inventories and secrets; nothing is due yet. */
export async function storeFleet(db: Db, vault: Vault, fleet: StoredFleet): Promise<void> {
  const { sites, onProgress } = fleet;
  await createInstance(db).claim('dashboard_url', fleet.server);
  await seedFleet(db, { sites, url: fleet.url, onProgress: (done) => onProgress(`${done} of ${sites} sites`) });
  for (let first = 1; first <= sites; first += SECRETS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(SECRETS_AT_ONCE, sites - first + 1) }, (_, at) => {
      const id = first + at;
      const key = fleet.privateKeys[(id - 1) % fleet.privateKeys.length] ?? '';
      const seal = (column: string, plain: string) => vault.seal(plain, `site_secret:${id}:${column}`);
      return [id, seal('private_key', key), seal('regverify', 'known already')];
    });
    await db.run(
      'INSERT INTO site_secret (site_id, private_key, regverify) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)',
      [JSON.stringify(rows)],
    );
    onProgress(`secrets of ${first + rows.length - 1} of ${sites} sites`);
  }
  // All of them work: a suspended or failed site would not be scheduled.
  await db.run("UPDATE site SET suspended = 0, sync_error = ''");
  await db.batch([
    sql(
      `INSERT INTO setting (key, value, updated_at) VALUES ('monitoring.svc_uptime_monitoring_active', '1', 0),
         ('advanced.svc_maximum_uptime_monitoring_requests', ?, 0)`,
      String(fleet.checksAtOnce),
    ),
  ]);
}

/** How many sites come due within the run, in id order: for a sync, and for an abandoned-items check. */
export function dueWithin({ sites, rate, runMs }: Pace): { syncs: number; looks: number } {
  const within = (everyMs: number) => Math.min(sites, Math.ceil((sites * rate * (LEFT_BEFORE_MS + runMs)) / everyMs));
  return { syncs: within(SYNC_EVERY_MS), looks: within(ABANDONED_EVERY_MS) };
}

/** When the sync of a site comes due; null when not within the run. */
export function syncDueAt(id: number, start: number, pace: Pace): number | null {
  const { syncs } = dueWithin(pace);
  return id > syncs ? null : start - LEFT_BEFORE_MS + Math.floor(((id - 1) * SYNC_EVERY_MS) / (pace.sites * pace.rate));
}

/** Minutes between two checks of a site; five at the real pace. */
export function checkEveryMin({ rate }: Pick<Pace, 'rate'>): number {
  return 5 / rate;
}

/** Plans everything as it would be at `start` if the service had been running for days at this pace. */
export async function planFleet(db: Db, start: number, pace: Pace): Promise<void> {
  const { sites, rate } = pace;
  const due = dueWithin(pace);
  const interval = checkEveryMin(pace) * MINUTE_MS;
  const past = (everyMs: number) => start - everyMs - LEFT_BEFORE_MS;
  const step = (everyMs: number) => everyMs / (sites * rate);
  await db.batch([
    // The first sites come due one after the other; the others have just been worked on.
    sql(
      'UPDATE site_detail SET last_attempt = CASE WHEN site_id <= ? THEN ? + CAST((site_id - 1) * ? AS INTEGER) ELSE ? END',
      due.syncs,
      past(SYNC_EVERY_MS),
      step(SYNC_EVERY_MS),
      start - MINUTE_MS,
    ),
    sql(
      `UPDATE site_detail SET abandoned_checked_at = CASE WHEN site_id <= ?1 THEN ?2 + CAST((site_id - 1) * ?3 AS INTEGER) ELSE ?4 END,
         abandoned_known_at = ?4`,
      due.looks,
      past(ABANDONED_EVERY_MS),
      step(ABANDONED_EVERY_MS),
      start - MINUTE_MS,
    ),
    sql(
      'UPDATE certificate_plan SET next_check_at = ? + CAST((site_id - 1) * ? AS INTEGER)',
      start - LEFT_BEFORE_MS,
      step(DAY_MS),
    ),
    // Turns are on each site's grid, as planned after a check.
    sql(
      `UPDATE monitor SET interval_min = ?1, status = 1, last_http_code = 200, last_ping_ms = 300, last_msg = '200 OK',
         next_check_at = ?2 - (?2 - CAST(phase * ?3 AS INTEGER)) % ?3 + ?3, last_check_at = ?2 - (?2 - CAST(phase * ?3 AS INTEGER)) % ?3`,
      checkEveryMin(pace),
      start,
      interval,
    ),
    sql('UPDATE monitor_engine SET planned = ?', JSON.stringify({ active: 1, interval_min: 60 })),
    // Marks this machine as just seen online: the network references are on the internet.
    sql(
      `INSERT INTO monitor_network (host, asked_at, ok_at) VALUES (?1, ?2, ?2)
       ON CONFLICT (host) DO UPDATE SET asked_at = ?2, ok_at = ?2`,
      hostname(),
      start,
    ),
  ]);
}
