/**
 * Versions that broke a site are quarantined until a newer one is available or a user releases them: on that site, or on
 * all. One site could lie, and its visitors may provoke errors: what holds for all takes our own evidence.
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { ServiceError } from '../../../runtime/errors.js';
import type { FieldChanges } from '../../../runtime/events.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { NewQuarantine, QuarantineRow, QuarantineScope, VersionKey } from '../../../store/safety/quarantine.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';
import { type ApplyError, UPDATE_TYPES, type UpdateType } from '../results.js';
import { GUARD_FILE } from './find-guard.js';
import type { SafeItem, SafeRun } from './run-state.js';

/** How long one site suffices to hold a version back on all, if a request of ours ended in the version's own file. */
export const ONE_SITE_MS = 24 * 3_600_000;

const THIS_SITE = 'this site';

export interface QuarantinedOffer {
  offer: FleetOffer;
  reason: string;
}

/**
 * Splits the available updates of a site into those that may be applied and those that are quarantined; also returns
 * whether it has a guard.
 */
export async function splitQuarantined(
  ctx: Ctx,
  siteId: number,
  offers: readonly FleetOffer[],
): Promise<{ passed: FleetOffer[]; quarantined: QuarantinedOffer[]; guarded: boolean }> {
  const { expected: guarded, quarantined: rows } = await ctx.store.guards.beforeUpdate(
    siteId,
    GUARD_FILE,
    offers.map(({ type, slug, new_version }) => ({ type, slug, version: new_version })),
  );
  const find = (offer: FleetOffer) =>
    rows.find(({ type, slug, version }) => type === offer.type && slug === offer.slug && version === offer.new_version);
  const passed: FleetOffer[] = [];
  const quarantined: QuarantinedOffer[] = [];
  for (const offer of offers) {
    const row = find(offer);
    if (row === undefined) passed.push(offer);
    else quarantined.push({ offer, reason: reasonOf(row, THIS_SITE) });
  }
  return { passed, quarantined, guarded };
}

/**
 * Why each of these versions is quarantined; '' = it no longer is.
 * @param where the site that it broke, in words, where it is quarantined on that site alone; default: by its address
 */
export async function quarantineReasons(
  ctx: Ctx,
  offers: readonly Pick<FleetOffer, 'type' | 'slug' | 'new_version'>[],
  where?: string,
): Promise<string[]> {
  const key = ({ type, slug, version }: VersionKey) => JSON.stringify([type, slug, version]);
  const versions = new Map(
    offers.map(({ type, slug, new_version: version }) => [key({ type, slug, version }), { type, slug, version }]),
  );
  const rows = versions.size === 0 ? [] : await ctx.store.quarantine.among([...versions.values()]);
  const broken = ({ sites, site_url }: QuarantineRow) => (sites > 1 ? `${sites} sites` : siteWord(site_url));
  const reasons = new Map(rows.map((row) => [key(row), reasonOf(row, where ?? broken(row))]));
  return offers.map(({ type, slug, new_version: version }) => reasons.get(key({ type, slug, version })) ?? '');
}

/** What a run answers for updates that are quarantined. */
export async function quarantinedErrors(ctx: Ctx, offers: readonly FleetOffer[]): Promise<ApplyError[]> {
  const reasons = await quarantineReasons(ctx, offers, THIS_SITE);
  return offers.map(({ site_id, site_url, site_name, type, slug }, at) => ({
    ...{ site_id, site_url, site_name, type: UPDATE_TYPES[type] ?? 'plugin', slug },
    code: 'svc_version_quarantined',
    message: reasons[at] ?? '',
  }));
}

/** Why a version is quarantined, in one or two sentences. */
function reasonOf(row: QuarantineRow, where: string): string {
  const [first = 'It broke a site.'] = JSON.parse(row.evidence) as string[];
  const since = `${isoTime(row.created_at)?.slice(0, 16)}Z`;
  const why =
    row.scope === 'site'
      ? `it broke ${where}: ${first}`
      : row.scope_by === null
        ? `it broke ${row.sites > 1 ? `${row.sites} sites` : 'a site'} of this fleet: ${first}`
        : `${siteWord(row.scope_by)} decided so for all sites: ${siteWord(row.scope_reason ?? '')}`;
  return `Version ${siteWord(row.version)} has been quarantined since ${since}, because ${why} Newer versions are not affected; lift-quarantine-v1 allows this one.`;
}

/**
 * Holds back the version that broke the site of this run.
 * @param proof `seen`: requests of ours met it; `in_its_file`: one of them ended in a file of the item
 */
export async function quarantine(
  run: SafeRun,
  item: SafeItem,
  evidence: readonly string[],
  proof: { seen: boolean; in_its_file: boolean },
): Promise<void> {
  const { ctx, target } = run;
  const entry = entryOf(run, item, item.new_version, evidence);
  const row = await ctx.store.quarantine.add(entry, {
    seen: proof.seen,
    fleet_until: proof.in_its_file ? entry.created_at + ONE_SITE_MS : null,
  });
  const facts = { type: item.type, slug: item.slug, version: item.new_version, site_url: target.site.url };
  ctx.events.emit({ name: 'version.quarantined', facts: { ...facts, scope: row?.scope ?? 'site' } });
}

/** Quarantines a version that a person has rolled back, on all sites. */
export async function quarantineByPerson(ctx: Ctx, target: LoadedSite, item: SafeItem, version: string): Promise<void> {
  const entry = entryOf({ ctx, target }, item, version, [`${siteWord(ctx.actor.name)} rolled it back.`]);
  await ctx.store.quarantine.add(entry, { seen: false, fleet_until: null });
  await ctx.store.quarantine.setScope(entry, 'fleet', ctx.actor.name, 'It was rolled back.');
  // Part of the roll-back, which is in the log.
  const facts = { type: item.type, slug: item.slug, version, site_url: target.site.url, scope: 'fleet' };
  ctx.events.emit({ name: 'version.quarantined', facts });
}

function entryOf(
  { ctx, target: { site } }: Pick<SafeRun, 'ctx' | 'target'>,
  { type, slug, name, change }: SafeItem,
  version: string,
  evidence: readonly string[],
): NewQuarantine {
  return {
    type: UPDATE_TYPES.indexOf(type),
    slug,
    version,
    name,
    site_id: site.id,
    site_url: site.url,
    change_id: change,
    evidence: JSON.stringify(evidence),
    created_at: ctx.clock.now(),
  };
}

function view(row: QuarantineRow) {
  return {
    type: UPDATE_TYPES[row.type] ?? ('plugin' as UpdateType),
    slug: row.slug,
    version: row.version,
    name: row.name,
    site_id: row.site_id,
    site_url: row.site_url,
    change_id: row.change_id,
    evidence: JSON.parse(row.evidence) as string[],
    since: isoTime(row.created_at) ?? '',
    scope: row.scope,
    sites: row.sites,
    scope_by: row.scope_by,
    scope_reason: row.scope_reason,
    fleet_until: isoTime(row.fleet_until),
    lifted_at: isoTime(row.lifted_at),
    lifted_by: row.lifted_by,
  };
}

/** Quarantined versions, newest first. */
export async function quarantinedVersions(ctx: Ctx, lifted: boolean, page: number, perPage: number) {
  const { items, total } = await ctx.store.quarantine.page(lifted, page, perPage);
  return { versions: items.map((row) => view(row)), page, per_page: perPage, total };
}

/**
 * Holds a version back on all sites, or only on those that it broke, as a person decides. Throws
 * `svc_quarantine_not_found`.
 */
export async function setQuarantineScope(
  ctx: Ctx,
  { type, slug, version }: { type: UpdateType; slug: string; version: string },
  scope: QuarantineScope,
  reason: string,
) {
  const key = { type: UPDATE_TYPES.indexOf(type), slug, version };
  const before = await quarantineState(ctx, key);
  const row = await ctx.store.quarantine.setScope(key, scope, ctx.actor.name, reason);
  if (row === undefined)
    throw notQuarantined(type, slug, version, ' For a version that broke no site: ignore-update-everywhere-v1.');
  tellScope(ctx, { type, slug, version }, before, row);
  return view(row);
}

/** Releases a version. Throws `svc_quarantine_not_found`. */
export async function liftQuarantine(ctx: Ctx, type: UpdateType, slug: string, version: string) {
  const key = { type: UPDATE_TYPES.indexOf(type), slug, version };
  const before = await quarantineState(ctx, key);
  const row = await ctx.store.quarantine.lift(key, ctx.actor.name, ctx.clock.now());
  if (row === undefined) throw notQuarantined(type, slug, version);
  const facts = { type, slug, version, by: ctx.actor.name };
  ctx.events.emit({ name: 'version.released', facts, changed: changeOf(version, before, null) });
  return view(row);
}

/** Where a version is quarantined, and who decided that; null = nowhere. */
export type QuarantineState = Pick<QuarantineRow, 'scope' | 'scope_by' | 'scope_reason' | 'fleet_until'> | null;

const FIELD = 'quarantine:';

/** The version that a changed field is about; null for other fields. */
export function quarantinedVersionOf(field: string): string | null {
  return field.startsWith(FIELD) ? field.slice(FIELD.length) : null;
}

function changeOf(version: string, before: QuarantineState, since: QuarantineState): FieldChanges {
  return { [`${FIELD}${version}`]: [before, since] };
}

function stateOf({ lifted_at, scope, scope_by, scope_reason, fleet_until }: QuarantineRow): QuarantineState {
  return lifted_at === null ? { scope, scope_by, scope_reason, fleet_until } : null;
}

export async function quarantineState(ctx: Ctx, key: VersionKey): Promise<QuarantineState> {
  const [row] = await ctx.store.quarantine.among([key]);
  return row === undefined ? null : stateOf(row);
}

/** Puts a quarantine back as it was: one that was lifted holds the version back again. Throws `svc_quarantine_not_found`. */
export async function restoreQuarantine(
  ctx: Ctx,
  { type, slug, version }: { type: UpdateType; slug: string; version: string },
  state: QuarantineState,
): Promise<void> {
  if (state === null) {
    await liftQuarantine(ctx, type, slug, version);
    return;
  }
  const key = { type: UPDATE_TYPES.indexOf(type), slug, version };
  const before = await quarantineState(ctx, key);
  // What held for a day that is over does not begin again.
  const isOver = state.fleet_until !== null && state.fleet_until <= ctx.clock.now();
  const row = await ctx.store.quarantine.restore(key, isOver ? { ...state, scope: 'site', fleet_until: null } : state);
  if (row === undefined) throw notQuarantined(type, slug, version);
  tellScope(ctx, { type, slug, version }, before, row);
}

/** Tells where a version is quarantined now, and where it was. */
function tellScope(
  ctx: Ctx,
  { type, slug, version }: { type: UpdateType; slug: string; version: string },
  before: QuarantineState,
  row: QuarantineRow,
): void {
  const facts = { type, slug, version, scope: row.scope, by: ctx.actor.name, reason: row.scope_reason ?? '' };
  ctx.events.emit({ name: 'version.scope_changed', facts, changed: changeOf(version, before, stateOf(row)) });
}

function notQuarantined(type: UpdateType, slug: string, version: string, besides = ''): ServiceError {
  return new ServiceError(
    'svc_quarantine_not_found',
    `Version ${siteWord(version)} of the ${type} ${siteWord(slug)} is not quarantined.`,
    { field: 'version', advice: `Find exact slugs and versions with list-quarantined-versions-v1.${besides}` },
  );
}
