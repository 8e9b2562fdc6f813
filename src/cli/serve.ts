/** `sitefleet serve`: all HTTP ways in, and the schedule. */

import type { Service } from '../app/service.js';
import { loginLinkUrl } from '../domain/access/users.js';
import { systemClock } from '../runtime/clock.js';
import type { Config } from '../runtime/config/types.js';
import { maskedUrl } from '../runtime/masked-url.js';
import { createLog } from '../runtime/telemetry/log.js';
import { endFirstLogin, isFirstLoginUnseen } from '../store/access/first-login.js';
import { checkAddress, listen } from '../surfaces/http/server.js';
import { warnIfAlertsReachNoOne } from './alert-warning.js';
import { warnOfCheckpoints } from './checkpoint-warning.js';
import { assertWritable } from './file-access.js';
import { type Credentials, firstStart, firstStartOf } from './first-start.js';
import { withDatabase, withReader } from './open-database.js';
import { printJson, say } from './output.js';
import { stopAll, stopSignal, whenAborted } from './stop.js';

export async function serve(config: Config, options: { json: boolean }): Promise<void> {
  const stop = stopSignal();
  const log = createLog(config.log_level);
  // Everything that can fail is checked before anything is created.
  assertWritable(config);
  await checkAddress(config);
  const { createService } = await import('../app/service.js');
  const service = await createService({ config, log });
  const steps: (() => Promise<void>)[] = [() => service.stop()];
  const release = service.holdReadiness('The first login has not been created yet.');
  try {
    // Nothing is left for a request to load: the port is taken last.
    const app = await service.http();
    await service.loadEngine();
    const listener = await listen(app, config);
    steps.unshift(() => listener.close());
    const url = config.base_url ?? listener.url;
    service.setBaseUrl(url);
    await service.start();
    await warnIfAlertsReachNoOne(service, log);
    await warnOfCheckpoints(config, log);
    // Last, and shown at once: logins created before a failing step would never be shown.
    const credentials = await firstLogin(service, config);
    release();
    announce(url, credentials, options.json);
    if (config.db !== ':memory:') await afterAnnounced(config, credentials);
    log.info({ url, db: maskedUrl(config.db), read_only: config.read_only }, 'serving');
    await whenAborted(stop);
    log.info({}, 'stopping');
  } finally {
    await stopAll(steps);
  }
}

/** Says how to log in if an earlier process was killed after it had stored the first login and before it showed it. */
async function afterAnnounced(config: Config, credentials: Credentials | undefined): Promise<void> {
  if (credentials !== undefined) return withDatabase(config, ({ db }) => endFirstLogin(db));
  if (await withReader(config, isFirstLoginUnseen))
    say('Nobody has logged in yet. For a link that logs in once: sitefleet login-link');
}

/** The first start writes; in a service with two threads this one only reads. */
function firstLogin(service: Service, config: Config): Promise<Credentials | undefined> {
  const now = systemClock.now();
  return config.db === ':memory:' ? firstStart(service.store, config, now) : firstStartOf(config, now);
}

/** The URLs and logins of a running service, as one object of eight members. */
export function endpoints(url: string, credentials: Credentials | undefined) {
  return {
    url,
    mcp: `${url}/mcp`,
    abilities: `${url}/wp-json/wp-abilities/v1/abilities`,
    v2: `${url}/v2`,
    user: credentials?.user ?? null,
    password: credentials?.password ?? null,
    api_key: credentials?.api_key ?? null,
    login_link: credentials === undefined ? null : loginLinkUrl(url, credentials.link),
  };
}

function announce(url: string, credentials: Credentials | undefined, json: boolean): void {
  const all = endpoints(url, credentials);
  if (json) {
    printJson(all);
    return;
  }
  say(`Sitefleet listens on ${url}`);
  say(`  MCP         ${all.mcp}`);
  say(`  Operations  ${all.abilities}`);
  say(`  REST        ${all.v2}`);
  if (credentials === undefined) return;
  say('First start. These are shown only once:');
  say(`  User        ${credentials.user}`);
  say(`  Password    ${credentials.password}`);
  say(`  API key     ${credentials.api_key}`);
  say(`  Log in      ${all.login_link} (works once, for 15 minutes)`);
}
