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
  'svc_requirement_missing',
  'svc_update_unprotected',
  'svc_no_updates',
  'svc_offer_changed',
  'svc_update_ignored',
  'svc_rollout_halted',
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

/** Those of the offers, of one site or of any, that are tried again; all, if the parameters are of no retry. */
export async function onlyFailed(
  ctx: Ctx,
  params: Pick<UpdateParams, 'retries'>,
  offers: readonly FleetOffer[],
  siteId?: number,
): Promise<FleetOffer[]> {
  let left = [...offers];
  for (const runId of params.retries ?? []) {
    const failed = await failedItems(ctx, runId, siteId);
    const sites = new Set(failed.filter(isWhole).map(({ site_id }) => site_id));
    const items = new Set(failed.map(keyOf));
    left = left.filter((offer) => sites.has(offer.site_id) || items.has(keyOf(offer)));
  }
  return left;
}

function keyOf({ site_id, type, slug }: FailedItem): string {
  return `${site_id} ${type} ${slug}`;
}
