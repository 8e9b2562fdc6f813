import type { Operation } from '../../src/operation/operation.js';
import activateSitePlugins from './activate-site-plugins-v1.js';
import activateSiteTheme from './activate-site-theme-v1.js';
import addSite from './add-site-v1.js';
import checkSite from './check-site-v1.js';
import checkSites from './check-sites-v1.js';
import countSites from './count-sites-v1.js';
import deactivateSitePlugins from './deactivate-site-plugins-v1.js';
import deleteSitePlugins from './delete-site-plugins-v1.js';
import deleteSiteThemes from './delete-site-themes-v1.js';
import deleteSite from './delete-site-v1.js';
import disconnectSite from './disconnect-site-v1.js';
import disconnectSites from './disconnect-sites-v1.js';
import getAbandonedPlugins from './get-abandoned-plugins-v1.js';
import getAbandonedThemes from './get-abandoned-themes-v1.js';
import getSiteChanges from './get-site-changes-v1.js';
import getSiteClient from './get-site-client-v1.js';
import getSiteCosts from './get-site-costs-v1.js';
import getSitePlugins from './get-site-plugins-v1.js';
import getSiteSecurity from './get-site-security-v1.js';
import getSiteThemes from './get-site-themes-v1.js';
import getSite from './get-site-v1.js';
import getSitesBasic from './get-sites-basic-v1.js';
import listSites from './list-sites-v1.js';
import reconnectSite from './reconnect-site-v1.js';
import reconnectSites from './reconnect-sites-v1.js';
import suspendSite from './suspend-site-v1.js';
import suspendSites from './suspend-sites-v1.js';
import syncSites from './sync-sites-v1.js';
import unsuspendSite from './unsuspend-site-v1.js';
import updateSite from './update-site-v1.js';

/** In the order of the user's document. */
export const sites: readonly Operation[] = [
  listSites,
  getSite,
  syncSites,
  addSite,
  updateSite,
  deleteSite,
  reconnectSite,
  disconnectSite,
  suspendSite,
  unsuspendSite,
  checkSite,
  getSitePlugins,
  activateSitePlugins,
  deactivateSitePlugins,
  deleteSitePlugins,
  getSiteThemes,
  activateSiteTheme,
  deleteSiteThemes,
  getAbandonedPlugins,
  getAbandonedThemes,
  getSiteSecurity,
  getSiteChanges,
  getSiteClient,
  getSiteCosts,
  countSites,
  getSitesBasic,
  reconnectSites,
  disconnectSites,
  checkSites,
  suspendSites,
];
