/**
 * Applying updates on one site: send, read back, judge, visit. Nothing is called updated unless the version on the site changed:
 * the child answers success for slugs without an update and even for ones that are not installed (child protocol §6.8).
 */

import type { ExtensionKind, Snapshot } from '../../child/child.js';
import { type ErrorCode, ServiceError } from '../../core/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { installedExtensions } from '../extensions/inventory.js';
import { type Attempt, attempt, connectionBroke, readBack, readUntil, type Seen } from '../sites/attempt.js';
import { type LoadedSite, requireConnection, siteCallError } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import { judgeCore, judgeExtension, judgeTranslation, offeredIn, type Verdict } from './judge.js';

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
}

export interface ApplyResult {
  /** What was installed, also when an entry of `errors` tells that it did harm. */
  updated: Applied[];
  errors: ApplyError[];
  /** The call was cut off before every offer had its outcome; the rest is in neither list. */
  interrupted?: boolean;
}

/** Updates may unpack large archives on slow hosts. */
const UPDATE_TIMEOUT_MS = 10 * 60_000;

/**
 * Applies the given offers, type by type: core, plugins, themes, translations. A failing type does not stop the next, a site that
 * no longer answers does.
 */
export async function applyOffers(
  caller: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs = UPDATE_TIMEOUT_MS,
): Promise<ApplyResult> {
  return caller.locks.exclusive(target.site.id, caller.signal, async (held) => {
    const ctx: Ctx = { ...caller, signal: AbortSignal.any([caller.signal, held]) };
    const result: ApplyResult = { updated: [], errors: [] };
    let silence: ServiceError | null = null;
    for (const type of UPDATE_TYPES) {
      const ofType = offers.filter((offer) => UPDATE_TYPES[offer.type] === type);
      if (ofType.length === 0) continue;
      if (silence !== null) {
        result.errors.push(...ofType.map((offer) => notTried(target, type, offer)));
        continue;
      }
      const part = await applyType(ctx, target, type, ofType, timeoutMs).catch((error: unknown) => {
        if (isCancelled(error) && result.updated.length + result.errors.length > 0) return CUT_OFF;
        throw error;
      });
      result.updated.push(...part.updated);
      result.errors.push(...part.errors);
      if (part.interrupted) return { ...result, interrupted: true };
      silence = part.silence;
    }
    result.errors.push(...(await inspectSite(ctx, target, result.updated, silence)));
    return result;
  });
}

interface TypeResult extends ApplyResult {
  /** Why the site could not be read afterwards; null when it answered, or nothing was sent. */
  silence: ServiceError | null;
}

const CUT_OFF: TypeResult = { updated: [], errors: [], silence: null, interrupted: true };

function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'svc_cancelled';
}

function notTried(target: LoadedSite, type: UpdateType, offer: FleetOffer): ApplyError {
  const message = 'Not tried: the site has not answered since the updates before this one.';
  return failed(target, type, offer.slug, 'svc_site_offline', message);
}

async function applyType(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<TypeResult> {
  for (const offer of offers)
    ctx.events.emit({ name: `${type}.update_started`, site_id: target.site.id, facts: { slug: offer.slug } });
  let result: TypeResult;
  try {
    result = resultOf(target, type, await sendAndJudge(ctx, target, type, offers, timeoutMs));
  } catch (error) {
    const failure = updateError(ctx, target, type, error);
    if (isCancelled(failure)) throw failure;
    const errors = offers.map((offer) => failed(target, type, offer.slug, failure.code, failure.message));
    result = { updated: [], errors, silence: null };
  }
  await ctx.store.updates.applied(
    target.site.id,
    UPDATE_TYPES.indexOf(type),
    result.updated.map((item) => ({ slug: item.slug, version: item.new_version })),
  );
  emitOutcomes(ctx, type, result);
  return result;
}

function emitOutcomes(ctx: Ctx, type: UpdateType, { updated, errors }: ApplyResult): void {
  for (const { site_id, slug, old_version, new_version } of updated)
    ctx.events.emit({ name: `${type}.updated`, site_id, facts: { slug, old_version, new_version } });
  for (const { site_id, slug, code } of errors)
    ctx.events.emit({ name: `${type}.update_failed`, site_id, facts: { slug, code } });
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

interface Judged {
  verdicts: { offer: FleetOffer; verdict: Verdict }[];
  silence: ServiceError | null;
}

function sendAndJudge(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<Judged> {
  if (type === 'core') return applyCore(ctx, target, offers, timeoutMs);
  if (type === 'translation') return applyTranslations(ctx, target, offers, timeoutMs);
  return applyExtensions(ctx, target, type, offers, timeoutMs);
}

/** A bulk call first; then, one by one, the items that it refused without a reason of their own. */
async function applyExtensions(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<Judged> {
  const judged = await sendExtensions(ctx, target, kind, offers, timeoutMs);
  if (offers.length === 1) return judged;
  for (const entry of judged.verdicts) {
    if (judged.silence !== null) break;
    if (!('unexplained' in entry.verdict) || entry.verdict.unexplained !== true) continue;
    const alone = await sendAlone(ctx, target, kind, entry.offer, timeoutMs);
    entry.verdict = alone.verdict;
    judged.silence = alone.silence;
  }
  return judged;
}

/** Never throws: what the bulk call has done is known by now. */
async function sendAlone(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offer: FleetOffer,
  timeoutMs: number,
): Promise<{ verdict: Verdict; silence: ServiceError | null }> {
  try {
    const { verdicts, silence } = await sendExtensions(ctx, target, kind, [offer], timeoutMs);
    return { verdict: verdicts[0]?.verdict ?? { open: true }, silence };
  } catch (error) {
    const failure = updateError(ctx, target, kind, error);
    return isCancelled(failure)
      ? { verdict: { open: true }, silence: failure }
      : { verdict: { failure }, silence: null };
  }
}

async function sendExtensions(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<Judged> {
  const connection = requireConnection(target);
  const before = new Map((await installedExtensions(ctx, target.site.id, kind)).map((row) => [row.slug, row]));
  const slugs = offers.map((offer) => offer.slug);
  const call = await attempt(ctx, () =>
    ctx.child.upgradeExtensions(connection, kind, slugs, { signal: ctx.signal, timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = listOf(brought, kind) === undefined ? null : brought;
  const seen = await lookAfter(ctx, target, call, came, shows(kind, offers));
  const after = listOf(seen.snapshot, kind);
  return judge(offers, seen, (offer) => judgeExtension(offer, { call, seen }, { before, after }));
}

/**
 * The site after a call. What came along with the answer may be WordPress' cache of before the update, so it counts only when it
 * shows the change; otherwise the site is asked.
 */
async function lookAfter<T>(
  ctx: Ctx,
  target: LoadedSite,
  call: Attempt<T>,
  came: Snapshot | null,
  changed: (snapshot: Snapshot) => boolean,
): Promise<Seen> {
  if (came !== null) {
    const seen = await readBack(ctx, target, came);
    if (changed(came)) return seen;
  }
  // Behind a gateway that gave up, PHP may still be at work: then an unchanged site is looked at again.
  return readUntil(ctx, target, connectionBroke(call.failure) ? changed : () => true);
}

async function applyCore(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<Judged> {
  const connection = requireConnection(target);
  const call = await attempt(ctx, () => ctx.child.upgradeCore(connection, { signal: ctx.signal, timeoutMs }));
  const seen = await lookAfter(ctx, target, call, null, shows('core', offers));
  return judge(offers, seen, (offer) => judgeCore(offer, { call, seen }));
}

async function applyTranslations(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  timeoutMs: number,
): Promise<Judged> {
  const connection = requireConnection(target);
  const slugs = [...new Set(offers.map((offer) => offer.slug))];
  const call = await attempt(ctx, () =>
    ctx.child.upgradeTranslations(connection, slugs, { signal: ctx.signal, timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = brought?.translation_updates === undefined ? null : brought;
  const seen = await lookAfter(ctx, target, call, came, shows('translation', offers));
  return judge(offers, seen, (offer) => judgeTranslation(offer, { call, seen }));
}

function judge(offers: readonly FleetOffer[], seen: Seen, verdictOf: (offer: FleetOffer) => Verdict): Judged {
  return { verdicts: offers.map((offer) => ({ offer, verdict: verdictOf(offer) })), silence: seen.silence };
}

function resultOf(target: LoadedSite, type: UpdateType, { verdicts, silence }: Judged): TypeResult {
  const result: TypeResult = { updated: [], errors: [], silence };
  for (const { offer, verdict } of verdicts) {
    if ('open' in verdict) {
      result.interrupted = true;
    } else if ('failure' in verdict) {
      result.errors.push(failed(target, type, offer.slug, verdict.failure.code, verdict.failure.message));
    } else {
      const { slug, name, current_version: old_version } = offer;
      result.updated.push({ ...siteFields(target), type, slug, name, old_version, new_version: verdict.version });
      const { aside } = verdict;
      if (aside !== undefined) result.errors.push(failed(target, type, aside.slug, aside.code, aside.message));
    }
  }
  // All outcomes are known, but the time is up.
  if (silence?.code === 'svc_cancelled') result.interrupted = true;
  return result;
}

/** Whether a site no longer shows what it had before these updates of one type. */
function shows(type: UpdateType, offers: readonly FleetOffer[]): (snapshot: Snapshot) => boolean {
  return (snapshot) => {
    if (type === 'core') return offers.every((offer) => snapshot.wp_version !== offer.current_version);
    if (type === 'translation') {
      const open = offeredIn(snapshot);
      return offers.every((offer) => open?.get(offer.slug) !== offer.new_version);
    }
    const versions = new Map(listOf(snapshot, type)?.map((item) => [item.slug, item.version]));
    return offers.every((offer) => versions.get(offer.slug) !== offer.current_version);
  };
}

/**
 * After a run that was cut off: what of these offers it has applied, also when the site was still at work. They are as they were
 * stored before. Throws when the site cannot be read.
 */
export async function finishCutOff(ctx: Ctx, target: LoadedSite, offers: readonly FleetOffer[]): Promise<ApplyResult> {
  const type = UPDATE_TYPES[Math.min(...offers.map((offer) => offer.type))] ?? 'core';
  // The call that was cut off was about the first type: an update that is still running must not be sent a second time.
  const expected = shows(
    type,
    offers.filter((offer) => UPDATE_TYPES[offer.type] === type),
  );
  const fresh = { ...target, site: { ...target.site, content_hash: '' } };
  const { snapshot, silence } = await readUntil(ctx, fresh, expected);
  if (snapshot === null || silence !== null)
    throw silence ?? new ServiceError('svc_site_offline', 'The site could not be read.');
  const updated = offers.flatMap((offer) => appliedIn(snapshot, target, offer));
  for (const word of UPDATE_TYPES)
    emitOutcomes(ctx, word, { updated: updated.filter((item) => item.type === word), errors: [] });
  return { updated, errors: await inspectSite(ctx, target, updated, null) };
}

function appliedIn(snapshot: Snapshot, target: LoadedSite, offer: FleetOffer): Applied[] {
  const type = UPDATE_TYPES[offer.type];
  if (type === undefined) return [];
  const now = versionIn(snapshot, type, offer);
  if (now === '' || now === offer.current_version) return [];
  const { slug, name, current_version: old_version } = offer;
  return [{ ...siteFields(target), type, slug, name, old_version, new_version: now }];
}

/** The version of an item as the site shows it; '' when it does not tell. */
function versionIn(snapshot: Snapshot, type: UpdateType, { slug, new_version }: FleetOffer): string {
  if (type === 'core') return snapshot.wp_version ?? '';
  if (type === 'translation') return offeredIn(snapshot)?.get(slug) === new_version ? '' : new_version;
  return listOf(snapshot, type)?.find((item) => item.slug === slug)?.version ?? '';
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
