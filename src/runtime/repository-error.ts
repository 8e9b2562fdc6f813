/** What is wrong with an object of the backup repository. `wrong_key`: nothing in the repository can be opened with the key. */
export class RepositoryError extends Error {
  readonly kind: 'damaged' | 'missing' | 'wrong_key' | 'full' | 'unavailable';
  constructor(kind: RepositoryError['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RepositoryError';
    this.kind = kind;
  }
}
