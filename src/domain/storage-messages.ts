/** Reports storage failures with the code and message of the verb. */

import { type ErrorCode, ServiceError, storageFailure } from '../runtime/errors.js';
import type { Ctx } from './context.js';

/**
 * Runs storage work of a verb. Errors of the service pass through; a database that is busy, unreachable, full or
 * read-only becomes `svc_storage_unavailable`; any other failure gets the verb's own code and message, with the
 * original as cause for the log.
 */
export async function withStorageError<T>(code: ErrorCode, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const storage = storageFailure(error);
    if (storage !== null) throw storage;
    throw new ServiceError(code, message, { advice: "The server's log has the details.", cause: error });
  }
}

/** As `withStorageError`, for changes in one transaction: if one fails, nothing changed, and the message says so. */
export function changing<T>(code: ErrorCode, message: string, work: () => Promise<T>): Promise<T> {
  return withStorageError(code, `${message} Nothing changed.`, work);
}

/** Pauses between attempts to store what must not be lost; the last one repeats. */
const PAUSES_MS = [100, 250, 500, 1000, 2000, 5000] as const;

/**
 * Stores a result that cannot be reproduced: waits while the database is away, busy or its disk full, until it is
 * stored or the signal aborts the wait. Only for statements that may run twice.
 */
export async function retryWhileUnavailable<T>(ctx: Pick<Ctx, 'clock' | 'signal'>, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (storageFailure(error) === null || ctx.signal.aborted) throw error;
      await ctx.clock.sleep(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0, ctx.signal);
    }
  }
}
