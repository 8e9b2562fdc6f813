/** Creates the port to the daily backups. */

import { Worker } from 'node:worker_threads';
import type { Config } from '../runtime/config/types.js';
import { type Backups, createBackups } from '../store/backups/folder.js';

/** Copies a database to a path, reads the whole copy to verify it, and returns its size. */
export type CopyDatabase = (url: string, path: string) => Promise<number>;

/** Null if no folder is configured. */
export function openBackups({ db, backup_dir }: Config, copy: CopyDatabase = copyInThread): Backups | null {
  return backup_dir === null ? null : createBackups(backup_dir, (path) => copy(db, path));
}

function copyInThread(url: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./backup-thread.js', import.meta.url), { workerData: { url, path } });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread of the backup ended with ${code} before it was done.`)));
  });
}
