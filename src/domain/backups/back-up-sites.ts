/** Backs up sites, now or as a job. */

import { ServiceError } from '../../runtime/errors.js';
import { chooseSites, errorEntries, NO_PARAMS, runOnOne, runOrQueue } from '../actions/run-on-sites.js';
import type { Ctx } from '../context.js';
import type { LoadedSite } from '../sites/load.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { type BackedUp, figuresOf } from './back-up-site.js';
import { backupHandler } from './handler.js';

/** Backs up one site. @throws ServiceError, also `svc_still_running` where it goes on as a job */
export async function backUpOne(ctx: Ctx, ref: SiteRef) {
  const site = await getSite(ctx, ref);
  const { result, continued } = await runOnOne(ctx, backupHandler, site, NO_PARAMS);
  return { ...continued, backup: viewOf(site, result) };
}

/** One site, which fails as a whole, or several, of which each may fail. */
export async function backUpSites(ctx: Ctx, one: SiteRef | undefined, several: readonly SiteRef[] | undefined) {
  if ((one === undefined) === (several === undefined))
    throw new ServiceError('svc_invalid_input', 'Name either one site or several.', {
      field: 'site_id_or_domain',
      advice: 'Send site_id_or_domain or site_ids_or_domains.',
    });
  if (one !== undefined) {
    const { backup, ...job } = await backUpOne(ctx, one);
    return { ...job, queued: false, backup_id: backup.backup_id, backups: [backup], errors: [], total_errors: 0 };
  }
  const selection = await chooseSites(ctx, several ?? [], { failWhenNothingResolves: true });
  const answer = await runOrQueue(ctx, backupHandler, selection, NO_PARAMS);
  if (answer.queued) return { ...answer, total_errors: answer.errors.length };
  const errors = errorEntries(selection, answer.failures);
  const backups = answer.done.map(({ target, result }) => viewOf(target.site, result));
  return { ...answer.continued, queued: false, backups, errors, total_errors: errors.length };
}

function viewOf({ id, url }: Pick<LoadedSite['site'], 'id' | 'url'>, { backup_id, facts }: BackedUp) {
  return { backup_id, site_id: id, site_url: url, ...figuresOf(facts) };
}
