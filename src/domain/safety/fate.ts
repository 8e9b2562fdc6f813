/** What the guard knows of an update whose answer never came. */

import { ChildFailure } from '../../child/child.js';
import { GuardFailure } from '../../guard/failure.js';
import type { GuardHello } from '../../guard/guards.js';
import type { Fate } from '../sites/attempt.js';
import type { SafeItem, SafeRun } from './safe-run.js';

/** `killed` = WordPress is in maintenance for an update that no process makes any more. */
export async function fateOf(run: SafeRun, { type, slug }: SafeItem): Promise<Fate> {
  const hello = await greeted(run);
  if (hello === null || hello.updating === null) return 'unknown';
  if (hello.updating.some((one) => one.kind === type && one.slug === slug)) return 'running';
  return hello.maintenance && hello.updating.length === 0 ? 'killed' : 'unknown';
}

/** WordPress still says that an update is under way: it was killed or hangs, which is not the fault of the version. */
export async function isUnfinished(run: SafeRun): Promise<boolean> {
  return (await greeted(run))?.maintenance ?? false;
}

async function greeted({ guard, ctx }: SafeRun): Promise<GuardHello | null> {
  if (guard === null) return null;
  try {
    return await guard.hello({ signal: ctx.signal });
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof GuardFailure || error instanceof ChildFailure)) throw error;
    return null;
  }
}
