/** Space on disks: what is left free by everything that writes much. */

import { statfs } from 'node:fs/promises';

const SPARED_BYTES = 512 * 1024 * 1024;

/** Whether so many bytes fit on the disk of a folder, and 512 MB are left. */
export async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= bytes + SPARED_BYTES;
}
