/**
 * Calls that change something, in the action log: what was asked for by whom, stored with the first change, and how it ended,
 * where that does not follow from it, stored with what the call did.
 */

import { cleanLine } from '../../../schemas/text.js';
import { asServiceError } from '../../runtime/errors.js';
import type { EventFacts } from '../../runtime/events.js';
import type { Ctx } from '../context.js';
import { originOf } from '../context.js';
import { callInput } from './call-input.js';
import { originColumns } from './recorder.js';

const MOST_DETAIL = 255;

/**
 * Runs the work of a call.
 * @param input what was asked for, as it was validated
 * @throws what the work throws; `svc_storage_*` if the entry cannot be stored, and then nothing was changed
 */
export function recordedCall<T>(ctx: Ctx, input: unknown, work: () => Promise<T>): Promise<T> {
  const origin = originOf(ctx);
  const entry = {
    ...originColumns(origin),
    ...{ site_id: null, context: 'call', action: 'called', input: callInput(input, ctx.operation) },
    at: ctx.clock.now(),
  };
  return ctx.store.actionLog.record(entry, async (record) => {
    // Stored with the events of the call that wait to be stored, before its caller gets the answer.
    const end = (facts: EventFacts['call.ended']) => ctx.events.from(origin).emit({ name: 'call.ended', facts });
    try {
      const result = await work();
      if (record.left()) end({ detail: figuresOf(result) });
      return result;
    } catch (error) {
      if (record.stored()) end({ code: asServiceError(error).code });
      throw error;
    }
  });
}

const IDS = new Set(['job_id', 'run_id', 'change_id']);

/** The figures of an answer, and the ids by which it goes on: no text of a site. */
function figuresOf(answer: unknown): string {
  const members = Object.entries(answer ?? {}).filter(
    ([name, value]) => ['number', 'boolean'].includes(typeof value) || (IDS.has(name) && typeof value === 'string'),
  );
  return cleanLine(members.map(([name, value]) => `${name} ${value}`).join(', '), MOST_DETAIL);
}
