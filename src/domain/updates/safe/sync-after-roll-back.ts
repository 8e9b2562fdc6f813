/** Syncs a site after a roll-back. */

import type { Snapshot } from '../../../outbound/child/port.js';
import { storeSnapshot } from '../../connection/sync.js';
import type { Ctx } from '../../context.js';
import type { LoadedSite } from '../../sites/load.js';

/**
 * The new inventory of a site, stored; null if the site did not respond. With the digest of the record loaded before
 * the update, the old inventory would seem to be stored still.
 */
export function syncAfterRollBack(ctx: Ctx, { site, connection }: LoadedSite): Promise<Snapshot | null> {
  return storeSnapshot(ctx, { site: { ...site, content_hash: '' }, connection }, null);
}
