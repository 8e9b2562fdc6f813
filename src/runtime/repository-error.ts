/** What is wrong with an object of the backup repository. `wrong_key`: nothing in the repository can be opened with the key. */
export class RepositoryError extends Error {
  readonly kind: 'damaged' | 'missing' | 'wrong_key' | 'full' | 'unavailable';
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
