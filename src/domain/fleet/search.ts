/** The fleet search: combinable filters, selectable columns, or counts by a value. */

import { type FleetSearch, ITEM_FIELDS, type SearchField } from '../../../schemas/search.js';
import { ServiceError } from '../../runtime/errors.js';
import type { SiteOrder } from '../../store/fleet/search.js';
import type { FleetFilter, ItemFilter, OfferFilter } from '../../store/fleet/search-filter.js';
import type { Ctx } from '../context.js';
import { levelNumbers } from '../extensions/levels.js';
import { packagesCalled } from '../extensions/packages.js';
import { endsBefore } from '../monitoring/expiry.js';
import { type Ending, unknownEndWords } from '../monitoring/unknown-ends.js';
import { monitoringDefaults } from '../settings/effects.js';
import { cellsOf, columnsOf } from '../sites/search-cells.js';
import { compareVersions } from '../sites/versions.js';
import { TYPE_GROUPS } from '../updates/results.js';
import { type FeedState, feedState } from '../vulnerabilities/state.js';

const DAY_MS = 86_400_000;
const HEALTH_NOTE =
  "health: WordPress' own Site Health as of the last sync, 0 to 100; not whether the site is up, and null while it is not reached.";

function soonest({ certificate_days, domain_days, ends_within_days }: FleetSearch): SiteOrder | undefined {
  if (ends_within_days !== undefined) return { by: 'ends', descending: false };
  if (certificate_days !== undefined) return { by: 'certificate', descending: false };
  return domain_days === undefined ? undefined : { by: 'domain', descending: false };
}

/**
 * Returns one page of rows or groups. Rows of sites are sorted by address, or as requested; what ends is asked about to
 * see what ends first.
 */
export async function searchFleet(ctx: Ctx, asked: FleetSearch, order: SiteOrder | undefined = soonest(asked)) {
  requireItem(asked);
  const vulnerabilities = await vulnerabilitiesAsked(ctx, asked);
  const filter = await filterOf(ctx, asked, vulnerabilities?.known ?? false);
  const ends = await endsNotKnown(ctx, asked, filter);
  const notes = [
    ...(vulnerabilities?.note == null ? [] : [vulnerabilities.note]),
    ...(asked.fields.includes('health') ? [HEALTH_NOTE] : []),
  ];
  const note = notes.length === 0 ? {} : { note: notes.join(' ') };
  const { page, per_page } = asked;
  if (asked.group_by !== undefined) {
    const { groups, total_groups, sites, unknown } = await ctx.store.fleetSearch.groups(
      filter,
      asked.group_by,
      page,
      per_page,
    );
    const counted = groups.map(({ value, id, count }) => (id === null ? { value, count } : { value, count, id }));
    return { groups: counted, total: sites, sites, total_groups, ...known(unknown), ...ends, ...note, page, per_page };
  }
  const fields = fieldsOf(asked);
  const found = await ctx.store.fleetSearch.rows(filter, columnsOf(fields), page, per_page, order);
  const active =
    fields.some((field) => field === 'monitor' || field === 'state') && (await monitoringDefaults(ctx)).active;
  return {
    columns: fields,
    rows: found.rows.map((row) => cellsOf(row, fields, active)),
    total: found.total,
    sites: found.sites,
    ...known(found.unknown),
    ...ends,
    ...note,
    page,
    per_page,
  };
}

/** The state of vulnerability data, if the search involves it. */
async function vulnerabilitiesAsked(ctx: Ctx, { vulnerable, fields }: FleetSearch): Promise<FeedState | undefined> {
  return vulnerable === undefined && !fields.includes('vulnerabilities') ? undefined : feedState(ctx);
}

/** What is not known of the ends that are asked about: a site whose domain was never looked up may end tomorrow. */
async function endsNotKnown(ctx: Ctx, asked: FleetSearch, filter: FleetFilter): Promise<{ not_known?: string[] }> {
  const either = asked.ends_within_days !== undefined;
  const endings: Ending[] = [
    ...(either || asked.certificate_days !== undefined ? (['certificate'] as const) : []),
    ...(either || asked.domain_days !== undefined ? (['domain'] as const) : []),
  ];
  if (endings.length === 0) return {};
  const counts = await ctx.store.fleetSearch.unknownEnds(filter);
  const not_known = endings.flatMap((ending) => unknownEndWords(ending, counts));
  return not_known.length === 0 ? {} : { not_known };
}

function known(unknown: number | null): { unknown?: number } {
  return unknown === null || unknown === 0 ? {} : { unknown };
}

/**
 * Refuses filters that only make sense with a plugin or theme if none is given: ignoring them would widen the answer.
 */
function requireItem(asked: FleetSearch): void {
  if (asked.plugin !== undefined || asked.theme !== undefined) return;
  const named = (['item_state', 'version_below', 'version_from'] as const).find((name) => asked[name] !== undefined);
  if (named !== undefined) throw noItem(named, `${named} applies to a plugin or theme, but none is named.`);
  const column = asked.fields.find((field) => (ITEM_FIELDS as readonly string[]).includes(field));
  if (column !== undefined)
    throw noItem('fields', `fields: ${column} is a column of a plugin or theme, but none is named.`);
}

function noItem(field: string, message: string): ServiceError {
  return new ServiceError('svc_invalid_input', message, {
    field,
    advice: 'Name the plugin or theme too, by slug or name.',
  });
}

async function filterOf(ctx: Ctx, asked: FleetSearch, feedKnown: boolean): Promise<FleetFilter> {
  const now = ctx.clock.now();
  const before = (days: number | undefined) => (days === undefined ? undefined : endsBefore(days, now));
  const versions = await Promise.all(
    (['wp', 'php', 'child'] as const).map(async (what) => {
      const below = asked[`${what}_below`];
      if (below === undefined) return [];
      const column = `${what}_version` as const;
      const all = await ctx.store.fleetSearch.siteVersions(column);
      return [{ column, fitting: all.filter((version) => compareVersions(version, below) < 0) }];
    }),
  );
  const items = await itemsOf(ctx, asked);
  return {
    search: asked.search,
    status: asked.status === 'any' ? undefined : asked.status,
    tags: asked.tag_ids,
    clients: asked.client_ids,
    versions: versions.flat(),
    not_synced_since: asked.not_synced_days === undefined ? undefined : now - asked.not_synced_days * DAY_MS,
    certificate_before: before(asked.certificate_days),
    domain_before: before(asked.domain_days),
    ends_before: before(asked.ends_within_days),
    backup: asked.backup,
    backup_before: asked.backup_older_than_days === undefined ? undefined : now - asked.backup_older_than_days * DAY_MS,
    monitor:
      asked.monitor === undefined
        ? undefined
        : { state: asked.monitor, active: (await monitoringDefaults(ctx)).active ? 1 : 0 },
    vulnerable: asked.vulnerable === undefined ? undefined : { known: feedKnown, ...whatIsVulnerable(asked) },
    quarantined: shownKind(asked) === null ? asked.quarantined : undefined,
    guarded: asked.guarded,
    offers: offersOf(asked),
    items,
  };
}

/** Of what the known flaws are: of a named item, of WordPress itself, or of anything on the site. */
function whatIsVulnerable(asked: FleetSearch): Omit<NonNullable<FleetFilter['vulnerable']>, 'known'> {
  if (asked.vulnerable === 'core') return { wanted: true, of: 'core' };
  return { wanted: asked.vulnerable === true, of: shownKind(asked) === null ? 'site' : 'item' };
}

/** The kind of item that rows show; null without an item. */
function shownKind(asked: FleetSearch): 'plugins' | 'themes' | null {
  return asked.plugin !== undefined ? 'plugins' : asked.theme !== undefined ? 'themes' : null;
}

/** Whether the search asks for an update of the shown item itself: `has_update` of its kind, or a level alone. */
function asksItemUpdate(asked: FleetSearch): boolean {
  const kind = shownKind(asked);
  if (kind === null || (asked.has_update.length === 0 && asked.level.length === 0)) return false;
  return asked.has_update.length === 0 || (asked.has_update.length === 1 && asked.has_update[0] === kind);
}

/** Filters on any updates of the site. */
function offersOf(asked: FleetSearch): OfferFilter[] | undefined {
  if (asked.has_update.length === 0 && asked.level.length === 0) return undefined;
  if (asksItemUpdate(asked)) return undefined;
  const types = asked.has_update.map((kind) => TYPE_GROUPS.indexOf(kind));
  return [{ types, levels: levelNumbers(asked.level) }];
}

async function itemsOf(ctx: Ctx, asked: FleetSearch): Promise<ItemFilter[]> {
  const items: ItemFilter[] = [];
  for (const [kind, term] of [asked.plugin, asked.theme].entries()) {
    if (term === undefined) continue;
    const packages = await packagesCalled(ctx, kind, term);
    // With both, state and versions are those of the plugin.
    items.push(items.length > 0 ? { kind, packages } : await shownItem(ctx, asked, kind, packages));
  }
  return items;
}

async function shownItem(ctx: Ctx, asked: FleetSearch, kind: number, packages: readonly number[]): Promise<ItemFilter> {
  const { version_below: below, version_from: from, item_state } = asked;
  const ranged = below !== undefined || from !== undefined;
  const all = ranged ? await ctx.store.fleetSearch.packageVersions(packages) : [];
  const fits = (version: string) =>
    (below === undefined || compareVersions(version, below) < 0) &&
    (from === undefined || compareVersions(version, from) >= 0);
  return {
    kind,
    packages,
    versions: ranged ? all.filter(fits) : undefined,
    active: item_state === undefined ? undefined : item_state === 'active',
    vulnerable: asked.vulnerable === 'core' ? undefined : asked.vulnerable,
    quarantined: asked.quarantined,
    offer: asksItemUpdate(asked) ? levelNumbers(asked.level) : undefined,
  };
}

const STANDARD = 6;
const ITEM_STANDARD: readonly SearchField[] = ['id', 'url', 'slug', 'version', 'active', 'update'];

/** The requested columns; otherwise six: those of the filters, completed with the most common ones. */
function fieldsOf(asked: FleetSearch): SearchField[] {
  if (asked.fields.length > 0) return [...new Set(asked.fields)];
  if (shownKind(asked) !== null)
    return ITEM_STANDARD.map((field) =>
      field === 'active' && asked.vulnerable !== undefined ? 'vulnerabilities' : field,
    );
  const about: [SearchField, boolean][] = [
    ['vulnerabilities', asked.vulnerable !== undefined],
    ['reason', asked.status === 'disconnected'],
    ['wp', asked.wp_below !== undefined || asked.vulnerable === 'core'],
    ['php', asked.php_below !== undefined],
    ['child', asked.child_below !== undefined],
    ['last_sync', asked.not_synced_days !== undefined],
    ['certificate', asked.certificate_days !== undefined || asked.ends_within_days !== undefined],
    ['domain', asked.domain_days !== undefined || asked.ends_within_days !== undefined],
    ['backup', asked.backup !== undefined || asked.backup_older_than_days !== undefined],
    ['monitor', asked.monitor !== undefined],
    ['updates', asked.has_update.length > 0 || asked.level.length > 0],
    ['client', asked.client_ids.length > 0],
    ['tags', asked.tag_ids.length > 0],
  ];
  const first = about.filter(([, wanted]) => wanted).map(([field]) => field);
  return [...new Set<SearchField>(['id', 'url', 'status', ...first, 'wp', 'php', 'updates'])].slice(0, STANDARD);
}
