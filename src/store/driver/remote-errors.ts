/** Converts errors of the libSQL client and its network to StorageErrors. */

import { StorageError } from './db.js';
import { hasCode, storageError } from './sqlite-errors.js';
import { unsafeNumber } from './values.js';

const DROPPED = new Set([
  'HRANA_WEBSOCKET_ERROR',
  'HRANA_CLOSED_ERROR',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'UND_ERR_SOCKET',
]);

/** Whether the connection broke, as opposed to a server that answered with an error or stayed silent. */
export function wasDropped(error: unknown): boolean {
  return chain(error).some((each) => hasCode(each) && DROPPED.has(each.code));
}

/** Converts errors of the client library, the network and the server to StorageErrors. Our own pass unchanged. */
export function remoteError(error: unknown, sql?: string): StorageError {
  if (error instanceof StorageError) return error;
  if (error instanceof RangeError) return unsafeNumber();
  const links = chain(error);
  const status = links.map(statusOf).find((each) => each !== undefined);
  if (status === 401 || status === 403 || links.some((each) => hasCode(each) && each.code.startsWith('AUTH_'))) {
    return new StorageError('unavailable', 'The storage server refused the access token.', error);
  }
  if (status !== undefined) {
    return new StorageError('unavailable', `The storage server answered with HTTP status ${status}.`, error);
  }
  if (isNetwork(error) || wasDropped(error)) {
    return new StorageError('unavailable', 'The storage server cannot be reached.', error);
  }
  if (error instanceof SyntaxError || (hasCode(error) && error.code === 'HRANA_PROTO_ERROR')) {
    return new StorageError('unavailable', 'The URL of the storage server does not lead to a libSQL server.', error);
  }
  if (hasCode(error)) {
    // "SQLITE_CONSTRAINT: SQLITE_CONSTRAINT: SQLite error: UNIQUE constraint failed: …"
    const message = error.message.replace(/^([A-Z_]+: )+/, '').replace(/^SQLite error: /, '');
    return storageError(error.code, message, error, sql);
  }
  // The message of an unknown error may quote the URL, and with it a token.
  return new StorageError('other', 'The storage client failed.', error);
}

/** `fetch` reports what happened to the connection as a bare TypeError, or a DOMException when its time ran out. */
function isNetwork(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === 'TimeoutError' || error.name === 'AbortError';
  return error instanceof TypeError && error.message === 'fetch failed';
}

function chain(error: unknown): Error[] {
  const links: Error[] = [];
  let next = error;
  while (next instanceof Error && links.length < 6) {
    links.push(next);
    next = next instanceof AggregateError ? next.errors[0] : next.cause;
  }
  return links;
}

function statusOf(error: Error): number | undefined {
  return 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}
