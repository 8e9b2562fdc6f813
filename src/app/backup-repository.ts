/** Creates the port to the repository of the sites' backups: its place, its key, and the index in the database. */

import { randomBytes } from 'node:crypto';
import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { Clock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { freeBytes } from '../runtime/disk-space.js';
import { RepositoryError } from '../runtime/repository-error.js';
import { VERSION } from '../runtime/version.js';
import type { Backend } from '../store/backups/repository/folder.js';
import type { BackupHome, BackupStorage, Repository } from '../store/backups/repository/types.js';
import type { Store } from '../store/store.js';

const KEY = 'backup_repository.key';
const HOME = 'backup_repository.home';

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
  const place = config.site_backup_s3 ?? config.site_backup_dir;
  const here = { place, host: config.site_backup_s3 === null ? hostname() : null };
  const home = async () => ((await store.settings.one(HOME)) as BackupHome | undefined) ?? null;
  const backendHere = () => {
    backend ??= openBackend(config, clock);
    return backend;
  };
  const repositoryWith = async (secret: string) => {
    const [[{ openRepository }, { createSealer }], objects] = await Promise.all([modules(), backendHere()]);
    const sealer = createSealer(Buffer.from(secret, 'hex'));
    return openRepository({ backend: objects, sealer, index: store.chunkIndex });
  };
  const idHere = async () => {
    const [[{ repositoryAt }], objects] = await Promise.all([modules(), backendHere()]);
    return repositoryAt(objects);
  };
  /** @param taken whether backups are from now on to be in what is found here, wherever they were */
  const openWith = async (secret: string, taken: boolean) => {
    const known = await home();
    if (known !== null && !taken) {
      const found = await idHere();
      // Before one is made: the folder of another machine, or a disk that is not mounted, would be taken for an empty repository.
      if (found !== known.id) throw elsewhere(known, { ...here, id: found });
    }
    const repository = await repositoryWith(secret);
    if (mode === 'reader') return repository;
    const now: BackupHome = { ...here, id: repository.id };
    const settle = () => store.settings.write([{ key: HOME, value: now }], clock.now());
    // The index is of another one: backups would refer to chunks that are not in this one. Nor may they, after a process
    // that died, refer to chunks of this one in the other.
    if (known !== null && known.id !== repository.id) await repository.rebuildIndex(settle);
    else if (known === null) {
      const claimed = (await store.settings.claim(HOME, now, clock.now())) as BackupHome;
      // Two machines made their first ones at the same time.
      if (claimed.id !== repository.id) throw elsewhere(claimed, now);
    } else if (known.place !== now.place || known.host !== now.host) await settle();
    return repository;
  };
  return {
    place,
    home,
    key,
    async look() {
      const [found, secret] = [await idHere(), await store.settings.secret(KEY)];
      if (found !== null && secret !== undefined) await repositoryWith(String(secret));
      const folder = config.site_backup_s3 === null ? await nearest(place) : null;
      if (folder === null || found !== null) await probe(await backendHere());
      else await needWritable(folder);
      const free_bytes = folder === null ? null : await freeBytes(folder).catch(() => null);
      return { found, free_bytes, has_key: secret !== undefined };
    },
    async useKey(secret) {
      const repository = await openWith(secret, true);
      await store.settings.write([{ key: KEY, value: secret, secret: true }], clock.now());
      opened = Promise.resolve(repository);
    },
    async usePlace() {
      const repository = await openWith(await key(), true);
      opened = Promise.resolve(repository);
      return repository;
    },
    async open() {
      if (opened !== undefined) {
        const repository = await opened;
        const [isInPlace, known] = await Promise.all([repository.isInPlace(), home()]);
        if (!isInPlace || (known !== null && known.id !== repository.id)) opened = undefined;
      }
      opened ??= key()
        .then((secret) => openWith(secret, false))
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

/** Loaded only if needed. */
function modules() {
  return Promise.all([
    import('../store/backups/repository/repository.js'),
    import('../store/backups/repository/seal.js'),
  ]);
}

/** Writes, reads and removes an object. @throws RepositoryError */
async function probe(backend: Backend): Promise<void> {
  const [name, bytes] = [`probe-${randomBytes(8).toString('hex')}`, randomBytes(32)];
  await backend.put(name, bytes);
  try {
    if (!(await backend.get(name)).equals(bytes))
      throw new RepositoryError('damaged', 'What is written to the backup repository is read back as something else.');
  } finally {
    await backend.remove(name);
  }
}

/** The folder, or the one above it that there is: it is made with the first backup. */
async function nearest(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

async function needWritable(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw new RepositoryError('unavailable', `The folder ${folder} cannot be written.`, error);
  });
}

/** The backups are in one repository, and there is another one here, or none. */
function elsewhere(known: BackupHome, here: Omit<BackupHome, 'id'> & { id: string | null }): RepositoryError {
  return new RepositoryError(
    'elsewhere',
    `The backups of this installation are in repository ${known.id}, ${placeText(known)}. In ${placeText(here)} there is ${
      here.id === null ? 'none' : `another one, ${here.id}`
    }.`,
  );
}

/** For a message. */
export function placeText({ place, host }: Omit<BackupHome, 'id'>): string {
  return host === null ? place : `the folder ${place} of machine ${host}`;
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
