/** Makes copies of sites in a folder of this machine, with its MariaDB and its PHP. */

import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Slots } from '../../runtime/slots.js';
import { configText } from './config-text.js';
import { Programs } from './confined.js';
import { type CopySettings, CopyUnavailable, type SiteCopies, type SiteCopy } from './copies.js';
import { CopyDatabase } from './database.js';
import { findPrograms } from './find-programs.js';
import { makeFolder, own, removeFolder, sweepFolders } from './folder.js';
import { CopyPhp } from './php.js';

interface CopiesParts {
  /** Where the copies are. */
  folder: string;
  /** Folders of the programs, separated as in PATH; null = the usual ones. */
  programs: string | null;
}

export function createCopies({ folder, programs }: CopiesParts): SiteCopies {
  const find = () => {
    if (process.platform === 'win32') throw new CopyUnavailable('Trial restores need Linux or macOS.');
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
      const made = await makeFolder(folder, bytes);
      const running = new Programs(made);
      const close = async () => {
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
        const php = new CopyPhp(running, paths.php, signal);
        await php.look();
        const database = new CopyDatabase(running, paths, signal);
        await database.start();
        return new Copy(made, { php, database, network, close });
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

interface CopyParts {
  php: CopyPhp;
  database: CopyDatabase;
  network: 'none' | 'open';
  close(): Promise<void>;
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
    return this.#parts.database.load(sql);
  }

  query(sql: string): Promise<(string | null)[][]> {
    return this.#parts.database.query(sql);
  }

  async configure(settings: CopySettings): Promise<void> {
    const { socket, name, password } = this.#parts.database;
    const place = join(this.#site, 'wp-config.php');
    await writeFile(place, configText(settings, { socket, name, password }), { mode: 0o600 });
    await own(place);
  }

  ask(request: Parameters<SiteCopy['ask']>[0]) {
    return this.#parts.php.ask(request);
  }

  has(extension: string): boolean {
    return this.#parts.php.has(extension);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }
}
