/** All that is stored, by noun. */

import { createClients } from './clients.js';
import { createCosts } from './costs.js';
import type { Db } from './db.js';
import { createDenials } from './denials.js';
import { createIdempotency } from './idempotency.js';
import { createInstance } from './instance.js';
import { createInventory } from './inventory.js';
import { createJobs } from './jobs.js';
import { createKeys } from './keys.js';
import { createReports } from './reports.js';
import { createSchedule } from './schedule.js';
import { createSites } from './sites.js';
import { createTags } from './tags.js';
import { createUpdates } from './updates.js';
import { createUsers } from './users.js';
import type { Vault } from './vault.js';

export function createStore(db: Db, vault: Vault) {
  return {
    sites: createSites(db, vault),
    inventory: createInventory(db),
    updates: createUpdates(db),
    reports: createReports(db),
    clients: createClients(db),
    tags: createTags(db),
    costs: createCosts(db),
    jobs: createJobs(db),
    schedule: createSchedule(db),
    users: createUsers(db),
    keys: createKeys(db),
    denials: createDenials(db),
    instance: createInstance(db),
    idempotency: createIdempotency(db, vault),
  };
}

export type Store = ReturnType<typeof createStore>;
