/** The store: one object per noun, each with its queries over one database. */

import { createIdempotency } from './access/idempotency.js';
import { createKeys } from './access/keys.js';
import { createLoginLinks } from './access/login-links.js';
import { createUsers } from './access/users.js';
import { createWebSessions } from './access/web-sessions.js';
import { createActionLog } from './action-log/action-log.js';
import { createActionChain } from './action-log/chain.js';
import { createRecordedCalls } from './action-log/recorded-calls.js';
import { createApprovals } from './approvals/approvals.js';
import { createAudits } from './audits/audits.js';
import { createFleetBackups } from './backups/fleet-backups.js';
import { createChunkIndex } from './backups/repository/chunk-index.js';
import { createBackupSchedule } from './backups/schedule.js';
import { createSiteBackups } from './backups/site-backups.js';
import { createClients } from './clients/clients.js';
import { createClockSteps } from './cluster/clock-steps.js';
import { createLeases } from './cluster/leases.js';
import { createMembers } from './cluster/members.js';
import { createRuns } from './cluster/runs.js';
import { createCosts } from './costs/costs.js';
import type { Db, Reads } from './driver/db.js';
import { createFleetBrief } from './fleet/brief.js';
import { createChangeSearch } from './fleet/change-search.js';
import { createFleetDays } from './fleet/fleet-days.js';
import { createLiveChanges } from './fleet/live-changes.js';
import { createMarks } from './fleet/marks.js';
import { createFleetOffers } from './fleet/offers.js';
import { createSameTrouble } from './fleet/same-trouble.js';
import { createFleetSearch } from './fleet/search.js';
import { createStatistics } from './fleet/statistics.js';
import { createGuidance } from './guidance/guidance.js';
import { createSiteImport } from './import/import.js';
import { createJobs } from './jobs/jobs.js';
import { createToolJobs } from './jobs/tool-jobs.js';
import { createWaitingWork } from './jobs/waiting-work.js';
import { createMail } from './mail/mail.js';
import { createAlertDeliveries } from './monitoring/alert-deliveries.js';
import { createAlertRecipients } from './monitoring/alert-recipients.js';
import { createAlerts } from './monitoring/alerts.js';
import { createCertificates } from './monitoring/certificates.js';
import { createMonitorClaims } from './monitoring/claims.js';
import { createDomains } from './monitoring/domains.js';
import { createMonitors } from './monitoring/monitors.js';
import { createMonitorNetwork } from './monitoring/own-network.js';
import { createMonitorResults } from './monitoring/results.js';
import { createMaintenanceWindows } from './monitoring/windows.js';
import { createPolicies } from './policies/policies.js';
import { createFleetFigures } from './reports/fleet-figures.js';
import { createReportData } from './reports/report-data.js';
import { createCanaries } from './rollouts/canaries.js';
import { createRolloutPlans } from './rollouts/plans.js';
import { createRollouts } from './rollouts/rollouts.js';
import { createChanges } from './safety/changes.js';
import { createGuards } from './safety/guards.js';
import { createQuarantine } from './safety/quarantine.js';
import { createSitePages } from './safety/site-pages.js';
import { createInstance } from './settings/instance.js';
import { createSettings } from './settings/settings.js';
import { createChangeList } from './sites/change-list.js';
import { createContent } from './sites/content-sites.js';
import { createDueSites } from './sites/due.js';
import { createFindings } from './sites/findings.js';
import { createInventory } from './sites/inventory.js';
import { createInventoryLists } from './sites/inventory-lists.js';
import { createOpenChanges } from './sites/open-changes.js';
import { createSiteRecords } from './sites/records.js';
import { createSiteSettings } from './sites/settings.js';
import { createSites } from './sites/sites.js';
import { createSiteStatus } from './sites/status.js';
import { createTags } from './sites/tags.js';
import { createTimeBuckets } from './time-tracker/buckets.js';
import { createTimeSettings } from './time-tracker/settings.js';
import { createTimeTasks } from './time-tracker/tasks.js';
import { createSiteUpdates } from './updates/by-site.js';
import { createNarrowedUpdates } from './updates/filters.js';
import { createIgnoredEverywhere } from './updates/ignored-everywhere.js';
import { createUpdatePlans } from './updates/plan.js';
import { createReceipts } from './updates/receipts.js';
import { createUpdateRuns } from './updates/runs.js';
import { createUpdates } from './updates/updates.js';
import type { Vault } from './vault/vault.js';
import { createVulnerabilityAlerts } from './vulnerabilities/alerts.js';
import { createClassifications } from './vulnerabilities/classifications.js';
import { createVulnerabilityFeeds } from './vulnerabilities/feed.js';
import { createVulnerabilities } from './vulnerabilities/list.js';

/**
 * @param plain what a call only notes for itself (leases, idempotency keys) goes here, and is no change that is recorded
 * @param aside where reads go that look at the rows of a whole fleet, and would hold up a thread that serves others
 */
export function createStore(plain: Db, vault: Vault, aside: Reads = plain) {
  const chain = createActionChain(plain);
  const { db, ...calls } = createRecordedCalls(plain, chain);
  return {
    sites: createSites(db, vault, aside),
    siteRecords: createSiteRecords(db),
    siteImport: createSiteImport(db),
    siteSettings: createSiteSettings(db, vault),
    siteStatus: createSiteStatus(db),
    siteUpdates: createSiteUpdates(db, aside),
    inventory: createInventory(db),
    inventoryLists: createInventoryLists(db),
    updates: createUpdates(db, aside),
    updateRuns: createUpdateRuns(db, aside),
    receipts: createReceipts(db),
    ignoredEverywhere: createIgnoredEverywhere(db),
    narrowedUpdates: createNarrowedUpdates(aside),
    updatePlans: createUpdatePlans(aside),
    // A plan is a note of a reading call.
    rolloutPlans: createRolloutPlans(plain, aside, db),
    canaries: createCanaries(aside),
    rollouts: createRollouts(db, aside),
    policies: createPolicies(db),
    guards: createGuards(db),
    siteBackups: createSiteBackups(db, plain),
    // When a turn is due is a note, but rules are settings: few, so that both are changes.
    backupSchedule: createBackupSchedule(db),
    fleetBackups: createFleetBackups(aside),
    // What is stored follows from backups.
    chunkIndex: createChunkIndex(plain),
    sitePages: createSitePages(db),
    safeChanges: createChanges(db, aside),
    quarantine: createQuarantine(db),
    findings: createFindings(db),
    vulnerabilityFeeds: createVulnerabilityFeeds(db),
    classifications: createClassifications(db),
    vulnerabilityAlerts: createVulnerabilityAlerts(db),
    vulnerabilities: createVulnerabilities(db),
    fleetBrief: createFleetBrief(db, aside),
    marks: createMarks(db),
    changeSearch: createChangeSearch(db, aside),
    sameTrouble: createSameTrouble(db),
    fleetOffers: createFleetOffers(aside),
    fleetSearch: createFleetSearch(db, aside),
    fleetDays: createFleetDays(db),
    liveChanges: createLiveChanges(db),
    clients: createClients(db),
    tags: createTags(db),
    audits: createAudits(db),
    actionLog: createActionLog(plain, chain, calls),
    openChanges: createOpenChanges(db),
    changes: createChangeList(db),
    mail: createMail(db),
    reportData: createReportData(db),
    fleetFigures: createFleetFigures(db),
    timeTasks: createTimeTasks(db, aside),
    timeBuckets: createTimeBuckets(db, aside),
    timeSettings: createTimeSettings(db),
    costs: createCosts(db, aside),
    guidance: createGuidance(db),
    jobs: createJobs(db),
    clockSteps: createClockSteps(plain),
    leases: createLeases(plain),
    members: createMembers(plain),
    runs: createRuns(plain),
    dueSites: createDueSites(db),
    users: createUsers(db),
    loginLinks: createLoginLinks(db),
    webSessions: createWebSessions(db, vault),
    keys: createKeys(db),
    approvals: createApprovals(db, vault),
    content: createContent(db),
    settings: createSettings(db, vault),
    toolJobs: createToolJobs(db),
    waitingWork: createWaitingWork(db),
    monitors: createMonitors(db, vault, aside),
    monitorClaims: createMonitorClaims(db, vault),
    monitorNetwork: createMonitorNetwork(db),
    monitorResults: createMonitorResults(db),
    maintenanceWindows: createMaintenanceWindows(db),
    certificates: createCertificates(db),
    domains: createDomains(db),
    alerts: createAlerts(db),
    alertRecipients: createAlertRecipients(db, vault),
    alertDeliveries: createAlertDeliveries(db),
    instance: createInstance(db),
    statistics: createStatistics(db),
    idempotency: createIdempotency(plain, vault),
  };
}

export type Store = ReturnType<typeof createStore>;
