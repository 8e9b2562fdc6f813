/** Reconstructs a monitor's history by the same rules as current checks: for imported fleets. */

import type { HttpAnswer } from '../../outbound/probe/probe.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';
import { monitoringDefaults } from '../settings/effects.js';
import { classify } from './classify.js';
import { hoursSince } from './history.js';
import { effectiveSettings, type MonitorSettings } from './settings.js';
import { advance, flapWindow, type MonitorRecord } from './state.js';

const DAY_MS = 86_400_000;

/** The response of a site at a time. `http_status` 0 = none. */
export type AnswerAt = (at: number) => { http_status: number; ms: number };

export interface HistoryOptions {
  /** Milliseconds since 1970: the first check, and the end of the history. */
  from: number;
  until: number;
  /** Minutes between checks at a time; the monitor's own interval if omitted. */
  interval?: (at: number) => number;
}

/** The past of monitors, until it is stored. */
export interface HistoryReplay {
  /** Replays the checks of a site, from its responses at those times. A monitor that has been checked already is skipped. */
  add(siteId: number, answerAt: AnswerAt): Promise<void>;
  /** Stores all at once, because checks are stored in the order of their times. @returns how many checks were stored */
  store(): Promise<number>;
}

/**
 * Replays checks in the past, to store beats, incidents and figures as if the checks had been made then. Alerts of that
 * time count as sent.
 */
export async function replayHistory(
  ctx: Pick<Ctx, 'store' | 'config'>,
  options: HistoryOptions,
): Promise<HistoryReplay> {
  const global = await monitoringDefaults(ctx);
  const records = new Map<number, MonitorRecord[]>();
  return {
    async add(siteId, answerAt) {
      const monitor = await ctx.store.monitors.one(siteId);
      if (monitor === undefined || monitor.last_check_at !== null) return;
      records.set(siteId, pastOf(monitor, effectiveSettings(monitor, global), answerAt, options));
    },
    async store() {
      await ctx.store.monitorResults.loadHistory(records, {
        firstDay: hoursSince(options.until) / DAY_MS,
        today: Math.floor(options.until / DAY_MS),
      });
      return [...records.values()].reduce((sum, { length }) => sum + length, 0);
    },
  };
}

function pastOf(
  first: MonitorRow,
  settings: MonitorSettings,
  answerAt: AnswerAt,
  { from, until, interval = () => settings.interval }: HistoryOptions,
): MonitorRecord[] {
  const records: MonitorRecord[] = [];
  const changes: number[] = [];
  // Tens of thousands of checks: these two are changed in place.
  const monitor = { ...first };
  const own = { ...settings };
  for (let at = from; at < until; ) {
    own.interval = interval(at);
    const window = at - flapWindow(own.interval);
    const earlier = changes.filter((change) => change >= window).length;
    const record: MonitorRecord = Object.assign(
      advance(monitor, classify(answer(answerAt(at)), own), own, at, earlier),
      {
        claim: null,
      },
    );
    records.push(record);
    if (record.beat.important) changes.push(at);
    goOn(monitor, record);
    at = record.next_check_at ?? until;
  }
  return records;
}

/** Updates the monitor as this record does. */
function goOn(monitor: MonitorRow, { at, beat, state, next_check_at }: MonitorRecord): void {
  Object.assign(monitor, state);
  monitor.last_check_at = at;
  monitor.last_http_code = beat.http_code;
  monitor.last_ping_ms = beat.ping_ms;
  monitor.last_msg = beat.msg;
  monitor.status = beat.status;
  monitor.down_count = beat.down_count;
  monitor.next_check_at = next_check_at;
  monitor.seq += 1;
}

const SILENCE = { kind: 'timed_out' as const, message: 'The site did not answer in time.' };

function answer({ http_status, ms }: ReturnType<AnswerAt>): HttpAnswer {
  const timing = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: ms };
  const failure = http_status === 0 ? SILENCE : null;
  return { http_status, body: '', truncated: false, ip: '', redirects: 0, retry_after: '', timing, failure };
}
