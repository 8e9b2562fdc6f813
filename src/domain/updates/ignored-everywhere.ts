/**
 * Ignores an update on every site: permanently, until an instant, or for one version only, so that the next one shows
 * again.
 */

import { ServiceError } from '../../runtime/errors.js';
import { groupBy } from '../../runtime/group-by.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { IgnoredEntry } from '../../store/sites/records.js';
import type { IgnoredUntil } from '../../store/updates/ignored-everywhere.js';
import type { Ctx } from '../context.js';
import { isCalled, itemsCalled } from '../extensions/names.js';
import { CORE_SLUG, type IgnorableType } from './ignored.js';
import { UPDATE_TYPES } from './results.js';

interface EverywhereChange {
  action: 'ignore' | 'unignore';
  type: IgnorableType;
  /** Slug, folder or name. */
  slug: string;
  version?: string | undefined;
  /** ISO 8601. */
  until?: string | undefined;
}

/** Changes what is ignored on every site, including sites added later. */
export async function setIgnoredEverywhere(ctx: Ctx, change: EverywhereChange) {
  const { action, type, version, until } = change;
  if (action === 'unignore' && until !== undefined) throw wrong('until', 'until is only for ignore', 'Remove it.');
  const end = until === undefined ? null : instantOf(until, ctx.clock.now());
  const number = UPDATE_TYPES.indexOf(type);
  const { slug, name } = await itemOf(ctx, type, change.slug, action === 'unignore');
  const before = await ctx.store.ignoredEverywhere.of(number, slug);
  const ignored =
    action === 'ignore'
      ? await ctx.store.ignoredEverywhere.add({ type: number, slug, name, version: version ?? '*', until: end })
      : await ctx.store.ignoredEverywhere.remove(number, slug, version ?? null);
  await emitEverywhere(ctx, action, { type, slug }, before);
  return { success: true, action, type, slug, version: version ?? null, until: isoTime(end), offers_ignored: ignored };
}

async function emitEverywhere(
  ctx: Ctx,
  action: EverywhereChange['action'],
  facts: { type: IgnorableType; slug: string },
  before: readonly IgnoredUntil[],
): Promise<void> {
  const since = await ctx.store.ignoredEverywhere.of(UPDATE_TYPES.indexOf(facts.type), facts.slug);
  const name = action === 'ignore' ? 'update.ignored_everywhere' : 'update.unignored_everywhere';
  ctx.events.emit({ name, facts, changed: { everywhere: [before, since] } });
}

/**
 * Adds what another dashboard ignored on every site; an entry that is here already stays as it is. Returns the new ones.
 * @param dryRun only returns them
 */
export async function addIgnoredEverywhere(
  ctx: Ctx,
  entries: readonly IgnoredEntry[],
  dryRun: boolean,
): Promise<IgnoredEntry[]> {
  const idOf = ({ type, slug, version }: IgnoredEntry) => JSON.stringify([type, slug, version]);
  const known = new Set((await ctx.store.siteUpdates.ignoredEverywhere()).map(idOf));
  const added = [...new Map(entries.map((entry) => [idOf(entry), entry])).values()].filter(
    (entry) => !known.has(idOf(entry)),
  );
  if (dryRun) return added;
  const items = [...groupBy(added, ({ type, slug }) => JSON.stringify([type, slug])).values()].flatMap(
    ([item]) => item ?? [],
  );
  const before: IgnoredUntil[][] = [];
  for (const { type, slug } of items) before.push(await ctx.store.ignoredEverywhere.of(type, slug));
  await ctx.store.siteImport.ignoreEverywhere(added);
  for (const [at, { type, slug }] of items.entries())
    await emitEverywhere(ctx, 'ignore', { type: UPDATE_TYPES[type] as IgnorableType, slug }, before[at] ?? []);
  return added;
}

/** Restores what was ignored of an item on every site. */
export async function restoreIgnoredEverywhere(
  ctx: Ctx,
  { type, slug, name }: { type: IgnorableType; slug: string; name: string },
  entries: readonly IgnoredUntil[],
): Promise<void> {
  const number = UPDATE_TYPES.indexOf(type);
  const before = await ctx.store.ignoredEverywhere.of(number, slug);
  await ctx.store.ignoredEverywhere.set(number, slug, name, entries);
  await emitEverywhere(ctx, entries.length > 0 ? 'ignore' : 'unignore', { type, slug }, before);
}

/** Offers updates again whose ignore period has ended. Part of the timetable. */
export async function expireIgnored(ctx: Ctx): Promise<string> {
  const ended = await ctx.store.ignoredEverywhere.expire(ctx.clock.now());
  for (const { type, slug } of ended)
    ctx.events.emit({ name: 'update.unignored_everywhere', facts: { type: UPDATE_TYPES[type] ?? 'plugin', slug } });
  return `${ended.length} offered again`;
}

/**
 * The one item of the type known by this name. A name that matches nothing would ignore nothing, so it is refused;
 * removing it is allowed.
 */
async function itemOf(
  ctx: Ctx,
  type: IgnorableType,
  term: string,
  takesBack: boolean,
): Promise<{ slug: string; name: string }> {
  if (type === 'core') {
    const core = { slug: CORE_SLUG, name: 'WordPress' };
    if (isCalled(core, term)) return core;
    throw wrong('slug', `For core the slug is always "${CORE_SLUG}"`, `Send "${CORE_SLUG}".`);
  }
  const [first, ...others] = itemsCalled(await ctx.store.fleetSearch.packages(type === 'plugin' ? 0 : 1), term);
  const quoted = JSON.stringify(term.slice(0, 100));
  if (first === undefined && takesBack) return { slug: term.trim(), name: term.trim() };
  if (first === undefined)
    throw wrong('slug', `slug: no ${type} in the fleet is called ${quoted}`, 'Find it with search-fleet-v1.');
  if (others.some(({ slug }) => slug !== first.slug))
    throw wrong('slug', `slug: several of ${type} are called ${quoted}`, 'Send the exact slug.');
  return { slug: first.slug, name: first.name };
}

function instantOf(text: string, now: number): number {
  const at = /^\d{4}-\d{2}-\d{2}([T ].*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at) && at > now) return at;
  const what = Number.isFinite(at) ? 'is in the past' : 'is not a valid time';
  throw wrong('until', `until: ${JSON.stringify(text.slice(0, 50))} ${what}`, 'Send a future day or time as ISO 8601.');
}

function wrong(field: string, message: string, advice: string): ServiceError {
  return new ServiceError('svc_invalid_input', `${message}. Nothing changed.`, { field, advice });
}
