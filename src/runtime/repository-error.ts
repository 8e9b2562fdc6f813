/**
 * What is wrong with the backup repository, or an object of it. `wrong_key`: nothing in it can be opened with the key;
 * `elsewhere`: the backups of this installation are in another one.
 */
export class RepositoryError extends Error {
  readonly kind: 'damaged' | 'missing' | 'wrong_key' | 'full' | 'unavailable' | 'elsewhere';
  constructor(kind: RepositoryError['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RepositoryError';
    this.kind = kind;
  }
}

/** The object that is read, or null if it is missing. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RepositoryError && error.kind === 'missing') return null;
    throw error;
  }
}
