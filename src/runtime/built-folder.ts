/** Finds what the build makes besides the program. */

import { fileURLToPath } from 'node:url';

/** Folder of the built page, reference or views, whether this file was loaded from the sources or from the build. */
export function builtFolder(name: 'web' | 'docs' | 'apps'): string {
  const fromSources = import.meta.url.endsWith('.ts');
  return fileURLToPath(new URL(fromSources ? `../../dist/${name}/` : `../../${name}/`, import.meta.url));
}
