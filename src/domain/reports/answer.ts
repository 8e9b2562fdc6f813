/** A report in the requested format, and several segments combined into one report. */

import type { ReportFormat, Segment } from '../../../schemas/report.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { ACTIVITIES } from './activity-words.js';
import { csvReport } from './csv.js';
import { htmlReport } from './html.js';
import { buildReport, type Report, type ReportQuery, reportBasis } from './report.js';
import { dateStyle, normalData, rawData } from './shapes.js';
import type { Section } from './types.js';

export interface ReportFile {
  type: 'text/html' | 'text/csv';
  name: string;
  text: string;
}

export type ReportAnswer = { file: ReportFile } | { data: unknown; total?: number; meta: Report['meta'] };

/** Throws as `buildReport`. */
export async function reportAnswer(ctx: Ctx, site: SiteRow, query: ReportQuery): Promise<ReportAnswer> {
  const report = await buildReport(ctx, site, query);
  const { meta } = report;
  switch (query.format) {
    case 'csv':
      return { file: { type: 'text/csv', name: fileName(report, 'csv'), text: csvReport(report) } };
    case 'html': {
      const text = htmlReport([report], await dateStyle(ctx, meta.time_zone));
      return { file: { type: 'text/html', name: fileName(report, 'html'), text } };
    }
    case 'raw':
      return { data: rawData(report, await dateStyle(ctx, meta.time_zone)), meta };
    default: {
      const data = normalData(report);
      return { data, total: data.rows.length, meta };
    }
  }
}

function fileName({ site, segment, meta }: Report, ending: string): string {
  return `site-${site.id}-${segment}-${meta.start_date}-${meta.end_date}.${ending}`;
}

/** What most clients want to read. */
export const DEFAULT_SEGMENTS: readonly Segment[] = [
  'website',
  'platform',
  'plugins',
  'themes',
  'uptime',
  'sslmonitor',
  'domainmonitor',
  'perf-audit',
  'pending',
];

export interface Skipped {
  segment: Segment;
  code: string;
  message: string;
}

/**
 * Reports on several segments, at least one. Segments without a data source are left out and named; any other error is
 * thrown.
 */
export async function reportsOf(
  ctx: Ctx,
  site: SiteRow,
  { segments, ...query }: Omit<ReportQuery, 'segment'> & { segments: readonly Segment[] },
): Promise<{ reports: [Report, ...Report[]]; errors: Skipped[] }> {
  // In parallel: their reads are sent together, which is one round trip on a libSQL server.
  const basis = reportBasis(ctx, site);
  // A segment that is refused before it needs the basis must not leave its failure unhandled.
  basis.catch(() => undefined);
  const outcomes = await Promise.all(
    segments.map((segment) =>
      buildReport(ctx, site, { ...query, segment }, basis).catch((error: unknown): Skipped => {
        if (!(error instanceof ServiceError) || error.code !== 'svc_module_not_available') throw error;
        return { segment, code: error.code, message: error.message };
      }),
    ),
  );
  const reports = outcomes.filter((outcome) => 'findings' in outcome);
  const errors = outcomes.filter((outcome) => 'code' in outcome);
  const [first, ...others] = reports;
  if (first !== undefined) return { reports: [first, ...others], errors };
  throw new ServiceError('svc_module_not_available', 'None of these segments has a source.', {
    data: { module: segments[0] ?? 'pro-reports', segments: errors },
  });
}

/** The state of today that a segment of its own tells is left out of the others. */
export function withoutRepeated<R extends Report>(reports: readonly R[]): R[] {
  const told = new Set<string>(reports.map(({ segment }) => segment));
  return reports.map((report) => {
    const stays = ({ name, present }: Section) =>
      present !== true || ACTIVITIES[report.segment] === undefined || !told.has(name);
    const { today } = report.findings;
    const sections = report.findings.sections.filter(stays);
    return {
      ...report,
      findings: { ...report.findings, sections, ...(today && { today: today.filter(stays) }) },
    };
  });
}

/** Throws as `reportsOf`. */
export async function wholeReport(
  ctx: Ctx,
  site: SiteRow,
  query: { segments: readonly Segment[]; start_date: string; end_date: string; format: ReportFormat },
): Promise<{ file: ReportFile } | { data: Record<string, unknown>; meta: unknown; errors: Skipped[] }> {
  const { reports, errors } = await reportsOf(ctx, site, query);
  const [first] = reports;
  if (query.format === 'html') {
    const text = htmlReport(withoutRepeated(reports), await dateStyle(ctx, first.meta.time_zone));
    return { file: { type: 'text/html', name: fileName(first, 'html').replace(first.segment, 'report'), text } };
  }
  const data = Object.fromEntries(
    reports.map((report) => [report.segment, { ...normalData(report), notes: report.meta.notes }]),
  );
  const { start_date, end_date, generated_at, time_zone, as_of } = first.meta;
  const truncated = reports.some(({ meta }) => meta.truncated);
  return {
    data,
    meta: { start_date, end_date, format: query.format, generated_at, time_zone, as_of, truncated },
    errors,
  };
}
