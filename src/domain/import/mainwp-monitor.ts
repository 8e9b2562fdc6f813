/** Converts uptime monitors of a MainWP Dashboard. Pure. */

import { type FleetMonitor, fleetMonitor } from '../../../schemas/fleet.js';
import { MOST_RETRIES } from '../../../schemas/monitoring.js';
import { numberFrom, textFrom } from './record.js';

/** A row of the monitors table, or the global settings, as PHP wrote them. */
export type MainwpMonitor = Readonly<Record<string, unknown>>;

export interface Globals {
  /** Sites that follow the global setting use SHA-1 signatures. */
  sha1: boolean;
  verify: boolean;
  ipv4: boolean;
  monitoring: MainwpMonitor;
}

const NONE: FleetMonitor = {
  active: null,
  interval: null,
  timeout: null,
  maxretries: null,
  type: null,
  method: null,
  expected_status: null,
  keyword: null,
};

/** The dashboard's field, its value for "use the global setting", and our field. */
const FIELDS = [
  ['active', -1, 'active'],
  ['interval', -1, 'interval'],
  ['timeout', -1, 'timeout'],
  ['maxretries', -1, 'maxretries'],
  ['type', 'useglobal', 'type'],
  ['method', 'useglobal', 'method'],
  ['up_status_codes', 'useglobal', 'expected_status'],
] as const;

/**
 * The settings of a site's own monitor. What follows the dashboard's global setting gets that value here, so that a
 * monitored site stays monitored; values unknown to this service follow its own global setting.
 */
export function monitorOf(rows: readonly MainwpMonitor[], global: MainwpMonitor): FleetMonitor {
  const own = rows.find((row) => numberFrom(row.issub ?? 0) === 0);
  if (own === undefined) return NONE;
  const given: Record<string, unknown> = {};
  for (const [theirs, useGlobal, ours] of FIELDS) {
    const value = own[theirs];
    const follows = value === undefined || value === null || value === '' || textFrom(value) === String(useGlobal);
    const settled = follows ? global[theirs] : value;
    const parsed = fleetMonitor().shape[ours].safeParse(converted(ours, settled ?? null));
    given[ours] = parsed.success ? parsed.data : null;
  }
  const keyword = fleetMonitor().shape.keyword.safeParse(own.keyword);
  const word = keyword.success && keyword.data !== '' ? keyword.data : null;
  // A monitor of this type without a keyword could not judge anything.
  const type = given.type === 'keyword' && word === null ? null : given.type;
  return { ...NONE, ...given, type, keyword: word } as FleetMonitor;
}

/** How often the dashboard checks again before a site counts as down; null = unknown, or not its own monitor. */
function retriesOf(rows: readonly MainwpMonitor[], global: MainwpMonitor): number | null {
  const own = rows.find((row) => numberFrom(row.issub ?? 0) === 0);
  if (own === undefined) return null;
  const value = own.maxretries;
  const follows = value === undefined || value === null || value === '' || numberFrom(value) === -1;
  const retries = numberFrom((follows ? global.maxretries : value) ?? Number.NaN);
  return Number.isSafeInteger(retries) ? retries : null;
}

/** What of a monitor has no counterpart here, as sentences. */
export function lostOfMonitor(rows: readonly MainwpMonitor[], global: MainwpMonitor): string[] {
  const retries = retriesOf(rows, global);
  if (retries === null || retries <= MOST_RETRIES) return [];
  return [
    `its monitor checks ${retries} times again before the site counts as down; here it is at most ${MOST_RETRIES} times.`,
  ];
}

/** Monitors of subpages. */
export function subMonitors(rows: readonly MainwpMonitor[]): number {
  return rows.filter((row) => numberFrom(row.issub ?? 0) === 1).length;
}

function converted(field: string, value: unknown): unknown {
  if (value === null) return null;
  if (field === 'active') return numberFrom(value) === 1;
  if (field === 'maxretries') return Math.min(MOST_RETRIES, numberFrom(value));
  return value;
}
