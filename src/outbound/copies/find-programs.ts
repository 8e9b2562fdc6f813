/** Finds the programs that a copy needs: PHP and MariaDB. */

import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Programs } from './confined.js';

/** What brings each: the program, and Debian's package. */
const NEEDED = {
  php: ['php-cgi', 'php-cgi php-mysql'],
  server: ['mariadbd', 'mariadb-server-core'],
  install: ['mariadb-install-db', 'mariadb-server-core'],
  client: ['mariadb', 'mariadb-client-core'],
} as const;

export type CopyPrograms = Record<keyof typeof NEEDED, string>;

const USUAL = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/opt/homebrew/bin'];

/** A program, and Debian's package. */
export interface Lack {
  program: string;
  debian: string;
}

export interface Looked {
  found: Partial<CopyPrograms>;
  lacks: Lack[];
}

/**
 * Where the programs are, and those that are not here.
 * @param configured folders, separated as in PATH; null = the usual ones
 */
export async function lookForPrograms(configured: string | null): Promise<Looked> {
  const folders = configured === null ? USUAL : configured.split(delimiter);
  const find = async (name: string) => {
    for (const folder of folders) {
      const path = join(folder, name);
      if (folder !== '' && (await isProgram(path))) return path;
    }
    return null;
  };
  const found: Partial<CopyPrograms> = {};
  const lacks: Lack[] = [];
  for (const [key, [program, debian]] of Object.entries(NEEDED)) {
    const path = await find(program);
    if (path === null) lacks.push({ program, debian });
    else found[key as keyof CopyPrograms] = path;
  }
  return { found, lacks };
}

const MISSING = 'for program; do command -v "$program" >/dev/null || echo "$program"; done';

/** The programs of a container, by their names, and those that it lacks. */
export async function lookIn(container: Programs): Promise<Looked & { found: CopyPrograms }> {
  const found = Object.fromEntries(Object.entries(NEEDED).map(([key, [program]]) => [key, program])) as CopyPrograms;
  const { out } = await container.run(['sh', '-c', MISSING, 'sh', ...Object.values(found)], {});
  const missing = out.toString('utf8').split('\n');
  const lacks = Object.values(NEEDED).filter(([program]) => missing.includes(program));
  return { found, lacks: lacks.map(([program, debian]) => ({ program, debian })) };
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
