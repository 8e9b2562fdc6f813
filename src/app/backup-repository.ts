/** Creates the port to the repository of the sites' backups: its place, its key, and the index in the database. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { VERSION } from '../runtime/version.js';
import type { Backend } from '../store/backups/repository/folder.js';
import type { BackupStorage, Repository } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';

const KEY = 'backup_repository.key';
const ID = 'backup_repository.id';

/**
 * @param store whose settings hold the key, sealed; one is made when it is first needed
 * @param mode a reader finds what a writer has made
 */
export function openBackupStorage(
  config: Config,
  store: Store,
  clock: Clock,
  mode: 'writer' | 'reader' = 'writer',
): BackupStorage {
  let opened: Promise<Repository> | undefined;
  let backend: Promise<Backend> | undefined;
  const key = async () => {
    const known = await store.settings.secret(KEY);
    return String(known ?? (await store.settings.claimSecret(KEY, randomBytes(32).toString('hex'), clock.now())));
  };
  const openWith = async (secret: string) => {
    // Loaded only if needed.
    backend ??= openBackend(config, clock);
    const [{ openRepository }, { createSealer }, objects] = await Promise.all([
      import('../store/backups/repository/repository.js'),
      import('../store/backups/repository/seal.js'),
      backend,
    ]);
    const sealer = createSealer(Buffer.from(secret, 'hex'));
    const repository = await openRepository({ backend: objects, sealer, index: store.chunkIndex });
    if (mode === 'reader') return repository;
    const indexed = await store.settings.one(ID);
    // Of another place: backups would refer to chunks that are not in this one.
    if (indexed !== undefined && indexed !== repository.id) await repository.rebuildIndex();
    if (indexed !== repository.id) await store.settings.write([{ key: ID, value: repository.id }], clock.now());
    return repository;
  };
  return {
    place: config.site_backup_s3 ?? config.site_backup_dir,
    key,
    async useKey(secret) {
      const repository = await openWith(secret);
      await store.settings.write([{ key: KEY, value: secret, secret: true }], clock.now());
      opened = Promise.resolve(repository);
    },
    async open() {
      if (opened !== undefined && !(await (await opened).isInPlace())) opened = undefined;
      opened ??= key()
        .then(openWith)
        .catch((error: unknown) => {
          // The next call tries again.
          opened = undefined;
          throw error;
        });
      return opened;
    },
    close: async () => (await backend)?.close(),
  };
}

async function openBackend(config: Config, clock: Clock): Promise<Backend> {
  const { site_backup_s3: url, site_backup_s3_key: accessKey, site_backup_s3_secret: secretKey } = config;
  if (url === null || accessKey === null || secretKey === null) {
    const { folderBackend } = await import('../store/backups/repository/folder.js');
    return folderBackend(config.site_backup_dir);
  }
  const { openBucket } = await import('../outbound/objects/s3.js');
  return openBucket({
    url,
    region: config.site_backup_s3_region,
    accessKey,
    secretKey,
    allowPrivate: config.allow_private_sites,
    clock,
    userAgent: `Sitefleet/${VERSION}`,
  });
}
