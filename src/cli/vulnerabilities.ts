/** `sitefleet vulnerabilities`: reads the feed of known vulnerabilities now, and reports its age. */

import { refreshVulnerabilities } from '../domain/vulnerabilities/refresh.js';
import { feedState } from '../domain/vulnerabilities/state.js';
import type { Config } from '../runtime/config/types.js';
import { withLocalService } from './local-service.js';
import { type JsonFlag, print, printJson } from './output.js';

/** Reads the feed, even if it is not due. Exit code 1 if it could not be read. */
export async function refreshFeed(config: Config, options: JsonFlag & { acceptShorter?: boolean }): Promise<void> {
  const { refreshed, state } = await withLocalService(config, async (ctx) => ({
    refreshed: await refreshVulnerabilities(ctx, { force: true, accept_shorter: options.acceptShorter === true }),
    state: await feedState(ctx),
  }));
  const { outcome, message } = refreshed;
  if (options.json === true) printJson({ outcome, message, checked_at: state.checked_at, note: state.note });
  else print([message, ...(state.note === null ? [] : [state.note])].join('\n'));
  if (outcome !== 'read' && outcome !== 'unchanged') process.exitCode = 1;
}
