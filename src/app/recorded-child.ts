/** Child sites whose changes are recorded: before a call changes a site, its entry is in the action log, or nothing is sent. */

import type { ChildSites } from '../outbound/child/port.js';

/** What changes a site, or talks to something that may. */
const CHANGES = [
  'register',
  'installPackage',
  'runSnippet',
  'setEditLock',
  'actOnPost',
  'updatePost',
  'savePost',
  'actOnComments',
  'endSessions',
  'pluginAction',
  'themeAction',
  'upgradeExtensions',
  'upgradeTranslations',
  'upgradeCore',
  'disconnect',
  'deactivate',
  'exchange',
] as const satisfies readonly (keyof ChildSites)[];

/** @param begin stores the entry of the current call */
export function recordedChild<T extends ChildSites>(child: T, begin: () => Promise<void>): T {
  const recorded = { ...child, bulk: () => recordedChild(child.bulk(), begin) };
  for (const name of CHANGES) {
    const call = child[name] as (...args: unknown[]) => Promise<unknown>;
    Object.assign(recorded, {
      [name]: async (...args: unknown[]) => {
        await begin();
        return call(...args);
      },
    });
  }
  return recorded;
}
