/** All schema steps in order. A landed step is never edited: the next change is a new number. */
import { init } from './0001_init.js';
import { rest } from './0002_rest.js';
import { settings } from './0003_settings.js';
import { monitors } from './0004_monitors.js';
import { engines } from './0005_engines.js';
import { shares } from './0006_shares.js';
import { uniqueId } from './0007_unique_id.js';
import { batchGuard } from './0008_batch_guard.js';
import { syncErrorQuoted } from './0009_sync_error_quoted.js';
import { trial } from './0010_trial.js';
import { jobItems } from './0011_job_items.js';
import { siteState } from './0012_site_state.js';
import { siteFindings } from './0013_site_findings.js';
import { actionLog } from './0014_action_log.js';
import { safety } from './0017_safety.js';
import { listRevisions } from './0020_list_revisions.js';
import { alertRecipients } from './0023_alert_recipients.js';
import { search } from './0025_search.js';
import { ignoredUntil } from './0026_ignored_until.js';
import { webSessions } from './0027_web_sessions.js';
import { vulnerabilities } from './0028_vulnerabilities.js';
import { incidentAcknowledged } from './0030_incident_acknowledged.js';
import { titleTries } from './0032_title_tries.js';
import { openChanges } from './0033_open_changes.js';
import { users } from './0035_users.js';
import { recordTexts } from './0038_record_texts.js';

export const migrations: readonly { id: number; name: string; sql: string }[] = [
  { id: 1, name: 'init', sql: init },
  { id: 2, name: 'rest', sql: rest },
  { id: 3, name: 'settings', sql: settings },
  { id: 4, name: 'monitors', sql: monitors },
  { id: 5, name: 'engines', sql: engines },
  { id: 6, name: 'shares', sql: shares },
  { id: 7, name: 'unique_id', sql: uniqueId },
  { id: 8, name: 'batch_guard', sql: batchGuard },
  { id: 9, name: 'sync_error_quoted', sql: syncErrorQuoted },
  { id: 10, name: 'trial', sql: trial },
  { id: 11, name: 'job_items', sql: jobItems },
  { id: 12, name: 'site_state', sql: siteState },
  { id: 13, name: 'site_findings', sql: siteFindings },
  { id: 14, name: 'action_log', sql: actionLog },
  { id: 17, name: 'safety', sql: safety },
  { id: 20, name: 'list_revisions', sql: listRevisions },
  { id: 23, name: 'alert_recipients', sql: alertRecipients },
  { id: 25, name: 'search', sql: search },
  { id: 26, name: 'ignored_until', sql: ignoredUntil },
  { id: 27, name: 'web_sessions', sql: webSessions },
  { id: 28, name: 'vulnerabilities', sql: vulnerabilities },
  { id: 30, name: 'incident_acknowledged', sql: incidentAcknowledged },
  { id: 32, name: 'title_tries', sql: titleTries },
  { id: 33, name: 'open_changes', sql: openChanges },
  { id: 35, name: 'users', sql: users },
  { id: 38, name: 'record_texts', sql: recordTexts },
];
