/** Finds packages that users install globally, because they are too large to be dependencies. */

import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Where `npm install --global` puts packages: next to this Node, or under the prefixes of usual setups. */
function globalFolders(): string[] {
  const beside = dirname(process.execPath);
  return process.platform === 'win32'
    ? [join(homedir(), 'AppData', 'Roaming', 'npm', 'node_modules'), join(beside, 'node_modules')]
    : [
        join(beside, '..', 'lib', 'node_modules'),
        ...['/usr/local', '/usr', '/opt/homebrew', join(homedir(), '.npm-global'), join(homedir(), '.local')].map(
          (prefix) => join(prefix, 'lib', 'node_modules'),
        ),
      ];
}

/**
 * The real path of a file of a package.
 * @param configured folder of the package; null = searched in the usual places
 */
export async function findInPackage(name: string, file: string, configured: string | null): Promise<string | null> {
  const folders = configured === null ? globalFolders().map((folder) => join(folder, name)) : [configured];
  for (const folder of folders) {
    const path = await realpath(join(folder, file)).catch(() => null);
    if (path !== null) return path;
  }
  return null;
}
