/** All that is stored, by noun. */

import { createAlerts } from './alerts.js';
import { createAudits } from './audits.js';
import { createCertificates } from './certificates.js';
import { createClients } from './clients.js';
import { createClockSteps } from './clock-steps.js';
import { createContent } from './content.js';
import { createCosts } from './costs.js';
import type { Db } from './db.js';
import { createDenials } from './denials.js';
import { createDomains } from './domains.js';
import { createHistory } from './history.js';
import { createIdempotency } from './idempotency.js';
import { createInstance } from './instance.js';
import { createInventory } from './inventory.js';
import { createJobs } from './jobs.js';
import { createKeys } from './keys.js';
import { createMail } from './mail.js';
import { createMonitorClaims } from './monitor-claims.js';
import { createMonitorNetwork } from './monitor-network.js';
import { createMonitorResults } from './monitor-results.js';
import { createMonitors } from './monitors.js';
import { createReportData } from './report-data.js';
import { createReports } from './reports.js';
import { createSchedule } from './schedule.js';
import { createSettings } from './settings.js';
import { createSiteRecords } from './site-records.js';
import { createSiteSettings } from './site-settings.js';
import { createSiteUpdates } from './site-updates.js';
import { createSites } from './sites.js';
import { createTags } from './tags.js';
import { createTimeBuckets } from './time-buckets.js';
import { createTimeSettings } from './time-settings.js';
import { createTimeTasks } from './time-tasks.js';
import { createToolJobs } from './tool-jobs.js';
import { createUpdates } from './updates.js';
import { createUsers } from './users.js';
import type { Vault } from './vault.js';

export function createStore(db: Db, vault: Vault) {
  return {
    sites: createSites(db, vault),
    siteRecords: createSiteRecords(db),
    siteSettings: createSiteSettings(db, vault),
    siteUpdates: createSiteUpdates(db),
    inventory: createInventory(db),
    updates: createUpdates(db),
    reports: createReports(db),
    clients: createClients(db),
    tags: createTags(db),
    audits: createAudits(db),
    history: createHistory(db),
    mail: createMail(db),
    reportData: createReportData(db),
    timeTasks: createTimeTasks(db),
    timeBuckets: createTimeBuckets(db),
    timeSettings: createTimeSettings(db),
    costs: createCosts(db),
    jobs: createJobs(db),
    clockSteps: createClockSteps(db),
    schedule: createSchedule(db),
    users: createUsers(db),
    keys: createKeys(db),
    content: createContent(db),
    settings: createSettings(db, vault),
    toolJobs: createToolJobs(db),
    denials: createDenials(db),
    monitors: createMonitors(db, vault),
    monitorClaims: createMonitorClaims(db, vault),
    monitorNetwork: createMonitorNetwork(db),
    monitorResults: createMonitorResults(db),
    certificates: createCertificates(db),
    domains: createDomains(db),
    alerts: createAlerts(db),
    instance: createInstance(db),
    idempotency: createIdempotency(db, vault),
  };
}

export type Store = ReturnType<typeof createStore>;
