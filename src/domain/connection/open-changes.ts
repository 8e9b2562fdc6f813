/**
 * Changes whose outcome was unknown when their call or job ended: stored, and finished by the next sync that shows it.
 * Then they are reported: in the action log, and in the job that had to leave them open.
 */

import type { Snapshot } from '../../outbound/child/port.js';
import type { ErrorCode } from '../../runtime/errors.js';
import type { NewEvent } from '../../runtime/events.js';
import type { OpenChange, OpenChangeRow } from '../../store/sites/open-changes.js';
import type { SiteRecord } from '../../store/sites/sites.js';
import { outcomeOfItems } from '../actions/outcomes.js';
import { type Ctx, originOf } from '../context.js';
import { listOf } from '../sites/inventory.js';

/** Ends the message about such a change. */
export const FINISHED_LATER =
  'The site may still be working on it; the next sync that shows the outcome updates this entry.';

/** If a site still shows no change after the longest time that a call may take, it did not happen. */
const GIVEN_UP_MS = 10 * 60_000;

export async function keepOpen(ctx: Ctx, siteId: number, changes: readonly OpenChange[]): Promise<void> {
  if (changes.length === 0) return;
  const origin = ctx.events.origin ?? originOf(ctx);
  await ctx.store.openChanges.add(siteId, changes, JSON.stringify(origin), ctx.clock.now());
}

type Outcome = { done: true; version: string } | { done: false };

/** Reports what a sync shows of changes that were left open. */
export async function finishOpenChanges(ctx: Ctx, site: SiteRecord, snapshot: Snapshot): Promise<void> {
  if (site.open_changes !== 1) return;
  for (const row of await ctx.store.openChanges.ofSite(site.id)) {
    const version = shownVersion(row, snapshot);
    if (version === undefined) continue;
    if (version === null && ctx.clock.now() - row.sent_at < GIVEN_UP_MS) continue;
    const outcome: Outcome = version === null ? { done: false } : { done: true, version };
    await close(ctx, site.id, row, outcome);
    if (outcome.done) ctx.events.from(JSON.parse(row.origin)).emit(eventOf(site.id, row, outcome.version));
  }
}

/** Closes changes whose effect a later call has seen and reported. */
export async function closeOpen(
  ctx: Ctx,
  site: SiteRecord,
  done: readonly (Pick<OpenChange, 'context' | 'action' | 'slug'> & { version: string })[],
): Promise<void> {
  if (site.open_changes !== 1) return;
  const rows = await ctx.store.openChanges.ofSite(site.id);
  for (const { context, action, slug, version } of done) {
    const row = rows.find((one) => one.context === context && one.slug === slug && one.action === action);
    if (row !== undefined) await close(ctx, site.id, row, { done: true, version });
  }
}

/** The version that shows the change, '' if there is none to show; null = unchanged; undefined = not reported. */
function shownVersion(change: OpenChange, snapshot: Snapshot): string | null | undefined {
  const { context, action, slug, old_version, new_version } = change;
  if (context === 'core') return differing(snapshot.wp_version, old_version);
  if (context === 'translation') {
    const offers = snapshot.translation_updates;
    if (offers === undefined) return undefined;
    return offers.some((offer) => offer.slug === slug && offer.new_version === new_version) ? null : new_version;
  }
  const list = listOf(snapshot, context);
  if (list === undefined) return undefined;
  const item = list.find((one) => one.slug === slug);
  if (action === 'updated') return differing(item?.version ?? renamed(list, slug)?.version ?? old_version, old_version);
  const done =
    action === 'deleted' ? item === undefined : item !== undefined && item.active === (action === 'activated');
  return done ? '' : null;
}

function differing(now: string | undefined, before: string): string | null | undefined {
  return now === undefined || now === '' ? undefined : now === before ? null : now;
}

/** A plugin whose main file was renamed by the update: the only one left in its folder. */
function renamed(list: NonNullable<Snapshot['plugins']>, slug: string) {
  const folder = slug.includes('/') ? slug.slice(0, slug.indexOf('/') + 1) : null;
  const inside = folder === null ? [] : list.filter((one) => one.slug.startsWith(folder));
  return inside.length === 1 ? inside[0] : undefined;
}

function eventOf(site_id: number, change: OpenChange, new_version: string): NewEvent {
  const { context, action, slug, old_version } = change;
  if (action === 'updated') return { name: `${context}.updated`, site_id, facts: { slug, old_version, new_version } };
  const kind = context === 'theme' ? 'theme' : 'plugin';
  return { name: `${kind}.${action}`, site_id, facts: { slug } };
}

const FAILED: Readonly<Record<OpenChange['action'], ErrorCode>> = {
  updated: 'svc_update_failed',
  activated: 'svc_activation_failed',
  deactivated: 'svc_deactivation_failed',
  deleted: 'svc_deletion_failed',
};

/** Deletes a change, and corrects the jobs that had to leave it open. */
async function close(ctx: Ctx, siteId: number, change: OpenChangeRow, outcome: Outcome): Promise<void> {
  const { context, action, slug, name, old_version } = change;
  const jobType = action === 'updated' ? 'update' : 'extension';
  const type = action === 'updated' ? { type: context } : {};
  const facts = outcome.done
    ? { ...type, slug, ...(action === 'updated' ? { name, old_version, new_version: outcome.version } : {}) }
    : { ...type, slug, code: FAILED[action], message: 'The site has not shown the change since then.' };
  for (const { job_id, position, items } of await ctx.store.jobs.openSites(siteId, jobType)) {
    const finished = items.map((item) =>
      item.done === null && item.facts.slug === slug && (action !== 'updated' || item.facts.type === context)
        ? { done: outcome.done, facts }
        : item,
    );
    await ctx.store.jobs.correctSite(job_id, position, outcomeOfItems(finished));
  }
  if (action === 'updated') {
    const { code = '', message = '' } = facts as { code?: string; message?: string };
    const now = { state: outcome.done ? 'kept' : 'failed', code, message } as const;
    await ctx.store.updateRuns.correct(siteId, context, slug, now, ctx.clock.now());
  }
  await ctx.store.openChanges.remove(siteId, change);
}
