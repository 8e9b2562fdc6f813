/** Makes copies of sites in a folder of this machine, with its MariaDB and its PHP, or else in WordPress Playground. */

import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasRoom } from '../../runtime/disk-space.js';
import { Slots } from '../../runtime/slots.js';
import { configText } from './config-text.js';
import { Programs } from './confined.js';
import {
  type CopyAnswer,
  type CopyRequest,
  type CopySettings,
  CopyUnavailable,
  type SiteCopies,
  type SiteCopy,
} from './copies.js';
import { CopyDatabase } from './database.js';
import { type CopyPrograms, type Lack, lookForPrograms } from './find-programs.js';
import { makeFolder, own, removeFolder, sweepFolders } from './folder.js';
import { CopyPhp } from './php.js';
import { findPlayground, PLAYGROUND, Playground } from './playground.js';
import type { CopyRuntime } from './runtime.js';

/** How often it is looked whether what a copy writes still leaves room on the disk. */
const LOOK_MS = 1_000;

interface CopiesParts {
  /** Where the copies are. */
  folder: string;
  /** Folders of the programs, separated as in PATH; null = the usual ones. */
  programs: string | null;
  /** Folder of WordPress Playground; null = the usual places. */
  playground: string | null;
}

export function createCopies({ folder, programs, playground }: CopiesParts): SiteCopies {
  const find = async () => {
    needSystem();
    const { found, lacks } = await lookForPrograms(programs);
    const [first] = lacks;
    if (first === undefined) return found as CopyPrograms;
    const instead = await findPlayground(playground);
    if (instead !== null) return instead;
    throw new CopyUnavailable(
      `This machine has no ${first.program}, which trial restores need (package ${first.debian}), nor WordPress Playground (npm install --global ${PLAYGROUND}).`,
    );
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
      const found = await find();
      return prepare(folder, bytes, async ({ programs, ...parts }) => {
        const runtime =
          typeof found === 'string'
            ? await playgroundIn(programs, found, signal)
            : await machineIn(programs, found, signal);
        return new Copy({ ...parts, runtime });
      });
    },
  };
}

function needSystem(): void {
  if (process.platform === 'win32') throw new CopyUnavailable('Trial restores need Linux or macOS.');
}

async function machineIn(programs: Programs, paths: CopyPrograms, signal: AbortSignal): Promise<CopyRuntime> {
  const php = new CopyPhp(programs, paths.php, signal);
  await php.look();
  const database = new CopyDatabase(programs, paths, signal);
  await database.start();
  return {
    ...{ means: 'machine', php: php.version, database: database.version },
    has: (extension) => php.has(extension),
    load: (sql) => database.load(sql),
    query: (sql) => database.query(sql),
    ask: (request) => php.ask(request),
    files: async (settings) => ({ 'wp-config.php': configText(settings, database) }),
  };
}

async function playgroundIn(programs: Programs, found: string, signal: AbortSignal): Promise<Playground> {
  const playground = new Playground(programs, found, signal);
  await playground.look();
  return playground;
}

interface Prepared {
  folder: string;
  programs: Programs;
  network: SiteCopy['network'];
  room: Room;
  close(): Promise<void>;
}

/** Makes a folder for a copy and something in it, which removes the folder; where this fails, it is removed. @throws CopyUnavailable */
async function prepare<T>(parent: string, bytes: number, make: (prepared: Prepared) => Promise<T>): Promise<T> {
  const folder = await makeFolder(parent, bytes);
  const programs = new Programs(folder);
  const room = new Room(folder, () => programs.endAll());
  const close = async () => {
    room.close();
    await programs.endAll();
    await removeFolder(folder);
  };
  try {
    const network = await programs.confine();
    const { code } = await programs.run(['test', '-w', join(folder, 'tmp')], {});
    if (code !== 0)
      throw new CopyUnavailable(
        'The user "nobody" cannot enter the folder of trial restores: see SITEFLEET_DRILL_DIR.',
      );
    return await make({ folder, programs, network, room, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** What this machine has for copies. */
export interface Means {
  lacks: Lack[];
  /** Folder of WordPress Playground, which is used where something lacks; null = not here, or not needed. */
  playground: string | null;
  /** Another reason why none can be made; null = none is known. */
  reason: string | null;
  /** Version of PHP, and whether it can be confined; null = not found out. */
  php: string | null;
  network: SiteCopy['network'] | null;
}

/** Finds out whether copies can be made here. Nothing is left of it. */
export async function lookForMeans({ folder, programs, playground }: CopiesParts, signal: AbortSignal): Promise<Means> {
  const { found, lacks } = await lookForPrograms(programs);
  const instead = lacks.length === 0 ? null : await findPlayground(playground);
  const means: Means = { lacks, playground: instead, reason: null, php: null, network: null };
  const { php: path } = found;
  try {
    needSystem();
    if (instead === null && path === undefined) return means;
    return await prepare(folder, 0, async ({ programs: running, network, close }) => {
      const php =
        instead !== null ? (await playgroundIn(running, instead, signal)).php : await versionOf(running, path, signal);
      await close();
      return { ...means, php, network };
    });
  } catch (error) {
    if (error instanceof CopyUnavailable) return { ...means, reason: error.message };
    throw error;
  }
}

async function versionOf(programs: Programs, path = '', signal: AbortSignal): Promise<string> {
  const php = new CopyPhp(programs, path, signal);
  await php.look();
  return php.version;
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

interface CopyParts extends Omit<Prepared, 'programs'> {
  runtime: CopyRuntime;
}

class Copy implements SiteCopy {
  readonly #site: string;
  readonly #parts: CopyParts;
  readonly #runtime: CopyRuntime;
  readonly #made = new Set<string>();

  constructor(parts: CopyParts) {
    this.#site = join(parts.folder, 'site');
    this.#parts = parts;
    this.#runtime = parts.runtime;
  }

  get means(): SiteCopy['means'] {
    return this.#runtime.means;
  }

  get php(): string {
    return this.#runtime.php;
  }

  get database(): string {
    return this.#runtime.database;
  }

  get network(): SiteCopy['network'] {
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
    return this.#parts.room.within(this.#runtime.load(sql));
  }

  query(sql: string): Promise<(string | null)[][]> {
    return this.#parts.room.within(this.#runtime.query(sql));
  }

  async configure(settings: CopySettings): Promise<void> {
    for (const [path, text] of Object.entries(await this.#runtime.files(settings))) {
      const place = join(this.#site, path);
      await this.#makeFolder(dirname(place));
      await writeFile(place, text, { mode: 0o600 });
      await own(place);
    }
  }

  ask(request: CopyRequest): Promise<CopyAnswer> {
    return this.#parts.room.within(this.#runtime.ask(request));
  }

  has(extension: string): boolean {
    return this.#runtime.has(extension);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }
}
