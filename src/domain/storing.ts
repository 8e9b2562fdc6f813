/** Failures of storage in the words of the noun that was worked on. */

import { type ErrorCode, ServiceError } from '../errors.js';
import { isStorageError } from './storage.js';

/**
 * Runs storage work of a verb. Errors of the service pass; a busy or unreachable database is `svc_storage_unavailable`;
 * any other failure gets the verb's own code and message, and stays as cause for the log.
 */
export async function storing<T>(code: ErrorCode, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (isStorageError(error, 'busy') || isStorageError(error, 'unavailable')) {
      throw new ServiceError('svc_storage_unavailable', 'The database does not answer at the moment.', {
        advice: 'Try again in a few seconds.',
        cause: error,
      });
    }
    throw new ServiceError(code, message, { advice: 'The log of the server has the details.', cause: error });
  }
}
