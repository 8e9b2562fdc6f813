/** Effective settings of one monitor: its own, and the global ones where it has none. Pure. */

import { intervalLabel, timeoutLabel } from '../../../schemas/monitoring.js';
import type { ProbeMethod } from '../../outbound/probe/probe.js';
import type { MonitorOwnSettings } from '../../store/monitoring/monitors.js';
import type { MonitoringDefaults } from '../settings/effects.js';

export type MonitorSettings = Omit<MonitoringDefaults, 'concurrency'>;

/** Time limit of a scheduled check, in seconds: a site that is silent for longer counts as down. */
export const LONGEST_CHECK_S = 120;

export function effectiveSettings(own: MonitorOwnSettings, global: MonitoringDefaults): MonitorSettings {
  const type = own.type === null ? global.type : (own.type as MonitorSettings['type']);
  const method = own.method ?? global.method;
  return {
    active: own.active === null ? global.active : own.active === 1,
    interval: own.interval_min ?? global.interval,
    timeout: own.timeout_s ?? global.timeout,
    maxretries: own.maxretries ?? global.maxretries,
    type,
    method: type === 'keyword' && method === 'head' ? 'get' : method,
    expected_status:
      own.expected_status === null ? global.expected_status : (JSON.parse(own.expected_status) as number[]),
    keyword: own.keyword ?? global.keyword,
  };
}

/** The HTTP method. A ping needs the headers only. */
export function methodOf(settings: MonitorSettings): ProbeMethod {
  return settings.type === 'ping' ? 'HEAD' : (settings.method.toUpperCase() as ProbeMethod);
}

/** The next check of a monitor after `now`: checks of all monitors with the same interval are spread evenly over it. */
export function nextTurn(now: number, intervalMin: number, phase: number): number {
  const interval = intervalMin * 60_000;
  const offset = Math.floor(phase * interval);
  return Math.floor((now - offset) / interval) * interval + offset + interval;
}

/** The column of each setting of a monitor. */
export const SETTING_COLUMNS = {
  active: 'active',
  interval: 'interval_min',
  timeout: 'timeout_s',
  maxretries: 'maxretries',
  type: 'type',
  method: 'method',
  expected_status: 'expected_status',
  keyword: 'keyword',
} as const;

type SettingName = keyof typeof SETTING_COLUMNS;

export const SETTING_NAMES = Object.keys(SETTING_COLUMNS) as readonly SettingName[];

/** The settings of a monitor itself; null = it follows the global one. */
export function ownSettings(own: MonitorOwnSettings): Record<SettingName, string | number | number[] | null> {
  const { active, interval_min, timeout_s, maxretries, type, method, expected_status, keyword } = own;
  const statuses = expected_status === null ? null : (JSON.parse(expected_status) as number[]);
  return {
    ...{ active, interval: interval_min, timeout: timeout_s, maxretries, type, method, keyword },
    expected_status: statuses,
  };
}

/** Names of the settings that a monitor takes from the global ones. */
export function followedSettings(own: MonitorOwnSettings): string[] {
  return SETTING_NAMES.filter((name) => own[SETTING_COLUMNS[name]] === null);
}

/** Settings as they are read and written. */
export function settingsView(settings: MonitorSettings) {
  const { active, interval, timeout, maxretries, type, method, expected_status, keyword } = settings;
  return {
    active: active ? 1 : 0,
    interval: intervalLabel(interval),
    interval_minutes: interval,
    timeout,
    timeout_label: timeoutLabel(timeout),
    // A scheduled check times out after this, even if the setting allows more.
    effective_timeout: timeout === 0 ? LONGEST_CHECK_S : Math.min(timeout, LONGEST_CHECK_S),
    maxretries,
    type,
    method,
    expected_status,
    keyword,
  };
}
