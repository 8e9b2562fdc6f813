/** Clock step monitor: detects steps of this machine's clock, and has stored times corrected before they are used. */

import type { ClockSteps } from '../runtime/clock.js';
import type { Ctx } from './context.js';

export interface ClockStepMonitor {
  /** Resolves when stored times match the clock. Costs nothing unless the clock was stepped since the last call. */
  settle(): Promise<void>;
}

/** What everything that works by the clock needs. */
export interface ClockWork {
  /** Its signal lives as long as the process. */
  ctx(): Ctx;
  /** Runs work with a context whose signal ends with the work. */
  withCtx<T>(work: (ctx: Ctx) => Promise<T>): Promise<T>;
  owner: string;
  clockSteps: ClockStepMonitor;
}

/** One per process, shared by everything that works by the clock. */
export function createClockStepMonitor(context: () => Ctx): ClockStepMonitor {
  /**
   * As of the last call that was stored; null before the first, because a step may have happened while no process ran.
   */
  let known: ClockSteps | null = null;
  let settling: Promise<void> | null = null;
  const work = async () => {
    const { clock, store, log } = context();
    const steps = clock.steps();
    const forward = steps.forward - (known?.forward ?? 0);
    const back = steps.back - (known?.back ?? 0);
    if (forward + back > 0)
      log.warn({ forward_ms: Math.round(forward), back_ms: Math.round(back) }, "this machine's clock was changed");
    await store.clockSteps.settle(clock.now(), { forward: Math.round(forward), back: Math.round(back) });
    known = steps;
  };
  return {
    async settle() {
      const { forward, back } = context().clock.steps();
      if (known !== null && known.forward === forward && known.back === back) return;
      settling ??= work().finally(() => {
        settling = null;
      });
      await settling;
    },
  };
}
