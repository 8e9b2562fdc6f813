/** `sitefleet serve`: all HTTP ways in, and the schedule. */

import { systemClock } from '../clock.js';
import type { Config } from '../context.js';
import { checkAddress, listen } from '../listen.js';
import { createLog } from '../log.js';
import { type Credentials, firstStart, firstStartOf } from './first-start.js';
import { printJson, say } from './output.js';
import { stopAll, stopSignal, whenAborted } from './stop.js';

export async function serve(config: Config, options: { json: boolean }): Promise<void> {
  const stop = stopSignal();
  const log = createLog(config.log_level);
  // The logins of a first start would be lost with a start that fails.
  await checkAddress(config);
  // The first start writes; a service in two threads only reads in this one.
  const inMemory = config.db === ':memory:';
  const early = inMemory ? undefined : await firstStartOf(config, systemClock.now());
  const { assemble } = await import('../main.js');
  const service = await assemble({ config, log });
  const credentials = inMemory ? await firstStart(service.store, config, systemClock.now()) : early;
  const listener = await listen(await service.http(), config).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  const url = config.base_url ?? listener.url;
  service.setBaseUrl(url);
  await service.start();
  announce(url, credentials, options.json);
  log.info({ url, db: config.db.replace(/\/\/[^@/]*@/, '//'), read_only: config.read_only }, 'serving');
  await whenAborted(stop);
  log.info({}, 'stopping');
  await stopAll([() => listener.close(), () => service.stop()]);
}

/** The addresses and logins of a running service, as one object of seven members. */
export function endpoints(url: string, credentials: Credentials | undefined) {
  return {
    url,
    mcp: `${url}/mcp`,
    abilities: `${url}/wp-json/wp-abilities/v1/abilities`,
    v2: `${url}/v2`,
    user: credentials?.user ?? null,
    password: credentials?.password ?? null,
    api_key: credentials?.api_key ?? null,
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
  say('First start. These are shown only now:');
  say(`  User        ${credentials.user}`);
  say(`  Password    ${credentials.password}`);
  say(`  API key     ${credentials.api_key}`);
}
