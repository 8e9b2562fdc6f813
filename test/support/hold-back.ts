/** Answers of simulated sites that wait until a test lets them go: a slow site, without a race against any clock. */

import type { DemoSite } from '../../src/demo/fleet.js';
import type { TestApp } from './harness.js';

export interface HeldBack {
  /** Resolves once the site has one of these requests. */
  waiting: Promise<void>;
  /** Answers what waits; from now on, nothing waits. */
  letGo(): void;
}

/** From now on the site holds back its answers to the functions of the child whose names match. */
export function holdBack(site: DemoSite, functions: RegExp): HeldBack {
  let arrived = () => {};
  let letGo = () => {};
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const answer = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  site.faults.latencyMs = (name) => {
    if (!functions.test(name)) return 0;
    arrived();
    return answer;
  };
  return {
    waiting,
    letGo() {
      site.faults.latencyMs = undefined;
      letGo();
    },
  };
}

/** Lets the time of a direct call run out once its site holds back an answer. Resolves as the call does. */
export async function runOutOfTime<T>(app: TestApp, held: HeldBack, call: Promise<T>): Promise<T> {
  await Promise.race([held.waiting, call]);
  app.clock.move(app.service.config.direct_call_ms);
  return call;
}
