/** Whether a site still works after updates: a visit of its front page, and what the child answered. */

import { siteWord } from '../../../schemas/site-text.js';
import { ChildFailure } from '../../child/child.js';
import type { ErrorCode, ServiceError } from '../../core/errors.js';
import type { Ctx } from '../context.js';
import { checksAfterUpdate } from '../settings/effects.js';
import { inMaintenance } from '../sites/attempt.js';
import { checkSite } from '../sites/check.js';
import type { LoadedSite } from '../sites/load.js';
import { type Applied, type ApplyError, failed } from './apply.js';

const OFFLINE: ErrorCode = 'svc_site_offline';

/**
 * Looks at a site after updates, and answers what is wrong with it since, as errors about the whole site. An alert names what was
 * installed.
 * @param silence why the child could not be read after the last update; null when it answered
 */
export async function inspectSite(
  ctx: Ctx,
  target: LoadedSite,
  updated: readonly Applied[],
  silence: ServiceError | null,
): Promise<ApplyError[]> {
  const visit = updated.length === 0 ? null : await visitFrontPage(ctx, target);
  const wrong = problem(visit, silence, updated);
  // As bad as before the update: not its doing.
  const before = target.site.http_status;
  const known = silence === null && visit !== null && visit.http_status === before;
  if (updated.length > 0 && !known && (wrong !== null || visit?.reachable === false)) {
    const http_status = statusOf(visit, silence);
    ctx.events.emit({
      name: 'site.http_check_failed',
      site_id: target.site.id,
      facts: { http_status, items: itemsOf(updated) },
    });
  }
  return wrong === null || known ? [] : [failed(target, 'site', '', OFFLINE, wrong)];
}

interface FrontPage {
  reachable: boolean;
  /** 0 = no answer. */
  http_status: number;
}

/** How long a bad front page is given before it is looked at once more: caches are rebuilt after an update. */
const SECOND_LOOK_MS = 2000;

/** Null when the settings want no visit, or none could be made. Never throws: the updates themselves have their outcome. */
async function visitFrontPage(ctx: Ctx, target: LoadedSite): Promise<FrontPage | null> {
  if (!(await checksAfterUpdate(ctx))) return null;
  try {
    const first = await checkSite(ctx, target);
    const pause = Math.min(SECOND_LOOK_MS, ctx.config.update_wait_ms);
    if (!isDead(first) || pause === 0) return first;
    await ctx.clock.sleep(pause, ctx.signal);
    return await checkSite(ctx, target);
  } catch (error) {
    ctx.log.warn({ err: error, site_id: target.site.id }, 'a site could not be visited after its update');
    return null;
  }
}

function isDead({ http_status }: FrontPage): boolean {
  return http_status === 0 || http_status >= 500;
}

/** What is wrong since the updates, in a sentence; null when the site works, or nothing says that it does not. */
function problem(visit: FrontPage | null, silence: ServiceError | null, updated: readonly Applied[]): string | null {
  if (inMaintenance(silence)) {
    return "The site is stuck in WordPress' maintenance mode since the update: delete the file .maintenance in the folder of WordPress. WordPress itself ignores it after 10 minutes.";
  }
  if (updated.length === 0) return null;
  const one = updated.length === 1;
  const installed = `${itemsOf(updated)} ${one ? 'was' : 'were'} installed`;
  const guess = `it is probably broken by ${one ? 'this update' : 'one of these updates'}.`;
  const dead = visit !== null && isDead(visit);
  if (silence === null)
    return dead ? `${installed}, but the front page of the site ${sinceThen(visit)}: ${guess}` : null;
  if (visit === null || dead)
    return `${installed}, but the site ${sinceThen({ http_status: statusOf(visit, silence) })}: ${guess}`;
  return `${installed}, but the child plugin does not answer since, although the front page is shown. ${silence.message}`;
}

function sinceThen({ http_status }: Pick<FrontPage, 'http_status'>): string {
  return http_status === 0 ? 'has not answered since' : `has answered HTTP ${http_status} since`;
}

function statusOf(visit: FrontPage | null, silence: ServiceError | null): number {
  if (visit !== null && (silence === null || visit.http_status > 0)) return visit.http_status;
  return silence?.cause instanceof ChildFailure ? silence.cause.httpStatus : 0;
}

const NAMED = 5;

/** `Akismet 5.4, Jetpack 14.1 and 3 more`. */
function itemsOf(updated: readonly Applied[]): string {
  const named = updated.slice(0, NAMED).map(({ name, new_version }) => `${siteWord(name)} ${siteWord(new_version)}`);
  const more = updated.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
