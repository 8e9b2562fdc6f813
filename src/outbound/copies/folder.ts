/** The folders of copies: makes them, and removes them, even if the process that made one has died. */

import { randomUUID } from 'node:crypto';
import { chown, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isProcessGone, processId } from '../../runtime/cluster/process-id.js';
import { hasRoom } from '../../runtime/disk-space.js';
import { USER } from './confined.js';
import { CopyUnavailable } from './copies.js';

const NAME = /^sitefleet-drill-[0-9a-f]{12}$/;
const OWNER = 'owner';
/** Bytes of the id of a process. */
const LONGEST_OWNER = 1_024;

/** Makes a folder below another, which only this user and that of the copy can enter. @throws CopyUnavailable */
export async function makeFolder(parent: string, bytes: number): Promise<string> {
  try {
    if (!(await hasRoom(parent, bytes)))
      throw new CopyUnavailable('There is not enough space on the disk for a copy of the site.');
    const folder = join(parent, `sitefleet-drill-${randomUUID().replaceAll('-', '').slice(0, 12)}`);
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, OWNER), processId());
    for (const part of ['site', 'tmp', 'db', 'run']) await mkdir(join(folder, part), { mode: 0o700 });
    for (const part of ['', 'site', 'tmp', 'db', 'run']) await own(join(folder, part));
    return folder;
  } catch (error) {
    if (error instanceof CopyUnavailable) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new CopyUnavailable(`The folder of trial restores cannot be used (${code ?? 'unknown error'}).`);
  }
}

/** Removes the folders of processes that are gone, and returns them. Their programs ended with them. */
export async function sweepFolders(parent: string): Promise<string[]> {
  const removed: string[] = [];
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (!NAME.test(name) || !isProcessGone(await ownerOf(folder))) continue;
    await removeFolder(folder);
    removed.push(folder);
  }
  return removed;
}

/** Id of the process that made a folder, '' if none of this user did: anyone may put anything under such a name beside ours. */
async function ownerOf(folder: string): Promise<string> {
  const [place, file] = await Promise.all([folder, join(folder, OWNER)].map((path) => lstat(path).catch(() => null)));
  const isOurs = place?.isDirectory() === true && (place.uid === USER.uid || place.uid === process.getuid?.());
  if (!isOurs || file?.isFile() !== true || file.size > LONGEST_OWNER) return '';
  return readFile(join(folder, OWNER), 'utf8').catch(() => '');
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Gives a file or a folder to the user of the copy. */
export async function own(path: string): Promise<void> {
  if (USER.uid !== undefined && USER.gid !== undefined) await chown(path, USER.uid, USER.gid);
}
