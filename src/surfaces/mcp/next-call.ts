/** Suggests the next call with ready-to-use arguments: after a preview, within a list, or for a queued job. */

import { toolName } from '../../operation/contract.js';
import type { GroupedOperation } from '../../operation/operation.js';
import { RUN_OPERATION } from './messages.js';
import type { JsonObject } from './tool-result.js';

/** Characters of JSON; longer arguments, such as hundreds of sites, are not repeated. */
const LONGEST = 400;

const JOB_STATUS = 'svc/get-batch-job-status-v1';

interface Answered {
  operation: GroupedOperation;
  args: JsonObject;
  output: JsonObject;
  /** Whether the caller is offered an operation. */
  offers(id: string): boolean;
  /** Whether an operation is listed as a tool; others are called through `run-operation`. */
  listed(id: string): boolean;
}

/** The suggestion as text; undefined when there is no next call. */
export function nextCall(answered: Answered): string | undefined {
  const { operation, args, output } = answered;
  const { dry_run: _, ...given } = args;
  if (output.dry_run === true)
    return call(answered, 'Next, once the user has agreed', operation.id, agreed(given, answered));
  if (typeof output.job_id === 'string' && operation.id !== JOB_STATUS)
    return answered.offers(JOB_STATUS) ? call(answered, 'Next', JOB_STATUS, { job_id: output.job_id }) : undefined;
  const page = args.cursor === undefined ? nextPage(output) : nextByCursor(output);
  return page === undefined ? undefined : call(answered, 'Next page', operation.id, { ...args, ...page });
}

function agreed(given: JsonObject, { operation, output }: Answered): JsonObject {
  const { confirmation_token } = output;
  return {
    ...given,
    ...(operation.effect === 'destroy' ? { confirm: true } : {}),
    ...(typeof confirmation_token === 'string' ? { confirmation_token } : {}),
  };
}

/** Page parameters of the next page; undefined on the last one. */
function nextPage({ page, per_page, total, total_groups = total }: JsonObject): JsonObject | undefined {
  if (typeof page !== 'number' || typeof per_page !== 'number' || typeof total_groups !== 'number') return undefined;
  return page * per_page < total_groups ? { page: page + 1, per_page } : undefined;
}

function nextByCursor({ next_cursor }: JsonObject): JsonObject | undefined {
  return typeof next_cursor === 'string' ? { cursor: next_cursor } : undefined;
}

function call({ listed }: Answered, when: string, id: string, input: JsonObject): string | undefined {
  const name = toolName(id);
  const [tool, args] = listed(id) ? [name, input] : [RUN_OPERATION, { operation: name, input }];
  const text = JSON.stringify(args);
  return text.length > LONGEST ? undefined : `${when}: ${tool} ${text}`;
}
