/** Whose a file is that replaces another one. */

import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Gives a new file the owner and group of the one it is to replace, and the group its rights: the service must be able
 * to read it, also when root or another user ran the command. Where there is none to replace, root gives it to the owner
 * of the folder.
 * @returns what is left to do where the system does not allow it; otherwise null
 */
export function handOver(fresh: string, replaced: string): string | null {
  // There, a new file has the rights that its folder gives.
  if (process.platform === 'win32') return null;
  const old = statSync(replaced, { throwIfNoEntry: false });
  const model = old ?? (process.getuid?.() === 0 ? statSync(dirname(replaced)) : undefined);
  if (model === undefined) return null;
  // Other users get no rights to it, even if the old file gave them some.
  const groupRights = old === undefined ? 0 : old.mode & 0o060;
  // By handle: in a folder of another user, the name could by now be a link to any file of the system.
  const handle = openExisting(fresh);
  if (handle === null) return null;
  try {
    const owned = takeOwner(handle, model);
    // The group may be another one, which has no rights to it.
    if (owned) fchmodSync(handle, 0o600 | groupRights);
    if (owned || (fstatSync(handle).uid === model.uid && groupRights === 0)) return null;
    return `${replaced} could not be given to its former owner. As root: chown ${model.uid}:${model.gid} ${replaced}`;
  } finally {
    closeSync(handle);
  }
}

/** Null where another process has given the file its final name meanwhile; that process hands it over. */
function openExisting(file: string): number | null {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whether owner and group are now those of the other file. */
function takeOwner(handle: number, { uid, gid }: Stats): boolean {
  const now = fstatSync(handle);
  if (now.uid === uid && now.gid === gid) return true;
  try {
    fchownSync(handle, uid, gid);
    return true;
  } catch {
    return false;
  }
}
