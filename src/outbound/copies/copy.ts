/** A copy of a site in a folder of this machine, whatever runs it. */

import { createHash } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CopyAnswer, type CopyRequest, type CopySettings, CopyUnavailable, type SiteCopy } from './copies.js';
import { own } from './folder.js';
import type { Room } from './room.js';
import type { CopyRuntime } from './runtime.js';

interface CopyParts {
  runtime: CopyRuntime;
  folder: string;
  network: SiteCopy['network'];
  room: Room;
  close(): Promise<void>;
}

export class Copy implements SiteCopy {
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
      throw notWritten(error);
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
    const files = Object.entries(await this.#runtime.files(settings));
    try {
      for (const [path, text] of files) {
        const place = join(this.#site, path);
        await this.#makeFolder(dirname(place));
        await writeFile(place, text, { mode: 0o600 });
        await own(place);
      }
    } catch (error) {
      // A file of the backup may have the name of a folder that is needed, or the other way round.
      throw notWritten(error);
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

function notWritten(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new CopyUnavailable(`A file of the backup cannot be written here (${code ?? 'unknown error'}).`);
}
