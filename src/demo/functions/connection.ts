import { ChildError, type ChildFunction } from '../answer.js';
import { text } from '../params.js';
import type { SiteState } from '../state.js';

/** `disconnect`: key, server, user and hash are forgotten; the secrets of the users stay (child protocol §4). */
export const disconnect: ChildFunction = ({ state }) => {
  forget(state);
  return { result: 'success' };
};

/** `deactivate`: the plugin is off from now on (child protocol §4). */
export const deactivate: ChildFunction = ({ state }) => {
  forget(state);
  state.pluginActive = false;
  return { deactivated: true };
};

function forget(state: SiteState): void {
  state.connection = null;
  state.algorithm = null;
}

/** `update_values`: sets the unique id (child protocol §4). */
export const updateValues: ChildFunction = ({ state, params }) => {
  if (params.uniqueId !== undefined) state.uniqueId = text(params, 'uniqueId');
  return { result: 'ok' };
};

/** `settings_tools`: logs the user out that the call acts as, and no other, despite its name (child protocol §6.9). */
export const settingsTools: ChildFunction = ({ site, params, user }) => {
  const action = text(params, 'action');
  if (action === '') throw ChildError.of(site, 'missingAction');
  if (action !== 'force_destroy_sessions') throw ChildError.of(site, 'invalid');
  if (site.faults.falseSuccess !== true && user !== undefined) user.sessions = 0;
  return { success: 1 };
};

/** `get_site_icon`: `[]` when there is none (child protocol §6.9). */
export const getSiteIcon: ChildFunction = ({ site, state }) =>
  state.icon === '' ? [] : { faviIconUrl: `${site.url}${state.icon}` };
