/** All scenarios in the order of their numbers. */

import type { Scenario } from '../lib/scenario.js';
import { scenario as listUpdates } from './01-list-updates.js';
import { scenario as growth } from './02-growth.js';
import { scenario as search } from './03-search.js';
import { scenario as storeSite } from './04-store-site.js';
import { scenario as fanOut } from './05-fan-out.js';
import { scenario as hosts } from './06-hosts.js';
import { scenario as cpuPerSite } from './07-cpu-per-site.js';
import { scenario as apiUnderSync } from './08-api-under-sync.js';
import { scenario as eventLoop } from './09-event-loop.js';
import { scenario as http } from './10-http.js';
import { scenario as mcp } from './11-mcp.js';
import { scenario as coldStart } from './12-cold-start.js';
import { scenario as jobs } from './13-jobs.js';
import { scenario as memory } from './14-memory.js';
import { scenario as searchFleet } from './15-search-fleet.js';
import { scenario as lists } from './16-lists.js';
import { scenario as freshSync } from './20-fresh-sync.js';
import { scenario as queue } from './21-queue.js';
import { scenario as atRest } from './22-at-rest.js';
import { scenario as wrongLogins } from './23-wrong-logins.js';

import { scenario as safeUpdate } from './24-safe-update.js';
import { scenario as guard } from './25-guard.js';
import { scenario as vulnerabilities } from './26-vulnerabilities.js';
import { scenario as uptimeChecks } from './30-uptime-checks.js';

export const scenarios: readonly Scenario[] = [
  listUpdates,
  growth,
  search,
  storeSite,
  fanOut,
  hosts,
  cpuPerSite,
  apiUnderSync,
  eventLoop,
  http,
  mcp,
  coldStart,
  jobs,
  memory,
  searchFleet,
  lists,
  freshSync,
  queue,
  atRest,
  wrongLogins,
  safeUpdate,
  guard,
  vulnerabilities,
  uptimeChecks,
];
