/** Formats the cells of search results. */

import { levelName, type SearchField, type SiteState } from '../../../schemas/search.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { SearchColumn } from '../../store/fleet/search.js';
import { presentHealthScore } from './health.js';
import { reasonOf } from './status.js';

export type Cell = string | number | boolean | null;
type Stored = Readonly<Record<string, unknown>>;

/** Maximum text length in a cell: a page of rows must stay small. */
const MAX_TEXT = 160;

const MONITOR = ['monitor_status', 'monitor_active', 'suspended'] as const;
const STATE = ['suspended', 'disconnected', 'sync_error', 'unreached', 'suspended_with', 'suspended_client'] as const;
const HEALTH = ['health_good', 'health_recommended', 'health_critical', 'sync_error', 'unreached'] as const;
/** Fields that are derived from columns with other names. */
const SOURCES: Partial<Record<SearchField, readonly SearchColumn[]>> = {
  reason: STATE,
  health: HEALTH,
  monitor: MONITOR,
  state: ['status', 'unanswered', ...MONITOR],
};

/** The stored columns from which these fields are derived. */
export function columnsOf(fields: readonly SearchField[]): SearchColumn[] {
  return [...new Set(fields.flatMap((field) => SOURCES[field] ?? [field]))];
}

/** @param monitored whether sites without their own switch are monitored */
export function cellsOf(row: Stored, fields: readonly SearchField[], monitored: boolean): Cell[] {
  return fields.map((field) => cellOf(row, field, monitored));
}

function cellOf(row: Stored, field: SearchField, monitored: boolean): Cell {
  switch (field) {
    case 'reason':
      return reasonCell(row);
    case 'health':
      return presentHealthScore(row as unknown as Parameters<typeof presentHealthScore>[0]);
    case 'monitor':
      return monitorWord(row, monitored);
    case 'state':
      return stateWord(row, monitored);
    case 'last_sync':
    case 'since':
      return isoTime(row[field] as number | null);
    case 'certificate':
    case 'domain':
    case 'backup':
      return isoTime(row[field] as number | null)?.slice(0, 10) ?? null;
    case 'active':
      return row.active === 1;
    case 'level':
      return levelName(row.level as number | null);
    default: {
      const value = row[field] as Cell;
      return typeof value === 'string' ? short(value) : value;
    }
  }
}

/** Why a site is not connected; null if it is. */
export function reasonCell(row: Stored): string | null {
  const reason = reasonOf(row as unknown as Parameters<typeof reasonOf>[0]);
  return reason === '' ? null : short(reason);
}

const MONITOR_WORDS: Readonly<Record<number, string>> = { 0: 'down', 1: 'up', 2: 'pending', 99: 'unknown' };

function monitorWord(row: Stored, monitored: boolean): string | null {
  if (row.monitor_status === null) return null;
  const on = row.monitor_active === null ? monitored : row.monitor_active === 1;
  return on && row.suspended === 0 ? (MONITOR_WORDS[row.monitor_status as number] ?? null) : 'paused';
}

/** What was found wrong later weighs more than a connection that once stood. */
function stateWord(row: Stored, monitored: boolean): SiteState {
  if (row.status !== 'connected') return row.status as SiteState;
  const word = monitorWord(row, monitored);
  return word === 'down' || row.unanswered === 1 ? 'down' : word === 'pending' ? 'pending' : 'connected';
}

function short(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
