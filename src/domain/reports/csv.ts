/** A report as CSV (RFC 4180): its rows, or its figures if a segment has no rows. */

import { csvLine } from '../common/csv.js';
import type { Report } from './report.js';
import { normalRow } from './shapes.js';
import type { ReportValue, Scalar } from './types.js';

export function csvReport(report: Report): string {
  const { sections, values } = report.findings;
  if (sections.length === 0)
    return csv(
      ['key', 'title', 'value'],
      values.map((value) => [value.key, value.title, plain(value)]),
    );
  const rows = sections.flatMap((section) => section.rows.map((row) => normalRow(section, row, report.meta.time_zone)));
  const columns = [...new Set(['action', ...rows.flatMap((row) => Object.keys(row))])];
  return csv(
    columns,
    rows.map((row) => columns.map((column) => row[column] ?? '')),
  );
}

function plain(value: ReportValue): Scalar {
  if (value.kind === 'list') return value.value.map((item) => Object.values(item).join(' ')).join('; ');
  if (value.kind === 'chart') return value.value.map((point) => `${point.date} ${point.value ?? ''}`).join('; ');
  return value.value ?? '';
}

function csv(head: readonly string[], rows: readonly (readonly Scalar[])[]): string {
  return [head, ...rows].map(csvLine).join('');
}
