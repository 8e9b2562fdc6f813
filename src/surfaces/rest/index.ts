/** All REST rows. To add a table, import it and list it here, in the order of the routes document. */

import { keys } from './access/keys.js';
import { users } from './access/users.js';
import { actions } from './action-log/actions.js';
import { approvals } from './approvals/approvals.js';
import { audits, auditsExtra } from './audits/audits.js';
import { backups } from './backups/backups.js';
import { clients } from './clients/clients.js';
import { comments } from './content/comments.js';
import { posts } from './content/posts.js';
import { costs } from './costs/costs.js';
import { fleet } from './fleet/fleet.js';
import { guidance } from './guidance/guidance.js';
import { jobs } from './jobs/jobs.js';
import { alertRecipients } from './monitoring/alert-recipients.js';
import { ssl } from './monitoring/certificates.js';
import { domains, domainsExtra } from './monitoring/domains.js';
import { alertsExtra, monitors } from './monitoring/monitors.js';
import { policies } from './policies/policies.js';
import { reports, reportsExtra } from './reports/reports.js';
import type { Route } from './route.js';
import { safetyExtra } from './safety/safety.js';
import { settings } from './settings/settings.js';
import { site } from './sites/site.js';
import { sites, sitesExtra } from './sites/sites.js';
import { tags } from './sites/tags.js';
import { timeTrackerExtra } from './time-tracker/extra.js';
import { time } from './time-tracker/time-tracker.js';
import { updatesExtra } from './updates/ignored.js';
import { rollouts } from './updates/rollouts.js';
import { runs } from './updates/runs.js';
import { updates } from './updates/updates.js';
import { vulnerabilitiesExtra } from './vulnerabilities/vulnerabilities.js';

/** The rows of the routes document, in its order. */
export const documented: readonly Route[] = [
  ...keys,
  ...sites,
  ...site,
  ...comments,
  ...ssl,
  ...domains,
  ...audits,
  ...reports,
  ...time,
  ...settings,
  ...monitors,
  ...posts,
  ...updates,
];

/** Additional rows that are not in the routes document. */
export const extra: readonly Route[] = [
  ...jobs,
  ...sitesExtra,
  ...clients,
  ...tags,
  ...costs,
  ...updatesExtra,
  ...auditsExtra,
  ...reportsExtra,
  ...timeTrackerExtra,
  ...domainsExtra,
  ...alertsExtra,
  ...safetyExtra,
  ...runs,
  ...rollouts,
  ...policies,
  ...alertRecipients,
  ...fleet,
  ...actions,
  ...vulnerabilitiesExtra,
  ...users,
  ...approvals,
  ...guidance,
  ...backups,
];

export const routes: readonly Route[] = [...documented, ...extra];
