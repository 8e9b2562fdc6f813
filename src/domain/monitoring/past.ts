/** The past of monitors, judged by the same rules as the present: for fleets that bring a history with them. */

import type { HttpAnswer } from '../../probe/probe.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import type { Ctx } from '../context.js';
import { monitoringDefaults } from '../settings/effects.js';
import { judge } from './judge.js';
import { effectiveSettings, type MonitorSettings } from './settings.js';
import { advance, flapWindow, type MonitorRecord } from './state.js';

/** What a site answered at a time. `http_status` 0 = nothing. */
export type AnswerAt = (at: number) => { http_status: number; ms: number };

export interface PastOptions {
  /** Milliseconds since 1970: the first look, and the end of the past. */
  from: number;
  until: number;
  /** Minutes between looks at a time; the monitor's own where left out. */
  interval?: (at: number) => number;
}

/**
 * Looks at monitors in the past, by what their sites answered then, and stores beats, incidents and figures as if it had been done
 * at the time. What people would have been told counts as told. Monitors that were checked already are left out.
 * @param answers by site id
 * @returns how many looks were stored
 */
export async function recordPast(
  ctx: Pick<Ctx, 'store' | 'config'>,
  answers: ReadonlyMap<number, AnswerAt>,
  options: PastOptions,
): Promise<number> {
  const global = await monitoringDefaults(ctx);
  const records = new Map<number, MonitorRecord[]>();
  for (const [siteId, answerAt] of answers) {
    const monitor = await ctx.store.monitors.one(siteId);
    if (monitor === undefined || monitor.last_check_at !== null) continue;
    records.set(siteId, pastOf(monitor, effectiveSettings(monitor, global), answerAt, options));
  }
  await ctx.store.monitorResults.loadPast(records);
  return [...records.values()].reduce((sum, { length }) => sum + length, 0);
}

function pastOf(
  first: MonitorRow,
  settings: MonitorSettings,
  answerAt: AnswerAt,
  { from, until, interval = () => settings.interval }: PastOptions,
): MonitorRecord[] {
  const records: MonitorRecord[] = [];
  let monitor = first;
  const changes: number[] = [];
  for (let at = from; at < until; ) {
    const own = { ...settings, interval: interval(at) };
    const window = at - flapWindow(own.interval);
    const earlier = changes.filter((change) => change >= window).length;
    const record = { ...advance(monitor, judge(answer(answerAt(at)), own), own, at, earlier), claim: null };
    records.push(record);
    if (record.beat.important) changes.push(at);
    monitor = after(monitor, record);
    at = record.next_check_at ?? until;
  }
  return records;
}

/** The monitor as this record leaves it. */
function after(monitor: MonitorRow, { seq, at, beat, state, next_check_at }: MonitorRecord): MonitorRow {
  const { status, down_count, http_code, ping_ms, msg } = beat;
  const last = { last_check_at: at, last_http_code: http_code, last_ping_ms: ping_ms, last_msg: msg };
  return { ...monitor, ...state, ...last, status, down_count, next_check_at, seq: seq + 1 };
}

function answer({ http_status, ms }: ReturnType<AnswerAt>): HttpAnswer {
  const timing = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: ms };
  const failure =
    http_status === 0 ? { kind: 'timed_out' as const, message: 'The site did not answer in time.' } : null;
  return { http_status, body: '', truncated: false, ip: '', redirects: 0, timing, failure };
}
