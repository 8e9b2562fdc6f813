/** Sends updates of one type to a site, and reads back their outcome. */

import type { ExtensionKind, Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { attempt, lookAfter, type Seen, type UpdateProgress } from '../connection/attempt.js';
import type { Ctx } from '../context.js';
import { installedBySlug, listOf } from '../sites/inventory.js';
import { type LoadedSite, requireConnection, siteCallError } from '../sites/load.js';
import { classifyCore, classifyExtension, classifyTranslation, offeredIn, type Verdict } from './classify.js';
import type { UpdateType } from './results.js';

/** How updates are sent. */
export interface Sending {
  /** Longest wait for the site's answer. */
  timeoutMs: number;
  /** Longest wait for a site that is silent after the connection broke; default `update_wait_ms`. */
  waitMs?: number;
  /**
   * Called once the site has answered. True = it is known to be broken: it is not read back, which could take a minute.
   */
  isBroken?: () => Promise<boolean>;
  /** Called while a site does not show an update whose answer was lost. */
  progress?: () => Promise<UpdateProgress>;
}

/** The call ran out of time, or the caller gave up. */
export function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'svc_cancelled';
}

/** Anything but a failure of the site is ours: it gets its own code, and the cause is logged. */
export function updateError(ctx: Ctx, target: LoadedSite, type: UpdateType, error: unknown): ServiceError {
  const failure = siteCallError(error, target.site.id, 'svc_update_failed');
  if (failure.code !== 'svc_internal_error') return failure;
  ctx.log.error({ err: failure.cause ?? error, site_id: target.site.id, type }, 'unexpected failure of an update');
  return new ServiceError('svc_update_exception', 'Something unexpected stopped the update. The log has the details.', {
    cause: error,
  });
}

/** The outcome of updates that were sent. */
export interface Judged {
  verdicts: { offer: FleetOffer; verdict: Verdict }[];
  /** Why the site could not be read afterwards; null if it answered. */
  silence: ServiceError | null;
}

/** Sends the updates of one type, reads the site back, and judges each. */
export function sendAndJudge(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  sending: Sending,
): Promise<Judged> {
  if (type === 'core') return applyCore(ctx, target, offers, sending);
  if (type === 'translation') return applyTranslations(ctx, target, offers, sending);
  return applyExtensions(ctx, target, type, offers, sending);
}

/** A bulk call first; then, one by one, the items that it refused without a reason specific to them. */
async function applyExtensions(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offers: readonly FleetOffer[],
  sending: Sending,
): Promise<Judged> {
  const judged = await sendExtensions(ctx, target, kind, offers, sending);
  if (offers.length === 1) return judged;
  for (const entry of judged.verdicts) {
    if (judged.silence !== null) break;
    if (!('unexplained' in entry.verdict) || entry.verdict.unexplained !== true) continue;
    const { offer } = entry;
    const alone = await sendExtensions(ctx, target, kind, [offer], sending).catch((error: unknown) =>
      failedAlone(offer, updateError(ctx, target, kind, error)),
    );
    entry.verdict = alone.verdicts[0]?.verdict ?? { open: true };
    judged.silence = alone.silence;
  }
  return judged;
}

/** Not thrown: the outcome of the bulk call is known by now. */
function failedAlone(offer: FleetOffer, failure: ServiceError): Judged {
  return isCancelled(failure)
    ? { verdicts: [], silence: failure }
    : { verdicts: [{ offer, verdict: { failure } }], silence: null };
}

async function sendExtensions(
  ctx: Ctx,
  target: LoadedSite,
  kind: ExtensionKind,
  offers: readonly FleetOffer[],
  sending: Sending,
): Promise<Judged> {
  const connection = requireConnection(target);
  const before = await installedBySlug(ctx, target.site.id, kind);
  const slugs = offers.map((offer) => offer.slug);
  const call = await attempt(ctx, () =>
    ctx.child.upgradeExtensions(connection, kind, slugs, { signal: ctx.signal, timeoutMs: sending.timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = listOf(brought, kind) === undefined ? null : brought;
  const seen =
    call.failure === null && (await sending.isBroken?.()) === true
      ? UNREAD
      : await lookAfter(ctx, target, call, came, shows(kind, offers), sending);
  const after = listOf(seen.snapshot, kind);
  return judge(offers, seen, (offer) => classifyExtension(offer, { call, seen }, { before, after }));
}

const UNREAD: Seen = {
  snapshot: null,
  silence: new ServiceError('svc_site_offline', 'The site is unhealthy after the update.'),
};

async function applyCore(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  { timeoutMs }: Sending,
): Promise<Judged> {
  const connection = requireConnection(target);
  const call = await attempt(ctx, () => ctx.child.upgradeCore(connection, { signal: ctx.signal, timeoutMs }));
  const seen = await lookAfter(ctx, target, call, null, shows('core', offers));
  return judge(offers, seen, (offer) => classifyCore(offer, { call, seen }));
}

async function applyTranslations(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
  { timeoutMs }: Sending,
): Promise<Judged> {
  const connection = requireConnection(target);
  const slugs = [...new Set(offers.map((offer) => offer.slug))];
  const call = await attempt(ctx, () =>
    ctx.child.upgradeTranslations(connection, slugs, { signal: ctx.signal, timeoutMs }),
  );
  const brought = call.answer?.snapshot ?? null;
  const came = brought?.translation_updates === undefined ? null : brought;
  const seen = await lookAfter(ctx, target, call, came, shows('translation', offers));
  return judge(offers, seen, (offer) => classifyTranslation(offer, { call, seen }));
}

function judge(offers: readonly FleetOffer[], seen: Seen, verdictOf: (offer: FleetOffer) => Verdict): Judged {
  return { verdicts: offers.map((offer) => ({ offer, verdict: verdictOf(offer) })), silence: seen.silence };
}

/** Whether a site no longer shows what it had before these updates of one type. */
export function shows(type: UpdateType, offers: readonly FleetOffer[]): (snapshot: Snapshot) => boolean {
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
