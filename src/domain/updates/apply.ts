/**
 * Applies updates on one site: sends and judges (`send.ts`), stores, visits (`after-update.ts`). An update counts only
 * if the version on the site changed: the child reports success for slugs without an update and even for items that are
 * not installed (child protocol §6.8).
 */

import { randomUUID } from 'node:crypto';
import type { ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Begin } from '../actions/handler.js';
import { closeOpen, keepOpen, SETTLED_LATER } from '../connection/open-changes.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import {
  type ApplyError,
  type ApplyResult,
  codeOfSilence,
  failed,
  isUnseen,
  siteFields,
  UPDATE_TYPES,
  type UpdateType,
} from './results.js';
import { type Apply, applySafely } from './safe/run.js';
import { isCancelled, type Judged, type Sending, sendAndJudge, updateError } from './send.js';

/** Updates may unpack large archives on slow hosts: 10 minutes, where any other call has 30 s. */
const TIMES_LONGER = 20;

/** What an interrupted run leaves for the job that continues it. */
export interface BegunUpdates {
  /** Of its items, if it was a guarded one. */
  run_id: string;
  /** Those it was to apply. */
  offers: readonly FleetOffer[];
}

/**
 * Applies the given updates, type by type: core, plugins, themes, translations. A failing type does not stop the next,
 * but a site that no longer answers does.
 */
export async function applyOffers(
  caller: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  begin?: Begin,
): Promise<ApplyResult> {
  return caller.locks.exclusive(target.site.id, caller.signal, async (held) => {
    const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, held]) };
    const apply: Apply = (items, sending) => applyInOrder(ctx, target, items, sending);
    const work: BegunUpdates = { run_id: randomUUID(), offers };
    begin?.(work);
    const { silence = null, unseen = [], ...result } = await applySafely(ctx, target, offers, apply, work.run_id);
    if (result.interrupted !== true)
      result.errors.push(...(await inspectSite(ctx, target, result.updated, silence, unseen)));
    return result;
  });
}

/**
 * Applies updates type by type, without checking the site in between except through its child. The caller holds the
 * lock of the site.
 */
export async function applyInOrder(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  sending: Partial<Sending> = {},
): Promise<ApplyResult> {
  const result: ApplyResult = { updated: [], errors: [] };
  let silence: ServiceError | null = null;
  let unseen: readonly FleetOffer[] = [];
  for (const type of UPDATE_TYPES) {
    const ofType = offers.filter((offer) => UPDATE_TYPES[offer.type] === type);
    if (ofType.length === 0) continue;
    if (silence !== null) {
      const why = silence;
      result.errors.push(...ofType.map((offer) => notTried(target, type, offer, why)));
      continue;
    }
    const part = await applyType(ctx, target, type, ofType, {
      timeoutMs: TIMES_LONGER * ctx.config.site_timeout_ms,
      ...sending,
    }).catch((error: unknown) => {
      if (isCancelled(error) && result.updated.length + result.errors.length > 0) return CUT_OFF;
      throw error;
    });
    result.updated.push(...part.updated);
    result.errors.push(...part.errors);
    if (part.interrupted) return { ...result, interrupted: true };
    ({ silence, unseen } = part);
  }
  return { ...result, silence, unseen };
}

interface TypeResult extends ApplyResult {
  silence: ServiceError | null;
  /** Sent, but the site did not show their outcome. */
  unseen: FleetOffer[];
}

const CUT_OFF: TypeResult = { updated: [], errors: [], silence: null, unseen: [], interrupted: true };

export function notTried(
  target: LoadedSite,
  type: UpdateType,
  offer: FleetOffer,
  silence: ServiceError | null,
): ApplyError {
  const message = 'Not tried: the site has not answered since the previous updates.';
  return failed(target, type, offer.slug, codeOfSilence(silence), message);
}

async function applyType(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  sending: Sending,
): Promise<TypeResult> {
  for (const offer of offers)
    ctx.events.emit({ name: `${type}.update_started`, site_id: target.site.id, facts: { slug: offer.slug } });
  let result: TypeResult;
  try {
    // What a guard can roll back is settled by the guarded run.
    const guarded = sending.waitMs !== undefined;
    result = resultOf(target, type, await sendAndJudge(ctx, target, type, offers, sending), guarded);
  } catch (error) {
    const failure = updateError(ctx, target, type, error);
    if (isCancelled(failure)) throw failure;
    const errors = offers.map((offer) => failed(target, type, offer.slug, failure.code, failure.message));
    result = { updated: [], errors, silence: null, unseen: [] };
  }
  await ctx.store.updates.applied(
    target.site.id,
    UPDATE_TYPES.indexOf(type),
    result.updated.map((item) => ({ slug: item.slug, version: item.new_version })),
  );
  emitOutcomes(ctx, type, result);
  await keepUnknown(ctx, target, type, offers, result.errors);
  await closeOpen(
    ctx,
    target.site,
    result.updated.map(({ slug, new_version: version }) => ({ context: type, action: 'updated', slug, version })),
  );
  return result;
}

/** Stores those of the updates whose outcome is still unknown. */
export async function keepUnknown(
  ctx: Ctx,
  target: LoadedSite,
  context: UpdateType,
  offers: readonly FleetOffer[],
  errors: readonly ApplyError[],
): Promise<void> {
  const slugs = new Set(errors.flatMap(({ slug, unknown }) => (unknown === true ? [slug] : [])));
  const open = offers.filter(({ slug }) => slugs.has(slug));
  await keepOpen(
    ctx,
    target.site.id,
    open.map(({ slug, name, current_version: old_version, new_version }) => {
      return { context, action: 'updated', slug, name, old_version, new_version };
    }),
  );
}

/** Emits an event for each outcome. */
export function emitOutcomes(ctx: Ctx, type: UpdateType, { updated, errors }: ApplyResult): void {
  for (const { site_id, slug, old_version, new_version } of updated)
    ctx.events.emit({ name: `${type}.updated`, site_id, facts: { slug, old_version, new_version } });
  for (const { site_id, slug, code } of errors) {
    // The item was installed, but the update deactivated it.
    if (code === 'svc_activation_failed' && (type === 'plugin' || type === 'theme'))
      ctx.events.emit({ name: `${type}.deactivated`, site_id, facts: { slug } });
    else ctx.events.emit({ name: `${type}.update_failed`, site_id, facts: { slug, code } });
  }
}

/** The error for a change that may still take effect: not reported as a failure. */
function notKnownYet({ code, message }: ServiceError): { code: ErrorCode; message: string } {
  return { code: code === 'svc_site_offline' ? code : 'svc_still_running', message: `${message} ${SETTLED_LATER}` };
}

function resultOf(target: LoadedSite, type: UpdateType, { verdicts, silence }: Judged, guarded: boolean): TypeResult {
  const result: TypeResult = { updated: [], errors: [], silence, unseen: [] };
  for (const { offer, verdict } of verdicts) {
    if ('open' in verdict) {
      result.interrupted = true;
    } else if ('failure' in verdict) {
      const unknown = verdict.unknown === true && !guarded;
      const { code, message } = unknown ? notKnownYet(verdict.failure) : verdict.failure;
      result.errors.push({ ...failed(target, type, offer.slug, code, message), ...(unknown ? { unknown } : {}) });
      if (isUnseen(verdict.failure.code)) result.unseen.push(offer);
    } else {
      const { slug, name, current_version: old_version } = offer;
      result.updated.push({ ...siteFields(target.site), type, slug, name, old_version, new_version: verdict.version });
      const { aside } = verdict;
      if (aside !== undefined) result.errors.push(failed(target, type, aside.slug, aside.code, aside.message));
    }
  }
  // All outcomes are known, but time is up.
  if (silence?.code === 'svc_cancelled') result.interrupted = true;
  return result;
}
