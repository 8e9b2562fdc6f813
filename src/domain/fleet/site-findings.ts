/** What is stored about the state of one site, matter by matter, each with the time of the look that it comes from. */

import type { DIAGNOSED, FINDING_STATES } from '../../../schemas/diagnosis.js';
import { siteWord } from '../../../schemas/site-text.js';
import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { ChangeRow } from '../../store/safety/changes.js';
import type { TaggedSite } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { getCertificate } from '../monitoring/certificates.js';
import { getDomain } from '../monitoring/domains.js';
import { listFleetIncidents } from '../monitoring/incidents.js';
import { monitorRow } from '../monitoring/monitors.js';
import { effectiveSettings } from '../monitoring/settings.js';
import { UP } from '../monitoring/state.js';
import { monitoringDefaults } from '../settings/effects.js';
import { lastVisit, reasonOf, unwell } from '../sites/status.js';
import type { Evidence } from '../updates/safe/run-state.js';
import { listVulnerabilities } from '../vulnerabilities/list.js';
import { harmful } from './brief.js';

const DOWN = 0;
const NEVER = 99;
const DAY_MS = 86_400_000;

export interface SiteFinding {
  matter: (typeof DIAGNOSED)[number];
  state: (typeof FINDING_STATES)[number];
  /** Sentences for people. */
  seen: string;
  /** In milliseconds; null = unknown. */
  since: number | null;
  looked_at: number | null;
}

export interface SiteState {
  findings: SiteFinding[];
  /** The newest update that broke the site, or may have a problem. */
  harmful: ChangeRow | null;
  /** The newest update that was rolled back. */
  undone: ChangeRow | null;
  /** It has vulnerabilities that are known to be critical or high. */
  grave: boolean;
  /** Code of the failure of the last sync; '' = none. */
  sync_code: string;
  /** What the monitor got, if the site is down; null otherwise. */
  http_status: number | null;
  /** The monitor misses something on a page that was answered; null = nothing. */
  missed: Missed | null;
}

export interface Missed {
  /** The keyword it looks for, if any. */
  keyword: string | null;
}

/** Nothing is contacted. */
export async function siteState(ctx: Ctx, site: TaggedSite): Promise<SiteState> {
  const [facts, uptime, harm, risks, certificate, domain] = await Promise.all([
    ctx.store.siteStatus.facts([site.id]),
    uptimeOf(ctx, site.id),
    harmOf(ctx, site.id),
    vulnerabilitiesOf(ctx, site.id),
    known(() => getCertificate(ctx, site.id)),
    known(() => getDomain(ctx, site.id)),
  ]);
  const status = facts.get(site.id);
  return {
    findings: [
      ...(status === undefined ? [] : [connectionFinding(site, reasonOf(status), status.status_since)]),
      ...uptime.findings,
      frontPageFinding(site),
      ...harm.findings,
      ...risks.findings,
      ...phpFindings(site.php_version, ctx.clock.now()),
      expiryFinding('certificate', certificate?.status, certificate?.valid_to, certificate),
      expiryFinding('domain', domain?.status, domain?.expiry_date, domain),
    ],
    harmful: harm.change,
    undone: harm.undone,
    grave: risks.grave,
    sync_code: site.sync_error === '' ? '' : site.sync_error_code,
    http_status: uptime.http_status,
    missed: uptime.missed,
  };
}

/** Undefined where the module is off. */
async function known<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'svc_module_not_available') return undefined;
    throw error;
  }
}

function connectionFinding(site: TaggedSite, reason: string, since: number | null): SiteFinding {
  const silent = site.sync_error === '' && site.unreached === 2;
  const looked_at = silent ? site.checked_at : (site.last_attempt ?? site.last_sync);
  if (site.status !== 'connected') return { matter: 'connection', state: 'trouble', seen: reason, since, looked_at };
  if (site.last_sync === null)
    return { matter: 'connection', state: 'unknown', seen: 'Never synced.', since: null, looked_at };
  return { matter: 'connection', state: 'ok', seen: 'The last sync succeeded.', since: null, looked_at };
}

interface Uptime extends Pick<SiteState, 'http_status' | 'missed'> {
  findings: SiteFinding[];
}

async function uptimeOf(ctx: Ctx, siteId: number): Promise<Uptime> {
  const [row, global, { items }] = await Promise.all([
    monitorRow(ctx, siteId),
    monitoringDefaults(ctx),
    listFleetIncidents(ctx, { site_ids: [siteId], open: true }, 1, 1),
  ]);
  const looked_at = row.last_check_at;
  const [incident] = items;
  const active = row.active === null ? global.active : row.active === 1;
  const answer = row.last_msg || (row.last_http_code ? `HTTP ${row.last_http_code}.` : 'No answer.');
  const of = (state: SiteFinding['state'], seen: string, since: number | null = null): SiteFinding => ({
    matter: 'uptime',
    state,
    seen,
    since,
    looked_at,
  });
  if (row.status === NEVER || !active || row.suspended === 1) {
    const off = looked_at === null ? 'The monitor is off.' : `The monitor is off. Its last check: ${answer}`;
    const seen = active && row.suspended === 0 ? 'Not checked yet.' : off;
    return { findings: [of('unknown', seen)], http_status: null, missed: null };
  }
  if (row.status === UP) return { findings: [of('ok', `Up. ${answer}`)], http_status: null, missed: null };
  if (row.status !== DOWN)
    return {
      findings: [of('unknown', `A check failed and is being repeated. ${answer}`)],
      http_status: null,
      missed: null,
    };
  const since = incident === undefined ? null : Date.parse(incident.started_at_iso);
  const seen =
    incident?.acknowledged_at == null
      ? 'not acknowledged'
      : `acknowledged by ${incident.acknowledged_by}${incident.acknowledged_note === '' ? '' : `: ${incident.acknowledged_note}`}`;
  const open: SiteFinding[] =
    incident === undefined
      ? []
      : [
          {
            matter: 'incident',
            state: 'trouble',
            seen: `Incident ${incident.id} is open, ${seen}.`,
            since,
            looked_at,
          },
        ];
  const { type, keyword } = effectiveSettings(row, global);
  const missed = unwell(row) ? { keyword: type === 'keyword' ? keyword : null } : null;
  return { findings: [of('trouble', `Down. ${answer}`, since), ...open], http_status: row.last_http_code, missed };
}

/** The newest look at the front page, by a check or by the monitor. */
function frontPageFinding(site: TaggedSite): SiteFinding {
  const { reachable, http_status, checked_at, misses } = lastVisit(site);
  const of = (state: SiteFinding['state'], seen: string): SiteFinding => ({
    matter: 'front_page',
    state,
    seen,
    since: null,
    looked_at: checked_at,
  });
  if (checked_at === null) return of('unknown', 'Never visited.');
  const got = http_status ? `HTTP ${http_status}` : 'no answer';
  if (misses !== undefined) return of('trouble', `Reached: ${got}, but not as its monitor expects: ${misses}`);
  const answered = http_status !== null && http_status >= 200 && http_status < 400;
  if (site.unreached > 0 && !(answered && reachable === null)) return of('trouble', `Not reached: ${got}.`);
  return reachable === null ? of('unknown', `Undecided: ${got}.`) : of('ok', `Reached: ${got}.`);
}

/** Updates that broke the site, may have a problem, or are not finished; those that were rolled back are told, too. */
async function harmOf(ctx: Ctx, siteId: number) {
  const now = ctx.clock.now();
  const [open, broken, suspect, undone] = await Promise.all([
    ctx.store.safeChanges.open(siteId),
    ...(['broken', 'suspect', 'rolled_back'] as const).map((harm) => harmful(ctx, now, harm, 1, siteId)),
  ] as const);
  const of = (change: ChangeRow | undefined, state: SiteFinding['state'], what: string): SiteFinding[] => {
    if (change === undefined) return [];
    const said = evidenceOf(change);
    const seen = `${siteWord(change.name)} ${siteWord(change.old_version)} to ${siteWord(change.new_version)} ${what}. ${said}`;
    const looked_at = change.settled_at ?? change.updated_at ?? change.started_at;
    return [{ matter: 'update', state, seen: seen.trim(), since: change.updated_at ?? change.started_at, looked_at }];
  };
  return {
    findings: [
      ...of(open[0], 'unknown', 'is being installed, or was interrupted'),
      ...of(broken?.first[0], 'trouble', 'broke the site'),
      ...of(suspect?.first[0], 'suspect', 'was kept, but may have a problem'),
      ...of(undone?.first[0], 'ok', 'was rolled back'),
    ],
    change: broken?.first[0] ?? suspect?.first[0] ?? null,
    undone: undone?.first[0] ?? null,
  };
}

/** What was seen of an update that was rolled back: the reason, '' = not known. */
export function evidenceOf({ evidence }: ChangeRow): string {
  const known = evidence === null ? null : (JSON.parse(evidence) as Evidence);
  return [...(known?.seen ?? []), ...(known?.suspect ?? [])].join(' ');
}

/** Vulnerabilities named in a finding. */
const NAMED = 3;

/** Known ones of what is installed; none without a feed, which the finding says. */
async function vulnerabilitiesOf(ctx: Ctx, siteId: number): Promise<{ findings: SiteFinding[]; grave: boolean }> {
  const all = { severity: [], tag_ids: [], client_ids: [], page: 1, per_page: NAMED };
  const found = await listVulnerabilities(ctx, { ...all, site_id_or_domain: siteId });
  const looked_at = found.checked_at === null ? null : Date.parse(found.checked_at);
  const of = (state: SiteFinding['state'], seen: string): SiteFinding[] => [
    { matter: 'vulnerability', state, seen, since: null, looked_at },
  ];
  const { total, by_severity } = found;
  if (found.vulnerable_sites === null)
    return { findings: of('unknown', 'No vulnerability feed was read.'), grave: false };
  if (total === 0 && found.unknown_sites > 0)
    return { findings: of('unknown', 'What is installed has not been compared yet.'), grave: false };
  if (total === 0) return { findings: of('ok', 'None is known in what is installed.'), grave: false };
  const counts = Object.entries(by_severity).filter(([, n]) => n > 0);
  const named = found.vulnerabilities.map(({ name, versions }) => [name, versions[0] ?? ''].map(siteWord).join(' '));
  const more = total > named.length ? ` and ${total - named.length} more` : '';
  const words = counts.map(([severity, n]) => `${n} ${severity.replaceAll('_', ' ')}`).join(', ');
  return {
    findings: of('suspect', `Known vulnerabilities: ${words}: ${named.join(', ')}${more}.`),
    grave: by_severity.critical + by_severity.high > 0,
  };
}

/** The last day of security fixes of each version of PHP, from https://www.php.net/supported-versions and /eol. */
const PHP_ENDS: Readonly<Record<string, string>> = {
  '5.6': '2018-12-31',
  '7.0': '2019-01-10',
  '7.1': '2019-12-01',
  '7.2': '2020-11-30',
  '7.3': '2021-12-06',
  '7.4': '2022-11-28',
  '8.0': '2023-11-26',
  '8.1': '2025-12-31',
  '8.2': '2026-12-31',
  '8.3': '2027-12-31',
  '8.4': '2028-12-31',
  '8.5': '2029-12-31',
};

/** A version without security fixes any more; none for others, and for those that are not known here. */
function phpFindings(version: string, now: number): SiteFinding[] {
  const release = /^\d+\.\d+/.exec(version)?.[0] ?? '';
  const end = PHP_ENDS[release];
  if (end === undefined || Date.parse(end) + DAY_MS > now) return [];
  const seen = `PHP ${siteWord(version)} has had no security fixes since ${end}.`;
  return [{ matter: 'php', state: 'suspect', seen, since: null, looked_at: null }];
}

interface Expiring {
  error: string | null;
  last_check: string | null;
}

function expiryFinding(
  matter: 'certificate' | 'domain',
  status: string | undefined,
  ends: string | null | undefined,
  row: Expiring | undefined,
): SiteFinding {
  const looked_at = row?.last_check == null ? null : Date.parse(row.last_check);
  const problem = row?.error == null || row.error === '' ? '' : row.error;
  const end = ends == null ? null : Date.parse(ends);
  if (status === undefined)
    return { matter, state: 'unknown', seen: 'This server does not check it.', since: null, looked_at };
  if (end === null) return { matter, state: 'unknown', seen: problem || 'Not looked up yet.', since: null, looked_at };
  const day = isoTime(end)?.slice(0, 10) ?? '';
  if (status === 'expired')
    return { matter, state: 'trouble', seen: `Expired on ${day}. ${problem}`.trim(), since: end, looked_at };
  if (status === 'invalid')
    return { matter, state: 'trouble', seen: problem || 'Not trusted.', since: null, looked_at };
  return { matter, state: 'ok', seen: `Valid until ${day}. ${problem}`.trim(), since: null, looked_at };
}
