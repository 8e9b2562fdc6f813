/** Reads a site after updates were sent to it, until it shows them or there is no point in waiting. */

import type { Snapshot } from '../../outbound/child/port.js';
import { ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { type Seen, seenAfter, type UpdateProgress } from '../connection/attempt.js';
import type { Ctx } from '../context.js';
import { listOf } from '../sites/inventory.js';
import type { LoadedSite } from '../sites/load.js';
import { offeredIn } from './classify.js';
import type { UpdateType } from './results.js';
import type { Sent } from './send.js';

/** How long a site is waited for that does not show an update whose answer was lost. */
export interface Patience {
  /** For a site that is silent; default `update_wait_ms`. */
  waitMs?: number;
  /** What else is known of the update. */
  progress?: () => Promise<UpdateProgress>;
}

/** A site that is known to be broken is not read: it could take a minute to say nothing. */
export const UNREAD: Seen = {
  snapshot: null,
  silence: new ServiceError('svc_site_offline', 'The site is unhealthy after the update.'),
};

export function readBack(ctx: Ctx, target: LoadedSite, sent: Sent, patience: Patience = {}): Promise<Seen> {
  return seenAfter(ctx, target, sent.call, sent.came, shows(sent.type, sent.offers), patience);
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
