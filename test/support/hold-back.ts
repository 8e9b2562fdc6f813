/** Answers of simulated sites that wait until a test lets them go: a slow site, without a race against any clock. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DemoSite } from '../../src/demo/fleet.js';
import { closing } from './cleanup.js';
import type { HandClock, TestApp } from './harness.js';

export interface HeldBack {
  /** Resolves once the site has one of these requests. */
  waiting: Promise<void>;
  /** Answers what waits; from now on, nothing waits. */
  letGo(): void;
}

/**
 * From now on the site holds back its answers to the functions of the child whose names match, at the latest until the
 * test is over.
 */
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
  closing({ close: letGo });
  return {
    waiting,
    letGo() {
      site.faults.latencyMs = undefined;
      letGo();
    },
  };
}

/** From now on the site answers nothing until it has so many requests at once; those and later ones it answers at once. */
export function answersTogether(site: DemoSite, count: number): void {
  let arrived = 0;
  let letGo = () => {};
  const together = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  site.faults.latencyMs = () => {
    if (++arrived >= count) letGo();
    return together;
  };
  closing({ close: letGo });
}

/**
 * From now on the site answers nothing: once it has a request, this much time passes, in so many steps, so that a limit
 * that ends earlier does so before another. It passes only while each request under way is at the site: one that is
 * still connecting would run out of time without having been sent.
 */
export function neverAnswers(site: DemoSite, clock: HandClock, ms: number, steps = 1): void {
  let unanswered = 0;
  site.faults.latencyMs = async () => {
    unanswered += 1;
    for (let step = 0; step < steps && unanswered > 0; step++) {
      do await nextTurn();
      while (clock.limitsWithin(Number.POSITIVE_INFINITY) > unanswered);
      unanswered -= clock.move(ms / steps);
    }
    return new Promise(() => undefined);
  };
}

/** From now on the site answers the functions whose names match after so much time. */
export function answersLate(site: DemoSite, clock: HandClock, functions: RegExp, ms: number): void {
  site.faults.latencyMs = (name) => (functions.test(name) ? nextTurn().then(() => void clock.move(ms)) : 0);
}

/** Lets the time of a direct call, or so much, run out once its site holds back an answer. Resolves as the call does. */
export async function runOutOfTime<T>(
  app: TestApp,
  held: HeldBack,
  call: Promise<T>,
  ms = app.service.config.direct_call_ms,
): Promise<T> {
  await Promise.race([held.waiting, call]);
  app.clock.move(ms);
  return call;
}
