/** Failures with a code of the catalogue, and what callers see of them. */

import { type ErrorCode, STATUS } from './error-codes.js';

export { type ErrorCode, STATUS };

export interface ErrorDetails {
  /** The input field at fault, as the caller wrote it: `site_ids_or_domains[3]`. */
  field?: string;
  /** What the caller can do next, one sentence. */
  advice?: string;
  /** Further members of the error body's `data`. Never secrets. */
  data?: Record<string, unknown>;
  /** A status other than the table's. Only to distinguish 401 from 403 for the same code (operations §1.8). */
  status?: number;
  cause?: unknown;
}

/** A failure with a code of the catalogue. The message is safe to show to any caller. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string | undefined;
  readonly advice: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.status = details.status ?? STATUS[code];
    this.field = details.field;
    this.advice = details.advice;
    this.data = details.data ?? {};
  }
}

/** The error for a field of an operation's input. */
export function invalidInput(field: string, message: string, advice: string): ServiceError {
  return new ServiceError('ability_invalid_input', message, { field, advice });
}

/** The wire form of an error, the same on every surface. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  data: { status: number; field?: string; advice?: string } & Record<string, unknown>;
}

/** The body for a caught value: a ServiceError as it is, anything else as `svc_internal_error` without internals. */
export function errorBody(error: unknown): ErrorBody {
  const known = asServiceError(error);
  return {
    code: known.code,
    message: known.message,
    data: {
      status: known.status,
      ...(known.field === undefined ? {} : { field: known.field }),
      ...(known.advice === undefined ? {} : { advice: known.advice }),
      ...known.data,
    },
  };
}

/** Turns any thrown value into a ServiceError; the original is kept as `cause`, for the log only. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new ServiceError('svc_cancelled', 'The call was cancelled before it finished.', { cause: error });
  }
  const storage = storageFailure(error);
  if (storage !== null) return storage;
  return new ServiceError('svc_internal_error', 'Something unexpected went wrong. The log has the details.', {
    cause: error,
  });
}

/** Message and advice for a storage failure, by the driver's kind. */
const STORAGE: ReadonlyMap<unknown, readonly [message: string, advice: string]> = new Map([
  ['busy', ['The database is busy.', 'Try again in a few seconds.']],
  ['unavailable', ['The database is not responding.', 'Try again in a few seconds.']],
  ['full', ['The database’s disk is full, so nothing can be saved.', 'Free some space; no restart is needed.']],
  [
    'readonly',
    ['The database is read-only, so nothing was saved.', 'Make its file and folder writable for the service.'],
  ],
  [
    'disk',
    [
      'The database’s disk cannot be read or written.',
      'Check whether it is mounted read-only or failing; once that is fixed, no restart is needed.',
    ],
  ],
  ['corrupt', ['The database is damaged.', 'Run "sitefleet check"; "sitefleet restore" restores a backup.']],
]);

/** A typed storage failure that is not the caller's mistake, as `svc_storage_unavailable`; null for anything else. */
export function storageFailure(error: unknown): ServiceError | null {
  // Recognized by its shape: this layer may not import the store's classes.
  if (!(error instanceof Error) || error.name !== 'StorageError' || !('kind' in error)) return null;
  const known = STORAGE.get(error.kind);
  if (known === undefined) return null;
  const [message, advice] =
    'publicMessage' in error && isPublicMessage(error.publicMessage)
      ? [error.publicMessage.message, error.publicMessage.advice]
      : known;
  return new ServiceError('svc_storage_unavailable', message, { advice, cause: error });
}

/**
 * The error as shown to callers without the right to write. Details of a storage failure are for those who can fix it;
 * the log always has them.
 */
export function withoutStorageDetail(error: unknown): unknown {
  const known = asServiceError(error);
  if (known.code !== 'svc_storage_unavailable') return error;
  const advice = 'Try again in a minute. If it still fails, tell the operator.';
  return new ServiceError(known.code, 'The database is not responding.', {
    advice,
    cause: known.cause ?? known,
  });
}

function isPublicMessage(value: unknown): value is { message: string; advice: string } {
  return typeof value === 'object' && value !== null && 'message' in value && 'advice' in value;
}

const OURS: ReadonlySet<ErrorCode> = new Set([
  'svc_internal_error',
  'ability_invalid_output',
  'svc_storage_unavailable',
  'svc_operation_failed',
  'svc_queue_failed',
  'svc_client_creation_failed',
  'svc_client_update_failed',
  'svc_client_deletion_failed',
  'svc_update_exception',
]);

/** Whether to log it as a failure of the service, rather than of a site or of the request. */
export function isOurFault(error: ServiceError): boolean {
  return OURS.has(error.code);
}
