/** Makes copies of sites in a folder of this machine, with its MariaDB and its PHP. */

import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasRoom } from '../../runtime/disk-space.js';
import { Slots } from '../../runtime/slots.js';
import { configText } from './config-text.js';
import { Programs } from './confined.js';
import { type CopySettings, CopyUnavailable, type SiteCopies, type SiteCopy } from './copies.js';
import { CopyDatabase } from './database.js';
import { type CopyPrograms, findPrograms, type Lack, lookForPrograms } from './find-programs.js';
import { makeFolder, own, removeFolder, sweepFolders } from './folder.js';
import { CopyPhp } from './php.js';

/** How often it is looked whether what a copy writes still leaves room on the disk. */
const LOOK_MS = 1_000;

interface CopiesParts {
  /** Where the copies are. */
  folder: string;
  /** Folders of the programs, separated as in PATH; null = the usual ones. */
  programs: string | null;
}

export function createCopies({ folder, programs }: CopiesParts): SiteCopies {
  const find = () => {
    needSystem();
    return findPrograms(programs);
  };
  // Each takes some hundred megabytes of memory.
  const slot = new Slots(1);
  return {
    turn: (waitMs, signal) => slot.take(waitMs, signal),
    async unavailable() {
      try {
        await find();
        return null;
      } catch (error) {
        if (error instanceof CopyUnavailable) return error.message;
        throw error;
      }
    },
    async open(bytes, signal) {
      await sweepFolders(folder);
      const paths = await find();
      const place = await prepare(folder, bytes, paths, signal);
      const { made, running, php, network, room, close } = place;
      try {
        const database = new CopyDatabase(running, paths, signal);
        await database.start();
        return new Copy(made, { php, database, network, room, close });
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

function needSystem(): void {
  if (process.platform === 'win32') throw new CopyUnavailable('Trial restores need Linux or macOS.');
}

/** A folder for a copy, and PHP in it. @throws CopyUnavailable */
async function prepare(folder: string, bytes: number, { php: path }: Pick<CopyPrograms, 'php'>, signal: AbortSignal) {
  const made = await makeFolder(folder, bytes);
  const running = new Programs(made);
  const room = new Room(made, () => running.endAll());
  const close = async () => {
    room.close();
    await running.endAll();
    await removeFolder(made);
  };
  try {
    const network = await running.confine();
    const { code } = await running.run(['test', '-w', join(made, 'tmp')], {});
    if (code !== 0)
      throw new CopyUnavailable(
        'The user "nobody" cannot enter the folder of trial restores: see SITEFLEET_DRILL_DIR.',
      );
    const php = new CopyPhp(running, path, signal);
    await php.look();
    return { made, running, php, network, room, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What this machine has for copies. */
export interface Means {
  lacks: Lack[];
  /** Another reason why none can be made; null = none is known. */
  reason: string | null;
  /** Version of PHP, and whether it can be confined; null = not found out. */
  php: string | null;
  network: SiteCopy['network'] | null;
}

/** Finds out whether copies can be made here. Nothing is left of it. */
export async function lookForMeans({ folder, programs }: CopiesParts, signal: AbortSignal): Promise<Means> {
  const { found, lacks } = await lookForPrograms(programs);
  const means: Means = { lacks, reason: null, php: null, network: null };
  try {
    needSystem();
    if (found.php === undefined) return means;
    const { php, network, close } = await prepare(folder, 0, { php: found.php }, signal);
    await close();
    return { ...means, php: php.version, network };
  } catch (error) {
    if (error instanceof CopyUnavailable) return { ...means, reason: error.message };
    throw error;
  }
}

interface CopyParts {
  php: CopyPhp;
  database: CopyDatabase;
  network: 'none' | 'open';
  room: Room;
  close(): Promise<void>;
}

/** Ends all programs of a copy when the disk has no room for more: the database of this process may be on it, too. */
class Room {
  readonly #folder: string;
  readonly #end: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #full = false;

  constructor(folder: string, end: () => Promise<void>) {
    this.#folder = folder;
    this.#end = end;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    if (await hasRoom(this.#folder, 0).catch(() => true)) return;
    this.#full = true;
    await this.#end();
  }

  /** Does something that may write. @throws CopyUnavailable if there is no room left, whatever became of it */
  async within<T>(work: Promise<T>): Promise<T> {
    const [done] = await Promise.allSettled([work]);
    await this.#look();
    if (this.#full) throw new CopyUnavailable('There is not enough space on the disk for what the copy writes.');
    if (done.status === 'rejected') throw done.reason;
    return done.value;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

class Copy implements SiteCopy {
  readonly #site: string;
  readonly #parts: CopyParts;
  readonly #made = new Set<string>();

  constructor(folder: string, parts: CopyParts) {
    this.#site = join(folder, 'site');
    this.#parts = parts;
  }

  get php(): string {
    return this.#parts.php.version;
  }

  get database(): string {
    return this.#parts.database.version;
  }

  get network(): 'none' | 'open' {
    return this.#parts.network;
  }

  async put(path: string, parts: AsyncIterable<Uint8Array>): Promise<string> {
    const place = join(this.#site, path);
    const digest = createHash('sha256');
    try {
      await this.#makeFolder(dirname(place));
      const file = await open(place, 'wx', 0o600);
      try {
        for await (const part of parts) {
          digest.update(part);
          await file.writeFile(part);
        }
      } finally {
        await file.close();
      }
      await own(place);
      return digest.digest('hex');
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (syscall === undefined) throw error;
      throw new CopyUnavailable(`A file of the backup cannot be written here (${code ?? 'unknown error'}).`);
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    if (folder === this.#site || this.#made.has(folder)) return;
    await this.#makeFolder(dirname(folder));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await own(folder);
    this.#made.add(folder);
  }

  load(sql: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#parts.room.within(this.#parts.database.load(sql));
  }

  query(sql: string): Promise<(string | null)[][]> {
    return this.#parts.room.within(this.#parts.database.query(sql));
  }

  async configure(settings: CopySettings): Promise<void> {
    const { socket, name, password } = this.#parts.database;
    const place = join(this.#site, 'wp-config.php');
    await writeFile(place, configText(settings, { socket, name, password }), { mode: 0o600 });
    await own(place);
  }

  ask(request: Parameters<SiteCopy['ask']>[0]) {
    return this.#parts.room.within(this.#parts.php.ask(request));
  }

  has(extension: string): boolean {
    return this.#parts.php.has(extension);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }
}
