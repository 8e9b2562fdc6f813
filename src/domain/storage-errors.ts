/** Recognizes a typed storage failure: the verbs know the store's types, never its classes. */

import type { StorageError } from '../store/driver/db.js';

export function isStorageError(error: unknown, kind: StorageError['kind']): boolean {
  return error instanceof Error && error.name === 'StorageError' && 'kind' in error && error.kind === kind;
}
