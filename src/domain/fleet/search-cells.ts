/** The cells of a found row, as they are answered. */

import { LEVELS, type SearchField } from '../../../schemas/search.js';
import { shownSyncError } from '../../../schemas/site-text.js';
import type { SearchColumn } from '../../store/fleet/search.js';
import { healthScore } from '../sites/health.js';
import { isoTime } from '../sites/sites.js';

export type Cell = string | number | boolean | null;
type Stored = Readonly<Record<string, unknown>>;

/** Longest text in a cell: a page of rows must stay small. */
const MAX_TEXT = 160;

const STATE = ['suspended', 'disconnected', 'check_state', 'sync_error', 'sync_error_quoted', 'http_status'] as const;
const HEALTH = ['health_good', 'health_recommended', 'health_critical'] as const;
/** Fields that are made of other columns than the one of their name. */
const SOURCES: Partial<Record<SearchField, readonly SearchColumn[]>> = {
  reason: STATE,
  health: HEALTH,
  monitor: ['monitor_status', 'monitor_active', 'suspended'],
};

/** The stored columns that these fields are made of. */
export function columnsOf(fields: readonly SearchField[]): SearchColumn[] {
  return [...new Set(fields.flatMap((field) => SOURCES[field] ?? [field]))];
}

/** @param monitored whether sites are monitored that have no switch of their own */
export function cellsOf(row: Stored, fields: readonly SearchField[], monitored: boolean): Cell[] {
  return fields.map((field) => cellOf(row, field, monitored));
}

function cellOf(row: Stored, field: SearchField, monitored: boolean): Cell {
  switch (field) {
    case 'reason':
      return reasonOf(row);
    case 'health':
      return healthScore(row as unknown as Parameters<typeof healthScore>[0]);
    case 'monitor':
      return monitorWord(row, monitored);
    case 'last_sync':
      return isoTime(row.last_sync as number | null);
    case 'certificate':
    case 'domain':
      return isoTime(row[field] as number | null)?.slice(0, 10) ?? null;
    case 'active':
      return row.active === 1;
    case 'level':
      return row.level === null ? null : (LEVELS[row.level as number] ?? null);
    default: {
      const value = row[field] as Cell;
      return typeof value === 'string' ? short(value) : value;
    }
  }
}

/** Why a site is not connected; null when it is. */
export function reasonOf(row: Stored): string | null {
  if (row.suspended === 1) return 'suspended';
  if (row.disconnected === 1) return 'disconnected by a user';
  const { sync_error, sync_error_quoted } = row as { sync_error: string; sync_error_quoted: number };
  if (sync_error !== '') return short(shownSyncError({ sync_error, sync_error_quoted }));
  if (row.check_state === -1)
    return row.http_status ? `down at its last check (HTTP ${row.http_status})` : 'down at its last check';
  return null;
}

const MONITOR_WORDS: Readonly<Record<number, string>> = { 0: 'down', 1: 'up', 2: 'pending', 99: 'unknown' };

function monitorWord(row: Stored, monitored: boolean): string | null {
  if (row.monitor_status === null) return null;
  const on = row.monitor_active === null ? monitored : row.monitor_active === 1;
  return on && row.suspended === 0 ? (MONITOR_WORDS[row.monitor_status as number] ?? null) : 'paused';
}

function short(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
