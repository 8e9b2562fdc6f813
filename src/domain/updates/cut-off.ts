/** Updates of a run that was cut off: what the site has done of them meanwhile. */

import type { Snapshot } from '../../child/child.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import type { Ctx } from '../context.js';
import { readUntil } from '../sites/attempt.js';
import type { LoadedSite } from '../sites/load.js';
import { inspectSite } from './after-update.js';
import { emitOutcomes, notTried } from './apply.js';
import { offeredIn } from './judge.js';
import { type Applied, type ApplyResult, failed, siteFields, UPDATE_TYPES, type UpdateType } from './results.js';
import { listOf, shows } from './send.js';

/**
 * After a run that was cut off: what of these offers it has applied, also when the site was still at work. They are as they were
 * stored before. `silent` = the site could not be read, so that nothing more should be sent.
 */
export async function finishCutOff(
  ctx: Ctx,
  target: LoadedSite,
  offers: readonly FleetOffer[],
): Promise<ApplyResult & { silent: boolean }> {
  const type = UPDATE_TYPES[Math.min(...offers.map((offer) => offer.type))] ?? 'core';
  // The call that was cut off was about the first type: an update that is still running must not be sent a second time.
  const expected = shows(
    type,
    offers.filter((offer) => UPDATE_TYPES[offer.type] === type),
  );
  const fresh = { ...target, site: { ...target.site, content_hash: '' } };
  const { snapshot, silence } = await readUntil(ctx, fresh, expected);
  if (silence?.code === 'svc_cancelled') throw silence;
  if (snapshot === null) {
    const why = `The update ran on when its call had ended, and the site has not shown since whether it took effect. ${silence?.message ?? ''}`;
    const errors = offers.map((offer) => {
      const word = UPDATE_TYPES[offer.type] ?? type;
      return word === type
        ? failed(target, word, offer.slug, 'svc_site_offline', why.trim())
        : notTried(target, word, offer);
    });
    emitOutcomes(ctx, type, { updated: [], errors: errors.filter((error) => error.type === type) });
    return { updated: [], errors, silent: true };
  }
  const updated = offers.flatMap((offer) => appliedIn(snapshot, target, offer));
  for (const word of UPDATE_TYPES)
    emitOutcomes(ctx, word, { updated: updated.filter((item) => item.type === word), errors: [] });
  return { updated, errors: await inspectSite(ctx, target, updated, null), silent: false };
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
