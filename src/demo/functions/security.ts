import { type Call, ChildError, type ChildFunction } from '../answer.js';
import { text } from '../params.js';
import type { SecurityMark } from '../state.js';
import { securityStats } from './security-stats.js';
import { statsPayload } from './stats.js';

/** `security` */
export const security: ChildFunction = ({ state, tls }) => securityStats(state, tls);

/** `securityFix` */
export const securityFix: ChildFunction = (call) => applySecurity(call, 'Y');

/** `securityUnFix` */
export const securityUnFix: ChildFunction = (call) => applySecurity(call, 'N_UNABLE');

function applySecurity(call: Call, value: SecurityMark): unknown {
  const { state, params, site, tls } = call;
  const feature = text(params, 'feature');
  if (!['all', 'db_reporting', 'php_reporting'].includes(feature)) throw ChildError.of(site, 'invalid');
  const skipped = Array.isArray(params.skip_features) ? params.skip_features : [];
  const chosen = (name: string) => feature === name || (feature === 'all' && !skipped.includes(name));
  if (site.faults.falseSuccess !== true) {
    if (chosen('db_reporting')) state.dbReporting = value;
    if (chosen('php_reporting')) state.phpReporting = value;
  }
  const result = securityStats(state, tls);
  return feature === 'all' ? { ...result, sync: statsPayload(call, 'sync') } : result;
}
