/** Columns of the table of sites: which exist, which are shown, and how their cells look. */

import { createStore } from '../api/store.js';
import { MonitorState, SiteStatus } from '../parts/badge.js';
import { Time } from '../parts/time.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './sites.js';

export const COLUMNS = [
  'status',
  'updates',
  'vulnerabilities',
  'monitor',
  'client',
  'tags',
  'wp',
  'php',
  'child',
  'health',
  'last_sync',
  'certificate',
  'domain',
  'backup',
  'reason',
  'since',
] as const;
export type Column = (typeof COLUMNS)[number];

export const STANDARD: readonly Column[] = ['status', 'updates', 'monitor', 'wp', 'php', 'client', 'last_sync'];
export const ORDERS = ['name', 'url', ...COLUMNS] as const;
/** What is most, newest or worst comes first when one of these is chosen. */
export const FALLING: readonly string[] = ['updates', 'vulnerabilities', 'last_sync', 'since'];

const KEY = 'columns';

function readColumns(): readonly Column[] {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? 'null') as unknown;
    if (Array.isArray(stored)) return COLUMNS.filter((column) => stored.includes(column));
  } catch {
    // Storage is refused, or contains something else.
  }
  return STANDARD;
}

/** The columns that are shown. */
export const shownColumns = createStore(readColumns());

export function chooseColumns(columns: readonly Column[]): void {
  shownColumns.set(columns);
  try {
    localStorage.setItem(KEY, JSON.stringify(columns));
  } catch {
    // They hold until the page is left.
  }
}

/** The service's columns for these. */
export const askedColumns = (columns: readonly Column[]) =>
  ['id', 'name', 'url', ...columns.map((column) => (column === 'status' ? 'state' : column))] as const;

export function Cell({ column, row }: { column: Column; row: SiteRecord }) {
  const value = row[column] ?? null;
  switch (column) {
    case 'status':
      return <SiteStatus state={String(row.state)} />;
    case 'monitor':
      return <MonitorState state={value === null ? null : String(value)} />;
    case 'updates':
      if (value === null) return <span class="muted">{t.unknown}</span>;
      return value === 0 ? <span class="muted">0</span> : <a href={`/sites/${row.id}?tab=updates`}>{String(value)}</a>;
    case 'vulnerabilities':
      if (value === null) return <span class="muted">{t.unknown}</span>;
      return value === 0 ? <span class="muted">0</span> : <a href={`/sites/${row.id}?tab=security`}>{String(value)}</a>;
    case 'last_sync':
    case 'since':
      return (
        <Time iso={value === null ? null : String(value)} otherwise={column === 'last_sync' ? t.never : t.unknown} />
      );
    case 'certificate':
    case 'domain':
    case 'backup':
      return <Time day iso={value === null ? null : String(value)} />;
    case 'health':
      return value === null ? <span class="muted">{t.unknown}</span> : <>{String(value)} %</>;
    case 'client':
    case 'tags':
    case 'reason':
      return <span class="clip">{value === null ? '' : String(value)}</span>;
    default:
      return <span class={value === null ? 'muted' : ''}>{value === null ? t.unknown : String(value)}</span>;
  }
}
