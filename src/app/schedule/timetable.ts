/** The timetable: every scheduled task. Patterns are croner's, with seconds; all runs are bounded. */

import { reapJobs } from '../../domain/actions/chunk.js';
import { deliverAlerts } from '../../domain/alerts/deliveries.js';
import { dailyDigest } from '../../domain/alerts/mail/digest.js';
import { sendMail } from '../../domain/alerts/mail/mail.js';
import { runAudits } from '../../domain/audits/queue.js';
import { backUpByClock } from '../../domain/backups/daily-backups.js';
import { drillByClock } from '../../domain/backups/drill-by-clock.js';
import { pruneBackups } from '../../domain/backups/retention.js';
import { runBackupTurns } from '../../domain/backups/scheduled.js';
import { refreshAbandoned } from '../../domain/connection/abandoned.js';
import { reportHealth, syncDueSites } from '../../domain/connection/maintenance.js';
import { runToolJobs } from '../../domain/connection/tool-jobs.js';
import type { Ctx } from '../../domain/context.js';
import { recordFleetDay } from '../../domain/fleet/days.js';
import { dropImportKeys } from '../../domain/import/keys.js';
import { pruneMonitoring, runDueMonitors } from '../../domain/monitoring/due-monitors.js';
import { runCertificates, runDomains } from '../../domain/monitoring/expiry-checks.js';
import { beginWindows } from '../../domain/monitoring/windows.js';
import { runPolicies } from '../../domain/policies/run.js';
import { deleteExpired } from '../../domain/retention/delete-expired.js';
import { expireIgnored } from '../../domain/updates/ignored-everywhere.js';
import { advanceRollouts } from '../../domain/updates/rollouts/advance.js';
import { finishInterruptedRuns } from '../../domain/updates/safe/unfinished.js';
import { watchUpdates } from '../../domain/updates/safe/watch.js';
import { refreshVulnerabilities } from '../../domain/vulnerabilities/refresh.js';
import type { Members } from '../../runtime/cluster/members.js';
import { TURNS } from './turns.js';

export interface ScheduledTask {
  name: string;
  about: string;
  pattern: string;
  /**
   * Contacts or reports on sites without being asked: not run while svc_wp_cron is 0. Requested work and housekeeping
   * continue.
   */
  ofItsOwn?: boolean;
  /** Every process takes a share of it, by claims; other tasks run only in the process that holds the lease. */
  shared?: boolean;
  /** Returns a short summary. */
  run(ctx: Ctx, members: Members): Promise<string>;
}

export const timetable: readonly ScheduledTask[] = [
  {
    name: 'reap-jobs',
    about: 'Ends jobs past their time limit and deletes old ones.',
    pattern: '*/30 * * * * *',
    async run(ctx) {
      const { timed_out, expired } = await reapJobs(ctx);
      return `${timed_out} timed out, ${expired} deleted`;
    },
  },
  {
    name: 'tool-jobs',
    about: 'Resumes tools jobs left by a stopped process.',
    pattern: '15,45 * * * * *',
    run: runToolJobs,
  },
  {
    name: 'safe-updates',
    about: 'Finishes safe updates left open by a stopped process.',
    pattern: '5,20,35,50 * * * * *',
    run: finishInterruptedRuns,
  },
  {
    name: 'rollouts',
    about: 'Advances rollouts of updates: their waves, the pauses between them, and when they halt.',
    pattern: '*/10 * * * * *',
    run: advanceRollouts,
  },
  {
    name: 'policies',
    about: 'Plans the updates of policies that are due, and starts them or asks for approval.',
    pattern: '2,32 * * * * *',
    ofItsOwn: true,
    run: runPolicies,
  },
  {
    name: 'watch-updates',
    about: 'Reads what guards recorded about updates of the last day: after 1, 5, 15 and 60 minutes, and a day.',
    pattern: '10,40 * * * * *',
    shared: true,
    run: watchUpdates,
  },
  {
    name: 'daily-sync',
    about: 'Syncs every site as often as set in the settings.',
    pattern: TURNS.syncs,
    ofItsOwn: true,
    shared: true,
    run: syncDueSites,
  },
  {
    name: 'abandoned-refresh',
    about: 'Checks for abandoned plugins and themes: new sites first, then each site every two days.',
    pattern: TURNS.abandoned_checks,
    ofItsOwn: true,
    run: refreshAbandoned,
  },
  {
    name: 'site-health',
    about: 'Reports unhealthy sites.',
    pattern: '0 15 6 * * *',
    ofItsOwn: true,
    run: reportHealth,
  },
  {
    name: 'audits',
    about: 'Runs queued performance audits, one at a time.',
    pattern: '*/20 * * * * *',
    run: runAudits,
  },
  {
    name: 'mail',
    about: 'Writes mails about new alerts and sends what is in the outbox.',
    pattern: '10,30,50 * * * * *',
    run: sendMail,
  },
  {
    name: 'alert-deliveries',
    about: 'Sends new alerts to webhooks and chats, and retries failed deliveries.',
    pattern: '5,15,25,35,45,55 * * * * *',
    run: deliverAlerts,
  },
  {
    name: 'daily-digest',
    about: 'Puts the daily digest into the outbox, in the morning of the dashboard’s time zone.',
    pattern: '0 5 * * * *',
    ofItsOwn: true,
    run: dailyDigest,
  },
  {
    name: 'monitors',
    about: 'Checks the monitors that are due.',
    pattern: TURNS.monitors,
    ofItsOwn: true,
    shared: true,
    run: runDueMonitors,
  },
  {
    name: 'maintenance',
    about: 'Begins the weekly maintenance of sites, during which they are not checked.',
    pattern: '35 * * * * *',
    run: beginWindows,
  },
  {
    name: 'certificates',
    about: 'Checks each site’s certificate once a day.',
    pattern: TURNS.certificates,
    ofItsOwn: true,
    shared: true,
    run: runCertificates,
  },
  {
    name: 'domains',
    about: 'Looks up when domains expire: weekly, and daily near the expiry date.',
    pattern: TURNS.domains,
    ofItsOwn: true,
    run: runDomains,
  },
  {
    name: 'prune-monitoring',
    about: 'Deletes heartbeats, statistics, incidents and alerts past their retention time.',
    pattern: '50 17 * * * *',
    run: pruneMonitoring,
  },
  {
    name: 'fleet-day',
    about: 'Counts the fleet for the trend of a month: its states, updates and vulnerable sites.',
    pattern: '45 50 * * * *',
    run: recordFleetDay,
  },
  {
    name: 'ignored-updates',
    about: 'Offers updates again once the time they were ignored or quarantined for has passed.',
    pattern: '25 * * * * *',
    async run(ctx) {
      await ctx.store.quarantine.narrow(ctx.clock.now());
      return expireIgnored(ctx);
    },
  },
  {
    name: 'backup',
    about: 'Backs up the database to SITEFLEET_BACKUP_DIR once a day.',
    pattern: '0 25 * * * *',
    run: backUpByClock,
  },
  {
    name: 'site-backups',
    about: 'Backs up the sites that are due, two at a time.',
    pattern: TURNS.site_backups,
    ofItsOwn: true,
    run: runBackupTurns,
  },
  {
    name: 'prune-backups',
    about: 'Removes expired backups of sites, and data that no other backup needs.',
    pattern: '0 10 4 * * *',
    run: pruneBackups,
  },
  {
    name: 'drills',
    about: 'Restores the newest backup of each site on trial, once a month and one at a time.',
    pattern: '20 */5 * * * *',
    ofItsOwn: true,
    run: drillByClock,
  },
  {
    name: 'vulnerabilities',
    about: 'Reads the vulnerability feed once a day, and checks new versions against it.',
    pattern: '45 * * * * *',
    run: async (ctx) => (await refreshVulnerabilities(ctx)).message,
  },
  {
    name: 'statistics',
    about: 'Updates the database’s query statistics when the fleet has doubled.',
    pattern: '55 */10 * * * *',
    run: async (ctx) => ((await ctx.store.statistics.refresh()) ? 'taken' : 'nothing to do'),
  },
  {
    name: 'forget-old',
    about: 'Deletes old audits, mails and history.',
    pattern: '0 40 3 * * *',
    run: deleteExpired,
  },
  {
    name: 'import-keys',
    about: 'Deletes expired import keys.',
    pattern: '0 50 3 * * *',
    run: async (ctx) => {
      await dropImportKeys(ctx);
      return 'done';
    },
  },
];
