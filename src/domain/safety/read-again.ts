/** Reads a site after something was put back. */

import type { Snapshot } from '../../child/child.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { storeSnapshot } from '../sites/sync.js';

/**
 * The inventory of a site, stored; null when the site did not answer. The digest of the record that was loaded before the
 * update would make the old inventory look as if it were stored still.
 */
export function readAgain(ctx: Ctx, { site, connection }: LoadedSite): Promise<Snapshot | null> {
  return storeSnapshot(ctx, { site: { ...site, content_hash: '' }, connection }, null);
}
