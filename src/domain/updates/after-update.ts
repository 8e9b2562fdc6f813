/** Checks whether a site still works after updates: by a visit of its front page, and by the child's answers. */

import { siteWord } from '../../../schemas/site-text.js';
import type { ServiceError } from '../../runtime/errors.js';
import type { FleetOffer } from '../../store/updates/updates.js';
import { inMaintenance, patienceMs, sinceThen, statusOf } from '../connection/attempt.js';
import { type CheckResult, checkSite } from '../connection/check.js';
import type { Ctx } from '../context.js';
import { visitAfterUpdate } from '../settings/effects.js';
import type { LoadedSite } from '../sites/load.js';
import { FRONT_PAGE, NOT_LOOKED } from './checked.js';
import { emitHarmful, emitUpdated } from './finish.js';
import { type Applied, type ApplyError, type ApplyResult, BROKE, codeOfSilence, failed } from './results.js';

/**
 * Checks a site after updates, and emits an event for each of them that counts, or did harm. If it has been down since, none of them was a success: each is an error, with its
 * version. Anything else that has been wrong since is an error of the whole site. An alert names what was installed.
 * @param silence why the child could not be read after the last update; null if it answered
 * @param unseen what was sent last, if the connection broke and the site did not show the outcome
 */
export async function inspectSite(
  ctx: Ctx,
  target: LoadedSite,
  updated: Applied[],
  silence: ServiceError | null,
  unseen: readonly FleetOffer[] = [],
): Promise<Pick<ApplyResult, 'updated' | 'errors' | 'look'>> {
  const seen = await inspect(ctx, target, updated, silence, unseen);
  emitUpdated(ctx, seen.updated);
  emitHarmful(
    ctx,
    updated.filter((item) => !seen.updated.includes(item)),
    BROKE,
  );
  return seen;
}

async function inspect(
  ctx: Ctx,
  target: LoadedSite,
  updated: Applied[],
  silence: ServiceError | null,
  unseen: readonly FleetOffer[],
): Promise<Pick<ApplyResult, 'updated' | 'errors' | 'look'>> {
  const touched = updated.length + unseen.length > 0;
  const visit = touched ? await visitFrontPage(ctx, target) : null;
  const look = touched ? { look: visit === null ? NOT_LOOKED : FRONT_PAGE } : {};
  const wrong = problem(visit, silence, { updated, unseen });
  // As bad as before the update: not caused by it.
  const before = target.site.http_status;
  const known = silence === null && visit !== null && visit.http_status === before;
  if (touched && !known && (wrong !== null || (updated.length > 0 && visit?.reachable === false))) {
    ctx.events.emit({
      name: 'site.http_check_failed',
      site_id: target.site.id,
      facts: { ...badAnswer(visit, silence), items: itemsOf([...updated, ...unseen]) },
    });
  }
  if (wrong === null || known) return { updated, errors: [], ...look };
  if (!wrong.down || updated.length === 0)
    return { updated, errors: [failed(target, 'site', '', codeOfSilence(silence), wrong.message)], ...look };
  const together = updated.length + unseen.length;
  return { updated: [], errors: updated.map((item) => brokeSite(target, item, together, wrong)), ...look };
}

/** The error of an update after which its site is down: it is installed, but no success. */
function brokeSite(target: LoadedSite, item: Applied, together: number, { since }: Problem): ApplyError {
  const { type, slug, new_version } = item;
  const installed = `${itemsOf([item])} was installed`;
  const message =
    since === null ? `${installed}. ${MAINTENANCE}` : `${installed}, but the site ${since}: ${guessOf(together)}`;
  return { ...failed(target, type, slug, BROKE, message), new_version };
}

type FrontPage = Pick<CheckResult, 'reachable' | 'http_status' | 'maintenance'>;

/** How long to wait before a bad front page is checked once more: caches are rebuilt after an update. */
const SECOND_LOOK_MS = 2000;
/** Before one that was turned away is. */
const THIRD_LOOK_MS = 8000;

/** Null if the settings disable the visit, or none could be made. Never throws: the updates have their own outcome. */
async function visitFrontPage(ctx: Ctx, target: LoadedSite): Promise<FrontPage | null> {
  const method = await visitAfterUpdate(ctx);
  if (method === null) return null;
  try {
    const first = await checkSite(ctx, target, { method });
    const pause = Math.min(SECOND_LOOK_MS, ctx.config.update_wait_ms);
    if (!isDead(first) || pause === 0) return first;
    await ctx.clock.sleep(pause, ctx.signal);
    // A site that is slow to answer may be slow here, too.
    const second = await checkSite(ctx, target, { method, timeoutMs: patienceMs(ctx) });
    if (second.http_status !== 503 || second.maintenance) return second;
    // Perhaps a limit of requests, which the updates have used up.
    await ctx.clock.sleep(Math.min(THIRD_LOOK_MS, ctx.config.update_wait_ms), ctx.signal);
    return await checkSite(ctx, target, { method, timeoutMs: patienceMs(ctx) });
  } catch (error) {
    ctx.log.warn({ err: error, site_id: target.site.id }, 'a site could not be checked after its update');
    return null;
  }
}

function isDead({ http_status }: FrontPage): boolean {
  return http_status === 0 || http_status >= 500;
}

const MAINTENANCE =
  "The site has been stuck in WordPress' maintenance mode since the update: delete the file .maintenance in the WordPress folder. WordPress itself ignores it after 10 minutes.";

/** What has been wrong since the updates. */
interface Problem {
  /** About the whole site, as a sentence. */
  message: string;
  /** Visitors get no page; false = the child plugin alone does not work. */
  down: boolean;
  /** How the site has answered since; null while it is in maintenance. */
  since: string | null;
}

/** Null if the site works, or nothing suggests otherwise. */
function problem(
  visit: FrontPage | null,
  silence: ServiceError | null,
  { updated, unseen }: { updated: readonly Applied[]; unseen: readonly FleetOffer[] },
): Problem | null {
  if (inMaintenance(silence) || visit?.maintenance === true) return { message: MAINTENANCE, down: true, since: null };
  const dead = visit !== null && isDead(visit);
  const status = shownStatus(visit, silence);
  // If the site is silent altogether, the update itself has reported it; an error page is additional information.
  if (updated.length === 0 && (unseen.length === 0 || !dead || status === 0)) return null;
  const done = [
    ...(updated.length === 0 ? [] : [`${itemsOf(updated)} ${updated.length === 1 ? 'was' : 'were'} installed`]),
    ...(unseen.length === 0 ? [] : [`the update to ${itemsOf(unseen)} was sent`]),
  ].join(' and ');
  const what = done.replace(/^the /, 'The ');
  const since = sinceThen(status);
  if (dead || (silence !== null && visit === null)) {
    const guess = guessOf(updated.length + unseen.length);
    return {
      message: `${what}, but the ${silence === null ? 'front page of the site' : 'site'} ${since}: ${guess}`,
      down: true,
      since,
    };
  }
  if (silence === null) return null;
  return {
    message: `${what}, but the child plugin has not answered since, although the front page is shown. ${silence.message}`,
    down: false,
    since,
  };
}

function guessOf(updates: number): string {
  return `it is probably broken by ${updates === 1 ? 'this update' : 'one of these updates'}.`;
}

/** The same as facts: the child's answer if only the child does not work. */
function badAnswer(visit: FrontPage | null, silence: ServiceError | null) {
  const isChild =
    silence !== null && !inMaintenance(silence) && visit?.maintenance !== true && !(visit && isDead(visit));
  return isChild
    ? { http_status: statusOf(silence), part: 'child_plugin' as const }
    : { http_status: shownStatus(visit, silence), part: 'front_page' as const };
}

function shownStatus(visit: FrontPage | null, silence: ServiceError | null): number {
  return visit !== null && (silence === null || visit.http_status > 0) ? visit.http_status : statusOf(silence);
}

const NAMED = 5;

/** `Akismet 5.4, Jetpack 14.1 and 3 more`. */
function itemsOf(updated: readonly Pick<Applied, 'name' | 'new_version'>[]): string {
  const named = updated.slice(0, NAMED).map(({ name, new_version }) => `${siteWord(name)} ${siteWord(new_version)}`);
  const more = updated.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
