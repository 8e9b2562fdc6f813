/** A combined signal leaves no listeners or references on a signal that lives as long as the process, and its time comes. */

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { withEitherSignal, withTimeLimit } from '../../src/runtime/abort-signals.js';
import { collect } from '../support/collect.js';

it('removes its listeners from both signals, whether the work succeeds or fails', async () => {
  const life = new AbortController();
  const caller = new AbortController();
  const listeners = () => [life, caller].map(({ signal }) => getEventListeners(signal, 'abort').length);
  const seen: number[][] = [];
  for (let i = 0; i < 1000; i++) {
    const call = withEitherSignal(life.signal, caller.signal, async () => {
      seen.push(listeners());
      if (i % 2 === 1) throw new Error('failed');
      return i;
    });
    expect(await call.catch(() => -1)).toBe(i % 2 === 1 ? -1 : i);
  }
  expect(seen).toEqual(seen.map(() => [1, 1]));
  expect(listeners()).toEqual([0, 0]);
});

it('keeps no combined signal in memory once its work has ended', async () => {
  const life = new AbortController();
  const held: WeakRef<AbortSignal>[] = [];
  for (let i = 0; i < 200; i++)
    await withEitherSignal(life.signal, new AbortController().signal, async (signal) => {
      held.push(new WeakRef(signal));
    });
  // Weak references stay alive until the end of a turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 5));
  collect();
  expect(held.filter((signal) => signal.deref() !== undefined).length).toBeLessThan(10);
});

it.each([0, 1])('is aborted with the reason of signal %i, also when that was aborted before', async (which) => {
  const pair = [new AbortController(), new AbortController()] as const;
  const reason = new Error('stop');
  const later = withEitherSignal(pair[0].signal, pair[1].signal, async (signal) => {
    pair[which as 0 | 1].abort(reason);
    return signal;
  });
  expect(await later).toMatchObject({ aborted: true, reason });
  expect(await withEitherSignal(pair[0].signal, pair[1].signal, async (signal) => signal)).toMatchObject({
    aborted: true,
    reason,
  });
});

it('is aborted when its time is up, although memory is collected meanwhile, or with the given signal', async () => {
  const caller = new AbortController();
  const aborted = (signal: AbortSignal) =>
    new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
  const late = aborted(withTimeLimit(caller.signal, 50));
  // Weak references stay alive until the end of a turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 1));
  collect();
  expect(await late).toMatchObject({ name: 'TimeoutError' });
  const ended = aborted(withTimeLimit(caller.signal, 3_600_000));
  caller.abort('enough');
  expect(await ended).toBe('enough');
});
