/** The port to the guards: everything verbs ask of the must-use plugin on a site. `create.ts` implements it. */

import type { ChildConnection } from '../child/port.js';
import type { GuardClient } from './client.js';

export type * from './answers.js';
export type * from './backup-client.js';

/**
 * The guard of one site. Rejects with GuardFailure if it refuses or does not answer, with ChildFailure if the site
 * cannot be reached.
 */
export type SiteGuard = Pick<GuardClient, keyof GuardClient>;

export interface SiteGuards {
  of(site: ChildConnection): SiteGuard;
  /** The plugin that is installed on sites: its version and its PHP. */
  plugin(): Promise<{ version: string; php: string }>;
  /** The plugin for backups, which is installed beside it. */
  backupPlugin(): Promise<{ version: string; php: string }>;
}
