/** Builds one segment of a report: parses the request, gathers the data, and formats it (REST §6.8). */

import { type ReportFormat, SEGMENTS, type Segment } from '../../../schemas/report.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { dayEnd, dayStart } from '../../runtime/time-zones.js';
import type { SiteRow } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { dashboardZone } from '../settings/effects.js';
import { requireModule } from '../settings/modules.js';
import { loadRecord } from '../sites/sites.js';
import { activityFindings } from './activity.js';
import { ACTIVITIES } from './activity-words.js';
import { abandonedFindings, miscFindings, pendingFindings, websiteFindings } from './current-state.js';
import { auditFindings, certificateFindings, domainFindings } from './measurements.js';
import { RECORD_SEGMENTS } from './record-segments.js';
import { recordFindings, wrongMember } from './records.js';
import type { Findings, ReportRequest } from './types.js';
import { uptimeFindings } from './uptime.js';
import { asFarAsKnown, watchedSince } from './watched.js';

export interface ReportQuery {
  segment: Segment;
  start_date: string;
  end_date: string;
  /** Action words, comma-separated; absent or `all` = every action. */
  action?: string | undefined;
  format: ReportFormat;
}

export interface Report {
  site: SiteRow;
  segment: Segment;
  findings: Findings;
  meta: {
    start_date: string;
    end_date: string;
    action: string;
    format: ReportFormat;
    generated_at: string;
    time_zone: string;
    /** Time of the site's last sync; null = never. */
    as_of: string | null;
    truncated: boolean;
    sections: { name: string; title: string; count: number | null }[];
    notes: string[];
  };
}

/** Data shared by all segments of a site's report. */
export async function reportBasis(ctx: Ctx, site: { id: number }) {
  const [zone, record] = await Promise.all([dashboardZone(ctx), loadRecord(ctx, site.id)]);
  return { zone, record };
}

type Builder = (ctx: Ctx, question: ReportRequest) => Promise<Findings>;

/** Segments that the service itself measures; the others are activity, or records of other tools. */
const MEASURED: Partial<Record<Segment, Builder>> = {
  domainmonitor: domainFindings,
  sslmonitor: certificateFindings,
  'perf-audit': auditFindings,
  uptime: uptimeFindings,
  website: websiteFindings,
  abandoned: abandonedFindings,
  pending: pendingFindings,
  misc: miscFindings,
};

function findingsOf(ctx: Ctx, question: ReportRequest): Promise<Findings> {
  const { segment } = question;
  const [activity, records, measured] = [ACTIVITIES[segment], RECORD_SEGMENTS[segment], MEASURED[segment]];
  if (activity !== undefined) return activityFindings(ctx, question, activity);
  if (records !== undefined) return recordFindings(ctx, question, records);
  if (measured !== undefined) return measured(ctx, question);
  throw new Error(`There is no builder for the report segment ${segment}.`);
}

/**
 * Throws `rest_invalid_param` (start after end, unknown action), `svc_site_suspended` (suspended sites are left out of
 * reports, REST §4.2), `svc_module_not_available` if the segment has no data source.
 * @param basis of the site, if several segments share it
 */
export async function buildReport(
  ctx: Ctx,
  site: SiteRow,
  query: ReportQuery,
  basis?: ReturnType<typeof reportBasis>,
): Promise<Report> {
  requireModule(ctx, 'pro-reports');
  const { segment, start_date, end_date } = query;
  if (start_date > end_date) throw wrongMember('end_date', `must not be before start_date (${start_date})`);
  const actions = actionsOf(segment, query.action);
  if (site.status === 'suspended') {
    throw new ServiceError('svc_site_suspended', `Site ${site.id} is suspended, so it has no reports.`, {
      advice: 'Lift the suspension first.',
      data: { site_id: site.id },
    });
  }
  const { zone, record } = await (basis ?? reportBasis(ctx, site));
  const now = ctx.clock.now();
  const from = dayStart(start_date, zone);
  const to = dayEnd(end_date, zone);
  const question: ReportRequest = { site, segment, actions, start_date, end_date, from, to, zone, now };
  const [found, since] = await Promise.all([findingsOf(ctx, question), watchedSince(ctx, segment, record, now)]);
  const findings = asFarAsKnown(found, question, since);
  return {
    site,
    segment,
    findings,
    meta: {
      start_date,
      end_date,
      action: query.action ?? 'all',
      format: query.format,
      generated_at: isoTime(now) ?? '',
      time_zone: zone,
      as_of: isoTime(record.last_sync),
      truncated: findings.truncated,
      sections: findings.sections.map(({ name, title, count }) => ({ name, title, count })),
      notes: findings.notes,
    },
  };
}

function actionsOf(segment: Segment, asked: string | undefined): readonly string[] {
  const known: readonly string[] = SEGMENTS[segment];
  const words = (asked ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0 || words.includes('all')) return known;
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    const choice = known.length === 0 ? 'omitted: this segment has no actions' : `one of ${known.join(', ')}, or all`;
    throw wrongMember('action', `must be ${choice}`);
  }
  return known.filter((word) => words.includes(word));
}
