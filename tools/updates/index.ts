import type { Operation } from '../../src/operation/operation.js';
import getSiteUpdates from './get-site-updates-v1.js';
import ignoreSiteCore from './ignore-site-core-v1.js';
import ignoreSitePlugins from './ignore-site-plugins-v1.js';
import ignoreSiteThemes from './ignore-site-themes-v1.js';
import ignoreUpdateEverywhere from './ignore-update-everywhere-v1.js';
import listIgnoredUpdates from './list-ignored-updates-v1.js';
import listUpdates from './list-updates-v1.js';
import runUpdates from './run-updates-v1.js';
import setIgnoredUpdates from './set-ignored-updates-v1.js';
import updateAll from './update-all-v1.js';
import updateSiteCore from './update-site-core-v1.js';
import updateSitePlugins from './update-site-plugins-v1.js';
import updateSiteThemes from './update-site-themes-v1.js';
import updateSiteTranslations from './update-site-translations-v1.js';

/** In the order of the user's document, followed by additional operations. */
export const updates: readonly Operation[] = [
  listUpdates,
  runUpdates,
  listIgnoredUpdates,
  setIgnoredUpdates,
  getSiteUpdates,
  updateSiteCore,
  updateSitePlugins,
  updateSiteThemes,
  updateSiteTranslations,
  ignoreSiteCore,
  ignoreSitePlugins,
  ignoreSiteThemes,
  updateAll,
  ignoreUpdateEverywhere,
];
