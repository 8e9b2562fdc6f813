/** Asks the guard of a site about an update whose call was never answered: whether it still runs, and what it left. */

import { ChildFailure } from '../../../outbound/child/port.js';
import { GuardFailure } from '../../../outbound/guard/failure.js';
import type { GuardHello } from '../../../outbound/guard/guards.js';
import type { UpdateProgress } from '../../connection/attempt.js';
import type { SafeItem, SafeRun } from './run-state.js';

/** `killed` = WordPress is in maintenance mode for an update that no process is running any more. */
export async function progressOf(run: SafeRun, { type, slug }: SafeItem): Promise<UpdateProgress> {
  const hello = await greeted(run);
  if (hello === null) return 'unknown';
  if (hello.updating.some((one) => one.kind === type && one.slug === slug)) return 'running';
  return hello.maintenance && hello.updating.length === 0 ? 'killed' : 'unknown';
}

/** WordPress still reports a running update: it was killed or hangs, which is not the fault of the version. */
export async function isUnfinished(run: SafeRun): Promise<boolean> {
  return (await greeted(run))?.maintenance ?? false;
}

const LOOK_MS = 2_000;
/** An update still running after this is considered to hang. */
const LONGEST_MS = 5 * 60_000;

/** Waits for an update that another process has sent, and that is known to be running. */
export async function updateEnded(run: SafeRun, item: SafeItem): Promise<void> {
  const { clock, signal } = run.ctx;
  const began = clock.elapsed();
  while ((await progressOf(run, item)) === 'running' && clock.elapsed() - began < LONGEST_MS)
    await clock.sleep(LOOK_MS, signal);
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
