import type { ChildFunction } from '../answer.js';
import { emptyCache } from '../page-cache.js';

/** `cache_purge_action` (child protocol §6.9) */
export const cachePurgeAction: ChildFunction = ({ site }) => {
  if (site.faults.pageCache === 'plugin') emptyCache(site);
  return { status: 'Disabled', action: 'SUCCESS' };
};
