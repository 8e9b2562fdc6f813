/** Configuration and callers for the services being measured. */

import type { Caller } from '../../src/operation/operation.js';
import type { Actor } from '../../src/runtime/actor.js';
import { readConfig } from '../../src/runtime/config/config.js';
import type { Config } from '../../src/runtime/config/types.js';
import type { TaskCaller } from '../../src/runtime/engine/client.js';
import { SECRET_KEY } from './database.js';

/**
 * The defaults, but on loopback and without the pauses between calls, which would otherwise dominate the measurement.
 */
export function benchConfig(change: Partial<Config> & { db: string }): Config {
  return readConfig(
    { SITEFLEET_SECRET_KEY: SECRET_KEY },
    {
      host: '127.0.0.1',
      port: 0,
      log_level: 'error',
      job_delay_ms: 0,
      per_host: 50,
      allow_private_sites: true,
      rest_rate_limit: 0,
      ...change,
    },
  );
}

const ACTOR: Actor = {
  type: 'system',
  id: null,
  name: 'bench',
  rights: ['read', 'write'],
  via: 'cli',
};

const NEVER = new AbortController().signal;

export const CALLER: Caller = { actor: ACTOR, request_id: 'bench', signal: NEVER };
export const TASK_CALLER: TaskCaller = { ...CALLER, base_url: 'http://127.0.0.1' };
