/** The schema of the database: what a new one is made with, and the steps that change an existing one. */

import type { Migration } from '../driver/migrate.js';
import { access } from './access.js';
import { approvals } from './approvals.js';
import { backups } from './backups.js';
import { records } from './business.js';
import { inventory } from './inventory.js';
import { work } from './jobs.js';
import { monitoring } from './monitoring.js';
import { rollouts } from './rollouts.js';
import { runs } from './runs.js';
import { safety } from './safety.js';
import { sites } from './sites.js';
import { vulnerabilities } from './vulnerabilities.js';

/**
 * All steps in order. Once released, a step is never edited: the next change is the next number (docs/schema.md is the recipe).
 * Numbers below 100 were those of versions before the first release.
 */
export const migrations: readonly Migration[] = [
  {
    id: 100,
    name: 'schema',
    sql: [
      access,
      sites,
      inventory,
      safety,
      vulnerabilities,
      monitoring,
      work,
      runs,
      rollouts,
      records,
      approvals,
      backups,
    ].join(''),
  },
];
