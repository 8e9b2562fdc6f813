/**
 * When the timetable does what is due of its own accord. Apart from it, so that a process that only reads can tell without
 * loading what the tasks need.
 */

import type { DueWork } from '../../store/jobs/waiting-work.js';

export const TURNS: Readonly<Record<keyof DueWork, string>> = {
  syncs: '0 */5 * * * *',
  abandoned_checks: '30 */10 * * * *',
  monitors: '*/10 * * * * *',
  certificates: '20 */5 * * * *',
  domains: '40 */5 * * * *',
  site_backups: '15 * * * * *',
};
