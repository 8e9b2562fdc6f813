/** Implements the port to the guards over the child's network. */

import { readShipped } from '../../runtime/shipped-file.js';
import type { ChildConnection } from '../child/port.js';
import type { WireAnswer, WireRequest } from '../child/wire/exchange.js';
import { GuardClient } from './client.js';
import type { SiteGuards } from './guards.js';

export interface GuardsParts {
  /** One exchange with a site, within the limits of the child connection. */
  exchange: (site: ChildConnection, request: WireRequest) => Promise<WireAnswer>;
  /** Unix milliseconds. */
  now: () => number;
}

/** Creates the port. The plugins' files are read when they are first needed. */
export function createGuards({ exchange, now }: GuardsParts): SiteGuards {
  // The child's network identifies itself as it does to the child.
  const userAgent = 'Sitefleet';
  let plugin: Promise<{ version: string; php: string }> | undefined;
  let backupPlugin: typeof plugin;
  return {
    of: (site) => new GuardClient(site, { exchange: (request) => exchange(site, request), userAgent, now }),
    plugin: () => {
      plugin ??= readPlugin('sitefleet-guard.php');
      return plugin;
    },
    backupPlugin: () => {
      backupPlugin ??= readPlugin('sitefleet-backup.php');
      return backupPlugin;
    },
  };
}

async function readPlugin(file: string): Promise<{ version: string; php: string }> {
  const php = await readShipped(file);
  const version = /const VERSION\s*=\s*'([\w.]+)'/.exec(php)?.[1];
  if (version === undefined) throw new Error(`The file ${file} of this installation has no version.`);
  return { version, php };
}
