/**
 * The repository of the sites' backups: sealed chunks, named by a keyed digest of their contents, in packs. The same
 * contents are stored once, whichever site they came from. Snapshots say what a backup consists of. The index of the
 * chunks is in the database and can be made again from the packs.
 */

import { randomBytes } from 'node:crypto';
import { RepositoryError, unlessMissing } from '../../../runtime/repository-error.js';
import type { Backend } from './folder.js';
import { checkPacks, rebuildIndex, repair, sweep } from './maintenance.js';
import { createPackReader } from './pack-reader.js';
import { PackWriter, packPath } from './packs.js';
import type { ChunkWriter, Repository, RepositoryParts } from './types.js';

const ABOUT = 'repository.json';
const PROOF = 'This key opens the repository.';

/**
 * Opens the repository, or makes a new one where there is none.
 * @throws RepositoryError `wrong_key` if it was made with another key
 */
export async function openRepository(parts: RepositoryParts): Promise<Repository> {
  const id = await idOf(parts);
  const { backend, sealer, index } = parts;
  const path = (id: string) => `snapshots/${id}`;
  const partOf = createPackReader(backend);
  const repository: Repository = {
    id,
    async isInPlace() {
      return (await repositoryAt(backend)) === id;
    },
    writer: () => createWriter(parts),
    async read(chunk) {
      const place = (await index.find([chunk])).get(chunk);
      if (place === undefined)
        throw new RepositoryError('missing', `Chunk ${chunk} is missing in the backup repository.`);
      const bytes = await sealer.open(await partOf(place), chunk);
      if (sealer.nameOf(bytes) !== chunk)
        throw new RepositoryError('damaged', `Chunk ${chunk} in the backup repository is damaged.`);
      return bytes;
    },
    async saveSnapshot(id, snapshot) {
      await backend.put(path(id), await sealer.seal(Buffer.from(JSON.stringify(snapshot)), path(id)));
    },
    async snapshot(id) {
      return JSON.parse((await sealer.open(await backend.get(path(id)), path(id))).toString('utf8')) as unknown;
    },
    async snapshots() {
      return (await backend.list('snapshots')).map(({ name }) => name.slice('snapshots/'.length));
    },
    removeSnapshot: (id) => backend.remove(path(id)),
    sweep: (how) => sweep(repository, parts, how),
    check: (how) => checkPacks(parts, how),
    async absent(chunks) {
      const found = await index.find(chunks);
      return chunks.filter((chunk) => !found.has(chunk));
    },
    repair: (damage) => repair(parts, damage),
    rebuildIndex: (settle) => rebuildIndex(parts, settle),
  };
  return repository;
}

/** The id of the repository, which the key was proven to open. */
async function idOf({ backend, sealer }: RepositoryParts): Promise<string> {
  const found = await aboutFound(backend);
  if (found === null) {
    // Where chunks are, but not their proof, a key that fits none of them would be taken for theirs.
    if ((await backend.list('packs')).length > 0)
      throw new RepositoryError('missing', `${ABOUT} is missing in the backup repository, though there are packs.`);
    const proof = (await sealer.seal(Buffer.from(PROOF), ABOUT)).toString('base64');
    const made = { format: 1, id: randomBytes(8).toString('hex'), proof };
    await backend.create(ABOUT, Buffer.from(`${JSON.stringify(made)}\n`));
  }
  // Read back, in case another process has made one meanwhile.
  const { id, proof } = aboutOf(found ?? (await backend.get(ABOUT)));
  await sealer.open(Buffer.from(proof, 'base64'), ABOUT).catch((error: unknown) => {
    throw new RepositoryError('wrong_key', 'The backup repository was made with another key.', error);
  });
  return id;
}

/** The id of the repository at a place; null = there is none. @throws RepositoryError `damaged`, `unavailable` */
export async function repositoryAt(backend: Backend): Promise<string | null> {
  const found = await aboutFound(backend);
  return found === null ? null : aboutOf(found).id;
}

const aboutFound = (backend: Backend) => unlessMissing(backend.get(ABOUT));

function aboutOf(bytes: Buffer): { id: string; proof: string } {
  try {
    const { format, id, proof } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
    if (format === 1 && typeof id === 'string' && typeof proof === 'string') return { id, proof };
  } catch {
    // Not JSON: damaged, as below.
  }
  throw new RepositoryError('damaged', `${ABOUT} of the backup repository cannot be read.`);
}

function createWriter({ backend, sealer, index }: RepositoryParts): ChunkWriter {
  let pack = new PackWriter();
  /** In the pack that is not written yet. */
  let waiting = new Set<string>();
  /** Known to be stored: looked up once. */
  const stored = new Set<string>();
  let added = 0;

  const flush = async () => {
    if (pack.chunks.length > 0) {
      const { chunks } = pack;
      const { name, bytes } = await pack.finish(sealer);
      await backend.put(packPath(name), bytes);
      // After the pack is on the disk: the index never names what is not there.
      await index.add(name, bytes.length, chunks);
      added += bytes.length;
      for (const { chunk } of chunks) stored.add(chunk);
      pack = new PackWriter();
      waiting = new Set();
    }
  };

  return {
    async put(bytes) {
      const chunk = sealer.nameOf(bytes);
      if (waiting.has(chunk) || stored.has(chunk)) return chunk;
      if ((await index.usable([chunk])).has(chunk)) {
        stored.add(chunk);
        return chunk;
      }
      waiting.add(chunk);
      pack.add(chunk, bytes.length, await sealer.seal(bytes, chunk));
      if (pack.isFull) await flush();
      return chunk;
    },
    flush,
    get added() {
      return added;
    },
  };
}
