/** What failed in a run and may be tried again. */

import type { ErrorCode } from '../../../runtime/errors.js';
import type { FleetOffer } from '../../../store/updates/updates.js';
import type { Ctx } from '../../context.js';
import type { UpdateParams } from '../params.js';
import { BROKE, UPDATE_TYPES } from '../results.js';

/** Reasons that hold the next time, too. */
const HOLDS: readonly string[] = [
  BROKE,
  'svc_version_quarantined',
  'svc_update_unprotected',
  'svc_no_updates',
] satisfies ErrorCode[];

export interface FailedItem {
  site_id: number;
  /** Number of the update type; the one after the last = the whole site. */
  type: number;
  slug: string;
}

/** Failed items of a run, and those that were not tried because of their site; of one site or of all. */
export function failedItems(ctx: Ctx, runId: string, siteId?: number): Promise<FailedItem[]> {
  return ctx.store.updateRuns.failed(runId, HOLDS, siteId);
}

/** Of a site that failed before any item was tried. */
export function isWhole({ type }: FailedItem): boolean {
  return type === UPDATE_TYPES.length;
}

/** Those of the offers of a site that are tried again; all, if nothing is. */
export async function onlyFailed(ctx: Ctx, siteId: number, params: UpdateParams, offers: FleetOffer[]) {
  let left = offers;
  for (const runId of params.retries ?? []) {
    const failed = await failedItems(ctx, runId, siteId);
    left = left.filter((offer) => isAmong(failed, offer));
  }
  return left;
}

function isAmong(failed: readonly FailedItem[], { site_id, type, slug }: FleetOffer): boolean {
  return failed.some(
    (item) => item.site_id === site_id && (isWhole(item) || (item.type === type && item.slug === slug)),
  );
}
