/** Configuration and callers of services that are measured. */

import { type Actor, type Config, MODULES, TOOLSETS } from '../../src/context.js';
import type { TaskCaller } from '../../src/engine.js';
import type { Caller } from '../../src/operation.js';
import { SECRET_KEY } from './database.js';

export function benchConfig(change: Partial<Config> & { db: string }): Config {
  return {
    db_token: null,
    host: '127.0.0.1',
    port: 0,
    base_url: null,
    secret_key: SECRET_KEY,
    secret_key_file: null,
    admin_user: null,
    admin_password: null,
    modules: MODULES,
    toolsets: TOOLSETS,
    read_only: false,
    trust_proxy: false,
    log_level: 'error',
    batch_threshold: 200,
    job_chunk: 20,
    job_delay_ms: 0,
    job_timeout_ms: 4 * 3_600_000,
    job_ttl_ms: 24 * 3_600_000,
    concurrency: 50,
    per_host: 50,
    site_timeout_ms: 30_000,
    allow_private_sites: true,
    ...change,
  };
}

export const ACTOR: Actor = {
  type: 'system',
  id: null,
  name: 'bench',
  rights: ['read', 'write'],
  via: 'cli',
  denied_sites: [],
};

const NEVER = new AbortController().signal;

export const CALLER: Caller = { actor: ACTOR, request_id: 'bench', signal: NEVER };
export const TASK_CALLER: TaskCaller = { ...CALLER, base_url: 'http://127.0.0.1' };
