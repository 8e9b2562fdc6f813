/** Makes the guard of a site keep a copy of the old version of an item, and disarms the guard afterwards. */

import { siteSays, siteWord } from '../../../../schemas/site-text.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardSnapshot, SiteGuard } from '../../../outbound/guard/guards.js';
import { ServiceError } from '../../../runtime/errors.js';
import { siteCallError } from '../../sites/load.js';
import { ARMED_SECONDS, note, type SafeItem, type SafeRun } from './run-state.js';

/** Time for our own checks after an update: until then no visitor decides, as they can provoke errors in any version. */
const PATIENCE_SECONDS = 30;
/** Visitors make some plugins change files of their own, at any moment: a refused copy is asked for so many more times. */
const MORE_TRIES = 3;
const AGAIN_MS = 1_000;
/** What the guard says where files changed while it copied them. */
const PASSING = ['changed', 'damaged'];

/**
 * Has the guard keep the old version, and lets it restore it on its own. Throws ServiceError, and then nothing has
 * changed.
 */
export async function keepOldVersion(run: SafeRun, item: SafeItem): Promise<void> {
  const { guard, ctx } = run;
  if (guard === null || (item.type !== 'plugin' && item.type !== 'theme')) return;
  try {
    const kept = await keep(run, guard, item.type, item.slug);
    item.snapshot = kept.id;
    if (kept.left_out !== null) run.unseen = [...(run.unseen ?? []), leftOut(item, kept.left_out)];
    await note(run, item, { snapshot: kept.id, digest: kept.digest, step: 'arm' });
    const armed = await guard.arm(kept.id, ARMED_SECONDS, PATIENCE_SECONDS, { signal: ctx.signal });
    const until = armed.find(({ snapshot }) => snapshot === kept.id)?.until ?? null;
    item.faults_since = until === null ? null : until - ARMED_SECONDS;
    await note(run, item, { armed_until: until });
  } catch (error) {
    throw protectionError(error, run.target.site.id, item);
  }
}

async function keep(
  { ctx, target }: SafeRun,
  guard: SiteGuard,
  type: 'plugin' | 'theme',
  slug: string,
): Promise<GuardSnapshot> {
  for (let left = MORE_TRIES; ; left--) {
    try {
      return await guard.snapshot(type, slug, { signal: ctx.signal });
    } catch (error) {
      if (!(error instanceof GuardFailure) || !PASSING.includes(error.code) || left === 0) throw error;
      ctx.log.info({ err: error, site_id: target.site.id, slug }, 'files changed while a copy was made: once more');
    }
    await ctx.clock.sleep(AGAIN_MS, ctx.signal);
  }
}

/** For the list of what was not checked: these files come back only if the update has left them where they were. */
function leftOut({ slug }: SafeItem, { files, bytes, long, largest }: NonNullable<GuardSnapshot['left_out']>): string {
  const such = largest[0] === undefined ? '' : `, such as ${siteWord(largest[0])}`;
  const many = files === 1 ? 'one file that is' : `${files} files that are`;
  const large = long < files ? ['it is too large'] : [];
  const why = [...large, ...(long > 0 ? [long === 1 ? 'a path is too long' : `${long} paths are too long`] : [])];
  return `${many} not code in ${siteWord(slug)}, of which no copy was kept, as ${why.join(' and ')} (${Math.ceil(bytes / 1_048_576)} MB${such})`;
}

function protectionError(error: unknown, siteId: number, { slug }: SafeItem): ServiceError {
  if (!(error instanceof GuardFailure)) return siteCallError(error, siteId, 'svc_snapshot_refused');
  return new ServiceError(
    'svc_snapshot_refused',
    `The guard could not save a copy of ${siteWord(slug)}, so it was not updated (${siteWord(error.code)}). ${siteSays(error.message)}`.trim(),
    {
      advice: 'Fix the cause on the site, or update it with safe-update-site-v1 and a lower least_protection.',
      data: { site_id: siteId, reason: error.code },
    },
  );
}

/**
 * Disarms the watchdog of an item, or of all on the site. Asked for twice if need be, as an update that is kept must not
 * be rolled back later for a visitor's error; one that cannot be reached expires.
 */
export async function disarm(run: SafeRun, item: SafeItem | 'all'): Promise<void> {
  const { guard, ctx } = run;
  if (guard === null || (item !== 'all' && item.snapshot === null)) return;
  // The guard closes its sandbox with the last one.
  run.openUntil = null;
  const ask = () => guard.disarm(item === 'all' ? null : item.snapshot, { signal: ctx.signal });
  try {
    await ask().catch((error: unknown) => {
      if (ctx.signal.aborted) throw error;
      return ask();
    });
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    ctx.log.warn({ err: error, site_id: run.target.site.id, run: run.id }, 'a guard could not be disarmed');
  }
}
