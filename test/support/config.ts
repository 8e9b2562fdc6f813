/**
 * Configuration of a service under test: the product's defaults, except for settings that leave the process, wait, or
 * differ from run to run.
 */

import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/runtime/config/config.js';
import { type Config, MODULES, TOOLSETS } from '../../src/runtime/config/types.js';

export function testConfig(change: Partial<Config> = {}): Config {
  return {
    // Not there until something is kept in it.
    ...readConfig({ HOME: join(tmpdir(), `home-${randomBytes(8).toString('hex')}`) }),
    db: ':memory:',
    secret_key: randomBytes(32).toString('hex'),
    modules: MODULES,
    toolsets: TOOLSETS,
    log_level: process.env.SITEFLEET_TEST_LOG === undefined ? 'silent' : 'debug',
    per_host: 50,
    // For those with a real clock, which a busy machine may use up: tests of these limits set their own.
    site_timeout_ms: 120_000,
    direct_call_ms: 600_000,
    update_wait_ms: 0,
    allow_private_sites: true,
    pagespeed_url: 'http://127.0.0.1:9/',
    rest_rate_limit: 0,
    ...change,
  };
}
