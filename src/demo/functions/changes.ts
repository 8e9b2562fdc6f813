import type { ChildFunction } from '../answer.js';
import { integer, type Params, phpMap, text } from '../params.js';
import type { SiteState } from '../state.js';

/** Changes made on the site itself, newer than the given unix time (child protocol §6.7). */
export function changedSince(state: SiteState, since: number) {
  return phpMap(new Map([...state.actions].filter(([, action]) => action.created > since)));
}

/** The activity log, oldest first; empty text unless events were asked for (child protocol §6.7). */
export function changeLogSince(state: SiteState, asked: Params) {
  const count = integer(asked, 'events_count');
  if (count <= 0) return '';
  const since = Number(text(asked, 'newer_than') || 0);
  const entries = state.changeLog.filter((entry) => Number(entry.created_on) > since).slice(0, count);
  return entries.length === 0 ? '' : Object.fromEntries(entries.map((entry) => [entry.id, entry]));
}

/** `delete_actions` */
export const deleteActions: ChildFunction = ({ state }) => {
  state.actions.clear();
  return { success: 'ok' };
};

/** `clean_up_child_logs` */
export const cleanUpChildLogs: ChildFunction = ({ state }) => {
  state.changeLog = [];
  return { success: 1, dbsize_activitylogs: 16384 };
};
