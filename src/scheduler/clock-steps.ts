/** Clock step monitor: notices that the clock of this machine was stepped, and has stored times corrected before they are used. */

import type { ClockSteps } from '../core/clock.js';
import type { Ctx } from '../domain/context.js';

export interface ClockStepMonitor {
  /** Resolves when what is stored fits the clock. Costs nothing unless the clock was stepped since the last call. */
  settle(): Promise<void>;
}

/** One for everything in a process that works by the clock. */
export function createClockStepMonitor(context: () => Ctx): ClockStepMonitor {
  /** As of the last call that was stored; null before the first: the step may have been while no process ran. */
  let known: ClockSteps | null = null;
  let settling: Promise<void> | null = null;
  const work = async () => {
    const { clock, store, log } = context();
    const steps = clock.steps();
    const forward = steps.forward - (known?.forward ?? 0);
    const back = steps.back - (known?.back ?? 0);
    if (forward + back > 0)
      log.warn({ forward_ms: Math.round(forward), back_ms: Math.round(back) }, 'the clock of this machine was stepped');
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
