/** Updates of an interrupted run: what the site has applied of them in the meantime. */

import type { Snapshot } from '../../outbound/child/port.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { readUntil } from '../connection/attempt.js';
import { FINISHED_LATER } from '../connection/open-changes.js';
import type { Ctx } from '../context.js';
import { installedBySlug, listOf } from '../sites/inventory.js';
import type { LoadedSite } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import { type Inventories, offeredIn, shownUpdate } from './classify.js';
import { emitFailures, keepUnknown } from './finish.js';
import { notTried } from './install.js';
import { shows } from './read-back.js';
import {
  type Applied,
  type ApplyError,
  type ApplyResult,
  applied,
  codeOfSilence,
  failed,
  UPDATE_TYPES,
} from './results.js';

/**
 * After an interrupted run: which of these updates it applied, even if the site was still at work. They are as stored
 * before the run. `silent` = the site could not be read, so nothing more should be sent.
 */
export async function finishInterrupted(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
): Promise<ApplyResult & { silent: boolean }> {
  const type = UPDATE_TYPES[Math.min(...offers.map((offer) => offer.type))] ?? 'core';
  // The interrupted call was for the first type: an update that is still running must not be sent a second time.
  const sent = offers.filter((offer) => UPDATE_TYPES[offer.type] === type);
  // The state when the run began.
  const [plugin, theme] = await Promise.all([
    installedBySlug(ctx, target.site.id, 'plugin'),
    installedBySlug(ctx, target.site.id, 'theme'),
  ]);
  const fresh = { ...target, site: { ...target.site, content_hash: '' } };
  const { snapshot, silence } = await readUntil(ctx, fresh, shows(type, sent));
  if (silence?.code === 'svc_cancelled') throw silence;
  if (snapshot === null) {
    const why = `The site had not answered when the call ended, and has not shown since whether the update took effect. ${silence?.message ?? ''}`;
    const errors = offers.map((offer) => {
      const word = UPDATE_TYPES[offer.type] ?? type;
      return word === type
        ? {
            ...failed(target, word, offer.slug, codeOfSilence(silence), `${why.trim()} ${FINISHED_LATER}`),
            unknown: true as const,
          }
        : notTried(target, word, offer, silence);
    });
    await keepUnknown(ctx, target, type, sent, errors);
    emitFailures(
      ctx,
      type,
      errors.filter((error) => error.type === type),
    );
    return { updated: [], errors, silent: true };
  }
  const found = offers.flatMap((offer) => appliedIn(snapshot, target, offer, { plugin, theme }));
  const updated = found.map(({ item }) => item);
  const aside = found.flatMap((one) => one.aside ?? []);
  const inspected = await inspectSite(ctx, target, updated, null);
  return { ...inspected, errors: [...aside, ...inspected.errors], silent: false };
}

function appliedIn(
  snapshot: Snapshot,
  target: LoadedSite,
  offer: FleetOffer,
  installed: Readonly<Record<'plugin' | 'theme', Inventories['before']>>,
): { item: Applied; aside?: ApplyError }[] {
  const type = UPDATE_TYPES[offer.type];
  if (type === undefined) return [];
  const { current_version: old_version } = offer;
  if (type === 'plugin' || type === 'theme') {
    const shown = shownUpdate(offer, { before: installed[type], after: listOf(snapshot, type) });
    if (shown === null) return [];
    const { version, aside } = shown;
    const error = aside && {
      ...failed(target, type, aside.slug, aside.code, aside.message),
      planned_as: offer.slug,
    };
    return [
      { item: applied(target, type, offer, old_version, version), ...(error === undefined ? {} : { aside: error }) },
    ];
  }
  const now = type === 'core' ? (snapshot.wp_version ?? '') : translationIn(snapshot, offer);
  return now === '' || now === old_version ? [] : [{ item: applied(target, type, offer, old_version, now) }];
}

/** Its new version if the site no longer offers it; '' = it still does. */
function translationIn(snapshot: Snapshot, { slug, new_version }: FleetOffer): string {
  return offeredIn(snapshot)?.get(slug) === new_version ? '' : new_version;
}
