/** Whether the action log is what was written: no row changed, missing or added, and none cut off at its end. */

import { ServiceError } from '../../runtime/errors.js';
import { isoTime } from '../../runtime/iso-time.js';
import { Slots } from '../../runtime/slots.js';
import type { Checkpoint } from '../../store/action-log/action-log.js';
import type { ChainHead } from '../../store/action-log/chain.js';
import { isOwnSignature, signText } from '../common/signatures.js';
import type { Ctx } from '../context.js';
import { logPages } from './pages.js';

export interface LogVerdict {
  valid: boolean;
  /** What is wrong, as a sentence; null if nothing is. */
  problem: string | null;
  /** The first row at which it shows. */
  at_id: number | null;
  rows: number;
  /** Rows up to this one were deleted for their age; 0 = none. */
  pruned_through: number;
  /** The end of the log; null while it is empty. */
  head: ChainHead | null;
}

/** The whole log is read: one caller that asks a hundred times at once must not take the process from all others. */
const oneAtATime = new Slots(1);
const MOST_WAITING = 10;
let asked = 0;

/**
 * The log may grow meanwhile, and be pruned. Throws `svc_rest_too_many_requests` where too many wait for theirs already.
 * @param expected an end of the log that was noted before: the log must contain it
 */
export async function verifyLog(ctx: Ctx, expected?: ChainHead): Promise<LogVerdict> {
  if (asked > MOST_WAITING)
    throw new ServiceError(
      'svc_rest_too_many_requests',
      'The log is already being verified, and other callers are waiting.',
      {
        advice: 'Try again later, or run "sitefleet log verify".',
        data: { retry_after: 30 },
      },
    );
  asked++;
  try {
    return await oneAtATime.run(() => verifyUnpruned(ctx, expected));
  } finally {
    asked--;
  }
}

async function verifyUnpruned(ctx: Ctx, expected?: ChainHead): Promise<LogVerdict> {
  const verdict = await verifyOnce(ctx, expected);
  if (verdict.valid) return verdict;
  const checkpoint = await ctx.store.actionLog.checkpoint();
  return (checkpoint?.through ?? 0) > verdict.pruned_through ? verifyUnpruned(ctx, expected) : verdict;
}

async function verifyOnce(ctx: Ctx, expected?: ChainHead): Promise<LogVerdict> {
  const { actionLog } = ctx.store;
  const checkpoint = await actionLog.checkpoint();
  // Before the rows: what is appended after this is no cut tail.
  const lastId = await actionLog.lastId();
  const pruned_through = checkpoint?.through ?? 0;
  const start = { id: pruned_through, hash: checkpoint?.hash ?? '' };
  const verdict = (problem: string | null, at_id: number | null, rows: number, head = start): LogVerdict => {
    return { valid: problem === null, problem, at_id, rows, pruned_through, head: head.id === 0 ? null : head };
  };
  if (checkpoint !== undefined && (await isOwnSignature(ctx, checkpointText(checkpoint), checkpoint)) !== true)
    return verdict(`The checkpoint at row ${pruned_through} was not signed by this installation.`, pruned_through, 0);
  let last = start;
  let rows = 0;
  let found = expected === undefined || (expected.id === last.id && expected.hash === last.hash);
  for await (const page of logPages(ctx, start.id))
    for (const row of page) {
      if (row.id !== last.id + 1)
        return verdict(`Rows ${last.id + 1} to ${row.id - 1} are missing.`, last.id + 1, rows, last);
      if (row.previous !== last.hash)
        return verdict(`Row ${row.id} does not follow row ${last.id}: one of them was replaced.`, row.id, rows, last);
      if (row.hash !== actionLog.hashOf(last.hash, row.id, row))
        return verdict(`Row ${row.id} was changed.`, row.id, rows, last);
      last = { id: row.id, hash: row.hash };
      found ||= expected?.id === last.id && expected.hash === last.hash;
      rows++;
    }
  if (lastId > last.id)
    return verdict(`The log ends with row ${last.id}, and ${lastId} was written.`, last.id + 1, rows, last);
  if (found || expected === undefined) return verdict(null, null, rows, last);
  const problem =
    expected.id > pruned_through
      ? `Row ${expected.id} is not, or is no longer, the one with the hash ${expected.hash}.`
      : `Row ${expected.id} was pruned: it cannot be compared.`;
  return verdict(problem, expected.id, rows, last);
}

/** Deletes rows from before this time, up to a checkpoint that is signed; returns how many. */
export async function pruneLog(ctx: Ctx, before: number): Promise<number> {
  const last = await ctx.store.actionLog.prunable(before);
  if (last === null) return 0;
  const checkpoint = { through: last.id, hash: last.hash, at: ctx.clock.now() };
  return ctx.store.actionLog.prune({ ...checkpoint, ...(await signText(ctx, checkpointText(checkpoint))) });
}

function checkpointText({ through, hash, at }: Pick<Checkpoint, 'through' | 'hash' | 'at'>): string {
  return JSON.stringify({ format: 'sitefleet-log-checkpoint-1', through, hash, at: isoTime(at) });
}
