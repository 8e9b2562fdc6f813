/** A folder that keeps the objects of the backup repository: each is written completely, or not at all. */

import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasRoom } from '../../../runtime/disk-space.js';
import { RepositoryError } from '../../../runtime/repository-error.js';

/** Where a repository keeps its objects. Names are paths of at most two folders. */
export interface Backend {
  /** Each request takes about as long, whether for a part of an object or for all of it. */
  readonly far: boolean;
  /** Writes an object, in place of one of that name. It is stored when this resolves. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Writes an object unless there is one of that name; returns whether it did. Some servers replace it all the same. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** @throws RepositoryError `missing` */
  get(name: string): Promise<Buffer>;
  /** Part of an object. @throws RepositoryError `missing`, `damaged` if it is shorter */
  part(name: string, offset: number, length: number): Promise<Buffer>;
  /** The size of an object; null: there is none. */
  size(name: string): Promise<number | null>;
  /** Names of the objects whose names begin with this folder, in no order. */
  list(folder: 'packs' | 'snapshots'): Promise<{ name: string; bytes: number }[]>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

/** A draft this old was left by a process that died. */
const DRAFT_MS = 24 * 3_600_000;
const DRAFT = '.draft';

export function folderBackend(folder: string): Backend {
  const at = (name: string) => join(folder, name);
  /** Writes a draft, and lets `settle` give it its name. */
  const write = async (name: string, bytes: Uint8Array, settle: (draft: string, path: string) => Promise<void>) => {
    const path = at(name);
    const draft = `${path}.${randomBytes(6).toString('hex')}${DRAFT}`;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await needRoom(dirname(path), bytes.length);
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await settle(draft, path);
      await syncFolder(dirname(path));
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw known(error, name);
    }
  };
  return {
    far: false,

    put: (name, bytes) => write(name, bytes, rename),

    async create(name, bytes) {
      let created = true;
      await write(name, bytes, async (draft, path) => {
        await link(draft, path).catch((error: unknown) => {
          if ((error as { code?: unknown }).code === 'EEXIST') created = false;
          // Some file systems have no links.
          else return rename(draft, path);
        });
        await rm(draft, { force: true });
      });
      return created;
    },

    get: (name) =>
      readFile(at(name)).catch((error: unknown) => {
        throw known(error, name);
      }),

    async part(name, offset, length) {
      try {
        const file = await open(at(name), 'r');
        try {
          const bytes = Buffer.allocUnsafe(length);
          const { bytesRead } = await file.read(bytes, 0, length, offset);
          if (bytesRead !== length)
            throw new RepositoryError('damaged', `${name} in the backup repository is shorter than it was.`);
          return bytes;
        } finally {
          await file.close();
        }
      } catch (error) {
        throw known(error, name);
      }
    },

    size: (name) =>
      stat(at(name)).then(
        ({ size }) => size,
        (error: unknown) => {
          if ((error as { code?: unknown }).code === 'ENOENT') return null;
          throw known(error, name);
        },
      ),

    async list(kind) {
      const found = await readdir(at(kind), { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if ((error as { code?: unknown }).code === 'ENOENT') return [];
        throw known(error, kind);
      });
      const objects: { name: string; bytes: number }[] = [];
      for (const entry of found) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const facts = await stat(path).catch(() => null);
        if (facts === null) continue;
        if (!entry.name.endsWith(DRAFT)) objects.push({ name: path.slice(folder.length + 1), bytes: facts.size });
        else if (Date.now() - facts.mtimeMs > DRAFT_MS) await rm(path, { force: true });
      }
      return objects;
    },

    remove: (name) => rm(at(name), { force: true }),

    close: async () => undefined,
  };
}

/** A site may send any amount: it does not fill the disk, on which the database may be, too. */
async function needRoom(folder: string, bytes: number): Promise<void> {
  if (!(await hasRoom(folder, bytes)))
    throw new RepositoryError('full', 'The disk of the backup repository has less than 512 MB left.');
}

/** So that the new name outlives a power cut. Some systems cannot. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null);
  try {
    await folder?.sync().catch(() => undefined);
  } finally {
    await folder?.close();
  }
}

function known(error: unknown, name: string): RepositoryError {
  if (error instanceof RepositoryError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ENOENT') return new RepositoryError('missing', `${name} is missing in the backup repository.`, error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new RepositoryError('full', 'The disk of the backup repository is full.', error);
  return new RepositoryError(
    'unavailable',
    `The backup repository cannot be read or written (${String(code ?? 'unknown')}).`,
    error,
  );
}
