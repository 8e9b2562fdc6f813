/** Opens the database that a URL names, with the driver it needs. */

import type { Db } from './db.js';
import type { FileIdentity } from './file-guard.js';

interface OpenOptions {
  /** Access token of a server; a file has none. */
  token?: string | undefined;
  /** One writer per file, any number of readers. Default writer. */
  mode?: 'writer' | 'reader';
  /** The database file that must be at the path, see `FileGuard`. */
  identity?: FileIdentity | null | undefined;
}

/**
 * Opens the database that a URL names: `file:PATH` and `:memory:` in this process, `libsql://`, `https://`, `http://`,
 * `wss://` and `ws://` on a server. Loads only the driver that is needed: the native one costs start time.
 * @throws TypeError if the URL names neither
 * @throws StorageError `unavailable` or `corrupt` if a file cannot be opened; a server is contacted by the first call
 */
export async function openDb(url: string, options: OpenOptions = {}): Promise<Db> {
  const mode = options.mode ?? 'writer';
  if (url === ':memory:' || url.startsWith('file:')) {
    const { openEmbedded } = await import('./embedded.js');
    return openEmbedded(url, { mode, identity: options.identity });
  }
  if (/^(libsql|https?|wss?):\/\//i.test(url)) {
    const { openRemote } = await import('./remote.js');
    return openRemote(url, options.token, { mode });
  }
  throw new TypeError(
    'The database URL must begin with file:, libsql://, https://, http://, wss:// or ws://, or be :memory:.',
  );
}
