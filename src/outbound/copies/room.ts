/** Watches the room on the disk while a copy is used. */

import { hasRoom } from '../../runtime/disk-space.js';
import { CopyUnavailable } from './copies.js';

/** How often it is looked whether what a copy writes still leaves room on the disk. */
const LOOK_MS = 1_000;

/** Ends all programs of a copy when the disk has no room for more: the database of this process may be on it, too. */
export class Room {
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
