import type { Operation } from '../../src/operation/operation.js';
import acknowledgeIncident from './acknowledge-incident-v1.js';
import checkMonitor from './check-monitor-v1.js';
import getRun from './get-run-v1.js';
import listAlerts from './list-alerts-v1.js';
import listCertificates from './list-certificates-v1.js';
import listDomains from './list-domains-v1.js';
import listIncidents from './list-incidents-v1.js';
import listMonitors from './list-monitors-v1.js';
import listRuns from './list-runs-v1.js';
import retryRun from './retry-run-v1.js';
import updateMonitors from './update-monitors-v1.js';

export const monitoring: readonly Operation[] = [
  listIncidents,
  acknowledgeIncident,
  listMonitors,
  checkMonitor,
  updateMonitors,
  listCertificates,
  listDomains,
  listAlerts,
  listRuns,
  getRun,
  retryRun,
];
