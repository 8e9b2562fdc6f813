/** One site's work asked for directly: the same function as in a selection, failing by throwing. */

import type { Ctx } from '../context.js';
import type { JobHandler, NoParams } from '../jobs/handlers.js';
import { loadSite, siteCallError } from './load.js';
import { getSite, type SiteRef } from './resolve.js';
import { NO_PARAMS } from './run-on-sites.js';
import { loadRecord } from './sites.js';

/** Runs the work and answers its result. */
export async function resultOnSite<R>(ctx: Ctx, work: JobHandler<NoParams, R>, ref: SiteRef): Promise<R> {
  const site = await getSite(ctx, ref);
  const target = await loadSite(ctx, site.id);
  try {
    return await work.run(ctx, target, NO_PARAMS);
  } catch (error) {
    throw siteCallError(error, site.id, work.failure);
  }
}

/** Runs the work and answers where the site stands afterwards. */
export async function runOnSite(ctx: Ctx, work: JobHandler<NoParams, unknown>, ref: SiteRef) {
  const site = await getSite(ctx, ref);
  await resultOnSite(ctx, work, site.id);
  const { id, url, status } = await loadRecord(ctx, site.id);
  return { site_id: id, site_url: url, status };
}
