/** Signals that live as long as the process: one that never comes, and one from which a signal is derived for every call. */

import { setMaxListeners } from 'node:events';
import { types } from 'node:util';

const SWEEP_MS = 60_000;

/** Of calls that are finished even when their caller hangs up. It never comes. */
export const UNINTERRUPTED = new AbortController().signal;
// Every change under way in the engine listens to it.
setMaxListeners(0, UNINTERRUPTED);

/**
 * A controller whose signal may be given to `AbortSignal.any` any number of times. Node 20 notes every derived signal at
 * its source and never strikes one off: some 55 bytes a call, which for a fleet that is watched every minute comes to
 * hundreds of megabytes a day. So they are struck off here.
 */
export function lifelongController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const sweep = setInterval(() => forgetDerived(controller.signal), SWEEP_MS);
  sweep.unref();
  controller.signal.addEventListener('abort', () => clearInterval(sweep), { once: true });
  return controller;
}

/** Strikes off what was derived from a signal and is gone; answers how many are left. 0 where Node does it by itself. */
export function forgetDerived(signal: AbortSignal): number {
  const name = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals');
  const derived: unknown = name === undefined ? undefined : Reflect.get(signal, name);
  if (!types.isSet(derived)) return 0;
  // Node's own kinds of Set and WeakRef have lost their prototypes.
  const { delete: strike, forEach } = Set.prototype;
  forEach.call(derived, (each: unknown) => {
    if (isGone(each)) strike.call(derived, each);
  });
  return Reflect.get(Set.prototype, 'size', derived);
}

function isGone(reference: unknown): boolean {
  try {
    return WeakRef.prototype.deref.call(reference as WeakRef<object>) === undefined;
  } catch {
    return false;
  }
}
