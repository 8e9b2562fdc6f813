/** Finds the programs that a copy needs. */

import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { CopyUnavailable } from './copies.js';

/** What brings each: the program, and Debian's package. */
const NEEDED = {
  php: ['php-cgi', 'php-cgi'],
  server: ['mariadbd', 'mariadb-server-core'],
  install: ['mariadb-install-db', 'mariadb-server-core'],
  client: ['mariadb', 'mariadb-client-core'],
} as const;

export type CopyPrograms = Record<keyof typeof NEEDED, string>;

const USUAL = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'];

/**
 * @param configured folders, separated as in PATH; null = the usual ones
 * @throws CopyUnavailable
 */
export async function findPrograms(configured: string | null): Promise<CopyPrograms> {
  const folders = configured === null ? USUAL : configured.split(delimiter);
  const find = async (name: string) => {
    for (const folder of folders) {
      const path = join(folder, name);
      if (folder !== '' && (await isProgram(path))) return path;
    }
    return null;
  };
  const found: Partial<CopyPrograms> = {};
  for (const [key, [name, debian]] of Object.entries(NEEDED)) {
    const path = await find(name);
    if (path === null)
      throw new CopyUnavailable(`This machine has no ${name}, which trial restores need (package ${debian}).`);
    found[key as keyof CopyPrograms] = path;
  }
  return found as CopyPrograms;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
