/** Why an entry of the action log is not undone, and which call takes back what it did, where there is one. Pure. */

import type { ActionRow } from '../../store/action-log/action-log.js';

export const UNDONE = 'It has already been undone.';
export const GONE = 'What was deleted is gone.';
export const NO_IMAGE = 'The log does not say what it was before.';
export const NO_CHANGE = 'Nothing changed: it was already so.';
export const NOT_DONE = 'It was not done, so there is nothing to undo.';
const ONLY_A_PERSON = 'a person does so on the page.';
const again = (how: string) => `The log does not say what it was before: ${how}`;

/** By what an action acted on, or any that acts so, and by its name. */
const REASONS: Readonly<Record<string, string>> = {
  'core updated': 'WordPress itself cannot be rolled back: restore a backup of the site.',
  'translation updated': 'Translations cannot be rolled back.',
  'site added': 'delete-site-v1 removes the site.',
  'site deleted': 'The record of a site that was removed is gone: add it again with add-site-v1.',
  'site reconnected': 'disconnect-site-v1 ends the connection.',
  'site connection-renewed': 'The earlier keys of a connection are not restored.',
  'site sessions-destroyed': 'Sessions that were ended stay ended: people log in again.',
  'site admin-login': 'A login that was issued expires on its own.',
  'site guard-installed': 'remove-site-guard-v1 removes the guard.',
  'site guard-renewed': 'An older version of a guard is not restored.',
  'site guard-removed': 'install-site-guard-v1 installs the guard again.',
  'site backed-up': 'A backup changes nothing on the site.',
  'site backup-exported': 'An export changes nothing on the site.',
  'site restored': 'What a restore replaced is gone: restore a later backup with restore-backup-v1.',
  'site restore-taken-back': 'It was rolled back: nothing is left of it.',
  'plugin installed': 'delete-site-plugins-v1 removes the plugin.',
  'theme installed': 'delete-site-themes-v1 removes the theme.',
  'monitor updated': 'Maintenance is not restored: set or end it with the monitor.',
  'audit updated': again('choose the audits again.'),
  'domain updated': again('enter the dates again, or look the domain up.'),
  'record added': 'Delete the records of this segment to remove it.',
  'incident acknowledged': 'acknowledge-incident-v1 with acknowledged false removes the mark.',
  'incident acknowledgement-withdrawn': 'acknowledge-incident-v1 sets the mark again.',
  'matter *': 'Bring it back under Now, where it was set aside.',
  'cost added': 'delete-cost-v1 removes it.',
  'cost updated': again('update-cost-v1 changes it.'),
  'cost deleted': 'What was deleted is gone: add-cost-v1 adds it again.',
  'task added': 'delete-time-task-v1 removes it.',
  'task updated': again('update-time-task-v1 changes it.'),
  'task deleted': 'What was deleted is gone: add-time-task-v1 adds it again.',
  'task *': 'Start, pause or complete the task again to change its state.',
  'bucket added': 'Delete the bucket to remove it.',
  'bucket updated': again('change the bucket again.'),
  'guidance added': `To remove it: ${ONLY_A_PERSON}`,
  'guidance confirmed': `To remove it: ${ONLY_A_PERSON}`,
  'guidance removed': 'add-guidance-v1 adds it again.',
  'approval asked': 'The request expires on its own, or ends when a person refuses it.',
  'approval approved': 'An approval is for one call, and expires on its own.',
  'approval refused': 'A refusal stays: the same call may ask again.',
  'approval used': 'An approval is for one call, and this one was used.',
  'key *': `Keys are not restored: ${ONLY_A_PERSON}`,
  'user *': `Users are not restored: ${ONLY_A_PERSON}`,
  'policy *': `Policies are not restored: ${ONLY_A_PERSON}`,
  'rollout *': 'The course of a rollout cannot be undone: pause, resume or abort it.',
  'job cancelled': 'A cancelled job does not resume: make the call again.',
  'client updated': again('update-client-v1 changes it.'),
  deleted: GONE,
  'rolled-back':
    'A roll-back stays, as what it removed may have broken the site. Update the item again; lift-quarantine-v1 first, if that version is quarantined.',
};

/** Of an entry that says nothing of what was before. */
export function reasonNotUndone({ context, action }: Pick<ActionRow, 'context' | 'action'>): string {
  const found = [`${context} ${action}`, `${context} *`, action].find((name) => Object.hasOwn(REASONS, name));
  return found === undefined ? NO_IMAGE : (REASONS[found] as string);
}
