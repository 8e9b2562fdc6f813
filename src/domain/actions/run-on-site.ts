/** Single-site calls: run the same job handler as multi-site calls, and fail by throwing. */

import type { Ctx } from '../context.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { loadRecord } from '../sites/sites.js';
import type { JobHandler, NoParams } from './handler.js';
import { NO_PARAMS, runOnOne } from './run-on-sites.js';

/** Runs the handler within the time of a direct call and returns its result. Throws as `runOnOne` does. */
export async function resultOnSite<R>(ctx: Ctx, handler: JobHandler<NoParams, R>, ref: SiteRef): Promise<R> {
  const { result } = await runOnOne(ctx, handler, await getSite(ctx, ref), NO_PARAMS);
  return result;
}

/** Runs the handler and returns the site's status afterwards. */
export async function runOnSite(ctx: Ctx, handler: JobHandler<NoParams, unknown>, ref: SiteRef) {
  const site = await getSite(ctx, ref);
  await resultOnSite(ctx, handler, site.id);
  const { id, url, status } = await loadRecord(ctx, site.id);
  return { site_id: id, site_url: url, status };
}
