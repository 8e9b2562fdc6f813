/** What is derived from a signal that lives as long as the process leaves nothing behind. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { forgetDerived, lifelongController } from '../../src/core/abort-signals.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

it('forgets derived signals that are gone, and aborts those that are not', async () => {
  const life = lifelongController();
  const kept: AbortSignal[] = [];
  let heard = 0;
  for (let i = 0; i < 20_000; i++) {
    const derived = AbortSignal.any([new AbortController().signal, life.signal]);
    // Nobody but its listener holds this one.
    if (i === 0) derived.addEventListener('abort', () => heard++);
    if (i % 4000 === 1) kept.push(derived);
    if (i % 1000 === 0) await pause();
  }
  await pause();
  collect();
  await pause();
  expect(forgetDerived(life.signal)).toBeLessThan(1000);
  life.abort();
  expect([heard, kept.map(({ aborted }) => aborted)]).toEqual([1, kept.map(() => true)]);
  expect(forgetDerived(new AbortController().signal)).toBe(0);
});
