/** Changes monitors and checks single ones manually (REST §6.11.2, §6.11 R135–R137). */

import type { ProbeTiming } from '../../outbound/probe/probe.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { MonitorRow } from '../../store/monitoring/monitors.js';
import { changesOf } from '../action-log/fields.js';
import type { Ctx } from '../context.js';
import { monitoringDefaults } from '../settings/effects.js';
import { editSettings, wrongField } from '../settings/settings.js';
import { applyChecks, inMaintenance } from './apply.js';
import { checkOnce } from './check.js';
import { getMonitorBasic, monitorRow } from './monitors.js';
import { ownNetwork } from './own-network.js';
import {
  effectiveSettings,
  followedSettings,
  type MonitorSettings,
  ownSettings,
  SETTING_COLUMNS,
  SETTING_NAMES,
  settingsView,
} from './settings.js';
import { UP } from './state.js';

/** undefined keeps, null follows the global setting. Minutes, seconds. */
export type MonitorChange = {
  [K in Exclude<keyof MonitorSettings, 'active'>]?: MonitorSettings[K] | null | undefined;
} & { active?: 0 | 1 | null | undefined };

export async function editMonitor(ctx: Ctx, siteId: number, change: MonitorChange) {
  const changed = await changedMonitor(ctx, siteId, change);
  await saveMonitor(ctx, siteId, changed);
  return { ...settingsView(changed.after), useglobal: changed.follows };
}

/** Stores what `changedMonitor` has made of a monitor. */
export async function saveMonitor(ctx: Ctx, siteId: number, { global, columns, own }: ChangedMonitor): Promise<void> {
  await ctx.store.monitors.saveSettings(
    siteId,
    columns,
    { active: global.active ? 1 : 0, interval_min: global.interval },
    ctx.clock.now(),
  );
  ctx.events.emit({
    name: 'monitor.changed',
    site_id: siteId,
    facts: { fields: Object.keys(columns) },
    changed: changesOf(own.before, own.after, SETTING_NAMES),
  });
}

type ChangedMonitor = Awaited<ReturnType<typeof changedMonitor>>;

/** What a change makes of a monitor, without making it. Throws for a keyword that is missing then. */
export async function changedMonitor(ctx: Ctx, siteId: number, change: MonitorChange) {
  const [row, global] = await Promise.all([monitorRow(ctx, siteId), monitoringDefaults(ctx)]);
  const columns = Object.fromEntries(
    Object.entries(change)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        SETTING_COLUMNS[name as keyof MonitorChange],
        Array.isArray(value) ? JSON.stringify(value) : (value as string | number | null),
      ]),
  );
  const changed = { ...row, ...columns };
  const after = effectiveSettings(changed, global);
  requireKeyword(after);
  const own = { before: ownSettings(row), after: ownSettings(changed) };
  return { global, columns, own, before: effectiveSettings(row, global), after, follows: followedSettings(changed) };
}

const MINUTE_MS = 60_000;

/** Does not check a site on schedule for this long, because somebody works on it; 0 ends that. */
export async function maintain(ctx: Ctx, siteId: number, minutes: number) {
  await monitorRow(ctx, siteId);
  return maintainUntil(ctx, siteId, minutes === 0 ? null : ctx.clock.now() + minutes * MINUTE_MS);
}

/** The same until an instant. */
export async function maintainUntil(ctx: Ctx, siteId: number, until: number | null) {
  const global = await monitoringDefaults(ctx);
  const defaults = { active: global.active ? 1 : 0, interval_min: global.interval };
  await ctx.store.monitors.maintain(siteId, until, defaults, ctx.clock.now());
  ctx.events.emit({ name: 'monitor.changed', site_id: siteId, facts: { fields: ['maintenance'] } });
  return { id: siteId, maintenance_until: isoTime(until) };
}

/** The global settings of all monitors: the same values as the monitoring settings (REST §6.10.3). */
export async function editMonitorDefaults(ctx: Ctx, change: MonitorChange) {
  const before = await monitoringDefaults(ctx);
  const { active, interval, timeout, maxretries, type, method, expected_status, keyword } = change;
  requireKeyword({
    // null restores the default, which needs no keyword.
    type: type === undefined ? before.type : (type ?? 'http'),
    keyword: keyword === undefined ? before.keyword : (keyword ?? ''),
  });
  await editSettings(ctx, 'monitoring', {
    svc_uptime_monitoring_active: active,
    svc_uptime_monitoring_interval: interval,
    svc_uptime_monitoring_timeout: timeout,
    svc_uptime_monitoring_down_confirmation_check: maxretries,
    svc_uptime_monitoring_type: type,
    svc_uptime_monitoring_method: method as never,
    svc_uptime_monitoring_up_status_codes: expected_status as number[] | null | undefined,
    svc_uptime_monitoring_keyword: keyword,
  });
  return settingsView(await monitoringDefaults(ctx));
}

function requireKeyword({ type, keyword }: Pick<MonitorSettings, 'type' | 'keyword'>): void {
  if (type !== 'keyword' || keyword !== '') return;
  throw wrongField(
    'keyword',
    'missing_keyword',
    'must be set for the type keyword',
    'Send keyword as well, or another type.',
  );
}

function wholeMilliseconds(timing: ProbeTiming): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(timing).map(([step, ms]) => [step, ms === null ? null : Math.round(ms as number)]),
  );
}

/** A caller waits for this check, so both probes together are limited to this, in seconds. */
const LONGEST_BY_HAND_S = 60;

/** Why a failed check does not count as an outage. */
function whyPending(row: MonitorRow, settings: MonitorSettings, now: number): string {
  if (!settings.active || row.suspended === 1) return 'It does not count as an outage: the monitor is off.';
  if (inMaintenance(row, now)) return 'It does not count as an outage: the site is in maintenance.';
  return 'It counts as down once it is confirmed: the check is repeated soon.';
}

/**
 * Checks now. A site that is down is a result. The beat counts like any other; a monitor that is switched off raises no
 * alert.
 */
export async function checkMonitor(ctx: Ctx, siteId: number) {
  const [row, global] = await Promise.all([monitorRow(ctx, siteId), monitoringDefaults(ctx)]);
  const settings = effectiveSettings(row, global);
  const logins = await ctx.store.monitors.logins([siteId]);
  const check = await checkOnce(ctx, row, settings, { login: logins.get(siteId), limit: LONGEST_BY_HAND_S / 2 });
  const { classification, answer } = check;
  const ours = classification.silent && row.confirmed === UP && (await (await ownNetwork(ctx)).explainsSilence());
  if (!ours) await applyChecks(ctx, [{ ...check, monitor: row, settings, claim: null }]);
  const neither = ours || classification.kind === 'maintenance';
  const uptime_status =
    classification.kind === 'up' ? ('up' as const) : neither ? ('pending' as const) : ('down' as const);
  const status = (await getMonitorBasic(ctx, siteId)).last_status;
  const waits = uptime_status === 'down' && status === 'pending' ? [whyPending(row, settings, ctx.clock.now())] : [];
  return {
    http_code: classification.http_code ?? 0,
    // Neither up nor down: WordPress' maintenance page, or silence caused by our own network.
    uptime_status,
    status,
    paused: !settings.active || row.suspended === 1,
    response_time_ms: classification.ping_ms,
    timing: wholeMilliseconds(answer.timing),
    msg: ours
      ? 'Nothing answers, not even the reference addresses: our own network is down.'
      : [classification.msg, ...waits].join(' '),
    checked_at: isoTime(ctx.clock.now()),
  };
}
