/** Reports on a time before a site was watched: what is not known then is `null`, and a note says since when it is. */

import type { Segment } from '../../../schemas/report.js';
import { wordpressTime } from '../../runtime/time-zones.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { DAYS_KEPT } from '../monitoring/history.js';
import { RECORD_SEGMENTS } from './record-segments.js';
import type { Findings, ReportRequest, ReportValue, Section } from './types.js';

/** The current state of the site, whatever the range. */
const PRESENT: ReadonlySet<Segment> = new Set(['website', 'pending', 'abandoned', 'sslmonitor', 'domainmonitor']);
/** About the report itself, or about work that people enter for any time; like records of other tools. */
const ALWAYS_KNOWN: ReadonlySet<Segment> = new Set(['misc', 'feedback_tool']);
/** The range as asked, which is no figure. */
export const RANGE: ReadonlySet<string> = new Set(['startdate', 'enddate']);

/** If there are figures that are nearly as old as they are kept, earlier ones may have been deleted. */
const CHECKS_KEPT_MS = (DAYS_KEPT - 1) * 86_400_000;

/** Since when what a segment reports is known of a site; null = it has not begun. */
export async function watchedSince(
  ctx: Ctx,
  segment: Segment,
  site: Pick<SiteRecord, 'id' | 'created_at'>,
  now: number,
): Promise<number | null> {
  const { check, first } = await ctx.store.reportData.firstWatched(site.id);
  const earliest = Math.min(first ?? Number.POSITIVE_INFINITY, site.created_at);
  if (segment !== 'uptime') return earliest;
  return check !== null && check < now - CHECKS_KEPT_MS ? earliest : first;
}

/**
 * The findings without values that were not observed in the range. What is on record from before, such as the
 * site's own log, stays.
 */
export function asFarAsKnown(findings: Findings, question: ReportRequest, since: number | null): Findings {
  const { segment, from, to, zone } = question;
  if (ALWAYS_KNOWN.has(segment) || RECORD_SEGMENTS[segment]?.thirdParty === true) return findings;
  const day = since === null ? '' : wordpressTime(since, zone).slice(0, 10);
  if (since !== null && since < to) {
    if (since <= from || PRESENT.has(segment)) return findings;
    const unwatched = `Not known before ${day}: watched since then.`;
    return { ...findings, unwatched, notes: [...findings.notes, unwatched] };
  }
  const unwatched = since === null ? 'Not known: not watched yet.' : `Not known: watched since ${day}.`;
  const today = findings.sections.filter(({ present }) => present === true);
  const sections = findings.sections.map(seenIn);
  const values = findings.values.map((value) => unseen(value, segment));
  const some = sections.some(({ count }) => count !== null);
  return { ...findings, sections, today, values, unwatched, notes: [unwatched, ...(some ? findings.notes : [])] };
}

function seenIn(section: Section): Section {
  const rows = section.rows.filter(({ at }) => at !== null);
  return { ...section, rows, count: rows.length === 0 ? null : section.count };
}

function unseen(value: ReportValue, segment: Segment): ReportValue {
  if (value.kind === 'list') return PRESENT.has(segment) ? { ...value, value: [] } : value;
  const stays = value.kind === 'chart' || RANGE.has(value.key);
  return stays || (!PRESENT.has(segment) && value.value !== 0 && value.key !== 'status')
    ? value
    : ({ ...value, value: null } as ReportValue);
}
