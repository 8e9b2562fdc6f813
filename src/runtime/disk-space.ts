/** Space on disks: what is left free by everything that writes much. */

import { statfs } from 'node:fs/promises';

const SPARED_BYTES = 512 * 1024 * 1024;

/** Whether so many bytes fit on the disk of a folder, and 512 MB are left. */
export async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  return (await freeBytes(folder)) >= bytes + SPARED_BYTES;
}

/** Free space for this user on the disk of a folder that there is. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
