/** What runs a copy: its PHP and its database. */

import type { CopySettings, SiteCopy } from './copies.js';

export interface CopyRuntime extends Pick<SiteCopy, 'means' | 'php' | 'database' | 'load' | 'query' | 'ask' | 'has'> {
  /** Files that make WordPress use it, by their paths below the folder of the site. */
  files(settings: CopySettings): Promise<Record<string, string>>;
}
