/**
 * Records what a run of updates does on a site: what is planned, what is sent, and how each item ended. The steps of a
 * safe update record themselves.
 */

import { createHash } from 'node:crypto';
import { asServiceError, type ErrorCode } from '../../../runtime/errors.js';
import type { RunItem, RunItemState, ToldRunItem } from '../../../store/updates/runs.js';
import type { JobHandler } from '../../actions/handler.js';
import type { Ctx } from '../../context.js';
import { type LoadedSite, siteCallError } from '../../sites/load.js';
import { type BackupFirst, needsBackup } from '../backup-first.js';
import type { UpdateParams } from '../params.js';
import type { Plan } from '../plan.js';
import { type Applied, type ApplyError, type ApplyResult, UPDATE_TYPES, type UpdateType } from '../results.js';
import { rollBackMember } from './can-roll-back.js';
import { writeReceipt } from './receipts.js';

/** Codes of items that were left as they are: nothing was sent. */
const LEFT: readonly string[] = [
  'svc_version_quarantined',
  'svc_requirement_missing',
  'svc_backup_required',
  'svc_update_unprotected',
  'svc_no_updates',
  'svc_snapshot_refused',
  'svc_site_unhealthy',
  'svc_offer_changed',
  'svc_update_ignored',
  'svc_rollout_halted',
] satisfies ErrorCode[];

/** The number of "site", beside those of the types. */
const WHOLE_SITE = UPDATE_TYPES.length;

/** Longest reason that is kept, in characters. */
const LONGEST = 2000;

/** The same handler, recording what it does. */
export function recorded<P extends UpdateParams, R extends ApplyResult>(handler: JobHandler<P, R>): JobHandler<P, R> {
  const { resume } = handler;
  return {
    ...handler,
    run: (ctx, target, params, begin) =>
      record(ctx, target, handler.failure, () => handler.run(ctx, target, params, begin)),
    ...(resume && {
      resume: (ctx, target, params, earlier) =>
        record(ctx, target, handler.failure, () => resume.call(handler, ctx, target, params, earlier)),
    }),
  };
}

async function record<R extends ApplyResult>(
  ctx: Ctx,
  target: LoadedSite,
  otherwise: ErrorCode,
  work: () => Promise<R>,
): Promise<R> {
  const { run_id } = ctx;
  if (run_id === '') return work();
  const { id } = target.site;
  try {
    return await finished(ctx, target, await work());
  } catch (error) {
    // A call that was cut off is continued by a job, or what it left open is finished by the schedule. A job that could not
    // store something says nothing of the site: its turn comes again.
    const isTriedAgain = ctx.actor.via === 'jobs' && asServiceError(error).code === 'svc_storage_unavailable';
    if (!ctx.signal.aborted && !isTriedAgain) {
      const { code, message } = siteCallError(error, id, otherwise);
      const reason = entryOf(run_id, id, { type: 'site', slug: '' }, 'skipped', { code, message });
      await ctx.store.updateRuns.giveUp(run_id, id, reason, ctx.clock.now());
    }
    throw error;
  }
}

/** Stores how the items ended; the result with their change ids. */
async function finished<R extends ApplyResult>(ctx: Ctx, target: LoadedSite, result: R): Promise<R> {
  const { store, clock, run_id } = ctx;
  const { id } = target.site;
  const items = itemsOf(run_id, id, result);
  if (items.length === 0) return result;
  const rows = await store.updateRuns.finish(run_id, id, items, clock.now());
  const known = new Map(rows.map((item) => [keyOf(item), item]));
  // Without a comparison there is nothing to prove.
  if (result.look?.compared === true) await writeReceipt(ctx, target, rows, result.look);
  const told = (item: Applied): Applied => {
    const row = known.get(keyOf({ type: numberOf(item.type), slug: item.slug }));
    return row === undefined ? item : { ...item, ...changeOf(row, clock.now()) };
  };
  return { ...result, updated: result.updated.map(told) };
}

function changeOf(row: ToldRunItem, now: number) {
  return { change_id: row.change_id, ...rollBackMember(row, now) };
}

/** What a result says of each item: an error beside an installed one is said with it. */
function itemsOf(runId: string, siteId: number, { updated, errors }: ApplyResult): RunItem[] {
  const items = new Map<string, RunItem>();
  for (const error of errors) {
    const { type, planned_as, code, message, new_version = '' } = error;
    const slug = planned_as ?? error.slug;
    const item = entryOf(runId, siteId, { type, slug, new_version }, stateOf(error), { code, message });
    items.set(keyOf(item), item);
  }
  for (const item of updated) {
    const said = items.get(keyOf({ type: numberOf(item.type), slug: item.slug }));
    const entry = entryOf(runId, siteId, item, 'kept', said ?? { code: '', message: '' });
    items.set(keyOf(entry), entry);
  }
  return [...items.values()];
}

function stateOf({ code, unknown }: ApplyError): RunItemState {
  if (unknown === true) return 'unknown';
  if (code === 'svc_update_rolled_back') return 'rolled_back';
  return LEFT.includes(code) ? 'skipped' : 'failed';
}

/**
 * Records what is about to be updated on a site, and what is left as it is.
 * @param first the type that is sent now; @param backup the one that was seen to first
 */
export async function recordPlan(
  ctx: Ctx,
  { site }: LoadedSite,
  { steps, refused }: Plan,
  { first, backup }: { first?: UpdateType | undefined; backup: BackupFirst },
): Promise<void> {
  const { store, run_id } = ctx;
  if (run_id === '') return;
  const planned = steps.map(({ offer, type, protection }) => {
    const { slug, name, current_version: old_version, new_version } = offer;
    const item = { type, slug, name, old_version, new_version, protection };
    const entry = entryOf(run_id, site.id, item, type === first ? 'updating' : 'queued', { code: '', message: '' });
    return { ...entry, backup_id: needsBackup(offer) ? backup.backup_id : null };
  });
  const left = refused.map((error) =>
    entryOf(run_id, site.id, { type: error.type, slug: error.slug }, 'skipped', error),
  );
  await store.updateRuns.plan(run_id, site.id, [...planned, ...left], ctx.clock.now());
}

type Named = Pick<RunItem, 'slug'> & { type: UpdateType | 'site' } & Partial<
    Pick<RunItem, 'name' | 'old_version' | 'new_version' | 'protection'>
  >;

function entryOf(
  runId: string,
  siteId: number,
  { type, slug, name = '', old_version = '', new_version = '', protection = 'none' }: Named,
  state: RunItemState,
  { code, message }: Pick<RunItem, 'code' | 'message'>,
): RunItem {
  const number = numberOf(type);
  const change_id = changeIdOf(runId, siteId, number, slug);
  const item = { type: number, slug, name: name || slug, old_version, new_version, protection, state, change_id };
  return { ...item, code, message: message.slice(0, LONGEST) };
}

/** The same for the same item of a run, however often it is recorded. */
function changeIdOf(...item: (string | number)[]): string {
  return `change_${createHash('sha256').update(JSON.stringify(item)).digest('hex').slice(0, 32)}`;
}

function numberOf(type: UpdateType | 'site'): number {
  return type === 'site' ? WHOLE_SITE : UPDATE_TYPES.indexOf(type);
}

function keyOf({ type, slug }: Pick<RunItem, 'type' | 'slug'>): string {
  return `${type} ${slug}`;
}
