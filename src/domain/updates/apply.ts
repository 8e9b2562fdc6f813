/**
 * Applying updates on one site. Nothing is called updated unless the version on the site changed: the child answers success
 * for slugs without an update and even for ones that are not installed (child protocol §6.8).
 */

import { siteWord } from '../../../schemas/site-text.js';
import type { ChildActionAnswer, ExtensionKind, Snapshot } from '../../child/child.js';
import { type ErrorCode, ServiceError } from '../../core/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { mayHaveRun } from '../extensions/extensions.js';
import { applySafely } from '../safety/run.js';
import { type LoadedSite, requireConnection, siteCallError } from '../sites/load.js';
import { storeSnapshot } from '../sites/sync.js';
import { visitAfterUpdate } from './check-after-update.js';

export const UPDATE_TYPES = ['core', 'plugin', 'theme', 'translation'] as const;
export type UpdateType = (typeof UPDATE_TYPES)[number];

export interface Applied {
  site_id: number;
  site_url: string;
  site_name: string;
  type: UpdateType;
  slug: string;
  name: string;
  old_version: string;
  new_version: string;
}

export interface ApplyError {
  site_id: number;
  site_url: string;
  site_name: string;
  /** `site` for what concerns the whole site. */
  type: UpdateType | 'site';
  slug: string;
  code: string;
  message: string;
  /** Of an item that was updated safely: its record, and what was seen on the site. */
  change_id?: string;
  evidence?: string[];
}

export interface ApplyResult {
  updated: Applied[];
  errors: ApplyError[];
  /** The call was cut off before every type had its turn; what was applied until then is in `updated`. */
  interrupted?: boolean;
}

/** Updates may unpack large archives on slow hosts. */
const UPDATE_TIMEOUT_MS = 10 * 60_000;

/** Applies the given offers, type by type: core, plugins, themes, translations. A failing type does not stop the next. */
export async function applyOffers(
  caller: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs = UPDATE_TIMEOUT_MS,
): Promise<ApplyResult> {
  return caller.locks.exclusive(target.site.id, caller.signal, async (held) => {
    const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, held]) };
    const result = await applySafely(ctx, target, offers, (items) => applyInOrder(ctx, target, items, timeoutMs));
    if (result.updated.length > 0 && result.interrupted !== true) await visitAfterUpdate(ctx, target);
    return result;
  });
}

/** Applies offers type by type, without looking at the site in between. The caller holds the lock of the site. */
export async function applyInOrder(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs = UPDATE_TIMEOUT_MS,
): Promise<ApplyResult> {
  const result: ApplyResult = { updated: [], errors: [] };
  for (const [type, number] of UPDATE_TYPES.map((name, index) => [name, index] as const)) {
    const ofType = offers.filter((offer) => offer.type === number);
    if (ofType.length === 0) continue;
    try {
      const part = await applyType(ctx, target, type, ofType, timeoutMs);
      result.updated.push(...part.updated);
      result.errors.push(...part.errors);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'svc_cancelled') throw error;
      if (result.updated.length + result.errors.length === 0) throw error;
      const message = 'The call ended before every update had its turn; the rest goes on as a job.';
      result.errors.push(failed(target, 'site', '', 'svc_cancelled', message));
      return { ...result, interrupted: true };
    }
  }
  return result;
}

async function applyType(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<ApplyResult> {
  for (const offer of offers)
    ctx.events.emit({ name: `${type}.update_started`, site_id: target.site.id, facts: { slug: offer.slug } });
  let result: ApplyResult;
  try {
    result =
      type === 'core'
        ? await applyCore(ctx, target, offers, timeoutMs)
        : type === 'translation'
          ? await applyTranslations(ctx, target, offers, timeoutMs)
          : await applyExtensions(ctx, target, type, offers, timeoutMs);
  } catch (error) {
    const failure = updateError(ctx, target, type, error);
    if (failure.code === 'svc_cancelled') throw failure;
    result = {
      updated: [],
      errors: offers.map((offer) => failed(target, type, offer.slug, failure.code, failure.message)),
    };
  }
  await ctx.store.updates.drop(
    target.site.id,
    UPDATE_TYPES.indexOf(type),
    result.updated.map((item) => item.slug),
  );
  for (const item of result.updated)
    ctx.events.emit({
      name: `${type}.updated`,
      site_id: target.site.id,
      facts: { slug: item.slug, old_version: item.old_version, new_version: item.new_version },
    });
  for (const item of result.errors)
    ctx.events.emit({
      name: `${type}.update_failed`,
      site_id: target.site.id,
      facts: { slug: item.slug, code: item.code },
    });
  return result;
}

/** Whatever is not a failure of the site is one of ours: it gets a code of its own, and the log gets the cause. */
function updateError(ctx: Ctx, target: LoadedSite, type: UpdateType, error: unknown): ServiceError {
  const failure = siteCallError(error, target.site.id, 'svc_update_failed');
  if (failure.code !== 'svc_internal_error') return failure;
  ctx.log.error({ err: failure.cause ?? error, site_id: target.site.id, type }, 'unexpected failure of an update');
  return new ServiceError('svc_update_exception', 'Something unexpected stopped the update. The log has the details.', {
    cause: error,
  });
}

async function applyExtensions(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<ApplyResult> {
  const connection = requireConnection(target);
  const slugs = offers.map((offer) => offer.slug);
  const call = await attempt(ctx, () =>
    ctx.child.upgradeExtensions(connection, kind, slugs, { signal: ctx.signal, timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = listOf(brought, kind) === undefined ? null : brought;
  let versions = versionsOf(listOf(await storeSnapshot(ctx, target, came), kind));
  // The inventory in an answer may come from WordPress' cache before the update: a sync has the current state.
  if (came !== null && offers.some((offer) => versions?.get(offer.slug) === offer.current_version)) {
    versions = versionsOf(listOf(await storeSnapshot(ctx, target, null), kind));
  }
  return judge(target, kind, offers, (offer) => {
    const verdict = call.answer?.verdicts.find((item) => item.slug === offer.slug);
    // The inventory decides; when the site did not answer again, the version the update itself reported.
    const now = versions === null ? (verdict?.version ?? '') : (versions.get(offer.slug) ?? '');
    if (now !== '' && now !== offer.current_version) {
      // The child names an old version only when this call replaced something (child protocol §6.8).
      const foreign = verdict?.claimed && verdict.old_version === '';
      return foreign ? { failure: updatedElsewhere(now) } : { version: now };
    }
    if (call.failure !== null) return { failure: siteCallError(call.failure, target.site.id, 'svc_update_failed') };
    return {
      failure: new ServiceError('svc_update_failed', reason(verdict, versions !== null && !versions.has(offer.slug))),
    };
  });
}

/** Newer than known, but not by this call. A sync ran meanwhile, so the new version is stored now. */
function updatedElsewhere(version: string): ServiceError {
  return new ServiceError(
    'svc_no_updates',
    `The site had version ${siteWord(version)} already: it was updated elsewhere since the last sync.`,
  );
}

function reason(verdict: ChildActionAnswer['verdicts'][number] | undefined, missing: boolean): string {
  if (missing) return 'It is no longer installed on the site.';
  if (verdict !== undefined && verdict.message !== '')
    return verdict.rolled_back ? `${verdict.message} WordPress put the old version back.` : verdict.message;
  return 'The site reports the old version still: the update did not take effect.';
}

async function applyCore(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<ApplyResult> {
  const connection = requireConnection(target);
  const call = await attempt(ctx, () => ctx.child.upgradeCore(connection, { signal: ctx.signal, timeoutMs }));
  const seen = await storeSnapshot(ctx, target, null);
  return judge(target, 'core', offers, (offer) => {
    const now = seen?.wp_version ?? call.answer?.version ?? '';
    if (now !== '' && now !== offer.current_version) {
      // SUCCESS without a version = this call found nothing to do (child protocol §6.8).
      return call.answer?.claimed && call.answer.version === '' ? { failure: updatedElsewhere(now) } : { version: now };
    }
    if (call.failure !== null) return { failure: siteCallError(call.failure, target.site.id, 'svc_update_failed') };
    const message = call.answer?.message ?? '';
    return {
      failure: new ServiceError(
        'svc_update_failed',
        message === '' ? 'The site runs the old version still: the update did not take effect.' : message,
      ),
    };
  });
}

/** A translation has no version that could be read back: it is applied when the site no longer offers it. */
async function applyTranslations(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<ApplyResult> {
  const connection = requireConnection(target);
  const slugs = [...new Set(offers.map((offer) => offer.slug))];
  const call = await attempt(ctx, () =>
    ctx.child.upgradeTranslations(connection, slugs, { signal: ctx.signal, timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = brought?.translation_updates === undefined ? null : brought;
  let open = offeredIn(await storeSnapshot(ctx, target, came));
  if (came !== null && offers.some((offer) => open?.get(offer.slug) === offer.new_version)) {
    open = offeredIn(await storeSnapshot(ctx, target, null));
  }
  return judge(target, 'translation', offers, (offer) => {
    const verdict = call.answer?.verdicts.find((item) => item.slug === offer.slug);
    if (open !== null && open.get(offer.slug) !== offer.new_version) return { version: offer.new_version };
    if (call.failure !== null) return { failure: siteCallError(call.failure, target.site.id, 'svc_update_failed') };
    const message = verdict?.message ?? '';
    return {
      failure: new ServiceError(
        'svc_update_failed',
        message === '' ? 'The site still offers the translation: it was not installed.' : message,
      ),
    };
  });
}

/** Translations still on offer, by slug; null when the site did not say. */
function offeredIn(snapshot: Snapshot | null): Map<string, string> | null {
  const offers = snapshot?.translation_updates;
  return offers === undefined ? null : new Map(offers.map((offer) => [offer.slug, offer.new_version]));
}

type Verdict = { version: string } | { failure: ServiceError };

function judge(
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  verdictOf: (offer: FleetOffer) => Verdict,
): ApplyResult {
  const result: ApplyResult = { updated: [], errors: [] };
  for (const offer of offers) {
    const verdict = verdictOf(offer);
    if ('failure' in verdict)
      result.errors.push(failed(target, type, offer.slug, verdict.failure.code, verdict.failure.message));
    else
      result.updated.push({
        ...siteFields(target),
        type,
        slug: offer.slug,
        name: offer.name,
        old_version: offer.current_version,
        new_version: verdict.version,
      });
  }
  return result;
}

/** Runs a write once. A failure after the request left is kept: the site is re-read before it is called a failure. */
async function attempt<T>(ctx: Ctx, call: () => Promise<T>): Promise<{ answer: T | null; failure: unknown }> {
  try {
    return { answer: await call(), failure: null };
  } catch (error) {
    if (!mayHaveRun(error) || ctx.signal.aborted) throw error;
    return { answer: null, failure: error };
  }
}

export function siteFields(target: LoadedSite): { site_id: number; site_url: string; site_name: string } {
  return { site_id: target.site.id, site_url: target.site.url, site_name: target.site.name };
}

export function failed(
  target: LoadedSite,
  type: UpdateType | 'site',
  slug: string,
  code: ErrorCode,
  message: string,
): ApplyError {
  return { ...siteFields(target), type, slug, code, message };
}

function listOf(snapshot: Snapshot | null, kind: ExtensionKind) {
  return kind === 'plugin' ? snapshot?.plugins : snapshot?.themes;
}

function versionsOf(list: Snapshot['plugins']): Map<string, string> | null {
  return list === undefined ? null : new Map(list.map((item) => [item.slug, item.version]));
}
