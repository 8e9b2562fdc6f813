/**
 * Reports as short texts for assistants, each with the URL of the full report; for one site or all sites of a client.
 */

import { SEGMENT_CONTENT, SEGMENT_NAMES, SEGMENTS, type Segment } from '../../../schemas/report.js';
import { siteWord } from '../../../schemas/site-text.js';
import { ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import { wordpressTime } from '../../runtime/time-zones.js';
import type { SiteRow } from '../../store/sites/sites.js';
import { listClientSites } from '../clients/clients.js';
import { type ClientRef, findClient } from '../clients/records.js';
import type { Ctx } from '../context.js';
import { type Ending, unknownEndWords } from '../monitoring/unknown-ends.js';
import { dashboardZone } from '../settings/effects.js';
import { requireModule } from '../settings/modules.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { sitesNow } from '../sites/sites.js';
import { DEFAULT_SEGMENTS, reportsOf, withoutRepeated } from './answer.js';
import { RECORD_SEGMENTS } from './record-segments.js';
import type { Report } from './report.js';
import type { ReportRow, ReportValue, Scalar } from './types.js';
import { RANGE } from './watched.js';

export interface TextReportQuery {
  site_id_or_domain?: SiteRef | undefined;
  client_id_or_email?: ClientRef | undefined;
  /** Days as `YYYY-MM-DD`; both, or neither for the last whole month. */
  start_date?: string | undefined;
  end_date?: string | undefined;
  segments: readonly Segment[];
  page: number;
  per_page: number;
}

/** How many rows of a section are listed for a single site; for several sites only their number. */
const ROWS = 15;

export function reportSegments() {
  return SEGMENT_NAMES.map((name) => ({
    name,
    about: SEGMENT_CONTENT[name],
    actions: [...SEGMENTS[name]],
    default: DEFAULT_SEGMENTS.includes(name),
  }));
}

/**
 * Throws `svc_invalid_input` unless exactly one of site and client is named, and for half a range; for a single site as
 * `buildReport`. Sites of a client that cannot be reported on are listed in `errors`.
 */
export async function textReports(ctx: Ctx, query: TextReportQuery) {
  requireModule(ctx, 'pro-reports');
  const zone = await dashboardZone(ctx);
  const range = rangeOf(ctx, query, zone);
  const segments = query.segments.length === 0 ? DEFAULT_SEGMENTS : query.segments;
  const { sites, total } = await sitesOf(ctx, query);
  const single = query.client_id_or_email === undefined;
  const outcomes = await Promise.all(
    sites.map(async (site) => {
      try {
        const found = await reportsOf(ctx, site, { ...range, segments, format: 'normal' });
        const reports = withoutRepeated(found.reports);
        const text = [
          ...unknownLines(reports),
          ...reports.flatMap((report) => (isUnknown(report) ? [] : linesOf(report, single ? ROWS : 0))),
          ...found.errors.map(({ segment, message }) => `${SEGMENT_CONTENT[segment]}: left out. ${message}`),
        ].join('\n');
        const link = linkOf(ctx, site, range, query.segments);
        return { report: { site_id: site.id, name: site.name, url: site.url, text, link }, found: reports };
      } catch (error) {
        if (single || !(error instanceof ServiceError)) throw error;
        return { error: { site_id: site.id, code: error.code as string, message: error.message } };
      }
    }),
  );
  const reports = outcomes.flatMap(({ report }) => report ?? []);
  const errors = outcomes.flatMap(({ error }) => error ?? []);
  const found = outcomes.flatMap((outcome) => (outcome.found === undefined ? [] : [outcome.found]));
  const totals = single || found.length === 0 ? {} : { totals: totalsOf(found, total) };
  const not_known = [...periodNotKnown(found), ...(await notKnownOf(ctx, found))];
  const links = { link: await pageOf(ctx, query, range), note: LOGIN };
  return { ...range, time_zone: zone, ...totals, not_known, ...links, reports, errors, total };
}

/** Segments that tell when something ends. */
const ENDS: readonly (readonly [Segment, Ending])[] = [
  ['sslmonitor', 'certificate'],
  ['domainmonitor', 'domain'],
];

/** Of how many of the reported sites it is unknown when their certificate or domain ends. */
async function notKnownOf(ctx: Ctx, all: readonly (readonly Report[])[]): Promise<string[]> {
  const told = ENDS.filter(([wanted]) => all.flat().some(({ segment }) => segment === wanted));
  const sites = [...new Set(all.flat().map(({ site }) => site.id))];
  if (told.length === 0) return [];
  const counts = await ctx.store.fleetSearch.unknownEnds(sites);
  return told.flatMap(([, ending]) => unknownEndWords(ending, counts));
}

async function sitesOf(ctx: Ctx, query: TextReportQuery): Promise<{ sites: SiteRow[]; total: number }> {
  const { site_id_or_domain: site, client_id_or_email: client } = query;
  if ((site === undefined) === (client === undefined)) {
    throw new ServiceError('svc_invalid_input', 'A report covers one site, or all sites of one client.', {
      field: site === undefined ? 'site_id_or_domain' : 'client_id_or_email',
      advice: 'Send either site_id_or_domain or client_id_or_email.',
    });
  }
  if (site !== undefined) return { sites: [await getSite(ctx, site)], total: 1 };
  const found = await listClientSites(ctx, client as ClientRef, query.page, query.per_page);
  const rows = await sitesNow(ctx, found.sites);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return { sites: found.sites.flatMap(({ id }) => byId.get(id) ?? []), total: found.total };
}

interface Range {
  start_date: string;
  end_date: string;
}

function rangeOf(ctx: Ctx, { start_date, end_date }: TextReportQuery, zone: string): Range {
  if (start_date !== undefined && end_date !== undefined) return { start_date, end_date };
  if (start_date !== undefined || end_date !== undefined) {
    const missing = start_date === undefined ? 'start_date' : 'end_date';
    throw new ServiceError('svc_invalid_input', `${missing} is missing: a range of days needs both ends.`, {
      field: missing,
      advice: 'Send start_date and end_date, or neither for the last full month.',
    });
  }
  const today = wordpressTime(ctx.clock.now(), zone);
  const [year = 1970, month = 1] = today.split(/[- ]/).map(Number);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { start_date: day(Date.UTC(year, month - 2, 1)), end_date: day(Date.UTC(year, month - 1, 0)) };
}

/** Said of every link. */
const LOGIN =
  'The links open after a login to Sitefleet, for its users only: clients get the text, or the printed page.';

/** The view of the page that has the reports of all these sites. */
async function pageOf(ctx: Ctx, { client_id_or_email: client }: TextReportQuery, range: Range): Promise<string> {
  const of = client === undefined ? {} : { client: String((await findClient(ctx, client)).id) };
  const { start_date: from, end_date: to } = range;
  return `${ctx.base_url}/reports?${new URLSearchParams({ ...of, from, to })}`;
}

function linkOf(ctx: Ctx, site: SiteRow, range: Range, segments: readonly Segment[]): string {
  const chosen = segments.length === 0 ? {} : { segments: segments.join(',') };
  return `${ctx.base_url}/v2/pro-reports/${site.id}/report?${new URLSearchParams({ ...range, ...chosen })}`;
}

/** Nothing is known of it in the period. */
function isUnknown({ findings: { unwatched, values, sections } }: Report): boolean {
  const known = values.some(
    (value) => !RANGE.has(value.key) && !WINDOWS.test(value.key) && figureOf(value) !== undefined,
  );
  return unwatched !== undefined && !known && sections.every(({ count }) => (count ?? 0) === 0);
}

/** What is unknown for the same reason, in one line. */
function unknownLines(reports: readonly Report[]): string[] {
  const unknown = reports.filter(isUnknown);
  if (unknown.length > 1 && unknown.length === reports.length && new Set(unknown.map(reasonOf)).size === 1)
    return [`All of it: ${reasonOf(unknown[0] as Report)}`];
  return [...groupBy(unknown, reasonOf)].map(
    ([reason, of]) => `${of.map(({ segment }) => SEGMENT_CONTENT[segment]).join('; ')}: ${reason}`,
  );
}

function reasonOf({ findings }: Report): string {
  return findings.unwatched ?? '';
}

function linesOf({ segment, findings, meta }: Report, rows: number): string[] {
  const values = findings.values.filter(({ key }) => !WINDOWS.test(key));
  const figures = values.flatMap((value) => figureOf(value) ?? []);
  const told = new Set(values.filter((value) => figureOf(value) !== undefined).map(({ title }) => title));
  const counts = findings.sections
    .filter(({ title, count }) => (count ?? 0) > 0 && !told.has(title))
    .map(({ title, count }) => `${title}: ${count}`);
  const parts = [...figures, ...counts];
  // For several sites there are no notes, but that it was not watched is part of a figure.
  const { unwatched } = findings;
  const said = parts.length > 0 ? `${parts.join('; ')}.` : unwatched === undefined ? 'nothing in this period.' : '';
  const head = [`${SEGMENT_CONTENT[segment]}:`, said, unwatched].filter((part) => part).join(' ');
  const listed = findings.sections.flatMap((section) => section.rows.map((row) => ({ title: section.title, row })));
  const shown = listed.slice(0, rows).map(({ title, row }) => `- ${rowText(title, row, meta.time_zone)}`);
  const more = rows > 0 && listed.length > rows ? [`- and ${listed.length - rows} more`] : [];
  return [
    head,
    ...shown,
    ...more,
    ...(rows > 0 ? findings.notes.filter((note) => note !== unwatched).map((note) => `Note: ${note}`) : []),
  ];
}

/** Windows that end with the range, which is a figure itself. */
const WINDOWS = /^uptime\d+$/;

const UNITS: Readonly<Record<string, string>> = { percent: ' %', ms: ' ms', days: ' days' };

/** Undefined for unknown values, and for charts. */
function figureOf({ title, kind, value }: ReportValue): string | undefined {
  if (value === null || value === '' || kind === 'chart') return undefined;
  if (kind === 'list') {
    if (value.length === 0) return undefined;
    return `${title}: ${value.every(isSpan) ? value.map(spanText).join(', ') : value.length}`;
  }
  const shown = kind === 'percent' ? Math.floor(value * 100) / 100 : value;
  return `${title}: ${short(shown)}${UNITS[kind] ?? ''}`;
}

type ListItem = Readonly<Record<string, Scalar>>;

/** How long the site was in a state. */
function isSpan({ state, seconds }: ListItem): boolean {
  return typeof state === 'string' && typeof seconds === 'number';
}

function spanText({ state, seconds }: ListItem): string {
  return `${state} ${durationText(Number(seconds))}`;
}

/** A duration in its two largest units. */
function durationText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes === 0) return `${seconds} seconds`;
  const parts = [
    [Math.floor(minutes / 1440), 'days'],
    [Math.floor(minutes / 60) % 24, 'hours'],
    [minutes % 60, 'minutes'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${count === 1 ? unit.slice(0, -1) : unit}`).join(' ');
}

/**
 * The sums of what is counted in several reports: what happened in one line, the state of today in another. Of how many sites
 * each is known is said where that is not all.
 */
function totalsOf(all: readonly (readonly Report[])[], total: number): string {
  const [past, present] = [new Sums(all.length), new Sums(all.length)];
  for (const { findings } of all.flat()) {
    const isPart = findings.unwatched !== undefined;
    for (const { title, count, present: isNow } of findings.sections)
      if (isNow !== true) past.add(title, count, isPart);
    // What is on offer today is known of a site that was not watched in the period, too.
    for (const { title, count } of findings.today ?? findings.sections.filter((section) => section.present === true))
      present.add(title, count, false);
  }
  const of = all.length === total ? `All ${total} sites` : `${all.length} of ${total} sites`;
  const happened = [...uptimeOf(all), ...past.words()];
  const now = present.words();
  return [
    `${of}: ${happened.length === 0 ? 'nothing that is counted' : happened.join('; ')}.`,
    ...unwatchedOf(all),
    ...(now.length === 0 ? [] : [`As of the last syncs, not of this period: ${now.join('; ')}.`]),
  ].join(' ');
}

function unwatchedSites(all: readonly (readonly Report[])[]): number {
  return all.filter((reports) =>
    reports.some(({ segment, findings }) => findings.unwatched !== undefined && RECORD_SEGMENTS[segment] === undefined),
  ).length;
}

function periodNotKnown(all: readonly (readonly Report[])[]): string[] {
  const sites = unwatchedSites(all);
  const of = all.length === 1 ? '' : `: ${sites} of ${all.length} sites`;
  return sites === 0 ? [] : [`the period, or a part of it${of}`];
}

/** Of how many sites the period is not known as a whole. */
function unwatchedOf(all: readonly (readonly Report[])[]): string[] {
  const sites = unwatchedSites(all);
  if (sites === 0) return [];
  const which = sites === all.length ? `all ${sites}` : `${sites} of ${all.length}`;
  return [`Of ${which} sites this period is not known, or only a part of it: they were not watched then.`];
}

/** Titles of what no site knows that are named. */
const UNKNOWN_NAMED = 3;

/** Sums by title, and of how many sites they are known. */
class Sums {
  readonly #sites: number;
  readonly #byTitle = new Map<string, { sum: number; known: number; part: number }>();

  constructor(sites: number) {
    this.#sites = sites;
  }

  add(title: string, count: number | null, isPart: boolean): void {
    const sum = this.#byTitle.get(title) ?? { sum: 0, known: 0, part: 0 };
    this.#byTitle.set(title, sum);
    if (count === null) return;
    sum.sum += count;
    sum.known += 1;
    if (isPart) sum.part += 1;
  }

  /** What no site knows is said, too; what is known to be none is not. */
  words(): string[] {
    const all = [...this.#byTitle];
    const unknown = all.filter(([, { known }]) => known === 0).map(([title]) => title);
    const more = unknown.length - UNKNOWN_NAMED;
    const named = [...unknown.slice(0, UNKNOWN_NAMED), ...(more > 0 ? [`${more} more`] : [])];
    return [
      ...all.flatMap(([title, { sum, ...of }]) => (sum === 0 ? [] : [`${title}: ${sum}${this.#of(of)}`])),
      ...(unknown.length === 0 ? [] : [`not known of any site: ${named.join(', ')}`]),
    ];
  }

  #of({ known, part }: { known: number; part: number }): string {
    const all = known === this.#sites;
    if (all && part === 0) return '';
    return ` (known of ${known} of ${this.#sites} sites${part === 0 ? '' : `, of ${part} in part`})`;
  }
}

/** The uptime of all sites together, by how long each was watched. */
function uptimeOf(all: readonly (readonly Report[])[]): string[] {
  const reports = all.flat().filter(({ segment }) => segment === 'uptime');
  const known = reports.map(({ findings }) => secondsOf(findings.values)).filter(({ up, down }) => up + down > 0);
  if (reports.length === 0) return [];
  if (known.length === 0) return ['Uptime: not known of any site'];
  const up = known.reduce((sum, one) => sum + one.up, 0);
  const down = known.reduce((sum, one) => sum + one.down, 0);
  const of = known.length === all.length ? '' : ` (known of ${known.length} of ${all.length} sites)`;
  const lost = down === 0 ? '' : `, ${durationText(down)} down in all`;
  return [`Uptime: ${Math.floor((up / (up + down)) * 10_000) / 100} %${lost}${of}`];
}

function secondsOf(values: readonly ReportValue[]): { up: number; down: number } {
  const spans = values.flatMap((value) => (value.kind === 'list' && value.key === 'stats' ? value.value : []));
  const of = (state: string) => Number(spans.find((span) => span.state === state)?.seconds ?? 0);
  return { up: of('up'), down: of('down') };
}

function rowText(title: string, { at, fields }: ReportRow, zone: string): string {
  const when = at === null ? [] : [wordpressTime(at, zone).slice(0, 16)];
  const known = Object.values(fields).filter((value) => value !== null && value !== '');
  return [...when, title, ...known.map(short)].join(' · ');
}

function short(value: Scalar): string {
  return typeof value === 'string' ? siteWord(value) : String(value);
}
