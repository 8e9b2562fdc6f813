/**
 * Calls that change something, in the action log: what was asked for by whom, stored with the first change, and how it ended,
 * where that does not follow from it.
 */

import { cleanLine } from '../../../schemas/text.js';
import { asServiceError } from '../../runtime/errors.js';
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
  const entry = (action: string, more: { input?: string; detail?: string; code?: string }) => {
    return { ...originColumns(originOf(ctx)), site_id: null, context: 'call', action, at: ctx.clock.now(), ...more };
  };
  return ctx.store.actionLog.record(entry('called', { input: callInput(input, ctx.operation) }), async (record) => {
    const end = async (outcome: { detail?: string; code?: string }) => {
      // What happened has happened: that its end is not noted is not its failure.
      await ctx.store.actionLog
        .add([entry('ended', outcome)])
        .catch((error: unknown) => ctx.log.error({ err: error }, 'the end of a call could not be logged'));
    };
    try {
      const result = await work();
      if (record.left()) await end({ detail: figuresOf(result) });
      return result;
    } catch (error) {
      if (record.stored()) await end({ code: asServiceError(error).code });
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
