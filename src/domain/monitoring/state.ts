/**
 * The state machine of a monitor: turns a classified check into the beat, the incident, the alert and the next check.
 * Pure: the same state, classification and time always have the same consequences, so a restart in the middle changes
 * nothing (REST §6.11.1, §6.11.3).
 */

import type { Alert } from '../../runtime/events.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { CheckRecord, HourShare } from '../../store/monitoring/record.js';
import type { Classification } from './classify.js';
import { type MonitorSettings, nextTurn } from './settings.js';

type MonitorAlert = Alert<'monitor.down' | 'monitor.up' | 'monitor.flapping'>;
export type MonitorRecord = CheckRecord<MonitorAlert>;

const DOWN = 0;
export const UP = 1;
export const PENDING = 2;
export const NEVER = 99;
/** A value of `reported`: an alert has reported that the site is flapping. */
const FLAPPING = 2;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/**
 * Between a failed check and the one that confirms it (REST §6.11.2). With the paces of the tasks `monitors` and
 * `alert-deliveries`, an alert has left within a minute of the turn that found the site broken.
 */
const RETRY_MS = 20_000;
/** This many changes within the window count as flapping: two and a half outages. */
const FLAP_CHANGES = 5;

/** How far back changes count: an hour, or six intervals if the interval is long. */
export function flapWindow(intervalMin: number): number {
  return Math.max(HOUR_MS, 6 * intervalMin * MINUTE_MS);
}

/** After this long without a change, the site is stable again. */
function flapHold(intervalMin: number): number {
  return Math.max(30 * MINUTE_MS, 3 * intervalMin * MINUTE_MS);
}

/** True if the classification changes the confirmed state: only then must earlier changes be counted. */
export function isChange(monitor: MonitorRow, classification: Classification, settings: MonitorSettings): boolean {
  if (classification.kind === 'maintenance') return false;
  if (classification.kind === 'up') return monitor.confirmed === DOWN;
  return monitor.confirmed === UP && monitor.failures + 1 > settings.maxretries;
}

/** @param earlierChanges changes of the confirmed state within `flapWindow`, not counting this one */
export function advance(
  monitor: MonitorRow,
  classification: Classification,
  settings: MonitorSettings,
  now: number,
  earlierChanges: number,
): Omit<MonitorRecord, 'claim'> {
  const change = isChange(monitor, classification, settings);
  const confirmed = change ? 1 - monitor.confirmed : monitor.confirmed;
  const failing = classification.kind === 'failing';
  const failures = failing ? monitor.failures + 1 : 0;
  const status = classification.kind === 'up' ? UP : failing && confirmed === DOWN ? DOWN : PENDING;
  const down_count = status === DOWN ? monitor.down_count + 1 : confirmed === DOWN ? monitor.down_count : 0;
  const turn = nextTurn(now, settings.interval, monitor.phase);
  const due = dueAlert(monitor, { change, confirmed, status, earlierChanges, interval: settings.interval }, now);
  const beat = {
    status,
    important: change,
    ping_ms: classification.ping_ms,
    http_code: classification.http_code,
    duration: monitor.last_check_at === null ? 0 : Math.max(0, Math.round((now - monitor.last_check_at) / 1000)),
    down_count,
    msg: classification.msg.slice(0, 300),
  };
  return {
    site_id: monitor.site_id,
    seq: monitor.seq,
    at: now,
    beat,
    state: { confirmed, failures, reported: due.reported, flapping_until: due.flapping_until },
    next_check_at: failing && confirmed === UP ? Math.min(now + RETRY_MS, turn) : turn,
    hours: hourShares(monitor, settings.interval, now, status === UP ? classification.ping_ms : null),
    incident: incidentStep(change, confirmed, status),
    alert: due.kind === null ? null : alertOf(monitor, due.kind, beat, now, change),
  };
}

function incidentStep(change: boolean, confirmed: number, status: number): MonitorRecord['incident'] {
  if (change) return confirmed === DOWN ? 'open' : 'close';
  return status === DOWN ? 'continue' : null;
}

interface Moment {
  change: boolean;
  confirmed: number;
  status: number;
  earlierChanges: number;
  interval: number;
}

/**
 * Whether an alert is due, and which. One per change; while a site is flapping only one that says so; and once it is
 * stable again, one with its final state.
 */
function dueAlert(
  monitor: MonitorRow,
  { change, confirmed, status, earlierChanges, interval }: Moment,
  now: number,
): { kind: MonitorAlert['kind'] | null; reported: number; flapping_until: number | null } {
  const word = confirmed === DOWN ? 'monitor.down' : 'monitor.up';
  const flapping = monitor.flapping_until !== null;
  if (change) {
    const flapping_until = now + flapHold(interval);
    if (flapping) return { kind: null, reported: monitor.reported, flapping_until };
    if (earlierChanges + 1 >= FLAP_CHANGES) return { kind: 'monitor.flapping', reported: FLAPPING, flapping_until };
    return { kind: word, reported: confirmed, flapping_until: null };
  }
  const certain = status === confirmed;
  if (flapping && certain && now >= (monitor.flapping_until ?? 0))
    return { kind: word, reported: confirmed, flapping_until: null };
  return { kind: null, reported: monitor.reported, flapping_until: monitor.flapping_until };
}

function alertOf(
  monitor: MonitorRow,
  kind: MonitorAlert['kind'],
  beat: MonitorRecord['beat'],
  now: number,
  change: boolean,
): MonitorAlert {
  const { site_id, seq, url, name } = monitor;
  const facts = { url, name, http_code: beat.http_code, msg: beat.msg };
  // One number per recorded check, so a change cannot raise two alerts.
  const alert = { key: `monitor:${site_id}:${seq}`, site_id, at: now };
  return kind === 'monitor.down'
    ? { ...alert, kind, facts: { ...facts, since: change ? isoTime(now) : null } }
    : { ...alert, kind, facts };
}

/**
 * The time since the last beat, attributed to the state at its start, by hour. A gap of more than two intervals means
 * that no checks ran (the service was off, our network was down): only one interval of it counts, the rest is unknown.
 */
function hourShares(monitor: MonitorRow, intervalMin: number, now: number, ping_ms: number | null): HourShare[] {
  const shares: HourShare[] = [];
  const turn = intervalMin * MINUTE_MS;
  const began = monitor.last_check_at ?? now;
  const until = now - began > 2 * turn ? began + turn : now;
  if (monitor.status !== NEVER) {
    for (let at = began; at < until; ) {
      const hour = Math.floor(at / HOUR_MS);
      const end = Math.min(until, (hour + 1) * HOUR_MS);
      const seconds = (end - at) / 1000;
      shares.push({
        hour,
        up_s: monitor.status === UP ? seconds : 0,
        down_s: monitor.status === DOWN ? seconds : 0,
        pending_s: monitor.status === PENDING ? seconds : 0,
        ping_ms: null,
      });
      at = end;
    }
  }
  if (ping_ms === null) return shares;
  const hour = Math.floor(now / HOUR_MS);
  const last = shares.at(-1);
  if (last?.hour === hour) last.ping_ms = ping_ms;
  else shares.push({ hour, up_s: 0, down_s: 0, pending_s: 0, ping_ms });
  return shares;
}
