/**
 * Installs updates on a site without protection, type by type. An update counts only if the version on the site
 * changed: the child reports success for slugs without an update and even for items that are not installed (child
 * protocol §6.8).
 */

import type { ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { type Classified, classify } from './classify.js';
import { finish, type TypeResult } from './finish.js';
import { readBack } from './read-back.js';
import { type ApplyError, type ApplyResult, codeOfSilence, failed, UPDATE_TYPES, type UpdateType } from './results.js';
import { isCancelled, send, updateError } from './send.js';

/**
 * Core, plugins, themes, translations. A failing type does not stop the next, but a site that no longer answers does.
 * The caller holds the lock of the site.
 */
export async function install(ctx: Ctx, target: LoadedSite, offers: readonly FleetOffer[]): Promise<ApplyResult> {
  const result: ApplyResult = { updated: [], errors: [] };
  let silence: ServiceError | null = null;
  let unseen: readonly FleetOffer[] = [];
  let done = 0;
  for (const type of UPDATE_TYPES) {
    ctx.progress({ done, total: offers.length, message: target.site.url });
    const ofType = offers.filter((offer) => UPDATE_TYPES[offer.type] === type);
    done += ofType.length;
    if (ofType.length === 0) continue;
    if (silence !== null) {
      const why = silence;
      result.errors.push(...ofType.map((offer) => notTried(target, type, offer, why)));
      continue;
    }
    const later = offers.filter((offer) => offer.type > UPDATE_TYPES.indexOf(type)).map((offer) => offer.type);
    const next = UPDATE_TYPES[Math.min(...later)];
    const part = await installType(ctx, target, type, ofType, next).catch((error: unknown) => {
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

/**
 * One call for all; then, one by one, the plugins or themes that it refused without a reason specific to them.
 * @param next the type that is sent after it
 */
async function installType(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  next: UpdateType | undefined,
): Promise<TypeResult> {
  emitStarted(ctx, target, type, offers);
  const all = await sendAndRead(ctx, target, type, offers).catch((error: unknown) =>
    stopped(ctx, target, type, offers, error),
  );
  if (offers.length > 1 && (type === 'plugin' || type === 'theme'))
    for (const entry of all.outcomes) {
      if (all.silence !== null) break;
      if (!('unexplained' in entry.outcome) || entry.outcome.unexplained !== true) continue;
      const alone = await sendAndRead(ctx, target, type, [entry.offer]).catch((error: unknown) =>
        stoppedAlone(ctx, target, type, entry.offer, error),
      );
      entry.outcome = alone.outcomes[0]?.outcome ?? { open: true };
      all.silence = alone.silence;
    }
  return finish(ctx, target, type, all, false, all.silence === null ? next : undefined);
}

async function sendAndRead(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
): Promise<Classified> {
  const sent = await send(ctx, target, type, offers);
  return classify(sent, await readBack(ctx, target, sent));
}

export function emitStarted(ctx: Ctx, { site }: LoadedSite, type: UpdateType, offers: readonly FleetOffer[]): void {
  for (const { slug } of offers) ctx.events.emit({ name: `${type}.update_started`, site_id: site.id, facts: { slug } });
}

/** What was thrown is the outcome of all, unless the call is over: then it is thrown again. */
export function stopped(
  ctx: Ctx,
  target: LoadedSite,
  type: UpdateType,
  offers: readonly FleetOffer[],
  error: unknown,
): Classified {
  const failure = updateError(ctx, target, type, error);
  if (isCancelled(failure)) throw failure;
  return { outcomes: offers.map((offer) => ({ offer, outcome: { failure, stopped: true } })), silence: null };
}

/** Never throws: the outcomes of the call for all are known by now. */
function stoppedAlone(ctx: Ctx, target: LoadedSite, type: UpdateType, offer: FleetOffer, error: unknown): Classified {
  const failure = updateError(ctx, target, type, error);
  return isCancelled(failure)
    ? { outcomes: [], silence: failure }
    : { outcomes: [{ offer, outcome: { failure, stopped: true } }], silence: null };
}
