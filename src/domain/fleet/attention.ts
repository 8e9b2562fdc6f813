/** What needs attention now, as records: the fleet brief for pages and programs, most urgent first. */

import { cleanLine } from '../../../schemas/text.js';
import { SOFTWARE_TYPES, severityName } from '../../../schemas/vulnerability.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { BriefData, Matter } from '../../store/fleet/brief.js';
import type { Mark } from '../../store/fleet/marks.js';
import type { HarmfulRow } from '../../store/safety/changes.js';
import type { Ctx } from '../context.js';
import { reasonCell } from '../sites/search-cells.js';
import { unwell } from '../sites/status.js';
import type { Evidence } from '../updates/safe/run-state.js';
import { feedState } from '../vulnerabilities/state.js';
import { briefData, siteCounts, siteData } from './brief.js';

const DAY_MS = 86_400_000;
/** Maximum characters of what a monitor saw. */
const SEEN = 200;

export const ATTENTION = [
  'broken_update',
  'down_after_update',
  'down',
  'disconnected',
  'unreachable',
  'vulnerable',
  'suspect_update',
  'update_undone',
  'update_failed',
  'certificate_ends',
  'domain_ends',
  'job_failed',
  'not_synced',
] as const;
/** How many cases there are, with the first ones. */
type Found = Partial<Record<(typeof ATTENTION)[number], { count: number; cases: object[] }>>;

type Stored = Matter['first'][number];

const textOf = (value: unknown) => (value === null || value === undefined ? null : String(value));
const timeOf = (value: unknown) => (typeof value === 'number' ? isoTime(value) : null);
/** By what it is set aside, and whether somebody did. */
const markOf = ({ subject, mark, mark_at, mark_until, mark_by, mark_note }: Stored) => ({
  subject: textOf(subject),
  mark: textOf(mark) as Mark['state'] | null,
  mark_at: timeOf(mark_at),
  mark_until: timeOf(mark_until),
  mark_by: textOf(mark_by) ?? '',
  mark_note: textOf(mark_note) ?? '',
});
const caseOf = (row: Stored, at: unknown) => ({
  ...markOf(row),
  site_id: typeof row.site_id === 'number' ? row.site_id : null,
  site_name: textOf(row.name),
  site_url: textOf(row.url),
  at: timeOf(at),
});
const NO_SITE = { site_id: null, site_name: null, site_url: null, at: null };
/** It is over once the update was made, or is not on offer any more. */
const UNMARKED = { subject: null, mark: null, mark_at: null, mark_until: null, mark_by: '', mark_note: '' };
/** An incident that somebody acknowledged is marked so, unless it is set aside as well. */
const acknowledged = (row: Stored): Partial<ReturnType<typeof markOf>> =>
  row.mark !== null || typeof row.acknowledged_at !== 'number'
    ? {}
    : {
        mark: 'acknowledged',
        mark_at: timeOf(row.acknowledged_at),
        mark_by: textOf(row.acknowledged_by) ?? '',
        mark_note: textOf(row.acknowledged_note) ?? '',
      };
const outage = (row: Stored) => ({
  ...caseOf(row, row.started_at),
  ...acknowledged(row),
  incident_id: typeof row.incident_id === 'number' ? row.incident_id : null,
  acknowledged_at: timeOf(row.acknowledged_at),
  http_status: typeof row.last_http_code === 'number' ? row.last_http_code : null,
  ...(unwell(row) ? { seen: [cleanLine(String(row.last_msg), SEEN)] } : {}),
});

const matter = ({ count, first }: Matter, describe: (row: Stored) => object) => ({
  count,
  cases: first.map(describe),
});

/** Whether sites work. */
function ofState(matters: Pick<BriefData['matters'], 'after_update' | 'down' | 'disconnected' | 'unreachable'>): Found {
  return {
    down_after_update: matter(matters.after_update, (row) => ({
      ...outage(row),
      suspect: JSON.parse(String(row.update_before)),
    })),
    down: matter(matters.down, outage),
    disconnected: matter(matters.disconnected, (row) => ({ ...caseOf(row, row.since), reason: reasonCell(row) })),
    unreachable: matter(matters.unreachable, (row) => ({
      ...caseOf(row, row.checked_at),
      http_status: typeof row.http_status === 'number' ? row.http_status : null,
    })),
  };
}

function ofBrief({ matters, failed }: BriefData): Found {
  return {
    ...ofState(matters),
    update_failed: {
      count: failed.count,
      cases: failed.first.map((row) => ({
        ...{ site_id: row.site_id, site_name: row.site_name, site_url: row.url, at: isoTime(row.at), ...UNMARKED },
        ...{ run_id: row.run_id, item: row.item_name, old_version: row.old_version, new_version: row.new_version },
        ...{ failed: row.n, total: row.sites, seen: row.message === '' ? [] : [row.message] },
      })),
    },
    certificate_ends: matter(matters.certificates, (row) => caseOf(row, row.ends)),
    domain_ends: matter(matters.domains, (row) => caseOf(row, row.ends)),
    vulnerable: matter(
      matters.vulnerable,
      ({ id, severity, unfixed, sites, kind, slug, item_name, title, known, ...row }) => ({
        ...NO_SITE,
        ...markOf(row),
        item: String(id),
        item_type: SOFTWARE_TYPES[Number(kind)],
        item_slug: String(slug),
        item_name: String(item_name),
        title: String(title),
        known: Number(known),
        severity: severityName(severity),
        unfixed: unfixed === 1,
        total: Number(sites),
      }),
    ),
    job_failed: matter(matters.jobs, ({ id, type, failed, total, ...row }) => ({
      ...NO_SITE,
      ...markOf(row),
      job_id: String(id),
      job_type: String(type),
      failed: Number(failed),
      total: Number(total),
    })),
    not_synced: matter(matters.stale, (row) => caseOf(row, row.last_sync)),
  };
}

function changeCase(row: HarmfulRow, say: (evidence: Evidence) => string[]) {
  const seen = row.evidence === null ? [] : say(JSON.parse(row.evidence) as Evidence);
  return {
    ...markOf(row),
    site_id: row.site_id,
    site_name: row.site_name,
    site_url: row.site_url,
    at: isoTime(row.settled_at),
    change_id: row.id,
    item: row.name,
    old_version: row.old_version,
    new_version: row.new_version,
    seen,
  };
}

function harm({ count, first }: { count: number; first: HarmfulRow[] }, say: (evidence: Evidence) => string[]) {
  return { count, cases: first.map((row) => changeCase(row, say)) };
}

/** What there is, worst first. */
const listed = (found: Found) =>
  ATTENTION.flatMap((matter) => {
    const one = found[matter];
    return one === undefined || one.count === 0 ? [] : [{ matter, ...one }];
  });

/** What is wrong with one site: whether it works, and updates that harmed it or may have. */
export async function siteAttention(ctx: Ctx, site: number) {
  const now = ctx.clock.now();
  const { matters, harm: harms } = await siteData(ctx, now, site);
  const found: Found = {
    ...ofState(matters),
    broken_update: harm(harms.broken, ({ seen }) => seen),
    suspect_update: harm(harms.suspect, ({ suspect }) => suspect),
  };
  return { as_of: isoTime(now), matters: listed(found) };
}

/** Counts of the fleet, matters that need attention with their first cases, and what was done in the last day. */
export async function fleetAttention(ctx: Ctx, cases: number) {
  const now = ctx.clock.now();
  const { store } = ctx;
  const [data, levels, feed] = await Promise.all([
    briefData(ctx, now, now - DAY_MS, cases),
    store.fleetOffers.levels(),
    feedState(ctx),
  ]);
  const found: Found = {
    ...ofBrief(data),
    broken_update: harm(data.harm.broken, ({ seen }) => seen),
    suspect_update: harm(data.harm.suspect, ({ suspect }) => suspect),
    update_undone: harm(data.harm.rolled_back, ({ seen }) => seen),
  };
  const level = (number: number | null) => levels.find((row) => row.level === number)?.n ?? 0;
  return {
    as_of: isoTime(now),
    sites: siteCounts(data.sites),
    updates: { major: level(2), minor: level(1), patch: level(0), unknown: level(null) },
    matters: listed(found),
    done: data.done.map(({ context, action, n, sites: on }) => ({ context, action, count: n, sites: on })),
    not_known: { ...data.unknown, vulnerabilities: feed.known ? data.unknown.vulnerabilities : null },
    vulnerability_note: feed.note,
  };
}
