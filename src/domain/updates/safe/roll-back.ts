/** Rolls one item back to an earlier version on request, and lists the copies available for that. */

import type { RollBackInput, rolledBack } from '../../../../schemas/safety.js';
import { siteSays, siteWord } from '../../../../schemas/site-text.js';
import type { z } from '../../../../schemas/zod.js';
import type { GuardSnapshot } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import { isoTime } from '../../../runtime/iso-time.js';
import type { ChangeRow } from '../../../store/safety/changes.js';
import type { Ctx } from '../../context.js';
import { slugMeant } from '../../extensions/names.js';
import { changeSentence } from '../../sites/changes.js';
import { installedExtensions, listOf } from '../../sites/inventory.js';
import { type LoadedSite, loadNamed, loadSite, requireWritable } from '../../sites/load.js';
import { getSite, type SiteRef } from '../../sites/resolve.js';
import { BROKE, UPDATE_TYPES, type UpdateType } from '../results.js';
import { isInProgress } from '../runs/can-roll-back.js';
import { clearCaches } from './clear-caches.js';
import { NO_BASELINE } from './compare-health.js';
import { askGuard, guardError, openGuard, requireAskable } from './find-guard.js';
import { emitRolledBack } from './finish-items.js';
import { ailments } from './probe.js';
import { archiveProtection } from './protection.js';
import { quarantineByPerson } from './quarantine.js';
import { rollBackItem } from './roll-back-items.js';
import { type SafeItem, type SafeRun, UNTRIED } from './run-state.js';
import { syncAfterRollBack } from './sync-after-roll-back.js';
import { finishOpen } from './unfinished.js';

type RolledBack = z.output<ReturnType<typeof rolledBack>>;

interface Goal {
  target: LoadedSite;
  type: 'plugin' | 'theme';
  slug: string;
  version: string | null;
  snapshot: string | null;
  /** Id of the update that is rolled back; '' = unknown. */
  change: string;
  /** The version that it installed, if known. */
  replaced: string | null;
}

/** Identifies the change, or the site with type and slug; without `to_version` the version before the last update. */
export async function rollBack(ctx: Ctx, input: RollBackInput): Promise<RolledBack> {
  const goal = await goalOf(ctx, input);
  requireWritable(goal.target);
  return ctx.locks.exclusive(goal.target.site.id, ctx.signal, (held) =>
    rollBackTo({ ...ctx, signal: AbortSignal.any([ctx.signal, held]) }, goal, input.hold === true),
  );
}

/** What a roll-back would do, as far as an approval is bound to it. Contacts no site. Throws as `rollBack`. */
export async function plannedRollBack(ctx: Ctx, input: RollBackInput) {
  const { target, type, slug, version } = await goalOf(ctx, input);
  const { site } = target;
  const installed = (await installedExtensions(ctx, site.id, type)).find((row) => row.slug === slug);
  return {
    ...{ site_id: site.id, site_url: site.url, type, slug },
    version_now: installed?.version ?? null,
    back_to: version,
  };
}

async function goalOf(ctx: Ctx, input: RollBackInput): Promise<Goal> {
  if (input.change_id !== undefined) {
    const change = await changeOf(ctx, input.change_id);
    if (change === undefined) throw noChange();
    const named = input.site_id_or_domain === undefined ? null : await getSite(ctx, input.site_id_or_domain);
    if (named !== null && named.id !== change.site_id) throw noChange();
    if ('reason' in change) throw notAnUpdate(change.reason);
    return goalOfChange(await loadSite(ctx, change.site_id), change);
  }
  const { site_id_or_domain: ref, type, slug: said } = input;
  if (ref === undefined || type === undefined || said === undefined)
    throw new ServiceError('svc_invalid_input', 'Send change_id, or site_id_or_domain with type and slug.', {
      field: ref === undefined ? 'site_id_or_domain' : type === undefined ? 'type' : 'slug',
      advice: 'list-site-snapshots-v1 shows what can be rolled back.',
    });
  const target = await loadNamed(ctx, ref);
  const slug = slugMeant(await installedExtensions(ctx, target.site.id, type), said);
  const version = input.to_version ?? null;
  const change = await ctx.store.safeChanges.newest(target.site.id, UPDATE_TYPES.indexOf(type), slug, version);
  if (change !== undefined) return { ...goalOfChange(target, change), version: version ?? change.old_version };
  if (version !== null) return { target, type, slug, version, snapshot: null, change: '', replaced: null };
  const item = await ctx.store.updateRuns.newest(target.site.id, UPDATE_TYPES.indexOf(type), slug);
  if (item === undefined) throw noUpdate(type, slug);
  return goalOfChange(target, { ...item, id: item.change_id, snapshot: null, settled_at: item.finished_at ?? 0 });
}

type KnownChange = Pick<
  ChangeRow,
  'id' | 'site_id' | 'type' | 'slug' | 'old_version' | 'new_version' | 'snapshot' | 'settled_at'
>;

/**
 * An update by any id that an answer shows: of a safe update, of an item of a run, or of an entry of a site's change
 * log; or why there is nothing to roll back.
 */
async function changeOf(
  ctx: Ctx,
  id: string | number,
): Promise<KnownChange | { site_id: number; reason: string } | undefined> {
  const text = String(id);
  // A NUL cannot be bound, and no id contains one.
  if (text.includes('\0')) return undefined;
  if (/^\d{1,15}$/.test(text)) return loggedChange(ctx, Number(text));
  const guarded = await ctx.store.safeChanges.find(text);
  if (guarded !== undefined) return guarded;
  const item = await ctx.store.updateRuns.change(text);
  if (item === undefined) return undefined;
  const { site_id, state, code } = item;
  if (isInProgress(state)) return { ...item, id: text, snapshot: null, settled_at: null };
  if (state === 'skipped' || (state === 'failed' && code !== BROKE))
    return { site_id, reason: 'This update was not installed, so there is nothing to roll back.' };
  return { ...item, id: text, snapshot: null, settled_at: item.finished_at ?? 0 };
}

/** The update of an entry of the change log, which people may have made on the site itself. */
async function loggedChange(ctx: Ctx, id: number): ReturnType<typeof changeOf> {
  const entry = await ctx.store.changes.find(id);
  if (entry === undefined) return undefined;
  const { site_id, slug, context, action, code, old_value: old_version, new_value: new_version } = entry;
  const type = UPDATE_TYPES.indexOf(context.replace(/^wordpress$/, 'core').replace(/s$/, '') as UpdateType);
  if (type < 0 || !/^updated?$/.test(action))
    return { site_id, reason: `This change is not an update: ${siteWord(changeSentence(entry))}.` };
  if (old_version === '' || new_version === '' || (code !== '' && code !== BROKE))
    return { site_id, reason: 'This update was not installed, so there is nothing to roll back.' };
  const known = await ctx.store.updateRuns.newest(site_id, type, slug, { old_version, new_version });
  const change = known === undefined ? undefined : await ctx.store.safeChanges.find(known.change_id);
  if (change !== undefined) return change;
  return { id: known?.change_id ?? '', site_id, type, slug, old_version, new_version, snapshot: null, settled_at: 0 };
}

function notAnUpdate(reason: string): ServiceError {
  return new ServiceError('svc_update_unprotected', reason, {
    field: 'change_id',
    advice: 'Find change_id with list-site-snapshots-v1, or send to_version.',
  });
}

function goalOfChange(target: LoadedSite, change: KnownChange): Goal {
  const type = UPDATE_TYPES[change.type];
  if (type !== 'plugin' && type !== 'theme')
    throw new ServiceError('svc_update_unprotected', 'WordPress itself and translations cannot be rolled back.', {
      field: 'change_id',
      advice: 'Restore a backup of the site.',
    });
  if (change.settled_at === null)
    throw new ServiceError('svc_update_unprotected', 'This update is still in progress.', {
      field: 'change_id',
      advice: 'Try again once it has ended.',
    });
  const { id, slug, old_version, new_version, snapshot } = change;
  return { target, type, slug, version: old_version, snapshot, change: id, replaced: new_version };
}

function noChange(): ServiceError {
  return new ServiceError('svc_change_not_found', 'No update with this change_id can be rolled back.', {
    advice: 'Find change_id with list-site-snapshots-v1, or send to_version.',
  });
}

function noUpdate(type: string, slug: string): ServiceError {
  return new ServiceError(
    'svc_change_not_found',
    `No update of the ${type} ${siteWord(slug)} on this site is on record, so the previous version is unknown.`,
    { field: 'slug', advice: 'Send to_version, or find change_id with list-site-snapshots-v1 or search-changes-v1.' },
  );
}

async function rollBackTo(ctx: Ctx, goal: Goal, hold: boolean): Promise<RolledBack> {
  const { target, type, slug } = goal;
  const open = await openGuard(ctx, target);
  await finishOpen(ctx, target, open?.guard ?? null);
  const installed = (await installedExtensions(ctx, target.site.id, type)).find((row) => row.slug === slug);
  if (installed === undefined)
    throw new ServiceError('svc_snapshot_not_found', `No ${type} with this slug is installed on the site.`, {
      field: 'slug',
      advice: 'Sync the site, and read the slugs with list-site-snapshots-v1.',
    });
  const copies = open === null ? [] : await copiesOf(ctx, target);
  const copy = copies?.find((one) =>
    goal.snapshot === null ? isVersion(one, goal) : one.id === goal.snapshot || isVersion(one, goal),
  );
  const version = goal.version ?? copy?.version ?? '';
  const protection = copy === undefined ? await archiveProtection(ctx, type, slug, version) : 'guard';
  if (protection === 'none')
    throw new ServiceError(
      'svc_snapshot_not_found',
      `There is no copy of ${siteWord(version)} on the site, and wordpress.org has none. Nothing changed.`,
      {
        field: 'to_version',
        advice: 'list-site-snapshots-v1 shows what can be rolled back; copies are kept for 14 days.',
      },
    );
  const item: SafeItem = {
    ...UNTRIED,
    change: goal.change,
    type,
    slug,
    name: installed.name,
    old_version: version,
    new_version: installed.version,
    protection,
    snapshot: copy?.id ?? null,
  };
  const result = await restoreItem(ctx, goal, item, open?.guard ?? null);
  // A repeated call finds the old version: what it had replaced is known from the update.
  const held = item.new_version === result.version ? goal.replaced : item.new_version;
  if (!hold || held === null || held === result.version) return result;
  await quarantineByPerson(ctx, target, item, held);
  return { ...result, held };
}

function isVersion(copy: GuardSnapshot, { type, slug, version }: Goal): boolean {
  return copy.kind === type && copy.slug === slug && copy.version === version;
}

async function restoreItem(ctx: Ctx, goal: Goal, item: SafeItem, guard: SafeRun['guard']): Promise<RolledBack> {
  const { target, type, slug } = goal;
  const facts = { on_suspect: 'keep' as const, paths: [], before: NO_BASELINE };
  const unknown = { open: [], looked: new Set<string>(), ledger: null, outside: false };
  const result = await rollBackItem({ id: '', ctx, target, facts, guard, ...unknown }, item);
  const message = typeof result === 'object' ? result.failed : null;
  await clearCaches(ctx, target);
  const inventory = await syncAfterRollBack(ctx, target);
  const now =
    listOf(inventory, type)?.find((one) => one.slug === slug)?.version ??
    (message === null ? item.old_version : item.new_version);
  if (message !== null || now !== item.old_version)
    throw new ServiceError(
      'svc_update_failed',
      `Version ${siteWord(item.old_version)} was not restored: the site reports ${siteWord(now)}. ${siteSays(message ?? '')}`.trim(),
      { advice: 'Sync the site to see its current state, then try again.', data: { site_id: target.site.id } },
    );
  if (item.change !== '') {
    await ctx.store.safeChanges.note(item.change, { outcome: 'rolled_back' });
    const message = `${ctx.actor.name} rolled it back to ${siteWord(item.old_version)}.`;
    await ctx.store.updateRuns.rolledBack(item.change, message, ctx.clock.now());
  }
  emitRolledBack(ctx, target, item, 'sitefleet');
  const findings = (await ailments(ctx, target)).map(({ what }) => what);
  return {
    site_id: target.site.id,
    site_url: target.site.url,
    type,
    slug,
    old_version: item.new_version,
    version: now,
    protection: item.protection,
    well: findings.length === 0,
    findings,
  };
}

async function copiesOf(ctx: Ctx, target: LoadedSite): Promise<GuardSnapshot[] | null> {
  const found = await askGuard(ctx, target);
  if (found === null) return null;
  return found.guard.list({ signal: ctx.signal }).catch((error: unknown) => {
    throw guardError(error, target.site.id);
  });
}

/** Copies kept by the guard of a site, newest first, and the updates they belong to. */
export async function siteSnapshots(ctx: Ctx, ref: SiteRef) {
  const target = await loadNamed(ctx, ref);
  const { site } = target;
  requireAskable(target);
  const copies = target.site.on_trial === 1 ? null : await copiesOf(ctx, target);
  const changes = await ctx.store.safeChanges.ofSnapshots(
    site.id,
    (copies ?? []).map(({ id }) => id),
  );
  return {
    site_id: site.id,
    site_url: site.url,
    guard: copies !== null,
    snapshots: (copies ?? []).map((copy) => ({
      snapshot_id: copy.id,
      change_id: changes.get(copy.id) ?? null,
      type: copy.kind,
      slug: copy.slug,
      version: copy.version,
      role: copy.role,
      bytes: copy.bytes,
      digest: copy.digest,
      taken_at: isoTime(copy.created * 1000) ?? '',
    })),
  };
}
