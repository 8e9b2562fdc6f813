import type { Operation } from '../../src/operation/operation.js';
import getSiteGuard from './get-site-guard-v1.js';
import installSiteGuard from './install-site-guard-v1.js';
import liftQuarantine from './lift-quarantine-v1.js';
import listQuarantinedVersions from './list-quarantined-versions-v1.js';
import listSiteSnapshots from './list-site-snapshots-v1.js';
import removeSiteGuard from './remove-site-guard-v1.js';
import setQuarantineScope from './set-quarantine-scope-v1.js';

export const guard: readonly Operation[] = [
  getSiteGuard,
  installSiteGuard,
  removeSiteGuard,
  listSiteSnapshots,
  listQuarantinedVersions,
  liftQuarantine,
  setQuarantineScope,
];
