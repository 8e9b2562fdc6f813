import type { Operation } from '../../src/operation/operation.js';
import cancelJob from './cancel-job-v1.js';
import compareSites from './compare-sites-v1.js';
import diagnoseSite from './diagnose-site-v1.js';
import listActions from './list-actions-v1.js';
import searchChanges from './search-changes-v1.js';
import tagSites from './tag-sites-v1.js';

export const support: readonly Operation[] = [
  diagnoseSite,
  searchChanges,
  listActions,
  compareSites,
  tagSites,
  cancelJob,
];
