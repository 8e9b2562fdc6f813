/** All scenarios in the order of their numbers. */

import type { Scenario } from '../lib/scenario.js';
import { scenario as mcp } from './11-mcp.js';
import { scenario as coldStart } from './12-cold-start.js';
import { scenario as lists } from './16-lists.js';
import { scenario as freshSync } from './20-fresh-sync.js';
import { scenario as queue } from './21-queue.js';
import { scenario as atRest } from './22-at-rest.js';
import { scenario as wrongLogins } from './23-wrong-logins.js';
import { scenario as safeUpdate } from './24-safe-update.js';
import { scenario as uptimeChecks } from './30-uptime-checks.js';
import { scenario as users } from './40-users.js';

export const scenarios: readonly Scenario[] = [
  mcp,
  coldStart,
  lists,
  freshSync,
  queue,
  atRest,
  wrongLogins,
  safeUpdate,
  uptimeChecks,
  users,
];
