/** The fleet brief: what needs attention now, most urgent first, then what was done. Small for a fleet of any size. */

import type { Brief } from '../../../schemas/brief.js';
import { siteWord } from '../../../schemas/site-text.js';
import { cleanLine } from '../../../schemas/text.js';
import { SEVERITIES } from '../../../schemas/vulnerability.js';
import { dateOf, isoTime } from '../../runtime/iso-time.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import type { BriefData, DoneKind, Matter, MatterName } from '../../store/fleet/brief.js';
import type { FailedReason, FailedType } from '../../store/fleet/failed-updates.js';
import type { Harm, HarmfulRow } from '../../store/safety/changes.js';
import { logHead } from '../action-log/head.js';
import { listApprovals, waitingApprovals, waitingOfPolicies } from '../approvals/approvals.js';
import { PROOF_DAYS } from '../backups/fleet-backups.js';
import { pastTime } from '../common/past-time.js';
import type { Ctx } from '../context.js';
import { NO_NARROWING } from '../extensions/offer-filters.js';
import { guidanceFor } from '../guidance/guidance.js';
import { endsBefore } from '../monitoring/expiry.js';
import { monitoringDefaults } from '../settings/effects.js';
import { reasonCell } from '../sites/search-cells.js';
import { unwell } from '../sites/status.js';
import { siteAddress } from '../sites/urls.js';
import { TYPE_GROUPS, UPDATE_TYPES } from '../updates/results.js';
import { type FeedState, feedState } from '../vulnerabilities/state.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CERTIFICATE_DAYS = 14;
const DOMAIN_DAYS = 30;
const STALE_DAYS = 7;
/** How many days an update that harmed a site is listed, unless it is over before. */
const HARM_DAYS = 7;
/** Maximum characters of the reason of a failed update. */
const REASON = 70;

/** Maximum number of entries of guidance. */
const GUIDANCE = 3;
/** Maximum number of cases listed per matter. */
const CASES = 4;
/** Said where examples are left out: counts are always whole. */
const CUT = 'Fewer examples are named, to keep it small; the counts are complete, and next shows all.';
/** Of each policy one waits at most, and there are far fewer policies. */
const MOST_PLANS = 100;
/** Maximum text of a case, in estimated tokens. */
const CASE_TOKENS = 45;
/** Maximum text of the one case of a matter that is never left out. */
const LAST_CASE_TOKENS = 20;
/** Maximum size of the whole, in estimated tokens; beyond it cases are left out, but never matters, kinds of work or their counts. */
const MAX_TOKENS = 1300;

/** The data of a brief, with the updates that harmed a site or may have. */
export interface FleetData extends BriefData {
  harm: Record<Harm, { count: number; first: HarmfulRow[] }>;
}

/** @param since ISO 8601; a day ago if omitted */
export async function fleetBrief(ctx: Ctx, since: string | undefined): Promise<Brief> {
  const now = ctx.clock.now();
  const from = since === undefined ? now - DAY_MS : pastTime('since', since, now, 'the last 24 hours');
  const [data, feed, head, guidance, approvals, unproven, missed, onSuspended] = await Promise.all([
    briefData(ctx, now, from, CASES),
    feedState(ctx),
    logHead(ctx),
    guidanceFor(ctx, 'all', GUIDANCE),
    waitingMatters(ctx),
    unprovenBackups(ctx, now),
    missedBackups(ctx),
    ctx.store.narrowedUpdates.onSuspended({ narrowing: NO_NARROWING, types: [] }),
  ]);
  const found = briefOf(data, feed, now, from, onSuspended);
  const brief = withinBudget({
    ...found,
    needs_attention: [...found.needs_attention, ...missed, ...unproven, ...approvals],
  });
  return {
    ...brief,
    ...(guidance === undefined ? {} : { guidance: guidance.lines.map((text) => short(text)) }),
    ...(head === null ? {} : { log_head: `${head.id}:${head.hash}` }),
  };
}

/**
 * Requests that wait for a person, as matters: all for those who decide them; otherwise the caller's own, and the plans of
 * policies, which everyone sees in the list of policies.
 */
async function waitingMatters(ctx: Ctx): Promise<Brief['needs_attention']> {
  const { count, own } = await waitingApprovals(ctx);
  const [{ items }, plans] = await Promise.all([
    count === 0 ? { items: [] } : listApprovals(ctx, ['waiting'], 1, CASES),
    own ? waitingOfPolicies(ctx, MOST_PLANS) : [],
  ]);
  const words = ({ id, title, sites }: { id: string; title: string; sites: number | null }) =>
    short(`${id}: ${title}${sites === null || sites === 0 ? '' : ` on ${sites} sites`}`);
  const matters = [
    {
      matter: `${own ? 'requests of this caller' : 'requests'} waiting for a person's approval`,
      count,
      first: items.map(({ approval_id: id, ...item }) => words({ ...item, id })),
      next: 'svc-list-approvals-v1 {"states":["waiting"]}',
    },
    {
      matter: "plans of policies waiting for a person's approval",
      count: plans.length,
      first: plans.slice(0, CASES).map(words),
      next: 'svc-list-policies-v1 {}',
    },
  ];
  return matters.filter((one) => one.count > 0);
}

/** Sites whose backups go back so far, but of which none was proven since; none where nothing is restored on trial. */
async function unprovenBackups(ctx: Ctx, now: number): Promise<Brief['needs_attention']> {
  if (!ctx.config.drills) return [];
  const { rows, total } = await ctx.store.siteBackups.unproven(now - PROOF_DAYS * DAY_MS, CASES);
  if (total === 0) return [];
  const when = (at: number | null, means: string | null) =>
    at === null
      ? 'never proven'
      : `last proven ${UTC_TIMES.day(at)}${means === 'playground' ? ' in WordPress Playground (weaker)' : ''}`;
  return [
    {
      matter: `without a proven backup for ${PROOF_DAYS} days`,
      count: total,
      first: rows.map(({ url, at, means }) => short(`${siteAddress(url)} ${when(at, means)}`)),
      next: 'svc-list-backup-status-v1 {"lacking":"proof"}',
    },
  ];
}

/** Sites that the schedule should have backed up, and did not. */
async function missedBackups(ctx: Ctx): Promise<Brief['needs_attention']> {
  const { rows, total } = await ctx.store.backupSchedule.missed(CASES);
  if (total === 0) return [];
  const why = (since: number | null) =>
    since === null ? 'without the guard' : `failing since ${UTC_TIMES.day(since)}`;
  return [
    {
      matter: 'not backed up, although scheduled',
      count: total,
      first: rows.map(({ url, failing_since }) => short(`${siteAddress(url)} ${why(failing_since)}`)),
      next: 'svc-list-backup-status-v1',
    },
  ];
}

/** The data of a brief, with up to this many cases per matter. */
export async function briefData(ctx: Ctx, now: number, since: number, cases: number): Promise<FleetData> {
  const active = (await monitoringDefaults(ctx)).active ? 1 : 0;
  const [data, broken, suspect, rolled_back] = await Promise.all([
    ctx.store.fleetBrief.read(instants(now, since), active, cases),
    harmful(ctx, now, 'broken', cases),
    harmful(ctx, now, 'suspect', cases),
    harmful(ctx, now, 'rolled_back', cases),
  ]);
  return { ...data, harm: { broken, suspect, rolled_back } };
}

/** What the brief would say of whether one site works, and of updates that harmed it or may have. */
export async function siteData(ctx: Ctx, now: number, site: number) {
  const active = (await monitoringDefaults(ctx)).active ? 1 : 0;
  const [matters, broken, suspect] = await Promise.all([
    ctx.store.fleetBrief.ofSite(instants(now, now), active, site),
    harmful(ctx, now, 'broken', CASES, site),
    harmful(ctx, now, 'suspect', CASES, site),
  ]);
  return { matters, harm: { broken, suspect } };
}

const instants = (now: number, since: number) => ({
  now,
  since,
  certificate_before: endsBefore(CERTIFICATE_DAYS, now),
  domain_before: endsBefore(DOMAIN_DAYS, now),
  stale_before: now - STALE_DAYS * DAY_MS,
  failed_since: now - DAY_MS,
  suspect_ms: HOUR_MS,
});

/** Updates that harmed their site, or may have, as long as they are listed; of one site or of all. */
export async function harmful(ctx: Ctx, now: number, harm: Harm, cases: number, site?: number) {
  const { items, total } = await ctx.store.safeChanges.harmful(
    harm,
    { since: now - HARM_DAYS * DAY_MS, now },
    cases,
    site,
  );
  return { count: total, first: items };
}

export function siteCounts(sites: BriefData['sites']) {
  const count = (status: string) => sites.find((row) => row.status === status)?.n ?? 0;
  return {
    total: sites.reduce((sum, { n }) => sum + n, 0),
    connected: count('connected'),
    disconnected: count('disconnected'),
    suspended: count('suspended'),
  };
}

function briefOf(
  { matters, harm, failed, failed_since, sites, offers, done, unknown }: FleetData,
  feed: FeedState,
  now: number,
  since: number,
  onSuspended: number,
): Brief {
  const [core = 0, plugins = 0, themes = 0, translations = 0] = TYPE_GROUPS.map(
    (_, type) => offers.find((row) => row.type === type)?.n ?? 0,
  );
  const counts = siteCounts(sites);
  return {
    as_of: isoTime(now) ?? '',
    since: isoTime(since) ?? '',
    sites: counts,
    needs_attention: attentionOf({ matters, harm, failed }, UTC_TIMES).map(({ matter, count, cases, next }) => ({
      matter,
      count,
      first: cases.map(({ address, seen }) => short(`${address} ${seen}`)),
      next,
    })),
    updates_on_offer: {
      ...{ core, plugins, themes, translations },
      ...(onSuspended === 0 ? {} : { on_suspended_sites: onSuspended }),
      next: 'svc-list-updates-v1 {}',
    },
    // Of every kind: there are no more than what people do here.
    done: [
      ...done.map((kind) => ({
        what: `${kind.context} ${kind.action}`,
        count: kind.n,
        sites: kind.sites,
        newest: short(withRealDomains(newestOf(kind))),
      })),
      ...failed_since.map((one) => ({
        what: `${UPDATE_TYPES[one.type] ?? 'site'} update failed`,
        count: one.n,
        sites: one.sites,
        newest: short(withRealDomains(newestFailure(one))),
      })),
    ],
    not_known: [
      ...known(counts.suspended, 'what suspended sites need, which are left out above'),
      ...known(unknown.monitors, 'whether it is up'),
      ...known(unknown.certificates, 'when the certificate expires'),
      ...known(unknown.domains, 'when the domain expires'),
      ...known(unknown.backups, 'the last backup (svc-search-fleet-v1 {"backup":"unknown"})'),
      ...(feed.known ? known(unknown.vulnerabilities, 'known vulnerabilities') : []),
      ...(feed.note === null ? [] : [`known vulnerabilities: ${feed.note}`]),
    ],
  };
}

/** The newest work of a kind: its site, and the item with its versions. */
function newestOf({ context, name, old_version, new_version, url }: DoneKind): string {
  const site = url === null ? [] : [siteAddress(url)];
  const versions = [old_version, new_version].filter((version) => version !== '').map(siteWord);
  const item = context === 'site' && url !== null ? [] : [siteWord(name)];
  return [...site, ...item, ...(versions.length === 0 ? [] : [versions.join(' to ')])].join(' ');
}

function newestFailure({ url, item_name, old_version, new_version, message }: FailedType): string {
  const site = url === null ? [] : [siteAddress(url)];
  return `${[...site, update(item_name, old_version, new_version)].join(' ')}: ${cleanLine(message, REASON)}`;
}

const update = (name: unknown, from: unknown, to: unknown) =>
  `${siteWord(String(name))} ${siteWord(String(from))} to ${siteWord(String(to))}`;

function known(count: number, what: string): string[] {
  return count === 0 ? [] : [`${what}: ${count} ${count === 1 ? 'site' : 'sites'}`];
}

/** How instants are written. */
export interface Times {
  minute(ms: number): string;
  day(ms: number): string;
}

const UTC_TIMES: Times = {
  minute: (ms) => `${new Date(ms).toISOString().slice(0, 16)}Z`,
  day: dateOf,
};

type Row = Matter['first'][number];
type LineName = MatterName | Harm | 'failed';

interface Line {
  name: LineName;
  matter: string;
  /** The call that shows all cases. */
  next(first: Row[]): string;
  /** Describes one case. */
  describe(row: Row, times: Times): string;
}

const minute = (ms: unknown, times: Times) => (typeof ms === 'number' ? times.minute(ms) : 'unknown');
const day = (ms: unknown, times: Times) => (typeof ms === 'number' ? times.day(ms) : 'unknown');
const search = (input: object) => () => `svc-search-fleet-v1 ${JSON.stringify(input)}`;
const diagnosis = (row: Row | undefined) =>
  `svc-diagnose-site-v1 ${JSON.stringify({ site_id_or_domain: row?.site_id })}`;
/** Of one site the reason; several are listed first. */
const whyDown = (first: Row[]) => (first.length === 1 ? diagnosis(first[0]) : search({ monitor: 'down' })());
const outage = (row: Row, times: Times) => {
  const { started_at, last_http_code, last_msg, acknowledged_at } = row;
  const status = last_http_code ? `HTTP ${last_http_code}` : '';
  const why = unwell(row) ? cleanLine(String(last_msg), REASON) : status;
  return `since ${minute(started_at, times)}${why === '' ? '' : `, ${why}`}${acknowledged_at === null ? '' : ', acknowledged'}`;
};

const changed = ({ name, old_version, new_version, settled_at }: Row, times: Times) =>
  `${update(name, old_version, new_version)}, ${minute(settled_at, times)}`;

/** One reason: how many failed for it, and the newest of them. */
const failure = ({ n, sites, message, code, item_name, old_version, new_version }: FailedReason) => {
  const others = n > 1 ? ` (newest of ${n} on ${sites === 1 ? 'this site' : `${sites} sites`})` : '';
  return `${update(item_name, old_version, new_version)}${others}: ${cleanLine(message, REASON) || code}`;
};
const failedRuns = (reasons: FailedReason[]) => {
  const run_id = reasons[0]?.run_id;
  return reasons.every((one) => one.runs === 1 && one.run_id === run_id)
    ? `svc-get-run-v1 ${JSON.stringify({ run_id, state: 'failed' })}`
    : 'svc-list-runs-v1 {"state":"failed"}';
};

/** In order of urgency. */
const LINES: readonly Line[] = [
  {
    name: 'broken',
    matter: 'broken after an update',
    next: ([change]) => diagnosis(change),
    describe: changed,
  },
  {
    name: 'after_update',
    matter: 'down within an hour after an update',
    next: whyDown,
    describe: (row, times) => `${outage(row, times)}, after ${siteWord(String(row.suspect))}`,
  },
  { name: 'down', matter: 'down', next: whyDown, describe: outage },
  {
    name: 'disconnected',
    matter: 'disconnected',
    next: search({ status: 'disconnected', fields: ['id', 'url', 'since', 'reason'] }),
    describe: (row, times) =>
      `${row.since === null ? `last sync ${minute(row.last_sync, times)}` : `since ${minute(row.since, times)}`}: ${reasonCell(row) ?? 'unknown'}`,
  },
  {
    name: 'unreachable',
    matter: 'front page not reachable at the last check',
    next: ([site]) => `svc-check-site-v1 ${JSON.stringify({ site_id_or_domain: site?.site_id })}`,
    describe: ({ checked_at, http_status }, times) =>
      `at ${minute(checked_at, times)}, ${http_status ? `HTTP ${http_status}` : 'no answer'}`,
  },
  {
    name: 'suspect',
    matter: 'may have a problem since an update, which was kept',
    next: ([change]) => `svc-roll-back-v1 ${JSON.stringify({ change_id: change?.id })}`,
    describe: changed,
  },
  {
    name: 'rolled_back',
    matter: 'updates rolled back',
    next: () => 'svc-list-quarantined-versions-v1 {}',
    describe: changed,
  },
  {
    name: 'failed',
    matter: 'updates that failed and are still on offer',
    next: (reasons) => failedRuns(reasons as FailedReason[]),
    describe: (reason) => failure(reason as FailedReason),
  },
  {
    name: 'certificates',
    matter: `certificate expires within ${CERTIFICATE_DAYS} days, or has expired`,
    next: search({ certificate_days: CERTIFICATE_DAYS }),
    describe: ({ ends }, times) => day(ends, times),
  },
  {
    name: 'domains',
    matter: `domain expires within ${DOMAIN_DAYS} days, or has expired`,
    next: search({ domain_days: DOMAIN_DAYS }),
    describe: ({ ends }, times) => day(ends, times),
  },
  {
    name: 'vulnerable',
    matter: 'known vulnerabilities (sites)',
    next: () => 'svc-list-vulnerabilities-v1 {}',
    describe: ({ sites, severity, unfixed }) =>
      `on ${sites} ${sites === 1 ? 'site' : 'sites'}: ${typeof severity === 'number' ? SEVERITIES[severity] : 'not rated'}${unfixed === 1 ? ', not all fixed' : ', fixed by updates'}`,
  },
  {
    name: 'jobs',
    matter: 'jobs with failed sites',
    next: ([job]) => `svc-get-batch-job-status-v1 ${JSON.stringify({ job_id: job?.id })}`,
    describe: ({ type, failed, total }) => `${type}: ${failed} of ${total} sites failed`,
  },
  {
    name: 'stale',
    matter: `not synced for ${STALE_DAYS} days`,
    next: search({ not_synced_days: STALE_DAYS, status: 'connected' }),
    describe: ({ last_sync }, times) => `last sync ${day(last_sync, times)}`,
  },
];

/** One matter of the fleet: how many cases there are, the first of them in words, and the call that shows all. */
export interface Attention {
  name: LineName;
  matter: string;
  count: number;
  cases: { site_id: number | null; address: string; seen: string }[];
  next: string;
}

/** What needs attention, most urgent first. */
export function attentionOf(
  { matters, harm, failed }: Pick<FleetData, 'matters' | 'harm' | 'failed'>,
  times: Times,
): Attention[] {
  const found = { ...matters, ...harm, failed };
  return LINES.flatMap(({ name, matter, next, describe }) => {
    const { count, first } = found[name];
    const cases = (first as Row[]).map((row) => ({
      site_id: typeof row.site_id === 'number' ? row.site_id : null,
      address: siteAddress(String(row.url ?? row.id)),
      seen: withRealDomains(describe(row, times)),
    }));
    return count === 0 ? [] : [{ name, matter, count, cases, next: next(first as Row[]) }];
  });
}

/** Tokens of a text, a high estimate: outside ASCII a character may be more than one. */
function tokensOf(text: string): number {
  let tokens = 0;
  for (const char of text) tokens += char <= '~' ? 1 / 3 : 1.5;
  return tokens;
}

function short(text: string, most = CASE_TOKENS): string {
  let cut = text;
  while (tokensOf(cut) > most) cut = [...cut].slice(0, -4).join('');
  return cut === text ? text : `${cut}…`;
}

/** Leaves out examples of what was done before the one that each matter keeps, however short. */
function withinBudget(brief: Brief): Brief {
  let fitted = brief;
  const isOver = () => tokensOf(JSON.stringify(fitted)) > MAX_TOKENS;
  const examples = (cases: number, most = CASE_TOKENS) =>
    fitted.needs_attention.map((line) => ({
      ...line,
      first: line.first.slice(0, cases).map((text) => short(text, most)),
    }));
  for (let cases = CASES - 1; cases > 0 && isOver(); cases--) fitted = { ...fitted, needs_attention: examples(cases) };
  if (isOver()) {
    // What was rolled back is named at any size.
    const named = ({ what }: Brief['done'][number]) => / rolled-back$/.test(what);
    const done = fitted.done.map((kind) => (named(kind) ? kind : { ...kind, newest: undefined }));
    fitted = { ...fitted, done };
  }
  if (isOver()) fitted = { ...fitted, needs_attention: examples(1, LAST_CASE_TOKENS) };
  return fitted === brief ? brief : { left_out: CUT, ...fitted };
}
