/** Running calls on many sites, and what happens to them when their clients disconnect. */

import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/operation/operation.js';
import type { Progress } from '../../src/runtime/progress.js';
import { CallDeduplication, type Participant } from '../../src/surfaces/mcp/call-deduplication.js';
import { Cancellation } from '../../src/surfaces/mcp/cancellation.js';
import { handClock } from '../support/harness.js';
import { LOCAL } from '../support/mcp-clients.js';

function setup() {
  const clock = handClock();
  const calls = new CallDeduplication(clock);
  const started: { caller: Caller; finish: (answer: object) => void; fail: (error: Error) => void }[] = [];
  const work = (caller: Caller) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      started.push({ caller, finish: (answer) => resolve({ ...answer }), fail: reject });
      caller.signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  const join = (change: Partial<Participant> = {}) => {
    const cancel = new AbortController();
    const gone = new AbortController();
    const progress: Progress[] = [];
    const me: Participant = {
      actor: LOCAL,
      request_id: 'r',
      signal: cancel.signal,
      disconnected: gone.signal,
      progress: (step) => progress.push(step),
      ...change,
    };
    const answer = calls.run('key', me, work);
    answer.catch(() => undefined);
    return { answer, progress, cancel: () => cancel.abort(), hangUp: () => gone.abort() };
  };
  return { clock, calls, started, join };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('Inflight', () => {
  it('runs equal calls once and tells all of them', async () => {
    const { started, join, calls } = setup();
    const [a, b] = [join(), join()];
    started[0]?.caller.progress?.({ done: 1, total: 2, message: 'x' });
    started[0]?.finish({ n: 1 });
    expect(await Promise.all([a.answer, b.answer])).toEqual([{ n: 1 }, { n: 1 }]);
    expect([started.length, a.progress.length, b.progress.length, calls.size]).toEqual([1, 1, 1, 0]);
    join();
    expect(started).toHaveLength(2);
  });

  it('goes on without a client and hands its result over once', async () => {
    const { started, join } = setup();
    const first = join();
    first.hangUp();
    await expect(first.answer).rejects.toMatchObject({ code: 'svc_cancelled' });
    expect(started[0]?.caller.signal.aborted).toBe(false);
    started[0]?.finish({ n: 1 });
    await settled();
    expect(await join().answer).toEqual({ n: 1 });
    join();
    expect(started).toHaveLength(2);
  });

  it('forgets what was not fetched after ten minutes, and a failure at once', async () => {
    const { started, join, clock } = setup();
    join().hangUp();
    started[0]?.finish({ n: 1 });
    await settled();
    clock.move(10 * 60_000);
    join().hangUp();
    expect(started).toHaveLength(2);
    started[1]?.fail(new Error('no'));
    await settled();
    join();
    expect(started).toHaveLength(3);
  });

  it('stops for a cancellation when no other caller waits, and the next caller starts again', async () => {
    const { started, join } = setup();
    const [a, b] = [join(), join()];
    a.cancel();
    await expect(a.answer).rejects.toMatchObject({ code: 'svc_cancelled' });
    expect(started[0]?.caller.signal.aborted).toBe(false);
    b.cancel();
    expect(started[0]?.caller.signal.aborted).toBe(true);
    join();
    expect(started).toHaveLength(2);
  });

  it('waits a moment where a cancellation may be a broken connection', async () => {
    const { started, join } = setup();
    join({ graceMs: 30 }).cancel();
    const back = join({ graceMs: 30 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(started[0]?.caller.signal.aborted).toBe(false);
    back.cancel();
    await expect.poll(() => started[0]?.caller.signal.aborted).toBe(true);
    expect(started).toHaveLength(1);
  });

  it('does not start for a caller who has left already', async () => {
    const { started, join } = setup();
    await expect(join({ signal: AbortSignal.abort() }).answer).rejects.toThrow();
    expect(started).toHaveLength(0);
  });
});

describe('departure', () => {
  it.each<[string, unknown, boolean, 'signal' | 'gone']>([
    ['a cancellation without a reason', undefined, false, 'signal'],
    ['a cancellation by the user', 'User pressed stop', false, 'signal'],
    ["a client's own limit", 'McpError: MCP error -32001: Request timed out', false, 'gone'],
    ['another client’s own limit', 'timeout', false, 'gone'],
    ['a closed connection', undefined, true, 'gone'],
  ])('%s', (_name, reason, closing, expected) => {
    for (const looksBefore of [true, false]) {
      const both = new AbortController();
      const cancellation = new Cancellation({ aborted: () => both.signal, isClosing: () => closing });
      if (looksBefore) expect([cancellation.signal.aborted, cancellation.disconnected.aborted]).toEqual([false, false]);
      both.abort(reason);
      expect([cancellation.signal.aborted, cancellation.disconnected.aborted]).toEqual([
        expected === 'signal',
        expected === 'gone',
      ]);
    }
  });

  it('a hang-up, whether before or after somebody looks', () => {
    for (const looksBefore of [true, false]) {
      const hangup = new AbortController();
      const cancellation = new Cancellation({
        aborted: () => new AbortController().signal,
        isClosing: () => false,
        hangUp: () => hangup.signal,
      });
      if (looksBefore) expect(cancellation.disconnected.aborted).toBe(false);
      hangup.abort();
      expect([cancellation.signal.aborted, cancellation.disconnected.aborted]).toEqual([false, true]);
    }
  });

  it('makes no signals that are never read', () => {
    let asked = 0;
    const cancellation = new Cancellation({
      aborted: () => {
        asked++;
        return new AbortController().signal;
      },
      isClosing: () => false,
    });
    expect(asked).toBe(0);
    expect(cancellation.signal).toBe(cancellation.signal);
    expect([cancellation.disconnected.aborted, asked]).toEqual([false, 1]);
  });
});
