/** Finishes updates whose outcome was classified: stores and announces it, and says it in words of the answer. */

import type { ErrorCode, ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { closeOpen, FINISHED_LATER, keepOpen } from '../connection/open-changes.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import type { Classified } from './classify.js';
import {
  type Applied,
  type ApplyError,
  type ApplyResult,
  applied,
  failed,
  isUnseen,
  UPDATE_TYPES,
  type UpdateType,
} from './results.js';

/** What became of the updates of one type. */
export interface TypeResult extends ApplyResult {
  silence: ServiceError | null;
  /** Sent, but the site did not show their outcome. */
  unseen: FleetOffer[];
}

/**
 * Stores what was installed and what is still unknown, and emits an event for each failure. What was installed counts
 * once the site was inspected.
 * @param guarded the caller finishes what is unknown, with the site's guard
 * @param next the type that is sent next
 */
export async function finish(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  classified: Classified,
  guarded = false,
  next?: UpdateType,
): Promise<TypeResult> {
  const result = resultOf(target, type, classified, guarded);
  await ctx.store.updates.applied(
    target.site.id,
    UPDATE_TYPES.indexOf(type),
    result.updated.map((item) => ({ slug: item.slug, version: item.new_version })),
    { id: ctx.run_id, next: next === undefined ? undefined : UPDATE_TYPES.indexOf(next) },
  );
  emitFailures(ctx, type, result.errors);
  const offers = classified.outcomes.map(({ offer }) => offer);
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

/** Emits an event for each update that counts: it was installed, and the site was not seen to be down since. */
export function emitUpdated(ctx: Ctx, updated: readonly UpdatedFacts[]): void {
  for (const { site_id, type, slug, old_version, new_version } of updated)
    ctx.events.emit({ name: `${type}.updated`, site_id, facts: { slug, old_version, new_version } });
}

type UpdatedFacts = Pick<Applied, 'site_id' | 'type' | 'slug' | 'old_version' | 'new_version'>;

/** Emits an event for each update that was installed and did harm. */
export function emitHarmful(ctx: Ctx, installed: readonly UpdatedFacts[], code: ErrorCode): void {
  for (const { site_id, type, slug, old_version, new_version } of installed)
    ctx.events.emit({ name: `${type}.update_failed`, site_id, facts: { slug, code, old_version, new_version } });
}

/** Emits an event for each failure. */
export function emitFailures(ctx: Ctx, type: UpdateType, errors: readonly ApplyError[]): void {
  for (const { site_id, slug, code } of errors)
    if (code !== DEACTIVATED) ctx.events.emit({ name: `${type}.update_failed`, site_id, facts: { slug, code } });
}

/** The code of an item that was installed, but whose update deactivated it. */
const DEACTIVATED = 'svc_activation_failed' satisfies ErrorCode;

/** Emits an event for each item that its update deactivated; after those of the updates. */
export function emitDeactivated(ctx: Ctx, errors: readonly ApplyError[]): void {
  for (const { site_id, type, slug, code } of errors)
    if (code === DEACTIVATED && (type === 'plugin' || type === 'theme'))
      ctx.events.emit({ name: `${type}.deactivated`, site_id, facts: { slug } });
}

/** The error for a change that may still take effect: not reported as a failure. */
function notKnownYet({ code, message }: ServiceError): { code: ErrorCode; message: string } {
  return { code: code === 'svc_site_offline' ? code : 'svc_still_running', message: `${message} ${FINISHED_LATER}` };
}

function resultOf(
  target: LoadedSite,
  type: UpdateType,
  { outcomes, silence }: Classified,
  guarded: boolean,
): TypeResult {
  const result: TypeResult = { updated: [], errors: [], silence, unseen: [] };
  for (const { offer, outcome } of outcomes) {
    if ('open' in outcome) {
      result.interrupted = true;
    } else if ('failure' in outcome) {
      const unknown = outcome.unknown === true && !guarded;
      const { code, message } = unknown ? notKnownYet(outcome.failure) : outcome.failure;
      result.errors.push({ ...failed(target, type, offer.slug, code, message), ...(unknown ? { unknown } : {}) });
      if (isUnseen(outcome.failure.code) && outcome.stopped !== true) result.unseen.push(offer);
    } else {
      result.updated.push(applied(target, type, offer, offer.current_version, outcome.version));
      const { aside } = outcome;
      if (aside !== undefined)
        result.errors.push({
          ...failed(target, type, aside.slug, aside.code, aside.message),
          planned_as: offer.slug,
        });
    }
  }
  // All outcomes are known, but time is up.
  if (silence?.code === 'svc_cancelled') result.interrupted = true;
  return result;
}
