/** Creates the port to the repository of the sites' backups: its folder, its key, and the index in the database. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import type { BackupStorage, Repository } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';

const KEY = 'backup_repository.key';

/** @param store whose settings hold the key, sealed; one is made when it is first needed */
export function openBackupStorage(folder: string, store: Store, clock: Clock): BackupStorage {
  let opened: Promise<Repository> | undefined;
  const key = async () => {
    const known = await store.settings.secret(KEY);
    return String(known ?? (await store.settings.claimSecret(KEY, randomBytes(32).toString('hex'), clock.now())));
  };
  const openWith = async (secret: string) => {
    // Loaded only if needed.
    const [{ openRepository }, { createSealer }, { folderBackend }] = await Promise.all([
      import('../store/backups/repository/repository.js'),
      import('../store/backups/repository/seal.js'),
      import('../store/backups/repository/folder.js'),
    ]);
    const sealer = createSealer(Buffer.from(secret, 'hex'));
    return openRepository({ backend: folderBackend(folder), sealer, index: store.chunkIndex });
  };
  return {
    folder,
    key,
    async useKey(secret) {
      const repository = await openWith(secret);
      await store.settings.write([{ key: KEY, value: secret, secret: true }], clock.now());
      opened = Promise.resolve(repository);
    },
    open: () => {
      opened ??= key()
        .then(openWith)
        .catch((error: unknown) => {
          // The next call tries again.
          opened = undefined;
          throw error;
        });
      return opened;
    },
  };
}
