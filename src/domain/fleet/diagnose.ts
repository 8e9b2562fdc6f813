/** Why a site is red: what is stored about it, what was changed before, who has the same, and what can be done. */

import type { diagnosis } from '../../../schemas/diagnosis.js';
import { siteWord } from '../../../schemas/site-text.js';
import { cleanLine } from '../../../schemas/text.js';
import type { z } from '../../../schemas/zod.js';
import { isoTime, timestampOf } from '../../runtime/iso-time.js';
import { withRealDomains } from '../../runtime/real-domains.js';
import type { FleetChangeRow } from '../../store/fleet/change-search.js';
import type { Shared, SharingSites } from '../../store/fleet/same-trouble.js';
import type { ChangeRow } from '../../store/safety/changes.js';
import type { TaggedSite } from '../../store/sites/sites.js';
import type { Ctx } from '../context.js';
import { UP } from '../monitoring/state.js';
import { monitoringDefaults } from '../settings/effects.js';
import { changeSentence } from '../sites/changes.js';
import type { SiteRef } from '../sites/resolve.js';
import { getRecord } from '../sites/sites.js';
import { UPDATE_TYPES } from '../updates/results.js';
import { evidenceOf, type Missed, type SiteFinding, type SiteState, siteState } from './site-findings.js';

type Diagnosis = z.output<ReturnType<typeof diagnosis>>;

const MINUTE_MS = 60_000;
/** A change this long before the trouble may be its cause. */
const SUSPECT_MS = 60 * MINUTE_MS;
/** Maximum number of changes shown, and of sites named per thing that is shared. */
const CHANGES = 8;
const ROLL_BACKS = 2;
const NAMED = 3;
/** Maximum characters of a sentence, of one about a change, and of a version. */
const SENTENCE = 300;
const SHORT = 90;
const VERSION = 30;

/** Reads the storage only: no site is contacted. Throws as `getSite`. */
export async function diagnoseSite(ctx: Ctx, ref: SiteRef): Promise<Diagnosis> {
  const site = await getRecord(ctx, ref);
  const state = await siteState(ctx, site);
  const troubles = state.findings.filter((finding) => finding.state === 'trouble');
  const begun = troubles.flatMap(({ since }) => since ?? []);
  const since = begun.length === 0 ? null : Math.min(...begun);
  const changes = await changesBefore(ctx, site.id, since);
  const suspect =
    (await changedMonitor(ctx, site.id, state, since)) ??
    (await protectedOf(ctx, site.id, suspectOf(state, changes, since)));
  const others = await othersOf(ctx, site, state, suspect);
  const rollBack = rollBackOf(site, suspect, changes);
  const unexplained = suspect === null && lacksCause(site, troubles);
  return {
    site: { id: site.id, url: site.url, name: site.name, status: site.status },
    red: troubles.length > 0,
    since: isoTime(since),
    findings: state.findings.map((finding) => ({
      ...finding,
      seen: cleanLine(withRealDomains(finding.seen), SENTENCE),
      since: isoTime(finding.since),
      looked_at: isoTime(finding.looked_at),
    })),
    changes: changes.map((row) => withReason(row, state)),
    suspect: suspect === null ? null : suspect.view,
    others,
    roll_back: { possible: rollBack.possible, why: rollBack.why },
    not_known: [
      ...(unexplained ? await causeNotKnown(ctx, site, since, changes) : []),
      ...state.findings
        .filter(({ state: known }) => known === 'unknown')
        .map(({ matter, seen }) => `${matter}: ${cleanLine(seen, 80)}`),
      ...(ctx.config.modules.includes('logs') ? [] : ['what was changed on the site itself: the Logs module is off']),
    ],
    ...(unexplained ? { advice: WITHOUT_CAUSE } : {}),
    ...(suspect?.kind === 'monitor' && state.missed !== null ? { advice: ofMonitor(state.missed, suspect) } : {}),
    next: nextCall(site, state, troubles, suspect, rollBack),
  };
}

/** What a person can do where nothing here tells why. */
const WITHOUT_CAUSE =
  "Look into PHP's error log on the site's server, or ask its host. list-incidents-v1 has earlier outages; acknowledge-incident-v1 tells others that somebody is working on it.";

/** What does not tell its own cause, as an expiry or a suspension does. */
const CAUSED: ReadonlySet<SiteFinding['matter']> = new Set(['connection', 'uptime', 'incident', 'front_page']);

function lacksCause(site: TaggedSite, troubles: readonly SiteFinding[]): boolean {
  if (site.status !== 'connected' && site.sync_error === '') return false;
  // An expired certificate is why a site is not reached.
  const expired = troubles.some(({ matter }) => matter === 'certificate' || matter === 'domain');
  return !expired && troubles.some(({ matter }) => CAUSED.has(matter));
}

/** That no cause is known: what was looked at for one, and what nothing here can tell. */
async function causeNotKnown(
  ctx: Ctx,
  site: TaggedSite,
  since: number | null,
  changes: readonly FleetChangeRow[],
): Promise<string[]> {
  const minute = (ms: number) => `${isoTime(ms)?.slice(0, 16)}Z`;
  const before = changes.length === 0 ? 'no change is stored' : 'no change to code is stored in the hour before it';
  const looked =
    since === null
      ? 'when it began is unknown, so it cannot be linked to a change'
      : `${before}, of what this server did and of the log of the site as of its last sync`;
  const guard = await ctx.store.guards.find(site.id);
  const errors =
    guard === undefined
      ? 'the site was never asked for a guard, which would record them'
      : guard.present === 1
        ? `only those around updates are read from its guard, which last answered on ${minute(guard.looked_at)}`
        : `no guard, which would record them, answered when the site was last asked on ${minute(guard.looked_at)}`;
  const synced =
    site.last_sync === null ? 'it was never synced' : `known up to its last sync, on ${minute(site.last_sync)}`;
  return [
    `cause: none is known: ${looked}`,
    `PHP errors: ${errors}; the error logs of the site are not read`,
    `what was changed on the site itself recently: ${synced}`,
  ];
}

/**
 * Also what failed: an update that broke the site is told as such. Of what came after the trouble the roll-backs: they say what
 * became of it. The logs of sites count whole seconds, so what is of the same second comes before.
 */
async function changesBefore(ctx: Ctx, siteId: number, since: number | null): Promise<FleetChangeRow[]> {
  const until = since === null ? ctx.clock.now() : endOfSecond(since);
  const sources = ctx.config.modules.includes('logs') ? (['wpadmin', 'dashboard'] as const) : (['dashboard'] as const);
  const of = { sources, site_ids: [siteId] };
  const [before, after] = await Promise.all([
    ctx.store.changeSearch.newest({ ...of, since: 0, until }, CHANGES),
    since === null
      ? []
      : ctx.store.changeSearch.newest(
          { ...of, since: until + 1, until: ctx.clock.now(), actions: ['rolled-back'] },
          ROLL_BACKS,
        ),
  ]);
  return [...after, ...before];
}

const endOfSecond = (ms: number) => Math.floor(ms / 1000) * 1000 + 999;

/** A roll-back with what was seen of the update, as far as that is known. */
function withReason(row: FleetChangeRow, { undone }: SiteState) {
  const view = changeView(row);
  const isOf = row.action === 'rolled-back' && undone !== null && undone.slug === row.slug;
  const reason = isOf ? evidenceOf(undone) : '';
  return reason === '' ? view : { ...view, what: cleanLine(withRealDomains(`${view.what}: ${reason}`), SENTENCE) };
}

function changeView(row: FleetChangeRow) {
  return {
    id: row.id,
    at: timestampOf(Math.round(row.at)),
    what: cleanLine(changeSentence(row), SHORT),
    by: cleanLine(row.actor, 60),
    via: row.via,
    ...(row.slug === '' ? {} : { slug: row.slug }),
    ...(row.old_value === '' ? {} : { old_version: cleanLine(row.old_value, VERSION) }),
    ...(row.new_value === '' ? {} : { new_version: cleanLine(row.new_value, VERSION) }),
  };
}

interface Suspect {
  kind: string;
  action: string;
  slug: string;
  old_version: string;
  new_version: string;
  /** The protected update, if it was one. */
  change: ChangeRow | null;
  view: Diagnosis['suspect'];
}

const CODE: ReadonlySet<string> = new Set(['core', 'plugin', 'theme', 'translation']);

/** What was seen to do harm; otherwise the newest change to code within an hour before the trouble. */
function suspectOf({ harmful }: SiteState, changes: readonly FleetChangeRow[], since: number | null): Suspect | null {
  const before = (at: number) => (since === null ? null : Math.max(0, Math.floor((since - at) / MINUTE_MS)));
  if (harmful !== null) {
    const { slug, name, old_version, new_version, id } = harmful;
    const at = harmful.updated_at ?? harmful.started_at;
    const kind = UPDATE_TYPES[harmful.type] ?? 'plugin';
    const what = `Updated ${kind}: ${siteWord(name)} (from ${siteWord(old_version)} to ${siteWord(new_version)})`;
    const row = changes.find((one) => one.kind === kind && one.slug === slug && one.new_value === new_version);
    const view = {
      ...(row === undefined ? {} : { id: row.id }),
      at: timestampOf(at),
      what,
      by: row?.actor ?? '',
      via: row?.via ?? '',
      slug,
      old_version,
      new_version,
    };
    return {
      kind,
      action: 'updated',
      slug,
      old_version,
      new_version,
      change: harmful,
      view: { ...view, minutes_before: before(at), change_id: id },
    };
  }
  if (since === null) return null;
  const row = changes.find(
    ({ kind, action, code, at }) =>
      CODE.has(kind) &&
      action !== 'rolled-back' &&
      (code === '' || code === 'svc_update_broke_site') &&
      at >= since - SUSPECT_MS,
  );
  if (row === undefined) return null;
  const { kind, action, slug, old_value, new_value } = row;
  return {
    kind,
    action,
    slug,
    old_version: old_value,
    new_version: new_value,
    change: null,
    view: { ...changeView(row), minutes_before: before(row.at) },
  };
}

/** Settings that say what a check expects. */
const EXPECTS = /\b(type|keyword|expected_status|method)\b/;
/** Changes of a monitor that are looked through for one of these. */
const MONITOR_CHANGES = 20;

/** The change of a monitor since which no check has found what it expects, of a page that was answered. */
async function changedMonitor(
  ctx: Ctx,
  siteId: number,
  { missed }: SiteState,
  since: number | null,
): Promise<Suspect | null> {
  if (missed === null || since === null) return null;
  const rows = await ctx.store.changeSearch.newest(
    { sources: ['dashboard'], site_ids: [siteId], kinds: ['monitor'], actions: ['updated'], since: 0, until: since },
    MONITOR_CHANGES,
  );
  const row = rows.find(({ code, detail }) => code === '' && EXPECTS.test(detail));
  if (row === undefined) return null;
  const fulfilled = { from: row.at, to: ctx.clock.now(), status: [UP] };
  if ((await ctx.store.monitorResults.beats(siteId, fulfilled, 1, 1)).total > 0) return null;
  const minutes_before = Math.max(0, Math.floor((since - row.at) / MINUTE_MS));
  const none = { slug: '', old_version: '', new_version: '', change: null };
  return { kind: 'monitor', action: 'updated', ...none, view: { ...changeView(row), minutes_before } };
}

function ofMonitor({ keyword }: Missed, { view }: Suspect): string {
  const expected = keyword === null ? 'What its monitor expects' : `The keyword "${cleanLine(keyword, SHORT)}"`;
  return `${expected} has not been found by any check since the monitor was changed on ${view?.at}: change it with update-monitors-v1, or undo that change with undo-change-v1, unless it was on the page before.`;
}

/** The same with its record, if it was made under protection. */
async function protectedOf(ctx: Ctx, siteId: number, suspect: Suspect | null): Promise<Suspect | null> {
  if (suspect === null || suspect.change !== null || suspect.action !== 'updated' || suspect.slug === '')
    return suspect;
  const { kind, slug, old_version, new_version } = suspect;
  const type = (UPDATE_TYPES as readonly string[]).indexOf(kind);
  const { safeChanges } = ctx.store;
  const open = (await safeChanges.open(siteId)).filter((row) => row.type === type && row.slug === slug);
  const change = open.at(-1) ?? (await safeChanges.newest(siteId, type, slug, old_version));
  if (change === undefined || change.new_version !== new_version) return suspect;
  return { ...suspect, change, view: suspect.view && { ...suspect.view, change_id: change.id } };
}

/** Other sites with the suspect, with the same trouble, and on the same server. */
async function othersOf(ctx: Ctx, site: TaggedSite, state: SiteState, suspect: Suspect | null) {
  const shared: [string, Shared][] = [];
  if (suspect !== null && suspect.new_version !== '' && suspect.slug !== '' && suspect.kind !== 'translation') {
    const { kind, slug, new_version: version } = suspect;
    const about: Shared =
      kind === 'core' ? { by: 'core', version } : { by: 'item', kind: kind === 'theme' ? 1 : 0, slug, version };
    shared.push([`${kind} ${siteWord(slug)} ${siteWord(version)}`, about]);
  }
  if (state.sync_code !== '')
    shared.push([`the last sync failed with ${state.sync_code}`, { by: 'sync', code: state.sync_code }]);
  if (state.http_status !== null)
    shared.push([
      state.http_status === 0 ? 'down without an answer' : `down with HTTP ${state.http_status}`,
      { by: 'http', status: state.http_status },
    ]);
  if (site.ip !== '') shared.push([`the server ${siteWord(site.ip)}`, { by: 'ip', ip: site.ip }]);
  const active = (await monitoringDefaults(ctx)).active ? 1 : 0;
  const found = await ctx.store.sameTrouble.others(
    site.id,
    shared.map(([, about]) => about),
    active,
    NAMED,
  );
  return found.map((one: SharingSites, index) => ({ share: shared[index]?.[0] ?? '', ...one }));
}

interface RollBack {
  possible: boolean | null;
  why: string;
  /** The call that undoes the change; null = there is none. */
  call: string | null;
}

const call = (name: string, input: object) => `svc-${name}-v1 ${JSON.stringify(input)}`;
/** Advice repeats plain words of a site only: whatever else it calls a plugin or version may be meant for the model. */
const plain = (...words: string[]) => words.every((word) => siteWord(word) === word);

function rollBackOf(site: TaggedSite, suspect: Suspect | null, changes: readonly FleetChangeRow[]): RollBack {
  const not = (why: string): RollBack => ({ possible: false, why, call: null });
  if (suspect === null) return not('No change is known that could be rolled back.');
  const { kind, action, slug, old_version, change } = suspect;
  if (kind === 'monitor') return not('Its monitor was changed, not the site.');
  if (site.suspended === 1 || site.disconnected > 0) return not('The site is not contacted in its present state.');
  if (site.on_trial === 1) return not('The site is on trial beside another dashboard, and is not changed.');
  const back = changes.find(
    (row) => row.action === 'rolled-back' && row.code === '' && row.kind === kind && row.slug === slug,
  );
  if (back !== undefined && back.new_value === old_version)
    return not(`It was already rolled back, on ${isoTime(Math.round(back.at))}.`);
  const here = { site_id_or_domain: site.id };
  if (kind === 'plugin' && action === 'activated' && slug !== '')
    return {
      ...not('The plugin was activated, not updated: deactivating it undoes that.'),
      call: plain(slug) ? call('deactivate-site-plugins', { ...here, slugs: [slug] }) : null,
    };
  if (kind === 'core' || kind === 'translation') return not('WordPress itself and translations cannot be rolled back.');
  if (old_version === '' || slug === '') return not('The change did not replace a version that is known.');
  if (change === null)
    return {
      possible: null,
      why: 'No copy of the old version is known; wordpress.org may have it.',
      call: plain(slug, old_version) ? call('roll-back', { ...here, type: kind, slug, to_version: old_version }) : null,
    };
  if (change.settled_at === null)
    return not('It is still being checked, and is rolled back automatically if it broke the site.');
  const [possible, why] = ROLL_BACK[change.protection];
  const watched = change.watch_at === null ? '' : ` ${WATCHED}`;
  return { possible, why: `${why}${watched}`, call: call('roll-back', { change_id: change.id }) };
}

const WATCHED =
  'It is watched for a day: a failure that its guard records, and that a check by this server confirms, is rolled back automatically.';

/** Whether it is possible, and why. */
const ROLL_BACK: Readonly<Record<ChangeRow['protection'], readonly [boolean | null, string]>> = {
  guard: [true, "The site's guard kept a copy of the old version; copies are kept for 14 days."],
  reinstall: [true, 'wordpress.org had the old version when the update was made.'],
  none: [null, 'No copy was made, and wordpress.org did not have the old version.'],
};

function nextCall(
  site: TaggedSite,
  { grave }: SiteState,
  troubles: readonly SiteFinding[],
  suspect: Suspect | null,
  rollBack: RollBack,
): string {
  const here = { site_id_or_domain: site.id };
  if (site.suspended === 1 && site.disconnected !== 2)
    return site.suspended_with === null
      ? call('unsuspend-site', here)
      : call('unsuspend-client', { client_id_or_email: site.suspended_with });
  if (site.disconnected > 0) return call('reconnect-site', here);
  if (rollBack.call !== null) return rollBack.call;
  if (suspect?.kind === 'monitor') return call('list-monitors', here);
  if (suspect?.change?.settled_at === null) return call('get-run', { run_id: suspect.change.run_id });
  const has = (matter: SiteFinding['matter']) => troubles.some((finding) => finding.matter === matter);
  // A new connection helps neither a site that is away nor an old child plugin.
  if (site.sync_error !== '' && site.sync_error_code === 'svc_child_version_outdated')
    return call('sync-sites', { site_ids_or_domains: [site.id] });
  if (site.sync_error !== '' && site.sync_error_code !== 'svc_site_offline') return call('reconnect-site', here);
  if (has('certificate')) return call('check-monitor', { ...here, what: 'certificate' });
  if (has('domain')) return call('check-monitor', { ...here, what: 'domain' });
  // That it is down is known: what may be the reason comes before another look.
  if (grave && (has('uptime') || has('front_page'))) return call('list-vulnerabilities', here);
  return call('check-site', here);
}
