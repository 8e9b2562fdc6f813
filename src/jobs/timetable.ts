/** Everything that happens by the clock, in one place. Patterns are croner's, with seconds; all runs are bounded. */

import type { Ctx } from '../context.js';
import { reapJobs } from '../domain/job-chunk.js';
import { refreshAbandoned, reportHealth, syncDueSites } from '../domain/upkeep.js';

export interface Entry {
  name: string;
  about: string;
  pattern: string;
  /** Answers what came of it, in a few words. */
  run(ctx: Ctx): Promise<string>;
}

export const timetable: readonly Entry[] = [
  {
    name: 'reap-jobs',
    about: 'Ends jobs past their time limit and forgets old ones.',
    pattern: '*/30 * * * * *',
    async run(ctx) {
      const { timed_out, expired } = await reapJobs(ctx);
      return `${timed_out} timed out, ${expired} forgotten`;
    },
  },
  {
    name: 'daily-sync',
    about: 'Syncs every site once a day, spread over the day.',
    pattern: '0 */5 * * * *',
    run: syncDueSites,
  },
  {
    name: 'abandoned-refresh',
    about: 'Looks up abandoned plugins and themes, each site every two days.',
    pattern: '30 */10 * * * *',
    run: refreshAbandoned,
  },
  {
    name: 'site-health',
    about: 'Tells which sites report bad health.',
    pattern: '0 15 6 * * *',
    run: reportHealth,
  },
];
